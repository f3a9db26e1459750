/* Letting a series in: one pass judges every close by the input policy and counts what NaN there is. */
#include "engine/series.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "base/close_policy.h"
#include "base/error.h"
#include "base/host.h"
#include "base/number.h"
#include "engine/engine.h"

/* Nearly all closes are plain: as integers 1 .. 0x7fefffffffffffff (the largest finite one). Both differences below
 * have their sign bit clear for exactly these. Integers, since a loop of two comparisons of doubles does not become
 * vector code. */
static bool all_plain(const double *closes, uint64_t count)
{
    uint64_t signs = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &closes[i], sizeof bits);
        signs |= (bits - 1) | (UINT64_C(0x7fefffffffffffff) - bits);
    }
    return signs >> 63 == 0;
}

static swp_status judge_one(double close, uint64_t bar, uint32_t allow, swp__closes_seen *seen, swp_error *error)
{
    const char *why = swp__close_refusal(close, allow);
    if (why != NULL) {
        char text[SWP__NUMBER_SIZE];
        swp__number_format(close, text);
        return swp__fail(error, SWP_BAD_PARAM, bar, "close of bar %" PRIu64 ", %s, %s", bar, text, why);
    }
    seen->nan_count += isnan(close) ? 1 : 0;
    seen->needs |= isnan(close) ? SWP_ALLOW_NAN : isinf(close) ? SWP_ALLOW_INF : SWP_ALLOW_NONPOSITIVE;
    return SWP_OK;
}

swp_status swp__closes_judge(const double *closes, uint64_t count, uint64_t first_bar, uint32_t allow, swp__closes_seen *seen,
                             swp_error *error)
{
    enum { CHUNK = 512 };
    for (uint64_t i = 0; i < count; i += CHUNK) {
        uint64_t end = count - i < CHUNK ? count : i + CHUNK;
        if (all_plain(closes + i, end - i)) {
            continue;
        }
        for (uint64_t j = i; j < end; j++) {
            swp_status status = SWP_OK;
            if (!swp__close_is_plain(closes[j])) {
                status = judge_one(closes[j], first_bar + j, allow, seen, error);
            }
            if (status != SWP_OK) {
                return status;
            }
        }
    }
    return SWP_OK;
}

swp_status swp_series_new(swp_engine *engine, const double *close, uint64_t bars_count, uint32_t allow, swp_memory memory,
                          swp_series **series, swp_error *error)
{
    if (engine == NULL || close == NULL || series == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, engine == NULL ? 1 : close == NULL ? 2 : 6, "series: NULL pointer");
    }
    if (bars_count == 0) {
        return swp__fail(error, SWP_BAD_PARAM, 3, "series: no bars");
    }
    if ((allow & ~(uint32_t)SWP_ALLOW_ALL) != 0) {
        return swp__fail(error, SWP_BAD_PARAM, 4, "series: allow is %" PRIu32 ", expected a sum of 1, 2 and 4", allow);
    }
    swp__closes_seen seen = {0};
    swp_status status = swp__closes_judge(close, bars_count, 0, allow, &seen, error);
    if (status != SWP_OK) {
        return status;
    }
    swp_series *made = swp__alloc(&engine->allocator, 1, sizeof *made);
    if (made == NULL) {
        goto no_memory;
    }
    *made = (swp_series){.engine = engine, .close = close, .bars_count = bars_count, .seen = seen};
    if (memory == SWP_COPY) {
        made->copy = swp__alloc(&engine->allocator, bars_count, sizeof *close);
        if (made->copy == NULL) {
            goto no_memory;
        }
        memcpy(made->copy, close, bars_count * sizeof *close);
        made->close = made->copy;
    }
    *series = made;
    return SWP_OK;

no_memory:
    swp__free(&engine->allocator, made, 1, sizeof *made);
    return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "series: no memory for %" PRIu64 " bars", bars_count);
}

void swp_series_free(swp_series *series)
{
    if (series == NULL) {
        return;
    }
    const swp_allocator *allocator = &series->engine->allocator;
    swp__free(allocator, series->copy, series->bars_count, sizeof *series->copy);
    swp__free(allocator, series, 1, sizeof *series);
}

uint64_t swp_series_bars_count(const swp_series *series)
{
    return series->bars_count;
}

uint64_t swp_series_nan_count(const swp_series *series)
{
    return series->seen.nan_count;
}
