#include "support/test.h"
#include "cli/columns.h"

#include <string.h>

enum { COMBOS = 5 };

static void make_pair(swp__columns pair[2])
{
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(swp__columns_new(COMBOS, &pair[k], NULL), SWP_OK);
        for (size_t i = 0; i < COMBOS; i++) {
            pair[k].of.pnl[i] = (double)i * 0.1;
            pair[k].of.trades[i] = (int64_t)i;
            pair[k].of.finished[i] = 1;
        }
    }
}

static void free_pair(swp__columns pair[2])
{
    swp__columns_free(&pair[0]);
    swp__columns_free(&pair[1]);
}

TEST(columns_with_the_same_bits_are_identical)
{
    swp__columns pair[2];
    swp__difference d;
    make_pair(pair);
    pair[0].of.pnl[2] = pair[1].of.pnl[2] = __builtin_nan("");
    assert_true(swp__columns_identical(&pair[0], &pair[1], &d));
    free_pair(pair);
}

TEST(columns_difference_is_the_first_combo_and_names_both_numbers)
{
    swp__columns pair[2];
    swp__difference d;
    make_pair(pair);
    pair[1].of.pnl[4] = 7;
    pair[1].of.trades[3] = 99;
    pair[1].of.open_pnl[3] = 1;
    assert_false(swp__columns_identical(&pair[0], &pair[1], &d));
    assert_int_equal(d.combo, 3);
    assert_string_equal(d.column, "trades");
    assert_false(d.is_real);
    assert_int_equal(d.expected_bits, 3);
    assert_int_equal(d.got_bits, 99);
    free_pair(pair);
}

TEST(columns_see_one_bit_in_every_column)
{
    for (size_t c = 0; c < 9; c++) {
        swp__columns pair[2];
        swp__difference d;
        make_pair(pair);
        void *const columns[] = {pair[1].of.pnl,       pair[1].of.trades,         pair[1].of.first_bar,
                                 pair[1].of.open_side, pair[1].of.open_entry_bar, pair[1].of.open_entry,
                                 pair[1].of.open_last, pair[1].of.open_pnl,       pair[1].of.finished};
        size_t size = c == 8 ? 1 : 8;
        ((unsigned char *)columns[c])[size * (COMBOS - 1)] ^= 1;
        assert_false(swp__columns_identical(&pair[0], &pair[1], &d));
        assert_int_equal(d.combo, COMBOS - 1);
        free_pair(pair);
    }
}

TEST(columns_minus_zero_is_not_zero)
{
    swp__columns pair[2];
    swp__difference d;
    make_pair(pair);
    pair[1].of.pnl[0] = -0.0;
    assert_false(swp__columns_identical(&pair[0], &pair[1], &d));
    assert_true(d.is_real);
    free_pair(pair);
}

TEST(columns_hash_depends_on_pnl_and_trades_alone)
{
    swp__columns pair[2];
    char a[SWP__HASH_TEXT_SIZE], b[SWP__HASH_TEXT_SIZE];
    make_pair(pair);
    pair[1].of.open_pnl[0] = 1;
    swp__columns_hash(&pair[0], a);
    swp__columns_hash(&pair[1], b);
    assert_string_equal(a, b);
    assert_int_equal(strlen(a), 32);
    pair[1].of.trades[4]++;
    swp__columns_hash(&pair[1], b);
    assert_string_not_equal(a, b);
    free_pair(pair);
}
