#include "bars/close_text.h"

#include <math.h>
#include <stdbool.h>
#include "bars/refuse.h"
#include "base/close_policy.h"
#include "swp/engine.h"

static bool has_digit(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            return true;
        }
    }
    return false;
}

static swp_status judge_missing(const swp__close_text *c, uint32_t allow, const char *form, const char *path, uint64_t line,
                                swp_error *error)
{
    char quoted[SWP__QUOTED_SIZE];
    if (has_digit(c->text, c->size)) {
        return swp__refuse_line(error, path, line, "%s %s is not a number with %s", c->what,
                                swp__quote(c->text, c->size, quoted), form);
    }
    if ((allow & SWP_ALLOW_NAN) == 0) {
        return swp__refuse_line(error, path, line, "%s %s is %s; allow \"nan\" to read it as NaN", c->what,
                                swp__quote(c->text, c->size, quoted), c->size == 0 ? "blank" : "not a number");
    }
    return SWP_OK;
}

swp_status swp__close_text_judge(const swp__close_text *c, uint32_t allow, const char *form, const char *path, uint64_t line,
                                 double *close, swp_error *error)
{
    char quoted[SWP__QUOTED_SIZE];
    *close = c->result == SWP__NUMBER_OK ? c->close : (double)NAN;
    if (swp__close_is_plain(*close)) {
        return SWP_OK;
    }
    if (c->result == SWP__NUMBER_TOO_BIG) {
        return swp__refuse_line(error, path, line, "%s %s is beyond what a double holds", c->what,
                                swp__quote(c->text, c->size, quoted));
    }
    if (c->result == SWP__NUMBER_BAD) {
        return judge_missing(c, allow, form, path, line, error);
    }
    const char *why = swp__close_refusal(*close, allow);
    return why == NULL ? SWP_OK
                       : swp__refuse_line(error, path, line, "%s %s %s", c->what, swp__quote(c->text, c->size, quoted), why);
}
