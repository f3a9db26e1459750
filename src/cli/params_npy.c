#include "cli/params_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include "base/error.h"
#include "bars/npy.h"
#include "bars/refuse.h"
#include "cli/lengths.h" /* SWP__COMBOS_MAX */

static swp_status check_header(const swp__source *source, const swp__npy_header *header, swp_error *error)
{
    char shape[64];
    swp__npy_shape_format(header, shape, sizeof shape);
    if (header->dtype.kind == 'f') {
        return swp__refuse_file(error, source->path, header->begin,
                                "dtype is floating point; parameters are whole numbers: save them as int64");
    }
    if (header->axes_count != 2 || header->shape[1] != SWP_PARAMS_COUNT || header->shape[0] == 0) {
        return swp__refuse_file(error, source->path, header->begin, "shape (%s): expected (n, 6), a combo a row", shape);
    }
    uint64_t count = header->shape[0];
    if (count > SWP__COMBOS_MAX) {
        return swp__fail_limit(error, SWP__COMBOS_MAX, count, "%s: %" PRIu64 " combos, at most %" PRIu64, source->path, count,
                               SWP__COMBOS_MAX);
    }
    uint64_t expected = header->data_offset + count * SWP_PARAMS_COUNT * header->dtype.size_bytes;
    if (source->size_bytes != 0 && source->size_bytes != expected) {
        return swp__refuse_file(error, source->path, header->data_offset,
                                "the file has %" PRIu64 " bytes; with the shape (%s) it would have %" PRIu64,
                                source->size_bytes, shape, expected);
    }
    return SWP_OK;
}

/* 0: none that a parameter may have. */
static int64_t param_of_bits(const swp__dtype *dtype, uint64_t bits)
{
    bool negative = dtype->kind == 'i' && (bits >> (dtype->size_bytes * 8 - 1)) != 0;
    return negative || bits > SWP_PARAM_MAX ? 0 : (int64_t)bits;
}

/* Number `i` of the file: rows lie one after the other, or (Fortran order) columns do. */
static swp_status take_number(const swp__source *source, const swp__npy_header *header, uint64_t i, const unsigned char *bytes,
                              int64_t *values, swp_error *error)
{
    uint64_t rows_count = header->shape[0];
    uint64_t row = header->is_fortran ? i % rows_count : i / SWP_PARAMS_COUNT;
    uint64_t param = header->is_fortran ? i / rows_count : i % SWP_PARAMS_COUNT;
    int64_t value = param_of_bits(&header->dtype, swp__dtype_bits(&header->dtype, bytes));
    if (value == 0) {
        return swp__refuse_file(error, source->path, header->data_offset + i * header->dtype.size_bytes,
                                "row %" PRIu64 " (from 0): %s is not within 1..%lld", row, swp__params_names[param],
                                SWP_PARAM_MAX);
    }
    values[row * SWP_PARAMS_COUNT + param] = value;
    return SWP_OK;
}

static swp_status read_numbers(swp__source *source, const swp__npy_header *header, int64_t *values, swp_error *error)
{
    enum { BLOCK_NUMBERS = 4096 };
    unsigned char block[BLOCK_NUMBERS * sizeof(uint64_t)];
    size_t size = header->dtype.size_bytes;
    uint64_t count = header->shape[0] * SWP_PARAMS_COUNT;
    swp_status status = SWP_OK;
    for (uint64_t i = 0; i < count && status == SWP_OK;) {
        size_t wanted = count - i < BLOCK_NUMBERS ? (size_t)(count - i) : BLOCK_NUMBERS, got;
        status = swp__source_read(source, block, wanted * size, &got, error);
        if (status == SWP_OK && got < wanted * size) {
            status = swp__refuse_file(error, source->path, header->data_offset + i * size + got, "the file is cut short");
        }
        for (size_t k = 0; k < wanted && status == SWP_OK; k++, i++) {
            status = take_number(source, header, i, block + k * size, values, error);
        }
    }
    return status;
}

static swp_status read_rows(swp__source *source, swp__params_rows *rows, swp_error *error)
{
    swp__npy_header header;
    swp_status status = swp__npy_header_read(source, &header, error);
    status = status == SWP_OK ? check_header(source, &header, error) : status;
    if (status != SWP_OK) {
        return status;
    }
    int64_t *values = malloc(header.shape[0] * SWP_PARAMS_COUNT * sizeof *values);
    if (values == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "%s: no memory for %" PRIu64 " combos", source->path,
                         header.shape[0]);
    }
    status = read_numbers(source, &header, values, error);
    if (status != SWP_OK) {
        free(values);
        return status;
    }
    *rows = (swp__params_rows){values, header.shape[0]};
    return SWP_OK;
}

swp_status swp__params_npy_read(const char *path, swp__params_rows *rows, swp_error *error)
{
    swp__source source;
    swp_status status = swp__source_open(path, &source, error);
    if (status != SWP_OK) {
        return status;
    }
    status = read_rows(&source, rows, error);
    swp__source_close(&source);
    return status;
}
