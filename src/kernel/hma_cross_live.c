#include "kernel/hma_cross_live.h"

#include <math.h>

enum { HALF, FULL, THIRD, MID, P }; /* of swp__live_combo.average */

/* ---- histories ---- */

void swp__history_clear(swp__history *history)
{
    for (int64_t i = 0; i < 2 * history->length; i++) {
        history->values[i] = NAN;
    }
    history->next = 0;
}

static void put(const swp__history *history, double value)
{
    history->values[history->next] = history->values[history->next + history->length] = value;
}

static void advance(swp__history *history)
{
    history->next = history->next + 1 == history->length ? 0 : history->next + 1;
}

void swp__history_push(swp__history *history, double value)
{
    put(history, value);
    advance(history);
}

double swp__history_at(const swp__history *history, int64_t age)
{
    return history->values[history->next + history->length - 1 - age];
}

/* The oldest of the last m values, the one just put included. */
static const double *oldest_of(const swp__history *history, int64_t m)
{
    return history->values + history->next + history->length - (m - 1);
}

/* ---- averages ---- */

static double weight_sum(int64_t m)
{
    return (double)(m * (m + 1) / 2);
}

static double wma(const double *x, int64_t m)
{
    double sum = 0.0;
    for (int64_t k = 0; k < m; k++) {
        sum += x[k] * (double)(k + 1);
    }
    return sum / weight_sum(m);
}

/* Four averages side by side: each addition waits for the one before it, so one chain leaves most of the machine idle. Each
 * sum has its own order. `m` rises. */
static void wma_four(const double *const x[4], const int64_t m[4], double out[4])
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    int64_t k = 0;
    for (; k < m[0]; k++) {
        double weight = (double)(k + 1);
        s0 += x[0][k] * weight;
        s1 += x[1][k] * weight;
        s2 += x[2][k] * weight;
        s3 += x[3][k] * weight;
    }
    for (; k < m[1]; k++) {
        double weight = (double)(k + 1);
        s1 += x[1][k] * weight;
        s2 += x[2][k] * weight;
        s3 += x[3][k] * weight;
    }
    for (; k < m[2]; k++) {
        double weight = (double)(k + 1);
        s2 += x[2][k] * weight;
        s3 += x[3][k] * weight;
    }
    for (; k < m[3]; k++) {
        s3 += x[3][k] * (double)(k + 1);
    }
    out[0] = s0 / weight_sum(m[0]);
    out[1] = s1 / weight_sum(m[1]);
    out[2] = s2 / weight_sum(m[2]);
    out[3] = s3 / weight_sum(m[3]);
}

static void average_closes(swp__live_bars *bars)
{
    size_t i = 0;
    for (; i + 4 <= bars->windows_count; i += 4) {
        const int64_t *m = bars->windows + i;
        const double *x[4] = {oldest_of(&bars->closes, m[0]), oldest_of(&bars->closes, m[1]), oldest_of(&bars->closes, m[2]),
                              oldest_of(&bars->closes, m[3])};
        wma_four(x, m, bars->averages + i);
    }
    for (; i < bars->windows_count; i++) {
        bars->averages[i] = wma(oldest_of(&bars->closes, bars->windows[i]), bars->windows[i]);
    }
}

/* ---- one bar ---- */

/* The averages of a bar, and what the second ones take. */
static void put_bar(swp__live_bars *bars, double close)
{
    put(&bars->closes, close);
    average_closes(bars);
    for (size_t i = 0; i < bars->combos_count; i++) {
        swp__live_combo *c = &bars->combos[i];
        const double *a = bars->averages;
        put(&c->hma_input, 2.0 * a[c->average[HALF]] - a[c->average[FULL]]);
        put(&c->hma3_input, 3.0 * a[c->average[THIRD]] - a[c->average[MID]] - a[c->average[P]]);
    }
}

static void trade_bar(swp__live_bars *bars, double close)
{
    for (size_t i = 0; i < bars->combos_count; i++) {
        const swp__live_combo *c = &bars->combos[i];
        swp__trade_state *state = &bars->states[i];
        double hma = wma(oldest_of(&c->hma_input, c->params.smooth), c->params.smooth);
        double hma3 = wma(oldest_of(&c->hma3_input, c->params.p), c->params.p);
        if (isnan(hma) || isnan(hma3)) {
            continue;
        }
        if (state->first_bar < 0) {
            state->first_bar = bars->bars_count;
        }
        if (hma3 > hma) {
            swp__trade_bar(state, &bars->exec, bars->bars_count, +1, close);
        } else if (hma3 < hma) {
            swp__trade_bar(state, &bars->exec, bars->bars_count, -1, close);
        }
    }
}

static void keep_bar(swp__live_bars *bars)
{
    advance(&bars->closes);
    for (size_t i = 0; i < bars->combos_count; i++) {
        advance(&bars->combos[i].hma_input);
        advance(&bars->combos[i].hma3_input);
    }
    bars->bars_count++;
}

void swp__live_step(swp__live_bars *bars, double close)
{
    put_bar(bars, close);
    trade_bar(bars, close);
    keep_bar(bars);
}

void swp__live_look(swp__live_bars *bars, double close)
{
    put_bar(bars, close); /* over the oldest values, which no later bar reaches back to */
    trade_bar(bars, close);
}

void swp__live_feed(swp__live_bars *bars, double close)
{
    put_bar(bars, close);
    keep_bar(bars);
}

/* A multiply-add takes about a nanosecond where it waits for the one before it; four averages share that. */
double swp__live_step_ns(const swp__live_bars *bars)
{
    double ns = 20.0;
    for (size_t i = 0; i < bars->windows_count; i++) {
        ns += 0.5 * (double)bars->windows[i];
    }
    for (size_t i = 0; i < bars->combos_count; i++) {
        ns += 10.0 + (double)(bars->combos[i].params.smooth + bars->combos[i].params.p);
    }
    return ns;
}
