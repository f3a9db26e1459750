#include "bars/csv.h"

#include <stdlib.h>
#include <string.h>
#include "support/test.h"

/* What came, as text: `line:field,field;` a row, `line:;` a blank line. */
typedef struct log {
    char text[1024], row[512];
    size_t size, row_size;
    size_t fields;
} log;

static void on_field(void *context, const char *text, size_t size)
{
    log *l = context;
    l->row_size += (size_t)snprintf(l->row + l->row_size, sizeof l->row - l->row_size, "%s[%.*s]", l->fields > 0 ? "," : "",
                                    (int)size, text);
    l->fields++;
}

static bool on_row(void *context, uint64_t line)
{
    log *l = context;
    l->size += (size_t)snprintf(l->text + l->size, sizeof l->text - l->size, "%d:%s;", (int)line, l->fields > 0 ? l->row : "");
    l->row_size = 0;
    l->fields = 0;
    return true;
}

/* Feeds `text` in blocks of `step` bytes. */
static swp_status run(const char *text, size_t step, log *l, swp_error *error)
{
    swp__csv csv;
    const swp__csv_events events = {on_field, on_row, l};
    *l = (log){0};
    assert_int_equal(swp__csv_init(&csv, ',', &events, NULL), SWP_OK);
    swp_status status = SWP_OK;
    for (size_t at = 0, size = strlen(text); at < size && status == SWP_OK; at += step) {
        status = swp__csv_feed(&csv, "f.csv", text + at, size - at < step ? size - at : step, error);
    }
    status = status == SWP_OK ? swp__csv_finish(&csv, "f.csv", error) : status;
    swp__csv_fini(&csv);
    return status;
}

static void assert_rows(const char *text, const char *expected)
{
    for (size_t step = 1; step <= strlen(text); step++) {
        log l;
        assert_int_equal(run(text, step, &l, NULL), SWP_OK);
        assert_string_equal(l.text, expected);
    }
}

TEST(csv_rows_are_the_same_at_every_block_size)
{
    assert_rows("a,b\n1,2\n", "1:[a],[b];2:[1],[2];");
    assert_rows("a,b\n1,2", "1:[a],[b];2:[1],[2];");
    assert_rows(" a , b\t\n,\n", "1:[a],[b];2:[],[];");
}

TEST(csv_lines_are_counted_for_every_line_ending)
{
    assert_rows("a\r\nb\r\n\r\nc\r\n", "1:[a];2:[b];3:;4:[c];");
    assert_rows("a\rb\r\rc\r", "1:[a];2:[b];3:;4:[c];");
    assert_rows("a\n\n\nb\n", "1:[a];2:;3:;4:[b];");
}

TEST(csv_quoted_fields_may_hold_anything)
{
    assert_rows("\"a,b\",\"say \"\"hi\"\"\"\n1,2\n", "1:[a,b],[say \"hi\"];2:[1],[2];");
    assert_rows("\"a\nb\nc\",x\n1,2\n", "1:[a\nb\nc],[x];4:[1],[2];");
}

TEST(csv_stray_quotation_marks_are_refused_with_their_line)
{
    log l;
    swp_error error;
    assert_int_equal(run("a,b\n1,2\"3\n", 100, &l, &error), SWP_BAD_PARAM);
    assert_string_equal(error.message, "f.csv:2: a quotation mark stands inside a field or is not closed");
    assert_int_equal(run("a,b\n\n1,\"2\n", 100, &l, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 3);
}

TEST(csv_a_field_has_a_bound)
{
    char *text = malloc(SWP__FIELD_SIZE_MAX + 100);
    memset(text, 'x', SWP__FIELD_SIZE_MAX + 99);
    text[0] = '"';
    text[SWP__FIELD_SIZE_MAX + 99] = '\0';
    log l;
    swp_error error;
    assert_int_equal(run(text, 65536, &l, &error), SWP_BAD_PARAM);
    assert_string_equal(error.message, "f.csv:1: a field of more than 1048576 bytes; a quotation mark is not closed?");
    free(text);
}
