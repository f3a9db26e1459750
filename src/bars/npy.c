/* The header is a Python dictionary, {'descr': '<f8', 'fortran_order': False, 'shape': (3,), }: read as just that, with
 * keys in any order, and nothing is believed that the file's size does not bear out. */
#include "bars/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "bars/header.h" /* swp__column_parse */
#include "bars/refuse.h"

enum {
    PREFIX_SIZE = 10,        /* magic, version, and 2 bytes of the header's size: all of it in version 1 */
    HEADER_SIZE_MAX = 10000, /* what NumPy itself reads */
    DESCR_SIZE = 16,
};

/* The dictionary while it is read. */
typedef struct entries {
    char descr[DESCR_SIZE]; /* "<f8"; "" when it is not a plain type */
    bool has_descr, has_order, has_shape;
    swp__npy_header *header;
} entries;

/* What is left of the dictionary's text. */
typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_spaces(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t')) {
        c->at++;
    }
}

static bool take_char(cursor *c, char expected)
{
    skip_spaces(c);
    if (c->at == c->end || *c->at != expected) {
        return false;
    }
    c->at++;
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    size_t size = strlen(word);
    skip_spaces(c);
    if ((size_t)(c->end - c->at) < size || memcmp(c->at, word, size) != 0) {
        return false;
    }
    c->at += size;
    return true;
}

/* 'text' or "text", without escapes. */
static bool take_string(cursor *c, char *text, size_t size)
{
    skip_spaces(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) {
        return false;
    }
    char mark = *c->at++;
    size_t length = 0;
    for (; c->at < c->end && *c->at != mark; c->at++) {
        if (length + 1 == size || *c->at == '\\') {
            return false;
        }
        text[length++] = *c->at;
    }
    text[length] = '\0';
    return take_char(c, mark);
}

/* (3,) or (2, 3) or () */
static bool take_shape(cursor *c, swp__npy_header *header)
{
    if (!take_char(c, '(')) {
        return false;
    }
    while (!take_char(c, ')')) {
        uint64_t size = 0;
        skip_spaces(c);
        const char *first = c->at;
        for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
            if (__builtin_mul_overflow(size, UINT64_C(10), &size) ||
                __builtin_add_overflow(size, (uint64_t)(*c->at - '0'), &size)) {
                return false;
            }
        }
        if (c->at == first || header->axes_count == SWP__NPY_AXES_MAX) {
            return false;
        }
        header->shape[header->axes_count++] = size;
        if (!take_char(c, ',')) {
            return take_char(c, ')');
        }
    }
    return true;
}

static bool take_entry(cursor *c, entries *e)
{
    char key[DESCR_SIZE];
    if (!take_string(c, key, sizeof key) || !take_char(c, ':')) {
        return false;
    }
    if (strcmp(key, "descr") == 0 && !e->has_descr) {
        e->has_descr = true;
        return take_string(c, e->descr, sizeof e->descr);
    }
    if (strcmp(key, "fortran_order") == 0 && !e->has_order) {
        e->has_order = true;
        e->header->is_fortran = take_word(c, "True");
        return e->header->is_fortran || take_word(c, "False");
    }
    if (strcmp(key, "shape") == 0 && !e->has_shape) {
        e->has_shape = true;
        return take_shape(c, e->header);
    }
    return false;
}

static bool parse_entries(const char *text, size_t size, entries *e)
{
    cursor c = {text, text + size};
    if (!take_char(&c, '{')) {
        return false;
    }
    while (!take_char(&c, '}')) {
        if (!take_entry(&c, e)) {
            return false;
        }
        if (!take_char(&c, ',')) {
            if (!take_char(&c, '}')) {
                return false;
            }
            break;
        }
    }
    skip_spaces(&c);
    return c.at == c.end && e->has_descr && e->has_order && e->has_shape;
}

/* Reads magic, version and the dictionary's text. */
static swp_status read_header_text(swp__source *source, char text[HEADER_SIZE_MAX], size_t *size, uint64_t *offset,
                                   swp_error *error)
{
    unsigned char prefix[PREFIX_SIZE + 2] = {0};
    size_t got;
    swp_status status = swp__source_read(source, prefix, PREFIX_SIZE, &got, error);
    if (status != SWP_OK) {
        return status;
    }
    if (got < PREFIX_SIZE || memcmp(prefix, "\x93NUMPY", 6) != 0) {
        return swp__refuse_file(error, source->path, 0,
                                got == 0 ? "the file is empty" : "not a .npy file: its first bytes differ");
    }
    if (prefix[6] < 1 || prefix[6] > 3) {
        return swp__refuse_file(error, source->path, 6, ".npy version %d, expected 1, 2 or 3", prefix[6]);
    }
    *size = (size_t)prefix[8] | (size_t)prefix[9] << 8;
    *offset = PREFIX_SIZE;
    if (prefix[6] > 1) {
        status = swp__source_read(source, prefix + PREFIX_SIZE, 2, &got, error);
        *offset += got;
        if (status == SWP_OK && got < 2) {
            return swp__refuse_file(error, source->path, *offset, "the file ends inside its .npy header");
        }
        *size |= (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
    }
    if (status == SWP_OK && *size > HEADER_SIZE_MAX) {
        return swp__refuse_file(error, source->path, 8, "the .npy header has more than %d bytes", HEADER_SIZE_MAX);
    }
    if (status == SWP_OK) {
        status = swp__source_read(source, text, *size, &got, error);
    }
    if (status == SWP_OK && got < *size) {
        return swp__refuse_file(error, source->path, *offset + got, "the file ends inside its .npy header");
    }
    *offset += *size;
    return status;
}

void swp__npy_shape_format(const swp__npy_header *header, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < header->axes_count && length < size; i++) {
        length += (size_t)snprintf(text + length, size - length, "%s%" PRIu64, i > 0 ? ", " : "", header->shape[i]);
    }
}

swp_status swp__npy_header_read(swp__source *source, swp__npy_header *header, swp_error *error)
{
    char text[HEADER_SIZE_MAX];
    size_t size = 0;
    uint64_t offset = 0;
    swp_status status = read_header_text(source, text, &size, &offset, error);
    if (status != SWP_OK) {
        return status;
    }
    swp__npy_header made = {.begin = offset - size, .data_offset = offset};
    entries e = {.header = &made};
    if (!parse_entries(text, size, &e)) {
        return swp__refuse_file(
            error, source->path, made.begin,
            "the .npy header is not {'descr': ..., 'fortran_order': ..., 'shape': (...), } of a plain array");
    }
    bool has_sign = e.descr[0] != '\0' && strchr("<>|=", e.descr[0]) != NULL; /* NumPy always writes one */
    if (!has_sign || !swp__dtype_parse(e.descr, false, &made.dtype)) {
        return swp__refuse_file(error, source->path, made.begin,
                                "dtype '%s' is not read; expected f2, f4, f8 or an integer of 1 to 8 bytes", e.descr);
    }
    *header = made;
    return SWP_OK;
}

/* Which of the columns holds the closes: the only one, or the one that `close` says. */
static swp_status choose_column(const swp__source *source, const swp__npy_header *header, const char *close, uint64_t *column,
                                swp_error *error)
{
    char shape[64], quoted[SWP__QUOTED_SIZE];
    swp__npy_shape_format(header, shape, sizeof shape);
    uint64_t columns_count = header->axes_count == 2 ? header->shape[1] : 1;
    if (header->axes_count == 0 || header->axes_count > 2) {
        return swp__refuse_file(error, source->path, header->begin,
                                "shape (%s): expected one axis, the closes, or two, bars by columns", shape);
    }
    if (header->shape[0] == 0 || columns_count == 0) {
        return swp__refuse_file(error, source->path, header->begin, "no bars: the shape is (%s%s)", shape,
                                header->axes_count == 1 ? "," : "");
    }
    *column = 0;
    if (close == NULL && columns_count > 1) {
        return swp__refuse_file(error, source->path, header->begin,
                                "shape (%s): bars by %" PRIu64 " columns; choose the closes by --close N, from 1", shape,
                                columns_count);
    }
    if (close != NULL && !swp__column_parse(close, columns_count, column)) {
        return swp__refuse_file(error, source->path, header->begin, "no column %s: the shape is (%s%s), columns count from 1",
                                swp__quote(close, strlen(close), quoted), shape, header->axes_count == 1 ? "," : "");
    }
    return SWP_OK;
}

/* .npy of float32, (2000, 5) by columns */
static void describe(const swp__npy_header *header, swp__facts *facts)
{
    char dtype[SWP__DTYPE_TEXT_SIZE], shape[64];
    swp__dtype_describe(&header->dtype, dtype);
    swp__npy_shape_format(header, shape, sizeof shape);
    snprintf(facts->numbers, sizeof facts->numbers, ".npy of %s, (%s%s)%s", dtype, shape, header->axes_count == 1 ? "," : "",
             header->axes_count == 1 ? ""
             : header->is_fortran    ? " in Fortran order"
                                     : " in C order");
    facts->columns_count = header->axes_count == 2 ? header->shape[1] : 1;
}

swp_status swp__npy_read(swp__source *source, const char *close, uint32_t allow, swp__bar_list *list, swp__facts *facts,
                         swp_error *error)
{
    swp__npy_header header;
    uint64_t column, numbers_count;
    swp_status status = swp__npy_header_read(source, &header, error);
    status = status == SWP_OK ? choose_column(source, &header, close, &column, error) : status;
    if (status != SWP_OK) {
        return status;
    }
    describe(&header, facts);
    facts->close = column;
    const swp__binary_form form = {
        .dtype = header.dtype,
        .bars_count = header.shape[0],
        .columns_count = header.axes_count == 2 ? header.shape[1] : 1,
        .close_column = column,
        .is_by_columns = header.is_fortran,
        .offset = header.data_offset,
        .place = SWP__AT_BYTE,
    };
    if (__builtin_mul_overflow(form.bars_count, form.columns_count, &numbers_count) || numbers_count == SWP__COUNT_TO_THE_END) {
        return swp__refuse_file(error, source->path, header.data_offset,
                                "the file is cut short: the header says %" PRIu64 " x %" PRIu64 " numbers", form.bars_count,
                                form.columns_count);
    }
    return swp__binary_read(source, &form, allow, list, error);
}
