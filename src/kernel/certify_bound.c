/* E, term by term in the order of docs/decisions/0003-certified-sign.md. */
#include "kernel/certify_bound.h"

static double triangle(int64_t n)
{
    return (double)n * (double)(n + 1) / 2.0;
}

swp__certify_weights swp__certify_weights_of(const swp_params *c)
{
    double unit = triangle(c->p) * triangle(c->p);
    double c3 = 3.0 * triangle(c->p) / triangle(c->third);
    double c2 = -triangle(c->p) / triangle(c->mid);
    double gh = 2.0 * unit / (triangle(c->half) * triangle(c->smooth));
    double gf = -unit / (triangle(c->full) * triangle(c->smooth));
    return (swp__certify_weights){
        .p = (double)c->p,
        .al = c3 * (double)c->third + c2 * (double)c->mid - (double)c->p,
        .be = 1.0 - c3 - c2,
        .c3 = c3,
        .c2 = c2,
        .a0 = gh * (double)c->half + gf * (double)c->full,
        .gh = gh,
        .gf = gf,
    };
}

/* The filter's own errors, in units of u R and before the scaling by d_p^2. */
static double filter_terms(const swp_params *c, const swp__certify_rows *rows)
{
    double h = (double)c->half + 1.0, f = (double)c->full + 1.0, s = (double)c->smooth + 1.0;
    double p3 = (double)c->third + 1.0, p2 = (double)c->mid + 1.0, p = (double)c->p + 1.0;
    double t = (double)rows->closes, ts = (double)rows->hma, tp = (double)rows->hma3;
    double weights_hma = 4.0 / h + 2.0 / f;
    double weights_hma3 = 6.0 / p3 + 2.0 / p2 + 2.0 / p;
    double sum_c = 3.0 / triangle(c->third) + 1.0 / triangle(c->mid) + 1.0 / triangle(c->p);

    double centred = 8.0;
    double first_sum = 8.0 * t;
    double second_sum = (12.0 / s + 20.0 / p) * triangle(rows->closes);
    double level_one = 3.0 * (6.0 * t / s + 1.0) + 5.0 * (6.0 * t / p + 1.0);
    double first_sum_2 = 3.0 * ts + 5.0 * tp;
    double second_sum_2 = 2.0 * weights_hma * triangle(rows->hma) + weights_hma3 * triangle(rows->hma3);
    double chain = 15.0 * (2.0 * weights_hma * ts + weights_hma3 * tp + 2.0 * sum_c * triangle(rows->hma3));
    return centred + first_sum + second_sum + level_one + first_sum_2 + second_sum_2 + chain;
}

/* The reference's own errors, in units of u M and before the scaling. */
static double reference_terms(const swp_params *c)
{
    double h = (double)c->half + 1.0, f = (double)c->full + 1.0, s = (double)c->smooth + 1.0;
    double p3 = (double)c->third + 1.0, p2 = (double)c->mid + 1.0, p = (double)c->p + 1.0;
    double hma = 2.0 * h + f + 3.0 + 3.0 * s;
    double hma3 = 3.0 * p3 + p2 + p + 12.0 + 5.0 * p;
    return hma + hma3;
}

swp__certify_bound swp__certify_bound_of(const swp_params *c, const swp__certify_rows *rows)
{
    double scale = 1.01 * 0x1p-53 * triangle(c->p) * triangle(c->p);
    return (swp__certify_bound){.range = scale * filter_terms(c, rows), .level = scale * reference_terms(c)};
}
