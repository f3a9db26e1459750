#include "bars/generate.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "base/number.h"
#include "base/whole_file.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "doubles are written as they lie in memory");

enum { BLOCK_BARS = 1 << 14 }; /* written before the flag and the stream are looked at again */

static void begin_f64(FILE *stream, uint64_t bars_count)
{
    (void)stream;
    (void)bars_count;
}

static void write_f64(FILE *stream, const double *close, size_t bars_count)
{
    fwrite(close, sizeof *close, bars_count, stream);
}

/* Magic, version 1.0, the header's length, and the header filled with spaces so that the closes begin at byte 128. */
static void begin_npy(FILE *stream, uint64_t bars_count)
{
    enum { HEADER_SIZE = 118 };
    fwrite("\x93NUMPY\x01\x00", 1, 8, stream);
    fputc(HEADER_SIZE, stream);
    fputc(0, stream);
    int length = fprintf(stream, "{'descr': '<f8', 'fortran_order': False, 'shape': (%" PRIu64 ",), }", bars_count);
    fprintf(stream, "%*s\n", HEADER_SIZE - 1 - length, "");
}

static void begin_csv(FILE *stream, uint64_t bars_count)
{
    (void)bars_count;
    fputs("close\n", stream);
}

static void write_csv(FILE *stream, const double *close, size_t bars_count)
{
    char text[SWP__NUMBER_SIZE];
    for (size_t i = 0; i < bars_count; i++) {
        size_t length = swp__number_format(close[i], text);
        text[length] = '\n';
        fwrite(text, 1, length + 1, stream);
    }
}

typedef struct format {
    const char *ending;
    void (*begin)(FILE *stream, uint64_t bars_count);
    void (*write)(FILE *stream, const double *close, size_t bars_count);
} format;

static const format formats[] = {
    {".npy", begin_npy, write_f64}, {".f64", begin_f64, write_f64}, {".csv", begin_csv, write_csv}};

static const format *find_format(const char *path)
{
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (size >= 4 && strcmp(path + size - 4, formats[i].ending) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}

static bool is_requested(const swp_cancel *cancel)
{
    return cancel != NULL && __atomic_load_n(&cancel->requested, __ATOMIC_RELAXED) != 0;
}

/* False: cancelled. Stops at what cannot be written, too, which the stream's error flag tells. */
static bool write_all(const format *f, FILE *stream, const double *close, uint64_t bars_count, const swp_cancel *cancel)
{
    f->begin(stream, bars_count);
    for (uint64_t i = 0; i < bars_count && ferror(stream) == 0; i += BLOCK_BARS) {
        if (is_requested(cancel)) {
            return false;
        }
        f->write(stream, close + i, bars_count - i < BLOCK_BARS ? (size_t)(bars_count - i) : BLOCK_BARS);
    }
    return true;
}

swp_status swp__closes_write(const char *path, const double *close, uint64_t bars_count, const swp_cancel *cancel,
                             swp_error *error)
{
    const format *f = find_format(path);
    if (f == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "%s: the name ends in none of .npy, .f64, .csv", path);
    }
    swp__whole_file file;
    swp_status status = swp__whole_file_open(path, &file, error);
    if (status != SWP_OK) {
        return status;
    }
    if (!write_all(f, file.stream, close, bars_count, cancel)) {
        swp__whole_file_abandon(&file);
        return swp__fail(error, SWP_CANCELLED, SWP_AT_NONE, "%s: interrupted; nothing was written", path);
    }
    return swp__whole_file_finish(&file, error);
}
