/* From a file's name to its reader, and from what was read to one line that says so. */
#include "bars/read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bars/delimiter.h"
#include "bars/npy.h"
#include "bars/refuse.h"
#include "bars/source.h"
#include "bars/table.h"
#include "base/error.h"
#include "base/fpenv.h"

/* The size of `path` without `ending`; 0 when it does not end so. */
static size_t stem_size(const char *path, size_t size, const char *ending)
{
    size_t ending_size = strlen(ending);
    return size >= ending_size && memcmp(path + size - ending_size, ending, ending_size) == 0 ? size - ending_size : 0;
}

static swp_status check_options(const swp_bars_options *options, swp_error *error)
{
    if (options->delimiter != 0 && !swp__is_delimiter(options->delimiter)) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "delimiter is '%c', expected one of , ; | or a tab",
                         options->delimiter >= ' ' && options->delimiter < 0x7F ? options->delimiter : '?');
    }
    if (options->decimal != 0 && options->decimal != '.' && options->decimal != ',') {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "decimal is neither a point nor a comma");
    }
    if (options->decimal == ',' && options->delimiter == ',') {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "a comma cannot be the delimiter and the decimal sign");
    }
    swp__dtype dtype;
    if (options->dtype != NULL && !swp__dtype_parse(options->dtype, false, &dtype)) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE,
                         "dtype is \"%.40s\", expected f2, f4, f8, i1, i2, i4, i8, u1, u2, u4 or u8", options->dtype);
    }
    if ((options->allow & ~(uint32_t)SWP_ALLOW_ALL) != 0) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "allow is %" PRIu32 ", expected a sum of 1, 2 and 4",
                         options->allow);
    }
    return SWP_OK;
}

/* 2017-04-19 09:00 .. 2018-02-07 15:00, in UTC where the file says what instants it means. */
static void describe_time(const swp__bar_list *list, swp__time_form form, char *text, size_t size)
{
    char first[SWP__TIME_TEXT_SIZE], last[SWP__TIME_TEXT_SIZE];
    int64_t from = list->time_ns[0], to = list->time_ns[list->count - 1];
    swp__time_detail detail = SWP__TIME_TO_THE_DAY;
    if (form != SWP__TIME_DATE && form != SWP__TIME_COMPACT_DATE) {
        swp__time_detail other = swp__time_detail_of(to);
        detail = swp__time_detail_of(from);
        detail = other > detail ? other : detail;
    }
    swp__time_format(from, detail, first);
    swp__time_format(to, detail, last);
    bool is_instant = form >= SWP__TIME_OFFSET && form != SWP__TIME_COMPACT_DATE && form != SWP__TIME_COMPACT;
    snprintf(text, size, "%s .. %s%s", first, last, is_instant ? " UTC" : "");
}

static void summarise(const swp__bar_list *list, const swp__facts *facts, char *text, size_t size)
{
    char time[2 * SWP__TIME_TEXT_SIZE + 16] = "no time stamps", column[SWP__QUOTED_SIZE + 16] = "", nans[32] = "",
                                        more[160] = "";
    size_t used = 0;
    if (list->has_time) {
        describe_time(list, facts->time_form, time, sizeof time);
    }
    if (facts->close_column[0] != '\0') {
        snprintf(column, sizeof column, ", close column %s", facts->close_column);
    }
    if (list->nan_count > 0) {
        snprintf(nans, sizeof nans, ", %" PRIu64 " NaN", list->nan_count);
    }
    if (facts->layout != NULL) {
        used += (size_t)snprintf(more, sizeof more, ", %s", facts->layout);
    }
    if (facts->date_order != SWP__YEAR_FIRST) {
        used += (size_t)snprintf(more + used, sizeof more - used, ", %s first",
                                 facts->date_order == SWP__DAY_FIRST ? "day" : "month");
    }
    if (facts->jumps_count > 0) {
        snprintf(more + used, sizeof more - used, ", %" PRIu64 " jump%s of 100x or more: line %" PRIu64 "%s",
                 facts->jumps_count, facts->jumps_count == 1 ? "" : "s", facts->jump_line,
                 facts->jumps_count == 1 ? "" : ", ...");
    }
    snprintf(text, size, "read %" PRIu64 " bar%s, %s%s%s%s", list->count, list->count == 1 ? "" : "s", time, column, nans,
             more);
}

static swp_status read_raw(swp__source *source, const swp_bars_options *options, swp__bar_list *list, swp__facts *facts,
                           swp_error *error)
{
    swp__binary_form form = {.bars_count = SWP__COUNT_TO_THE_END, .columns_count = 1, .place = SWP__AT_INDEX};
    bool known = swp__dtype_parse(options->dtype != NULL ? options->dtype : "f8", options->big_endian, &form.dtype);
    (void)known; /* check_options has seen to it */
    char dtype[SWP__DTYPE_TEXT_SIZE];
    swp__dtype_describe(&form.dtype, dtype);
    snprintf(facts->numbers, sizeof facts->numbers, "raw %s", dtype);
    swp_status status = swp__binary_read(source, &form, options->allow, list, error);
    if (status == SWP_OK && list->count == 0) {
        return swp__refuse_file(error, source->path, 0, "the file is empty");
    }
    return status;
}

/* What only columns with names and stamps have would otherwise be passed over in silence. */
static swp_status refuse_text_options(const char *path, const swp_bars_options *options, const char *close, swp_error *error)
{
    const struct {
        const char *name, *value;
    } given[] = {
        {"close", close},        {"time", options->time == NULL || strcmp(options->time, "none") == 0 ? NULL : options->time},
        {"open", options->open}, {"high", options->high},
        {"low", options->low},   {"volume", options->volume},
        {"from", options->from}, {"to", options->to}};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        if (given[i].value != NULL) {
            return swp__refuse_file(error, path, 0, "--%s has no meaning here: the file holds numbers without names or stamps",
                                    given[i].name);
        }
    }
    return SWP_OK;
}

typedef enum file_kind { FILE_TEXT, FILE_NPY, FILE_RAW } file_kind;

/* By the name, without the ending of what it is packed by; --dtype has the last word. */
static file_kind kind_of(const char *path, const swp_bars_options *options, bool *is_packed)
{
    size_t gzip = stem_size(path, strlen(path), ".gz"), zstd = stem_size(path, strlen(path), ".zst");
    size_t size = gzip > 0 ? gzip : zstd > 0 ? zstd : strlen(path);
    *is_packed = size < strlen(path);
    if (options->dtype != NULL) {
        return FILE_RAW;
    }
    return stem_size(path, size, ".npy") > 0 ? FILE_NPY : stem_size(path, size, ".f64") > 0 ? FILE_RAW : FILE_TEXT;
}

static swp_status read_source(swp__source *source, const swp_bars_options *options, swp__bar_list *list, swp__facts *facts,
                              swp_error *error)
{
    bool is_packed;
    swp_status status = SWP_OK;
    file_kind kind = kind_of(source->path, options, &is_packed);
    if (options->big_endian && kind != FILE_RAW) {
        return swp__refuse_file(error, source->path, 0, "--big-endian is of raw numbers, which --dtype says the file holds");
    }
    if (kind != FILE_RAW || is_packed) { /* raw numbers may begin like anything */
        status = swp__source_unpack(source, error);
        facts->packing = status == SWP_OK ? swp__unpack_name(source->unpack) : NULL;
    }
    if (status == SWP_OK && kind == FILE_TEXT) {
        return swp__table_read(source, options, list, facts, error);
    }
    if (status == SWP_OK) {
        status = refuse_text_options(source->path, options, kind == FILE_RAW ? options->close : NULL, error);
    }
    if (status != SWP_OK) {
        return status;
    }
    return kind == FILE_NPY ? swp__npy_read(source, options->close, options->allow, list, facts, error)
                            : read_raw(source, options, list, facts, error);
}

swp_status swp__bars_read(const char *path, const swp_bars_options *options, swp__bar_list *list, swp__facts *facts,
                          swp_error *error)
{
    swp__source source;
    swp_status status = check_options(options, error);
    if (status == SWP_OK) {
        status = swp__source_open(path, &source, error);
    }
    if (status != SWP_OK) {
        return status;
    }
    uint64_t fpenv = swp__fpenv_enter();
    status = read_source(&source, options, list, facts, error);
    swp__source_close(&source);
    swp__fpenv_leave(fpenv);
    if (status == SWP_OK) {
        swp__bar_list_trim(list);
    } else {
        swp__bar_list_fini(list);
    }
    return status;
}

void swp__bars_take(swp__bar_list *list, const swp__facts *facts, swp_bars *bars)
{
    free(list->line);
    *bars = (swp_bars){.close = list->close,
                       .open = list->beside[SWP__OPEN],
                       .high = list->beside[SWP__HIGH],
                       .low = list->beside[SWP__LOW],
                       .volume = list->beside[SWP__VOLUME],
                       .time_ns = list->time_ns,
                       .bars_count = list->count,
                       .nan_count = list->nan_count,
                       .jumps_count = facts->jumps_count};
    summarise(list, facts, bars->summary, sizeof bars->summary);
    *list = (swp__bar_list){0};
}

swp_status swp_bars_read(const char *path, const swp_bars_options *options, swp_bars *bars, swp_error *error)
{
    static const swp_bars_options defaults;
    if (path == NULL || bars == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, path == NULL ? 1 : 3, "bars: NULL pointer");
    }
    swp__bar_list list = {0};
    swp__facts facts = {0};
    swp_status status = swp__bars_read(path, options != NULL ? options : &defaults, &list, &facts, error);
    if (status == SWP_OK) {
        swp__bars_take(&list, &facts, bars);
    }
    return status;
}

void swp_bars_free(swp_bars *bars)
{
    if (bars != NULL) {
        free(bars->close);
        free(bars->open);
        free(bars->high);
        free(bars->low);
        free(bars->volume);
        free(bars->time_ns);
        *bars = (swp_bars){0};
    }
}
