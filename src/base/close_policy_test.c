#include "base/close_policy.h"

#include <math.h>
#include "support/test.h"
#include "swp/engine.h"

TEST(close_policy_lets_in_what_is_finite_and_above_zero)
{
    assert_null(swp__close_refusal(0x1p-1074, 0));
    assert_null(swp__close_refusal(0x1.fffffffffffffp1023, 0));
    assert_non_null(swp__close_refusal(0.0, 0));
    assert_non_null(swp__close_refusal(-1.0, 0));
    assert_non_null(swp__close_refusal((double)NAN, 0));
    assert_non_null(swp__close_refusal(HUGE_VAL, 0));
}

TEST(close_policy_judges_each_kind_by_its_own_bit)
{
    assert_null(swp__close_refusal((double)NAN, SWP_ALLOW_NAN));
    assert_null(swp__close_refusal(-HUGE_VAL, SWP_ALLOW_INF));
    assert_null(swp__close_refusal(-0.0, SWP_ALLOW_NONPOSITIVE));
    assert_string_equal(swp__close_refusal(-HUGE_VAL, SWP_ALLOW_NAN | SWP_ALLOW_NONPOSITIVE),
                        "is infinite; allow \"inf\" to let it in");
    assert_string_equal(swp__close_refusal((double)NAN, SWP_ALLOW_INF | SWP_ALLOW_NONPOSITIVE),
                        "is not a number; allow \"nan\" to let it in");
    assert_string_equal(swp__close_refusal(-1.0, SWP_ALLOW_NAN | SWP_ALLOW_INF),
                        "is not above zero; allow \"nonpositive\" to let it in");
}

#if defined(__x86_64__)
#include <xmmintrin.h>

TEST(close_policy_knows_a_subnormal_from_zero_where_the_thread_does_not)
{
    unsigned saved = _mm_getcsr();
    _mm_setcsr(saved | 0x8040u); /* flush to zero, subnormals are zero */
    const char *smallest = swp__close_refusal(0x1p-1074, 0), *zero = swp__close_refusal(0.0, 0);
    _mm_setcsr(saved);
    assert_null(smallest);
    assert_non_null(zero);
}
#endif
