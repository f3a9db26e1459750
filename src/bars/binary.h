/* Numbers as they lie in memory -> closes, each widened to a double without loss. */
#ifndef SWP_BARS_BINARY_H
#define SWP_BARS_BINARY_H

#include <stdbool.h>
#include "bars/bar_list.h"
#include "bars/source.h"

typedef struct swp__dtype {
    char kind;         /* 'f' IEEE floating point, 'i' signed, 'u' unsigned */
    size_t size_bytes; /* f: 2, 4, 8; i, u: 1, 2, 4, 8 */
    bool is_big_endian;
} swp__dtype;

/* The bytes of one number as an integer of its width, whatever its kind. */
uint64_t swp__dtype_bits(const swp__dtype *dtype, const unsigned char *bytes);

/* "f4", "<f4", ">i8", or a name such as float32 and uint16; a sign of byte order wins over `is_big_endian`. False: none that is
 * read. */
bool swp__dtype_parse(const char *text, bool is_big_endian, swp__dtype *dtype);

enum { SWP__DTYPE_TEXT_SIZE = 24 };

/* "float32", "big-endian float32" */
void swp__dtype_describe(const swp__dtype *dtype, char text[SWP__DTYPE_TEXT_SIZE]);

/* How an error names a close. */
typedef enum swp__binary_place { SWP__AT_INDEX, SWP__AT_BYTE } swp__binary_place;

#define SWP__COUNT_TO_THE_END UINT64_MAX

/* How the numbers of a file lie. */
typedef struct swp__binary_form {
    swp__dtype dtype;
    uint64_t bars_count;    /* SWP__COUNT_TO_THE_END: as many as there are, with one column */
    uint64_t columns_count; /* at least 1; with bars_count without overflow */
    uint64_t close_column;  /* from 0 */
    bool is_by_columns;     /* a column after the other; else a bar after the other */
    uint64_t offset;        /* byte of the file at which they begin */
    swp__binary_place place;
} swp__binary_form;

/* Reads the closes and expects the file to end with the last number. BAD_PARAM: a close is refused by `allow`, an integer
 * is beyond 2^53 (at: its index or byte), the file ends early, late or inside a number (at: the number that is missing
 * or too much), or holds a text; FILE; NO_MEMORY. `list` is the caller's to free. */
SWP_MUST_CHECK swp_status swp__binary_read(swp__source *source, const swp__binary_form *form, uint32_t allow,
                                           swp__bar_list *list, swp_error *error);

#endif
