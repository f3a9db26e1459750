#include "bars/binary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "bars/refuse.h"
#include "base/close_policy.h"
#include "base/number.h"

enum { BLOCK_SIZE = 1 << 16 };

static const struct {
    const char *shorter, *name;
} known[] = {{"f2", "float16"}, {"f4", "float32"}, {"f8", "float64"}, {"i1", "int8"},   {"i2", "int16"}, {"i4", "int32"},
             {"i8", "int64"},   {"u1", "uint8"},   {"u2", "uint16"},  {"u4", "uint32"}, {"u8", "uint64"}};
enum { KNOWN_COUNT = sizeof known / sizeof known[0] };

bool swp__dtype_parse(const char *text, bool is_big_endian, swp__dtype *dtype)
{
    bool has_sign = text[0] != '\0' && strchr("<>|=", text[0]) != NULL;
    const char *name = text + (has_sign ? 1 : 0);
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        if (strcmp(name, known[i].shorter) == 0 || (!has_sign && strcmp(name, known[i].name) == 0)) {
            *dtype = (swp__dtype){known[i].shorter[0], (size_t)(known[i].shorter[1] - '0'),
                                  has_sign ? text[0] == '>' : is_big_endian};
            return true;
        }
    }
    return false;
}

void swp__dtype_describe(const swp__dtype *dtype, char text[SWP__DTYPE_TEXT_SIZE])
{
    size_t i = 0;
    while (known[i].shorter[0] != dtype->kind || known[i].shorter[1] - '0' != (int)dtype->size_bytes) {
        i++;
    }
    snprintf(text, SWP__DTYPE_TEXT_SIZE, "%s%s", dtype->is_big_endian && dtype->size_bytes > 1 ? "big-endian " : "",
             known[i].name);
}

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

/* Where the reading stands. Numbers are counted through the whole file, bars by the column that is kept. */
typedef struct reading {
    swp__source *source;
    const swp__binary_form *form;
    uint64_t numbers_count; /* of all columns; SWP__COUNT_TO_THE_END */
    uint64_t seen;          /* numbers read so far */
    uint64_t next, step;    /* the number that is the next close, and how far apart they are */
    uint32_t allow;
    swp__bar_list *list;
    swp_error *error;
} reading;

static uint64_t place_of(const reading *r, uint64_t number)
{
    return r->form->place == SWP__AT_BYTE ? r->form->offset + number * r->form->dtype.size_bytes : number;
}

static swp_status take(const reading *r, const unsigned char *bytes)
{
    uint64_t bar = r->list->count, bits = swp__dtype_bits(&r->form->dtype, bytes);
    double close;
    if (!widen(&r->form->dtype, bits, &close)) {
        return swp__refuse_file(r->error, r->source->path, place_of(r, r->next),
                                "close of bar %" PRIu64 " is an integer beyond 2^53, which a double does not hold", bar);
    }
    const char *why = swp__close_is_plain(close) ? NULL : swp__close_refusal(close, r->allow);
    if (why != NULL) {
        char text[SWP__NUMBER_SIZE];
        swp__number_format(close, text);
        return swp__refuse_file(r->error, r->source->path, place_of(r, r->next), "close of bar %" PRIu64 ", %s, %s", bar, text,
                                why);
    }
    return swp__bar_list_push(r->list, &(swp__bar){.close = close}, r->error);
}

/* The closes among the block's whole numbers, as far as the file should go. */
static swp_status take_block(reading *r, const unsigned char *block, size_t size)
{
    size_t size_bytes = r->form->dtype.size_bytes;
    uint64_t count = size / size_bytes, wanted = r->numbers_count - r->seen;
    uint64_t end = r->seen + (count < wanted ? count : wanted);
    swp_status status = SWP_OK;
    while (status == SWP_OK && r->next < end && r->list->count < r->form->bars_count) {
        status = take(r, block + (r->next - r->seen) * size_bytes);
        r->next += r->step;
    }
    r->seen = end;
    return status;
}

static swp_status refuse_size(const reading *r, const char *what)
{
    if (r->numbers_count == SWP__COUNT_TO_THE_END) {
        return swp__refuse_file(r->error, r->source->path, place_of(r, r->seen),
                                "the file ends inside bar %" PRIu64 ": its size is no multiple of %zu bytes", r->seen,
                                r->form->dtype.size_bytes);
    }
    return swp__refuse_file(r->error, r->source->path, place_of(r, r->seen),
                            "%s: the header says %" PRIu64 " numbers of %zu bytes", what, r->numbers_count,
                            r->form->dtype.size_bytes);
}

/* Room by the size that the file really has, and no more than was asked for. */
static swp_status reserve(const reading *r)
{
    uint64_t bytes = r->source->size_bytes > r->form->offset ? r->source->size_bytes - r->form->offset : 0;
    uint64_t there = bytes / r->form->dtype.size_bytes;
    return swp__bar_list_reserve(r->list, there < r->form->bars_count ? there : r->form->bars_count, r->error);
}

/* Numbers of 4 and 8 bytes do not consist of letters and digits alone, so many in a row. */
static bool is_text(const reading *r, const unsigned char *block, size_t size)
{
    enum { ENOUGH = 32 };
    if (r->form->place != SWP__AT_INDEX || r->form->dtype.size_bytes < 4 || r->seen > 0 || size < ENOUGH) {
        return false;
    }
    size_t at = 0;
    while (at < ENOUGH && ((block[at] >= ' ' && block[at] < 0x7F) || (block[at] >= '\t' && block[at] <= '\r'))) {
        at++;
    }
    return at == ENOUGH;
}

static swp_status judge_block(reading *r, const unsigned char *block, size_t size)
{
    if (is_text(r, block, size)) {
        return swp__refuse_file(r->error, r->source->path, 0, "this is a text, and was to be read as raw numbers of %zu bytes",
                                r->form->dtype.size_bytes);
    }
    uint64_t before = r->seen;
    swp_status status = take_block(r, block, size);
    bool all = (r->seen - before) * r->form->dtype.size_bytes == size;
    if (status == SWP_OK && !all) {
        status = refuse_size(r, r->seen == r->numbers_count ? "the file goes on behind its last bar" : "the file is cut short");
    }
    return status;
}

swp_status swp__binary_read(swp__source *source, const swp__binary_form *form, uint32_t allow, swp__bar_list *list,
                            swp_error *error)
{
    bool is_by_columns = form->is_by_columns;
    reading r = {
        .source = source,
        .form = form,
        .numbers_count = form->bars_count == SWP__COUNT_TO_THE_END ? form->bars_count : form->bars_count * form->columns_count,
        .next = form->close_column * (is_by_columns ? form->bars_count : 1),
        .step = is_by_columns ? 1 : form->columns_count,
        .allow = allow,
        .list = list,
        .error = error,
    };
    unsigned char block[BLOCK_SIZE]; /* a multiple of every size */
    size_t got = BLOCK_SIZE;
    swp_status status = reserve(&r);
    while (status == SWP_OK && got == BLOCK_SIZE) {
        status = swp__source_read(source, block, BLOCK_SIZE, &got, error);
        status = status == SWP_OK ? judge_block(&r, block, got) : status;
    }
    if (status == SWP_OK && r.numbers_count != SWP__COUNT_TO_THE_END && r.seen < r.numbers_count) {
        status = refuse_size(&r, "the file is cut short");
    }
    return status;
}
