/* read_bars FILE [NAME=VALUE]...: reads a file by the options (as fields of swp_bars_options are called) and writes the
 * summary as a line, the closes as raw doubles and, where there are any, the stamps as raw int64; on failure `at` and the
 * message, and exits with the status. For the Python tests. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "swp/bars.h"

static int index_of(const char *value, const char *first, const char *second)
{
    return strcmp(value, first) == 0 ? 1 : strcmp(value, second) == 0 ? 2 : 0;
}

static void set_option(swp_bars_options *o, const char *name, size_t size, const char *value)
{
    const struct {
        const char *name, **text;
    } texts[] = {{"close", &o->close},         {"time", &o->time}, {"time_format", &o->time_format},
                 {"time_zone", &o->time_zone}, {"from", &o->from}, {"to", &o->to},
                 {"dtype", &o->dtype}};
    const struct {
        const char *name;
        char *sign;
    } signs[] = {{"delimiter", &o->delimiter}, {"decimal", &o->decimal}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strlen(texts[i].name) == size && memcmp(name, texts[i].name, size) == 0) {
            *texts[i].text = value;
            return;
        }
    }
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (strlen(signs[i].name) == size && memcmp(name, signs[i].name, size) == 0) {
            *signs[i].sign = value[0];
            return;
        }
    }
    switch (name[0]) {
    case 'a':
        o->allow = (uint32_t)strtoul(value, NULL, 10);
        return;
    case 'b':
        o->big_endian = value[0] == '1';
        return;
    case 'h':
        o->header = (swp_bars_header)index_of(value, "yes", "no");
        return;
    case 'o':
        o->order = (swp_bars_order)index_of(value, "sort", "");
        return;
    case 'd':
        o->duplicates = (swp_bars_duplicates)index_of(value, "first", "last");
        return;
    case 's':
        o->skip_lines = strtoull(value, NULL, 10);
        return;
    default:
        exit(99);
    }
}

int main(int argc, char **argv)
{
    swp_bars_options options = {0};
    for (int i = 2; i < argc; i++) {
        size_t size = strcspn(argv[i], "=");
        set_option(&options, argv[i], size, argv[i] + size + (argv[i][size] != '\0' ? 1 : 0));
    }
    swp_bars bars;
    swp_error error;
    swp_status status = swp_bars_read(argc > 1 ? argv[1] : NULL, &options, &bars, &error);
    if (status != SWP_OK) {
        printf("%" PRId64 "\n%s\n", (int64_t)error.at, error.message);
        return (int)status;
    }
    printf("%s\n", bars.summary);
    fwrite(bars.close, sizeof *bars.close, bars.bars_count, stdout);
    if (bars.time_ns != NULL) {
        fwrite(bars.time_ns, sizeof *bars.time_ns, bars.bars_count, stdout);
    }
    swp_bars_free(&bars);
    return fclose(stdout) == 0 ? 0 : 1;
}
