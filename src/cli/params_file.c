#include "cli/params_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/error.h"
#include "bars/refuse.h"
#include "cli/lengths.h" /* SWP__COMBOS_MAX */

enum { LINE_SIZE_MAX = 1000 }; /* bytes: six numbers with room to spare */

const char *const swp__params_names[SWP_PARAMS_COUNT] = {"half", "full", "smooth", "third", "mid", "p"};

typedef struct reader {
    const char *path;
    uint64_t line; /* from 1 */
    swp_error *error;
    int64_t *values;
    uint64_t count, capacity; /* rows */
} reader;

/* A cell of a line; at the line's end, size 0. */
typedef struct cell {
    const char *text;
    size_t size;
} cell;

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Cells are parted by one comma or semicolon, or by blanks alone. false: fewer or more than six. */
static bool split(const char *line, cell cells[SWP_PARAMS_COUNT])
{
    const char *at = skip_blanks(line);
    for (size_t i = 0; i < SWP_PARAMS_COUNT; i++) {
        cells[i] = (cell){at, strcspn(at, ",; \t")};
        const char *end = at + cells[i].size;
        at = skip_blanks(end);
        bool parted = *at == ',' || *at == ';' || (at != end && *at != '\0');
        if (i + 1 < SWP_PARAMS_COUNT && !parted) {
            return false;
        }
        if (*at == ',' || *at == ';') {
            if (i + 1 == SWP_PARAMS_COUNT) {
                return false;
            }
            at = skip_blanks(at + 1);
        }
    }
    return *at == '\0';
}

static bool is_header(const cell cells[SWP_PARAMS_COUNT])
{
    for (size_t i = 0; i < SWP_PARAMS_COUNT; i++) {
        if (strlen(swp__params_names[i]) != cells[i].size ||
            strncasecmp(cells[i].text, swp__params_names[i], cells[i].size) != 0) {
            return false;
        }
    }
    return true;
}

static bool parse_cell(const cell *c, int64_t *value)
{
    int64_t number = 0;
    for (size_t i = 0; i < c->size; i++) {
        if (c->text[i] < '0' || c->text[i] > '9' || number > SWP_PARAM_MAX) {
            return false;
        }
        number = number * 10 + (c->text[i] - '0');
    }
    *value = number;
    return number >= 1 && number <= SWP_PARAM_MAX;
}

static swp_status want_row(reader *r)
{
    if (r->count < r->capacity) {
        return SWP_OK;
    }
    if (r->count == SWP__COMBOS_MAX) {
        return swp__fail_limit(r->error, SWP__COMBOS_MAX, r->count + 1, "%s:%" PRIu64 ": more than %" PRIu64 " combos", r->path,
                               r->line, SWP__COMBOS_MAX);
    }
    uint64_t capacity = r->capacity != 0 ? r->capacity * 2 : 256;
    int64_t *values = realloc(r->values, capacity * SWP_PARAMS_COUNT * sizeof *values);
    if (values == NULL) {
        return swp__fail(r->error, SWP_NO_MEMORY, SWP_AT_NONE, "%s: no memory for %" PRIu64 " combos", r->path, capacity);
    }
    r->values = values;
    r->capacity = capacity;
    return SWP_OK;
}

static swp_status take_line(reader *r, const char *line)
{
    cell cells[SWP_PARAMS_COUNT];
    char quoted[SWP__QUOTED_SIZE];
    if (line[strspn(line, " \t")] == '\0') {
        return SWP_OK;
    }
    if (!split(line, cells)) {
        return swp__refuse_line(r->error, r->path, r->line,
                                "%s is not a combo, expected six numbers: half,full,smooth,third,mid,p",
                                swp__quote(line, strlen(line), quoted));
    }
    if (r->count == 0 && r->line == 1 && is_header(cells)) {
        return SWP_OK;
    }
    swp_status status = want_row(r);
    for (size_t i = 0; i < SWP_PARAMS_COUNT && status == SWP_OK; i++) {
        if (!parse_cell(&cells[i], &r->values[r->count * SWP_PARAMS_COUNT + i])) {
            return swp__refuse_line(r->error, r->path, r->line, "%s is %s, expected a whole number, 1..%lld",
                                    swp__params_names[i], swp__quote(cells[i].text, cells[i].size, quoted), SWP_PARAM_MAX);
        }
    }
    r->count += status == SWP_OK ? 1 : 0;
    return status;
}

static const char *skip_byte_order_mark(const char *line)
{
    return strncmp(line, "\xEF\xBB\xBF", 3) == 0 ? line + 3 : line;
}

/* Reads a line without its end, CR LF or LF. *size beyond LINE_SIZE_MAX: it is longer, and was not read to its end. False: there
 * is none. */
static bool read_line(FILE *file, char line[LINE_SIZE_MAX + 1], size_t *size)
{
    int c = getc(file);
    bool any = c != EOF;
    for (*size = 0; c != EOF && c != '\n' && *size <= LINE_SIZE_MAX; c = getc(file)) {
        line[*size < LINE_SIZE_MAX ? *size : LINE_SIZE_MAX] = (char)c;
        ++*size;
    }
    if (*size <= LINE_SIZE_MAX) {
        *size -= *size > 0 && line[*size - 1] == '\r' ? 1 : 0;
    }
    line[*size <= LINE_SIZE_MAX ? *size : LINE_SIZE_MAX] = '\0';
    return any;
}

static swp_status read_lines(reader *r, FILE *file)
{
    char line[LINE_SIZE_MAX + 1];
    size_t size;
    swp_status status = SWP_OK;
    while (status == SWP_OK && read_line(file, line, &size)) {
        r->line++;
        if (size > LINE_SIZE_MAX) {
            status =
                swp__refuse_line(r->error, r->path, r->line, "a line of more than %d bytes, which is no combo", LINE_SIZE_MAX);
        } else if (strlen(line) != size) {
            status = swp__refuse_line(r->error, r->path, r->line, "a NUL byte; expected text");
        } else {
            status = take_line(r, r->line == 1 ? skip_byte_order_mark(line) : line);
        }
    }
    if (status == SWP_OK && ferror(file)) {
        status = swp__fail(r->error, SWP_FILE, SWP_AT_NONE, "%s: %s", r->path, strerror(errno));
    }
    return status;
}

swp_status swp__params_file_read(const char *path, swp__params_rows *rows, swp_error *error)
{
    size_t size = strlen(path);
    if (size >= 4 && strcmp(path + size - 4, ".npy") == 0) {
        return swp__params_npy_read(path, rows, error);
    }
    reader r = {.path = path, .error = error};
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return swp__fail(error, SWP_FILE, SWP_AT_NONE, "%s: %s", path, strerror(errno));
    }
    swp_status status = read_lines(&r, file);
    fclose(file);
    if (status == SWP_OK && r.count == 0) {
        status = swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "%s: no combo in it", path);
    }
    if (status != SWP_OK) {
        free(r.values);
        return status;
    }
    *rows = (swp__params_rows){r.values, r.count};
    return SWP_OK;
}

void swp__params_rows_free(swp__params_rows *rows)
{
    free(rows->values);
    *rows = (swp__params_rows){0};
}
