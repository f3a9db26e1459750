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

/* How an error names a close. */
typedef enum swp__binary_place { SWP__AT_INDEX, SWP__AT_BYTE } swp__binary_place;

#define SWP__COUNT_TO_THE_END UINT64_MAX

/* Reads `count` numbers and expects the file to end there. `offset` is where in the file they begin. BAD_PARAM: a close
 * is refused by `allow`, an integer is beyond 2^53 (at: its index or byte), the file ends early, late or inside a
 * number (at: the number that is missing or too much); FILE; NO_MEMORY. `list` is the caller's to free. */
SWP_MUST_CHECK swp_status swp__binary_read(swp__source *source, const swp__dtype *dtype, uint64_t count, uint64_t offset,
                                           swp__binary_place place, uint32_t allow, swp__bar_list *list, swp_error *error);

#endif
