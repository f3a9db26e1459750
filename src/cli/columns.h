/* The numbers of a sweep, a column each: allocated, compared bit for bit, hashed. */
#ifndef SWP_CLI_COLUMNS_H
#define SWP_CLI_COLUMNS_H

#include <stdbool.h>
#include "swp/engine.h"

typedef struct swp__columns {
    uint64_t count;      /* combos */
    swp_sweep_result of; /* every column is there */
} swp__columns;

/* NO_MEMORY. Freed by swp__columns_free; set only on success. */
SWP_MUST_CHECK swp_status swp__columns_new(uint64_t count, swp__columns *columns, swp_error *error);
void swp__columns_free(swp__columns *columns);

enum { SWP__ROW_BYTES = 64 }; /* a row's eight numbers */

/* Rows [first, first + count): their numbers, a column behind the other, to or from count x SWP__ROW_BYTES bytes. What is put in
 * is finished. */
void swp__columns_pack(const swp__columns *columns, uint64_t first, uint64_t count, void *bytes);
void swp__columns_unpack(swp__columns *columns, uint64_t first, uint64_t count, const void *bytes);

/* Where two sweeps of the same combos part. */
typedef struct swp__difference {
    uint64_t combo;
    const char *column;               /* "pnl" */
    bool is_real;                     /* the column holds doubles */
    uint64_t expected_bits, got_bits; /* of the two numbers */
} swp__difference;

/* true: every column has the same bits. Else the first combo that differs, and its first column. */
bool swp__columns_identical(const swp__columns *expected, const swp__columns *got, swp__difference *difference);

enum { SWP__DIFFERENCE_SIZE = 160 };

/* "pnl is -12.3 (0xc02899999999999a), expected ...": both numbers in decimal and as bits. */
void swp__difference_describe(const swp__difference *difference, char text[SWP__DIFFERENCE_SIZE]);

enum { SWP__HASH_TEXT_SIZE = 33 };

/* XXH3 (128 bits) of all pnl, then all trades, as little-endian bytes: 32 hexadecimal digits. */
void swp__columns_hash(const swp__columns *columns, char text[SWP__HASH_TEXT_SIZE]);

#endif
