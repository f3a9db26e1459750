#include "bars/delimiter.h"

#include <string.h>

enum { LINES_MAX = 20 };

static const char delimiters[] = {',', ';', '\t', '|'};

bool swp__is_delimiter(char c)
{
    return c != '\0' && memchr(delimiters, c, sizeof delimiters) != NULL;
}

/* The end of the line at `at`: an end-of-line character outside quotation marks, or `end`. Counts `delimiter` on the
 * way. */
static const char *scan_line(const char *at, const char *end, char delimiter, size_t *count)
{
    bool quoted = false;
    for (*count = 0; at < end && (quoted || (*at != '\n' && *at != '\r')); at++) {
        quoted = *at == '"' ? !quoted : quoted;
        *count += !quoted && *at == delimiter ? 1 : 0;
    }
    return at;
}

typedef struct verdict {
    bool splits_header;
    bool splits_all_alike; /* the lines after it into as many fields as the header */
} verdict;

static verdict judge(const char *text, const char *end, bool is_all, char delimiter)
{
    size_t in_header = 0, lines = 0;
    verdict v = {.splits_all_alike = true};
    for (const char *at = text; at < end && lines < LINES_MAX;) {
        size_t count;
        const char *line_end = scan_line(at, end, delimiter, &count);
        bool blank = line_end == at, whole = line_end < end || is_all;
        if (!blank && whole) {
            in_header = lines == 0 ? count : in_header;
            v.splits_all_alike = v.splits_all_alike && count == in_header;
            lines++;
        }
        at = line_end + 1;
    }
    v.splits_header = in_header > 0;
    v.splits_all_alike = v.splits_all_alike && v.splits_header;
    return v;
}

char swp__delimiter_find(const char *text, size_t size, bool is_all, bool comma_is_decimal)
{
    char splits = 0, splits_alike = 0;
    size_t splits_count = 0, alike_count = 0;
    for (size_t i = comma_is_decimal ? 1 : 0; i < sizeof delimiters; i++) {
        verdict v = judge(text, text + size, is_all, delimiters[i]);
        splits = v.splits_header ? delimiters[i] : splits;
        splits_alike = v.splits_all_alike ? delimiters[i] : splits_alike;
        splits_count += v.splits_header ? 1 : 0;
        alike_count += v.splits_all_alike ? 1 : 0;
    }
    if (splits_count == 0) {
        return comma_is_decimal ? ';' : ',';
    }
    return splits_count == 1 ? splits : alike_count == 1 ? splits_alike : 0;
}
