#include "support/host.h"
#include "support/test.h"
#include "engine/series.h"

#include <float.h>
#include <math.h>
#include "base/close_policy.h"

TEST(closes_are_judged_alike_one_by_one_and_in_a_crowd)
{
    enum { BARS = 1100, KINDS = 14 };
    const double kinds[KINDS] = {
        1.0,  DBL_MIN,  DBL_TRUE_MIN,     DBL_MAX,           0.0,         -0.0,         -DBL_TRUE_MIN,
        -1.0, -DBL_MAX, (double)INFINITY, -(double)INFINITY, (double)NAN, -(double)NAN, nextafter(DBL_MAX, 0.0)};
    const size_t places[] = {0, 1, 511, 512, 1023, 1024, BARS - 1};
    static double closes[BARS];
    swp__test_walk(closes, BARS, 1);
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
            double former = closes[places[p]];
            closes[places[p]] = kinds[k];
            for (uint32_t allow = 0; allow <= SWP_ALLOW_ALL; allow++) {
                swp__closes_seen seen = {0};
                swp_error error = {.at = 0};
                swp_status status = swp__closes_judge(closes, BARS, 10000, allow, &seen, &error);
                bool refused = swp__close_refusal(kinds[k], allow) != NULL;
                assert_int_equal(status, refused ? SWP_BAD_PARAM : SWP_OK);
                assert_int_equal(error.at, refused ? 10000 + places[p] : 0);
                bool lets_in = swp__close_refusal(kinds[k], seen.needs) == NULL;
                assert_true(refused || lets_in);
                assert_int_equal(seen.nan_count, !refused && isnan(kinds[k]) ? 1 : 0);
                assert_true(refused || (seen.needs & ~allow) == 0);
            }
            closes[places[p]] = former;
        }
    }
}

TEST(series_are_refused_in_the_stated_order)
{
    const double close[] = {1, -2, (double)NAN};
    swp_engine *engine;
    swp_series *series = NULL;
    swp_error error;
    assert_int_equal(swp_engine_new(&(swp_engine_options){.threads = 1}, &engine, NULL), SWP_OK);
    assert_int_equal(swp_series_new(NULL, NULL, 0, 8, SWP_COPY, NULL, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 1);
    assert_int_equal(swp_series_new(engine, NULL, 0, 8, SWP_COPY, NULL, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 2);
    assert_int_equal(swp_series_new(engine, close, 0, 8, SWP_COPY, NULL, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 6);
    assert_int_equal(swp_series_new(engine, close, 0, 8, SWP_COPY, &series, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 3);
    assert_int_equal(swp_series_new(engine, close, 3, 8, SWP_COPY, &series, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 4);
    assert_int_equal(swp_series_new(engine, close, 3, 0, SWP_COPY, &series, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 1);
    assert_int_equal(swp_series_new(engine, close, 3, SWP_ALLOW_NONPOSITIVE, SWP_COPY, &series, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 2);
    assert_null(series);
    assert_int_equal(swp_series_new(engine, close, 3, SWP_ALLOW_NONPOSITIVE | SWP_ALLOW_NAN, SWP_COPY, &series, NULL), SWP_OK);
    assert_int_equal(swp_series_nan_count(series), 1);
    assert_int_equal(swp_series_bars_count(series), 3);
    swp_series_free(series);
    swp_series_free(NULL);
    swp_engine_free(engine);
}
