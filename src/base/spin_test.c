#include "base/spin.h"
#include "support/test.h"

/* Looks among `waits` waits that all end in vain. */
static uint32_t looks_in_vain(swp__spin *spin, uint32_t waits)
{
    uint32_t looks = 0;
    for (uint32_t i = 0; i < waits; i++) {
        if (swp__spin_begin(spin) > 0) {
            looks++;
            swp__spin_end(spin, false);
        }
    }
    return looks;
}

TEST(spin_of_zero_never_looks)
{
    swp__spin spin = swp__spin_new(0);
    assert_int_equal(looks_in_vain(&spin, 1000), 0);
}

TEST(spin_looks_ever_more_rarely_when_it_is_in_vain)
{
    swp__spin spin = {.most_ns = 20000};
    assert_int_equal(looks_in_vain(&spin, 1), 1);
    assert_int_equal(looks_in_vain(&spin, 1), 0);
    assert_int_equal(looks_in_vain(&spin, 1), 1);
    looks_in_vain(&spin, 1000);
    assert_int_equal(looks_in_vain(&spin, 65 * 100), 100); /* one in 65 */
}

TEST(spin_is_in_vain_after_three_looks_in_a_row_and_not_after_one)
{
    swp__spin spin = {.most_ns = 20000};
    uint32_t looks = 0;
    while (!swp__spin_is_in_vain(&spin)) {
        looks += looks_in_vain(&spin, 1);
    }
    assert_int_equal(looks, 3);
    swp__spin_end(&spin, true);
    assert_false(swp__spin_is_in_vain(&spin));
}

TEST(spin_that_finds_something_looks_at_every_wait_again)
{
    swp__spin spin = {.most_ns = 20000};
    looks_in_vain(&spin, 1000);
    uint64_t look_ns = 0;
    while (look_ns == 0) {
        look_ns = swp__spin_begin(&spin);
    }
    assert_true(swp__spin_is_in_vain(&spin));
    for (int i = 0; i < SWP__SPIN_SURE; i++) {
        assert_int_equal(look_ns, 20000 * SWP__SPIN_UNSURE); /* long enough for a peer that must be woken */
        swp__spin_end(&spin, true);
        look_ns = swp__spin_begin(&spin);
        assert_false(swp__spin_is_in_vain(&spin));
    }
    assert_int_equal(look_ns, 20000);
}

TEST(spin_naps_until_an_answer_is_nearly_due)
{
    swp__spin spin = {.most_ns = 20000};
    uint64_t look_ns = swp__spin_begin(&spin);
    assert_int_equal(swp__spin_nap(&spin, &look_ns), 0); /* nothing is known */
    for (int i = 0; i < 100; i++) {
        swp__spin_learn(&spin, 200000);
    }
    assert_int_equal(swp__spin_nap(&spin, &look_ns), 200000 - SWP__SPIN_EARLY_NS);
    assert_int_equal(look_ns, 20000 * SWP__SPIN_UNSURE);
    swp__spin_learn(&spin, 5000); /* a quick one counts at once */
    assert_int_equal(swp__spin_nap(&spin, &look_ns), 0);
    for (int i = 0; i < 100; i++) {
        swp__spin_learn(&spin, 50000000); /* and what takes long is slept through */
    }
    assert_int_equal(swp__spin_nap(&spin, &look_ns), 0);
}
