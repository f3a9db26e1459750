#include "http/sweep_answer.h"

#include <math.h>
#include <string.h>
#include "http/memory.h"
#include "support/test.h"

static swp__sweep_answer filled(uint64_t windows, uint32_t results)
{
    swp__sweep_answer answer;
    swp__sweep_body body = {.combos_count = 2, .windows_count = windows, .results = results};
    swp__memory_bound(1 << 20);
    assert_int_equal(swp__sweep_answer_init(&body, &answer, NULL), SWP_OK);
    answer.bars_count = 7;
    answer.nan_count = 1;
    swp_sweep_result arrays = swp__sweep_answer_arrays(&answer);
    for (uint64_t i = 0; i < 2 * (windows > 0 ? windows : 1); i++) {
        if (arrays.trades != NULL) {
            arrays.trades[i] = (int64_t)i - 1;
        }
        if (arrays.open_pnl != NULL) {
            arrays.open_pnl[i] = i % 2 == 0 ? -0.0 : (double)INFINITY;
        }
    }
    return answer;
}

static void assert_text(uint64_t windows, uint32_t results, const char *expected)
{
    for (size_t step = 1; step <= strlen(expected) + 1; step++) {
        char text[512] = "";
        size_t length = 0, got;
        swp__sweep_answer answer = filled(windows, results);
        while ((got = swp__sweep_answer_read(&answer, text + length, step)) > 0) {
            length += got;
        }
        text[length] = '\0';
        assert_string_equal(text, expected);
        assert_int_equal(swp__sweep_answer_read(&answer, text, 1), 0);
        swp__sweep_answer_fini(&answer);
    }
}

TEST(sweep_answer_is_the_same_text_at_every_step_size)
{
    assert_text(0, 1 << 1, "{\"bars\":7,\"nan\":1,\"combos\":2,\"trades\":[-1,0]}\n");
    assert_text(1, 1 << 1, "{\"bars\":7,\"nan\":1,\"combos\":2,\"trades\":[[-1,0]]}\n");
    assert_text(2, 1 << 1 | 1 << 7,
                "{\"bars\":7,\"nan\":1,\"combos\":2,\"trades\":[[-1,0],[1,2]],"
                "\"open_pnl\":[[-0.0,\"Infinity\"],[-0.0,\"Infinity\"]]}\n");
}

TEST(sweep_answer_that_does_not_fit_the_memory_is_refused_and_leaves_nothing)
{
    static const uint64_t counts[][2] = {
        {UINT64_MAX, 2}, {UINT64_C(1) << 32, UINT64_C(1) << 32}, {UINT64_C(1) << 61, 0}, {40000, 0}};
    swp__memory_bound(1 << 20);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        swp__sweep_answer answer;
        swp__sweep_body body = {.combos_count = counts[i][0], .windows_count = counts[i][1], .results = 255};
        assert_int_equal(swp__sweep_answer_init(&body, &answer, NULL), SWP_LIMIT);
        assert_int_equal(swp__memory_used(), 0);
    }
}
