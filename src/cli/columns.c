#include "cli/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/fingerprint.h"
#include "base/number.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the hash is of the numbers as they lie in memory");

/* The columns of eight bytes a combo, in the order they are compared in. */
static const struct {
    const char *name;
    size_t offset; /* of the pointer in swp_sweep_result */
    bool is_real;
} wide_columns[] = {
    {"pnl", offsetof(swp_sweep_result, pnl), true},
    {"trades", offsetof(swp_sweep_result, trades), false},
    {"first_bar", offsetof(swp_sweep_result, first_bar), false},
    {"open_side", offsetof(swp_sweep_result, open_side), false},
    {"open_entry_bar", offsetof(swp_sweep_result, open_entry_bar), false},
    {"open_entry", offsetof(swp_sweep_result, open_entry), true},
    {"open_last", offsetof(swp_sweep_result, open_last), true},
    {"open_pnl", offsetof(swp_sweep_result, open_pnl), true},
};
enum { WIDE_COUNT = sizeof wide_columns / sizeof wide_columns[0] };

static void *column(const swp__columns *columns, size_t i)
{
    void *pointer;
    memcpy(&pointer, (const char *)&columns->of + wide_columns[i].offset, sizeof pointer);
    return pointer;
}

swp_status swp__columns_new(uint64_t count, swp__columns *columns, swp_error *error)
{
    swp__columns made = {.count = count};
    size_t size;
    char *block = __builtin_mul_overflow(count, WIDE_COUNT * sizeof(uint64_t) + 1, &size) ? NULL : calloc(1, size);
    if (block == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for the results of %" PRIu64 " combos", count);
    }
    for (size_t i = 0; i < WIDE_COUNT; i++) {
        void *pointer = block + i * count * sizeof(uint64_t);
        memcpy((char *)&made.of + wide_columns[i].offset, &pointer, sizeof pointer);
    }
    made.of.finished = (uint8_t *)block + WIDE_COUNT * count * sizeof(uint64_t);
    *columns = made;
    return SWP_OK;
}

void swp__columns_free(swp__columns *columns)
{
    free(columns->of.pnl); /* the block begins with it */
    *columns = (swp__columns){0};
}

_Static_assert(WIDE_COUNT * sizeof(uint64_t) == SWP__ROW_BYTES, "what columns.h says of a row");

void swp__columns_pack(const swp__columns *columns, uint64_t first, uint64_t count, void *bytes)
{
    size_t size = count * sizeof(uint64_t);
    for (size_t i = 0; i < WIDE_COUNT; i++) {
        memcpy((char *)bytes + i * size, (const char *)column(columns, i) + first * sizeof(uint64_t), size);
    }
}

void swp__columns_unpack(swp__columns *columns, uint64_t first, uint64_t count, const void *bytes)
{
    size_t size = count * sizeof(uint64_t);
    for (size_t i = 0; i < WIDE_COUNT; i++) {
        memcpy((char *)column(columns, i) + first * sizeof(uint64_t), (const char *)bytes + i * size, size);
    }
    memset(columns->of.finished + first, 1, count);
}

static uint64_t bits_at(const swp__columns *columns, size_t i, uint64_t combo)
{
    uint64_t bits;
    memcpy(&bits, (const char *)column(columns, i) + combo * sizeof bits, sizeof bits);
    return bits;
}

static bool find_in_combo(const swp__columns *expected, const swp__columns *got, uint64_t combo, swp__difference *difference)
{
    for (size_t i = 0; i < WIDE_COUNT; i++) {
        uint64_t a = bits_at(expected, i, combo), b = bits_at(got, i, combo);
        if (a != b) {
            *difference = (swp__difference){combo, wide_columns[i].name, wide_columns[i].is_real, a, b};
            return true;
        }
    }
    if (expected->of.finished[combo] != got->of.finished[combo]) {
        *difference = (swp__difference){combo, "finished", false, expected->of.finished[combo], got->of.finished[combo]};
        return true;
    }
    return false;
}

bool swp__columns_identical(const swp__columns *expected, const swp__columns *got, swp__difference *difference)
{
    for (uint64_t combo = 0; combo < expected->count; combo++) {
        if (find_in_combo(expected, got, combo, difference)) {
            return false;
        }
    }
    return true;
}

static void describe_number(bool is_real, uint64_t bits, char *text, size_t size)
{
    char decimal[SWP__NUMBER_SIZE];
    double real;
    memcpy(&real, &bits, sizeof real);
    if (is_real) {
        swp__number_format(real, decimal);
    } else {
        snprintf(decimal, sizeof decimal, "%" PRId64, (int64_t)bits);
    }
    snprintf(text, size, "%s (0x%016" PRIx64 ")", decimal, bits);
}

void swp__difference_describe(const swp__difference *d, char text[SWP__DIFFERENCE_SIZE])
{
    char expected[64], got[64];
    describe_number(d->is_real, d->expected_bits, expected, sizeof expected);
    describe_number(d->is_real, d->got_bits, got, sizeof got);
    snprintf(text, SWP__DIFFERENCE_SIZE, "%s is %s, expected %s", d->column, got, expected);
}

void swp__columns_hash(const swp__columns *columns, char text[SWP__HASH_TEXT_SIZE])
{
    swp__fingerprinter hash;
    swp__fingerprinter_init(&hash);
    swp__fingerprinter_add(&hash, columns->of.pnl, columns->count * sizeof *columns->of.pnl);
    swp__fingerprinter_add(&hash, columns->of.trades, columns->count * sizeof *columns->of.trades);
    swp__fingerprint value = swp__fingerprinter_end(&hash);
    snprintf(text, SWP__HASH_TEXT_SIZE, "%016" PRIx64 "%016" PRIx64, value.high, value.low);
}
