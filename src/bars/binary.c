#include "bars/binary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "bars/refuse.h"
#include "base/close_policy.h"
#include "base/number.h"

enum { BLOCK_SIZE = 1 << 16 };

uint64_t swp__dtype_bits(const swp__dtype *dtype, const unsigned char *bytes)
{
    uint64_t bits = 0;
    if (!dtype->is_big_endian && dtype->size_bytes == sizeof bits) {
        memcpy(&bits, bytes, sizeof bits); /* the common one; only little-endian machines are supported */
        return bits;
    }
    for (size_t i = 0; i < dtype->size_bytes; i++) {
        size_t from_top = dtype->is_big_endian ? i : dtype->size_bytes - 1 - i;
        bits = bits << 8 | bytes[from_top];
    }
    return bits;
}

static double widen_half(uint64_t bits)
{
    double mantissa = (double)(bits & 0x3FFu);
    int exponent = (int)(bits >> 10 & 0x1Fu);
    double magnitude = exponent == 31  ? (mantissa != 0 ? (double)NAN : HUGE_VAL)
                       : exponent == 0 ? ldexp(mantissa, -24)
                                       : ldexp(mantissa + 1024.0, exponent - 25);
    return bits & 0x8000u ? -magnitude : magnitude;
}

static double widen_float(const swp__dtype *dtype, uint64_t bits)
{
    if (dtype->size_bytes == 8) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (dtype->size_bytes == 4) {
        uint32_t low = (uint32_t)bits;
        float value;
        memcpy(&value, &low, sizeof value);
        return (double)value;
    }
    return widen_half(bits);
}

/* False for an integer that no double holds for certain. */
static bool widen(const swp__dtype *dtype, uint64_t bits, double *value)
{
    const uint64_t exact_max = UINT64_C(1) << 53;
    if (dtype->kind == 'f') {
        *value = widen_float(dtype, bits);
        return true;
    }
    unsigned width = (unsigned)dtype->size_bytes * 8u;
    bool negative = dtype->kind == 'i' && (bits >> (width - 1u)) != 0;
    uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1u;
    uint64_t magnitude = negative ? (~bits + 1u) & mask : bits;
    *value = negative ? -(double)magnitude : (double)magnitude;
    return magnitude <= exact_max;
}

/* Where the reading stands. */
typedef struct reading {
    swp__source *source;
    const swp__dtype *dtype;
    uint64_t offset;
    swp__binary_place place;
    uint32_t allow;
    swp__bar_list *list;
    swp_error *error;
} reading;

static uint64_t place_of(const reading *r, uint64_t index)
{
    return r->place == SWP__AT_BYTE ? r->offset + index * r->dtype->size_bytes : index;
}

static swp_status take(const reading *r, const unsigned char *bytes)
{
    uint64_t index = r->list->count, bits = swp__dtype_bits(r->dtype, bytes);
    double close;
    if (!widen(r->dtype, bits, &close)) {
        return swp__refuse_file(r->error, r->source->path, place_of(r, index),
                                "close of bar %" PRIu64 " is an integer beyond 2^53, which a double does not hold", index);
    }
    const char *why = swp__close_is_plain(close) ? NULL : swp__close_refusal(close, r->allow);
    if (why != NULL) {
        char text[SWP__NUMBER_SIZE];
        swp__number_format(close, text);
        return swp__refuse_file(r->error, r->source->path, place_of(r, index), "close of bar %" PRIu64 ", %s, %s", index, text,
                                why);
    }
    return swp__bar_list_push(r->list, 0, 0, close, r->error);
}

static swp_status refuse_size(const reading *r, const char *what, uint64_t count)
{
    uint64_t index = r->list->count;
    if (count == SWP__COUNT_TO_THE_END) {
        return swp__refuse_file(r->error, r->source->path, place_of(r, index),
                                "the file ends inside bar %" PRIu64 ": its size is no multiple of %zu bytes", index,
                                r->dtype->size_bytes);
    }
    return swp__refuse_file(r->error, r->source->path, place_of(r, index),
                            "%s: the header says %" PRIu64 " numbers of %zu bytes", what, count, r->dtype->size_bytes);
}

/* Room by the size that the file really has, and no more than was asked for. */
static swp_status reserve(const reading *r, uint64_t count)
{
    uint64_t bytes = r->source->size_bytes > r->offset ? r->source->size_bytes - r->offset : 0;
    uint64_t there = bytes / r->dtype->size_bytes;
    return swp__bar_list_reserve(r->list, there < count ? there : count, r->error);
}

swp_status swp__binary_read(swp__source *source, const swp__dtype *dtype, uint64_t count, uint64_t offset,
                            swp__binary_place place, uint32_t allow, swp__bar_list *list, swp_error *error)
{
    const reading r = {source, dtype, offset, place, allow, list, error};
    unsigned char block[BLOCK_SIZE]; /* a multiple of every size */
    size_t got = BLOCK_SIZE;
    swp_status status = reserve(&r, count);
    while (status == SWP_OK && got == BLOCK_SIZE) {
        status = swp__source_read(source, block, BLOCK_SIZE, &got, error);
        size_t at = 0;
        for (; status == SWP_OK && at + dtype->size_bytes <= got && list->count < count; at += dtype->size_bytes) {
            status = take(&r, block + at);
        }
        if (status == SWP_OK && at < got) {
            status =
                refuse_size(&r, list->count == count ? "the file goes on behind its last bar" : "the file is cut short", count);
        }
    }
    if (status == SWP_OK && count != SWP__COUNT_TO_THE_END && list->count < count) {
        status = refuse_size(&r, "the file is cut short", count);
    }
    return status;
}
