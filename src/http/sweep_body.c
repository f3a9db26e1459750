#include "http/sweep_body.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include "base/error.h"
#include "base/number.h"
#include "http/memory.h"
#include "wire/wire.h"

const char *const swp__sweep_results[SWP__SWEEP_RESULTS_COUNT] = {
    "pnl", "trades", "first_bar", "open_side", "open_entry_bar", "open_entry", "open_last", "open_pnl",
};

static const char *const allow_names[] = {"nan", "inf", "nonpositive"}; /* bit i of SWP_ALLOW_* */
static const char *const entry_names[] = {"first", "cross"};            /* swp_entry */
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- failures ---- */

/* How many bytes of `text` to show: at most `most`, and no half of a character. */
static int shown(const char *text, size_t most)
{
    size_t size = strnlen(text, most);
    while (size > 0 && text[size] != '\0' && ((unsigned char)text[size] & 0xC0u) == 0x80u) {
        size--;
    }
    return (int)size;
}

/* "an array", "\"abc\"", "1.5": what was got, for a person. */
static const char *describe(const json_t *value, char text[40])
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        snprintf(text, 40, "\"%.*s\"", shown(json_string_value(value), 30), json_string_value(value));
        return text;
    case JSON_INTEGER:
    case JSON_REAL:
        swp__number_format(json_number_value(value), text);
        return text;
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        return "null";
    }
    return "?";
}

static swp_status fail_member(const char *name, const json_t *value, const char *expected, swp_error *error)
{
    char text[40];
    return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "%s is %s, expected %s", name, describe(value, text), expected);
}

static swp_status fail_item(const char *name, uint64_t index, const json_t *value, const char *expected, swp_error *error)
{
    char text[40];
    return swp__fail(error, SWP_BAD_PARAM, index, "%s, item %" PRIu64 ", is %s, expected %s", name, index,
                     describe(value, text), expected);
}

static swp_status fail_memory(swp_error *error)
{
    return swp__fail(error, SWP_LIMIT, SWP_AT_NONE,
                     "the request takes more memory than is left of --max-memory: send less, or name a series that was loaded");
}

/* ---- one value ---- */

/* True when it is a whole number that a double holds as such. */
static bool whole_of(const json_t *value, int64_t *number)
{
    double real = json_is_number(value) ? json_number_value(value) : (double)NAN;
    if (!(fabs(real) <= 0x1p53) || real != floor(real)) {
        return false;
    }
    *number = (int64_t)real;
    return true;
}

/* False when it is none of them. */
static bool index_of(const json_t *value, const char *const *names, size_t count, uint32_t *index)
{
    for (size_t i = 0; i < count; i++) {
        if (names[i] != NULL && json_is_string(value) && strcmp(json_string_value(value), names[i]) == 0) {
            *index = (uint32_t)i;
            return true;
        }
    }
    return false;
}

static bool real_of(const json_t *value, double *real)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    static const double values[] = {(double)NAN, HUGE_VAL, -HUGE_VAL};
    uint32_t word;
    if (json_is_number(value)) {
        *real = json_number_value(value);
        return true;
    }
    if (index_of(value, words, COUNT(words), &word)) {
        *real = values[word];
        return true;
    }
    return false;
}

/* A list of names as bits. */
static swp_status read_bits(const char *name, const json_t *value, const char *const *names, size_t count, const char *expected,
                            uint32_t *bits, swp_error *error)
{
    if (!json_is_array(value)) {
        return fail_member(name, value, "an array", error);
    }
    uint32_t read = 0, bit;
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (!index_of(json_array_get(value, i), names, count, &bit)) {
            return fail_item(name, i, json_array_get(value, i), expected, error);
        }
        read |= 1u << bit;
    }
    *bits = read;
    return SWP_OK;
}

/* ---- the members ---- */

static swp_status read_close(const json_t *value, swp__sweep_body *body, swp_error *error)
{
    if (!json_is_array(value)) {
        return fail_member("close", value, "an array of numbers", error);
    }
    body->bars_count = json_array_size(value);
    body->close = swp__memory_array(body->bars_count, sizeof *body->close);
    if (body->close == NULL) {
        return fail_memory(error);
    }
    for (size_t i = 0; i < body->bars_count; i++) {
        if (!real_of(json_array_get(value, i), &body->close[i])) {
            return fail_item("close", i, json_array_get(value, i), "a number, \"NaN\", \"Infinity\" or \"-Infinity\"", error);
        }
    }
    return SWP_OK;
}

static swp_status read_series(const json_t *value, swp__sweep_body *body, swp_error *error)
{
    if (!json_is_string(value)) {
        return fail_member("series", value, "the name of a series", error);
    }
    body->series = swp__memory_array(json_string_length(value) + 1, 1);
    if (body->series == NULL) {
        return fail_memory(error);
    }
    memcpy(body->series, json_string_value(value), json_string_length(value) + 1);
    return SWP_OK;
}

static swp_status alloc_rows(swp__sweep_body *body, uint64_t count, swp_error *error)
{
    if (body->rows != NULL) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "both length and params are given, expected one of them");
    }
    body->combos_count = count;
    body->rows = swp__memory_array(count, SWP_PARAMS_COUNT * sizeof *body->rows);
    return body->rows != NULL ? SWP_OK : fail_memory(error);
}

/* `at` is the index in the list; SWP_AT_NONE: it is no list. */
static swp_status read_one_length(const json_t *value, uint64_t at, int64_t *row, swp_error *error)
{
    static const char expected[] = "a whole number, 1..2147483647";
    int64_t length;
    swp_params p;
    if (!whole_of(value, &length) || swp_params_from_length(length, &p, NULL) != SWP_OK) {
        return at == SWP_AT_NONE ? fail_member("length", value, expected, error)
                                 : fail_item("length", at, value, expected, error);
    }
    const int64_t values[SWP_PARAMS_COUNT] = {p.half, p.full, p.smooth, p.third, p.mid, p.p};
    memcpy(row, values, sizeof values);
    return SWP_OK;
}

static swp_status read_length(const json_t *value, swp__sweep_body *body, swp_error *error)
{
    bool is_list = json_is_array(value);
    swp_status status = alloc_rows(body, is_list ? json_array_size(value) : 1, error);
    if (status == SWP_OK && !is_list) {
        return read_one_length(value, SWP_AT_NONE, body->rows, error);
    }
    for (size_t i = 0; status == SWP_OK && i < body->combos_count; i++) {
        status = read_one_length(json_array_get(value, i), i, body->rows + i * SWP_PARAMS_COUNT, error);
    }
    return status;
}

static swp_status read_params(const json_t *value, swp__sweep_body *body, swp_error *error)
{
    if (!json_is_array(value)) {
        return fail_member("params", value, "an array of [half, full, smooth, third, mid, p]", error);
    }
    swp_status status = alloc_rows(body, json_array_size(value), error);
    for (size_t i = 0; status == SWP_OK && i < body->combos_count * SWP_PARAMS_COUNT; i++) {
        const json_t *row = json_array_get(value, i / SWP_PARAMS_COUNT);
        if (json_array_size(row) != SWP_PARAMS_COUNT) { /* 0 of what is no array */
            return swp__fail(error, SWP_BAD_PARAM, i, "params, row %zu, is not an array of six numbers", i / SWP_PARAMS_COUNT);
        }
        if (!whole_of(json_array_get(row, i % SWP_PARAMS_COUNT), &body->rows[i])) {
            return fail_item("params", i, json_array_get(row, i % SWP_PARAMS_COUNT), "a whole number", error);
        }
    }
    return status;
}

static bool window_of(const json_t *value, swp_window *window)
{
    int64_t bars[3];
    if (json_array_size(value) != 3) {
        return false;
    }
    for (size_t i = 0; i < 3; i++) {
        if (!whole_of(json_array_get(value, i), &bars[i]) || bars[i] < 0) {
            return false;
        }
    }
    *window = (swp_window){(uint64_t)bars[0], (uint64_t)bars[1], (uint64_t)bars[2]};
    return true;
}

static swp_status read_windows(const json_t *value, swp__sweep_body *body, swp_error *error)
{
    if (!json_is_array(value)) {
        return fail_member("windows", value, "an array of [warm, begin, end]", error);
    }
    body->windows_count = json_array_size(value);
    if (body->windows_count == 0) {
        return SWP_OK;
    }
    body->windows = swp__memory_array(body->windows_count, sizeof *body->windows);
    if (body->windows == NULL) {
        return fail_memory(error);
    }
    for (size_t i = 0; i < body->windows_count; i++) {
        if (!window_of(json_array_get(value, i), &body->windows[i])) {
            return fail_item("windows", i, json_array_get(value, i), "[warm, begin, end], bar numbers", error);
        }
    }
    return SWP_OK;
}

static swp_status read_allow(const json_t *value, swp__sweep_body *body, swp_error *error)
{
    return read_bits("allow", value, allow_names, COUNT(allow_names), "\"nan\", \"inf\" or \"nonpositive\"", &body->allow,
                     error);
}

static swp_status read_results(const json_t *value, swp__sweep_body *body, swp_error *error)
{
    return read_bits("results", value, swp__sweep_results, SWP__SWEEP_RESULTS_COUNT,
                     "\"pnl\", \"trades\", \"first_bar\", \"open_side\", \"open_entry_bar\", \"open_entry\", \"open_last\" or "
                     "\"open_pnl\"",
                     &body->results, error);
}

static swp_status read_fee(const json_t *value, swp__sweep_body *body, swp_error *error)
{
    return real_of(value, &body->fee) ? SWP_OK : fail_member("fee", value, "a number", error);
}

static swp_status read_entry(const json_t *value, swp__sweep_body *body, swp_error *error)
{
    uint32_t index;
    if (!index_of(value, entry_names, COUNT(entry_names), &index)) {
        return fail_member("entry", value, "\"first\" or \"cross\"", error);
    }
    body->entry = (swp_entry)index;
    return SWP_OK;
}

static swp_status read_kernel(const json_t *value, swp__sweep_body *body, swp_error *error)
{
    const char *names[SWP__EXEC_KERNEL_MAX + 1]; /* NULL: this build has none of that number */
    uint32_t index;
    for (uint32_t i = 0; i < COUNT(names); i++) {
        names[i] = swp_kernel_name((swp_kernel)i);
    }
    if (!index_of(value, names, COUNT(names), &index)) {
        return fail_member("kernel", value, "the name of a kernel", error);
    }
    body->kernel = (swp_kernel)index;
    return SWP_OK;
}

static swp_status read_threads(const json_t *value, swp__sweep_body *body, swp_error *error)
{
    int64_t threads;
    if (!whole_of(value, &threads) || threads < 0 || threads > UINT32_MAX) {
        return fail_member("threads", value, "a whole number, 0..4294967295", error);
    }
    body->max_threads = (uint32_t)threads;
    return SWP_OK;
}

static const struct {
    const char *name;
    swp_status (*read)(const json_t *value, swp__sweep_body *body, swp_error *error);
} members[] = {
    {"close", read_close},   {"series", read_series},   {"allow", read_allow},     {"length", read_length},
    {"params", read_params}, {"windows", read_windows}, {"results", read_results}, {"fee", read_fee},
    {"entry", read_entry},   {"kernel", read_kernel},   {"threads", read_threads},
};

/* ---- the whole ---- */

static swp_status check_known(json_t *root, swp_error *error)
{
    const char *name;
    json_t *value;
    json_object_foreach (root, name, value) {
        bool known = false;
        for (size_t i = 0; i < COUNT(members); i++) {
            known = known || strcmp(name, members[i].name) == 0;
        }
        if (!known) {
            return swp__fail(error, SWP_UNKNOWN, SWP_AT_NONE,
                             "member \"%.*s\" is not known; these are: close, series, allow, length, params, windows, results, "
                             "fee, entry, kernel, threads",
                             shown(name, 40), name);
        }
    }
    return SWP_OK;
}

static swp_status read_members(json_t *root, swp__sweep_body *body, swp_error *error)
{
    if (!json_is_object(root)) {
        return fail_member("the body", root, "an object", error);
    }
    swp_status status = check_known(root, error);
    for (size_t i = 0; status == SWP_OK && i < COUNT(members); i++) {
        const json_t *value = json_object_get(root, members[i].name);
        status = value != NULL ? members[i].read(value, body, error) : SWP_OK;
    }
    if (status == SWP_OK && (body->close == NULL) == (body->series == NULL)) {
        status = swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "expected one of close and series, got %s",
                           body->close == NULL ? "neither" : "both");
    }
    if (status == SWP_OK && body->results == 0) {
        status = swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "results is empty, expected at least one");
    }
    if (status == SWP_OK && body->rows == NULL) {
        status = swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "expected one of length and params, got neither");
    }
    return status;
}

swp_status swp__sweep_body_read(const char *text, size_t size, swp__sweep_body *body, swp_error *error)
{
    json_error_t failure;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &failure);
    if (root == NULL) {
        /* Where memory ran out the library mostly leaves the text empty. */
        return failure.text[0] == '\0' || json_error_code(&failure) == json_error_out_of_memory
                   ? fail_memory(error)
                   : swp__fail(error, SWP_BAD_FRAME, (uint64_t)failure.position, "the body is not JSON, line %d: %.120s",
                               failure.line, failure.text);
    }
    swp__sweep_body read = {.results = SWP__RESULT_PNL | SWP__RESULT_TRADES, .fee = SWP__EXEC_FEE_DEFAULT};
    swp_status status = read_members(root, &read, error);
    json_decref(root);
    if (status == SWP_OK) {
        *body = read;
    } else {
        swp__sweep_body_free(&read);
    }
    return status;
}

void swp__sweep_body_free(swp__sweep_body *body)
{
    swp__memory_free(body->close);
    swp__memory_free(body->series);
    swp__memory_free(body->rows);
    swp__memory_free(body->windows);
    *body = (swp__sweep_body){0};
}
