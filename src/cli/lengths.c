#include "cli/lengths.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/error.h"

/* A text being read, and what its errors say. */
typedef struct reader {
    const char *option, *text, *at;
    swp_error *error;
} reader;

static swp_status fail(const reader *r, const char *what)
{
    return swp__fail(r->error, SWP_BAD_PARAM, (uint64_t)(r->at - r->text),
                     "--%s \"%s\": %s at \"%s\"; expected LO:HI, LO:HI:STEP, LO:HI/COUNT or A,B,C", r->option, r->text, what,
                     r->at);
}

static swp_status read_number(reader *r, int64_t *value)
{
    const char *begin = r->at;
    int64_t number = 0;
    while (*r->at >= '0' && *r->at <= '9' && number <= SWP_PARAM_MAX) {
        number = number * 10 + (*r->at++ - '0');
    }
    if (r->at == begin) {
        return fail(r, "no number");
    }
    if (number < 1 || number > SWP_PARAM_MAX) {
        r->at = begin;
        return fail(r, "not within 1..2147483647");
    }
    *value = number;
    return SWP_OK;
}

static bool skip(reader *r, char sign)
{
    if (*r->at != sign) {
        return false;
    }
    r->at++;
    return true;
}

static swp_status make(const reader *r, uint64_t count, swp__lengths *lengths)
{
    if (count > SWP__COMBOS_MAX) {
        return swp__fail_limit(r->error, SWP__COMBOS_MAX, count, "--%s \"%s\": %" PRIu64 " lengths, at most %" PRIu64,
                               r->option, r->text, count, SWP__COMBOS_MAX);
    }
    lengths->values = malloc(count * sizeof *lengths->values);
    lengths->count = count;
    return lengths->values != NULL
               ? SWP_OK
               : swp__fail(r->error, SWP_NO_MEMORY, SWP_AT_NONE, "--%s: no memory for %" PRIu64 " lengths", r->option, count);
}

static swp_status make_steps(const reader *r, int64_t low, int64_t high, int64_t step, swp__lengths *lengths)
{
    swp_status status = make(r, (uint64_t)((high - low) / step + 1), lengths);
    for (uint64_t i = 0; status == SWP_OK && i < lengths->count; i++) {
        lengths->values[i] = low + (int64_t)i * step;
    }
    return status;
}

/* round(low + index * span / intervals), half to even; index <= intervals < 2^31 and span < 2^31, so 64 bits hold it all. */
static int64_t evenly(int64_t low, int64_t span, int64_t index, int64_t intervals)
{
    int64_t quotient = index * span / intervals, twice_rest = 2 * (index * span % intervals);
    int64_t value = low + quotient;
    return twice_rest > intervals || (twice_rest == intervals && value % 2 != 0) ? value + 1 : value;
}

static swp_status make_spaced(const reader *r, int64_t low, int64_t high, int64_t count, swp__lengths *lengths)
{
    int64_t span = high - low, intervals = count > 1 ? count - 1 : 1;
    if (count > span) { /* no further apart than 1: every whole number is met */
        return make_steps(r, low, high, 1, lengths);
    }
    swp_status status = make(r, (uint64_t)count, lengths);
    if (status != SWP_OK) {
        return status;
    }
    lengths->count = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t value = evenly(low, span, i, intervals);
        if (lengths->count == 0 || lengths->values[lengths->count - 1] != value) {
            lengths->values[lengths->count++] = value;
        }
    }
    return SWP_OK;
}

static swp_status read_range(reader *r, int64_t low, swp__lengths *lengths)
{
    int64_t high, step = 1, count = 0;
    swp_status status = read_number(r, &high);
    if (status == SWP_OK && high < low) {
        return swp__fail(r->error, SWP_BAD_PARAM, SWP_AT_NONE, "--%s \"%s\": LO %" PRId64 " is above HI %" PRId64, r->option,
                         r->text, low, high);
    }
    if (status == SWP_OK && skip(r, ':')) {
        status = read_number(r, &step);
    } else if (status == SWP_OK && skip(r, '/')) {
        status = read_number(r, &count);
    }
    if (status == SWP_OK && *r->at != '\0') {
        return fail(r, "something unexpected");
    }
    if (status != SWP_OK) {
        return status;
    }
    return count > 0 ? make_spaced(r, low, high, count, lengths) : make_steps(r, low, high, step, lengths);
}

static swp_status read_list(reader *r, int64_t first, swp__lengths *lengths)
{
    uint64_t count = 1;
    for (const char *at = r->at; *at != '\0'; at++) {
        count += *at == ',' ? 1 : 0;
    }
    swp_status status = make(r, count, lengths);
    if (status != SWP_OK) {
        return status;
    }
    lengths->values[0] = first;
    for (uint64_t i = 1; i < count && status == SWP_OK; i++) {
        status = skip(r, ',') ? read_number(r, &lengths->values[i]) : fail(r, "something unexpected");
    }
    if (status == SWP_OK && *r->at != '\0') {
        status = fail(r, "something unexpected");
    }
    if (status != SWP_OK) {
        swp__lengths_free(lengths);
    }
    return status;
}

swp_status swp__lengths_parse(const char *option, const char *text, swp__lengths *lengths, swp_error *error)
{
    reader r = {option, text, text, error};
    swp__lengths made;
    int64_t first;
    swp_status status = read_number(&r, &first);
    if (status == SWP_OK) {
        status = skip(&r, ':') ? read_range(&r, first, &made) : read_list(&r, first, &made);
    }
    if (status == SWP_OK) {
        *lengths = made;
    }
    return status;
}

void swp__lengths_free(swp__lengths *lengths)
{
    free(lengths->values);
    *lengths = (swp__lengths){0};
}
