/* Reads a file as its options say, or in the one way that its order leaves, and looks its bars through. */
#include "bars/inspect.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "bars/arrange.h"
#include "bars/header.h"
#include "bars/read.h"
#include "base/error.h"

enum { SAMPLE_MAX = 4096 }; /* distances between bars that tell the step */

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right ? 1 : 0;
}

/* The most common distance; the shorter of two. */
static int64_t find_step(const swp__bar_list *list)
{
    int64_t distances[SAMPLE_MAX], step = 0;
    size_t count = 0, best = 0;
    for (uint64_t i = 1; i < list->count && count < SAMPLE_MAX; i++) {
        distances[count++] = list->time_ns[i] - list->time_ns[i - 1];
    }
    qsort(distances, count, sizeof *distances, compare);
    for (size_t i = 0, run; i < count; i += run) {
        for (run = 1; i + run < count && distances[i + run] == distances[i]; run++) {
        }
        step = run > best ? distances[i] : step;
        best = run > best ? run : best;
    }
    return step;
}

static swp_bar_place place_of(const swp__bar_list *list, uint64_t bar)
{
    return (swp_bar_place){bar, list->line != NULL ? list->line[bar] : 0};
}

/* Puts a gap where it belongs among the longest. */
static void note_gap(swp_inspection *in, swp_gap gap)
{
    size_t at = SWP_ODDITIES_SHOWN;
    while (at > 0 && gap.length_ns > in->gaps[at - 1].length_ns) {
        at--;
    }
    for (size_t i = SWP_ODDITIES_SHOWN - 1; i > at; i--) {
        in->gaps[i] = in->gaps[i - 1];
    }
    if (at < SWP_ODDITIES_SHOWN) {
        in->gaps[at] = gap;
    }
    in->gaps_count++;
}

static void find_oddities(const swp__bar_list *list, swp_inspection *in)
{
    uint64_t jumps_count = 0, nan_count = 0;
    in->step_ns = list->time_ns != NULL ? find_step(list) : 0;
    for (uint64_t i = 0; i < list->count; i++) {
        if (isnan(list->close[i]) && nan_count++ == 0) {
            in->first_nan = place_of(list, i);
        }
        if (i == 0) {
            continue;
        }
        if (list->time_ns != NULL && list->time_ns[i] - list->time_ns[i - 1] > in->step_ns) {
            note_gap(in, (swp_gap){place_of(list, i - 1), list->time_ns[i] - list->time_ns[i - 1]});
        }
        if (swp__is_jump(list->close[i - 1], list->close[i]) && jumps_count++ < SWP_ODDITIES_SHOWN) {
            in->jumps[jumps_count - 1] = (swp_jump){place_of(list, i), list->close[i - 1], list->close[i]};
        }
    }
}

/* One way to read the file, whose facts are those of the last one that was tried. */
typedef struct reading {
    const char *path;
    swp_bars_options options;
    swp__bar_list list;
    swp__facts facts;
} reading;

static swp_status try(reading *r, swp_error *error)
{
    r->list = (swp__bar_list){.has_line = true};
    r->facts = (swp__facts){0};
    return swp__bars_read(r->path, &r->options, &r->list, &r->facts, error);
}

/* Its order is the one thing that is set right here, as it is told openly and no close comes of it that the file has not: what
 * else is doubtful is for a person to say. */
static swp_status read_in_any_order(reading *r, char *refusal, size_t size, swp_error *error)
{
    swp_bars_options given = r->options;
    swp_error first, other;
    swp_status status = try(r, &first);
    if (status != SWP_BAD_PARAM || !r->facts.is_order_refused || strcmp(r->path, "-") == 0) {
        if (error != NULL && status != SWP_OK) {
            *error = first;
        }
        return status; /* standard input is not there a second time */
    }
    for (int way = 1; way <= 3; way++) { /* sort; keep one; both */
        bool sorts = (way & 1) != 0, keeps = (way & 2) != 0;
        if ((sorts && given.order == SWP_ORDER_SORT) || (keeps && given.duplicates != SWP_DUPLICATES_REFUSE)) {
            continue;
        }
        r->options.order = sorts ? SWP_ORDER_SORT : given.order;
        r->options.duplicates = keeps ? SWP_DUPLICATES_FIRST : given.duplicates;
        if (try(r, &other) == SWP_OK) {
            memcpy(refusal, first.message, size < sizeof first.message ? size : sizeof first.message);
            return SWP_OK;
        }
    }
    if (error != NULL) {
        *error = first;
    }
    return status;
}

swp_status swp_bars_inspect(const char *path, const swp_bars_options *options, swp_inspection *inspection, swp_error *error)
{
    static const swp_bars_options defaults;
    if (path == NULL || inspection == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, path == NULL ? 1 : 3, "inspect: NULL pointer");
    }
    reading r = {.path = path, .options = options != NULL ? *options : defaults};
    swp_inspection in = {0};
    swp_status status = read_in_any_order(&r, in.refusal, sizeof in.refusal, error);
    if (status != SWP_OK) {
        return status;
    }
    in.order = r.options.order;
    in.duplicates = r.options.duplicates;
    in.repeats_count = r.facts.repeats_count;
    in.repeats_differ_count = r.facts.repeats_differ_count;
    in.first_repeat_line = r.facts.repeat_line;
    find_oddities(&r.list, &in);
    swp__inspect_decisions(&r.facts, &r.options, in.refusal[0] != '\0', &in);
    swp_bar_place shown[SWP__INSPECT_BARS_SHOWN * 2];
    size_t shown_count = 0;
    for (uint64_t i = 0; i < r.list.count; i++) {
        i = i >= SWP__INSPECT_BARS_SHOWN && i + SWP__INSPECT_BARS_SHOWN < r.list.count ? r.list.count - SWP__INSPECT_BARS_SHOWN
                                                                                       : i;
        shown[shown_count++] = place_of(&r.list, i);
    }
    swp__bars_take(&r.list, &r.facts, &in.bars);
    in.command = swp__inspect_shell(path, &r.options);
    in.text = in.command != NULL ? swp__inspect_text(&in, shown, shown_count) : NULL;
    if (in.text == NULL) {
        swp_inspection_free(&in);
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory to describe %s", path);
    }
    *inspection = in;
    return SWP_OK;
}

void swp_inspection_free(swp_inspection *inspection)
{
    if (inspection != NULL) {
        swp_bars_free(&inspection->bars);
        free(inspection->command);
        free(inspection->text);
        *inspection = (swp_inspection){0};
    }
}
