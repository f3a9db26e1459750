/* E, term by term in the order of docs/decisions/0003-certified-sign.md. */
#include "kernel/certify_bound.h"

/* Roundings on the way of one product from its weight to D, the weight's own included. */
#define CHAIN_ROUNDINGS 11.0

swp__hma_weights swp__hma_weights_of(const swp_params *c, double unit)
{
    double gh = 2.0 * unit / (swp__triangle(c->half) * swp__triangle(c->smooth));
    double gf = -unit / (swp__triangle(c->full) * swp__triangle(c->smooth));
    return (swp__hma_weights){.a0 = gh * (double)c->half + gf * (double)c->full, .gh = gh, .gf = gf};
}

swp__hma3_weights swp__hma3_weights_of(const swp_params *c, double unit)
{
    double c3 = 3.0 * unit / (swp__triangle(c->third) * swp__triangle(c->p));
    double c2 = -unit / (swp__triangle(c->mid) * swp__triangle(c->p));
    double c1 = -unit / (swp__triangle(c->p) * swp__triangle(c->p));
    return (swp__hma3_weights){
        .p = (double)c->p,
        .al = c3 * (double)c->third + c2 * (double)c->mid + c1 * (double)c->p,
        .be = -(c3 + c2 + c1),
        .c3 = c3,
        .c2 = c2,
        .c1 = c1,
    };
}

swp__certify_terms swp__certify_hma_terms(const swp_params *c, const swp__certify_rows *rows)
{
    double h = (double)c->half + 1.0, f = (double)c->full + 1.0, s = (double)c->smooth + 1.0;
    double t = (double)rows->closes, ts = (double)rows->own;
    double lags = 4.0 / h + 2.0 / f; /* sum of |g_n| n d_s */
    return (swp__certify_terms){{
        [SWP__CERTIFY_CENTRED] = 3.0,
        [SWP__CERTIFY_SUM_1] = 3.0 * t,
        [SWP__CERTIFY_SUM_2] = 12.0 / s * swp__triangle(rows->closes),
        [SWP__CERTIFY_LEVEL_ONE] = 3.0 * (6.0 * t / s + 1.0),
        [SWP__CERTIFY_LEVEL_SUM_1] = 3.0 * ts,
        [SWP__CERTIFY_LEVEL_SUM_2] = 2.0 * lags * swp__triangle(rows->own),
        [SWP__CERTIFY_CHAIN] = CHAIN_ROUNDINGS * 2.0 * lags * ts,
        [SWP__CERTIFY_REFERENCE] = 2.0 * h + f + 3.0 + 3.0 * s,
    }};
}

swp__certify_terms swp__certify_hma3_terms(const swp_params *c, const swp__certify_rows *rows)
{
    double p3 = (double)c->third + 1.0, p2 = (double)c->mid + 1.0, p = (double)c->p + 1.0;
    double t = (double)rows->closes, tp = (double)rows->own;
    double lags = 6.0 / p3 + 2.0 / p2 + 2.0 / p; /* sum of |c_n| n d_p */
    double taps = 3.0 / swp__triangle(c->third) + 1.0 / swp__triangle(c->mid) + 1.0 / swp__triangle(c->p); /* of |c_n| d_p */
    return (swp__certify_terms){{
        [SWP__CERTIFY_CENTRED] = 5.0,
        [SWP__CERTIFY_SUM_1] = 5.0 * t,
        [SWP__CERTIFY_SUM_2] = 20.0 / p * swp__triangle(rows->closes),
        [SWP__CERTIFY_LEVEL_ONE] = 5.0 * (6.0 * t / p + 1.0),
        [SWP__CERTIFY_LEVEL_SUM_1] = 5.0 * tp,
        [SWP__CERTIFY_LEVEL_SUM_2] = lags * swp__triangle(rows->own),
        [SWP__CERTIFY_CHAIN] = CHAIN_ROUNDINGS * (lags * tp + 2.0 * taps * swp__triangle(rows->own)),
        [SWP__CERTIFY_REFERENCE] = 3.0 * p3 + p2 + p + 12.0 + 5.0 * p,
    }};
}

/* 1.01 takes up products of errors, and the rounding of E itself. */
static swp__certify_bound bound_of(const swp__certify_terms *terms, double unit)
{
    double scale = 1.01 * 0x1p-53 * unit, filter = 0.0;
    for (int i = 0; i < SWP__CERTIFY_REFERENCE; i++) {
        filter += terms->term[i];
    }
    return (swp__certify_bound){.range = scale * filter, .level = scale * terms->term[SWP__CERTIFY_REFERENCE]};
}

swp__certify_bound swp__certify_hma_bound(const swp_params *combo, const swp__certify_rows *rows, double unit)
{
    swp__certify_terms terms = swp__certify_hma_terms(combo, rows);
    return bound_of(&terms, unit);
}

swp__certify_bound swp__certify_hma3_bound(const swp_params *combo, const swp__certify_rows *rows, double unit)
{
    swp__certify_terms terms = swp__certify_hma3_terms(combo, rows);
    return bound_of(&terms, unit);
}
