#include "bars/generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "base/number.h"
#include "base/whole_file.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "doubles are written as they lie in memory");

static void write_f64(FILE *stream, const double *close, uint64_t bars_count)
{
    fwrite(close, sizeof *close, bars_count, stream);
}

/* Magic, version 1.0, the header's length, and the header filled with spaces so that the closes begin at byte 128. */
static void write_npy(FILE *stream, const double *close, uint64_t bars_count)
{
    enum { HEADER_SIZE = 118 };
    fwrite("\x93NUMPY\x01\x00", 1, 8, stream);
    fputc(HEADER_SIZE, stream);
    fputc(0, stream);
    int length = fprintf(stream, "{'descr': '<f8', 'fortran_order': False, 'shape': (%" PRIu64 ",), }", bars_count);
    fprintf(stream, "%*s\n", HEADER_SIZE - 1 - length, "");
    write_f64(stream, close, bars_count);
}

static void write_csv(FILE *stream, const double *close, uint64_t bars_count)
{
    char text[SWP__NUMBER_SIZE];
    fputs("close\n", stream);
    for (uint64_t i = 0; i < bars_count; i++) {
        size_t length = swp__number_format(close[i], text);
        text[length] = '\n';
        fwrite(text, 1, length + 1, stream);
    }
}

static const struct {
    const char *ending;
    void (*write)(FILE *stream, const double *close, uint64_t bars_count);
} formats[] = {{".npy", write_npy}, {".f64", write_f64}, {".csv", write_csv}};

swp_status swp__closes_write(const char *path, const double *close, uint64_t bars_count, swp_error *error)
{
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (size < 4 || strcmp(path + size - 4, formats[i].ending) != 0) {
            continue;
        }
        swp__whole_file file;
        swp_status status = swp__whole_file_open(path, &file, error);
        if (status != SWP_OK) {
            return status;
        }
        formats[i].write(file.stream, close, bars_count);
        return swp__whole_file_finish(&file, error);
    }
    return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "%s: the name ends in none of .npy, .f64, .csv", path);
}
