#include "bars/arrange.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "bars/refuse.h"
#include "bars/time_stamp.h"
#include "base/error.h"

bool swp__is_jump(double before, double close)
{
    return before > 0 && close > 0 && isfinite(before) && isfinite(close) && (close / before >= 100 || before / close >= 100);
}

static int compare(const void *a, const void *b)
{
    const swp__bar *left = a, *right = b;
    if (left->time_ns != right->time_ns) {
        return left->time_ns < right->time_ns ? -1 : 1;
    }
    return left->line < right->line ? -1 : 1;
}

/* Newest first, the common case, is turned in place. */
static bool reverse(swp__bar_list *list)
{
    for (uint64_t i = 1; i < list->count; i++) {
        if (list->time_ns[i] >= list->time_ns[i - 1]) {
            return false;
        }
    }
    for (uint64_t i = 0, j = list->count - 1; i < j; i++, j--) {
        swp__bar low = swp__bar_list_get(list, i), high = swp__bar_list_get(list, j);
        swp__bar_list_set(list, i, &high);
        swp__bar_list_set(list, j, &low);
    }
    return true;
}

static swp_status sort(swp__bar_list *list, swp__facts *facts, swp_error *error)
{
    facts->is_falling = list->count > 1 && reverse(list);
    if (facts->is_falling) {
        return SWP_OK;
    }
    swp__bar *bars = calloc(list->count, sizeof *bars);
    if (bars == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory to sort %" PRIu64 " bars", list->count);
    }
    for (uint64_t i = 0; i < list->count; i++) {
        bars[i] = swp__bar_list_get(list, i);
    }
    qsort(bars, list->count, sizeof *bars, compare);
    for (uint64_t i = 0; i < list->count; i++) {
        swp__bar_list_set(list, i, &bars[i]);
    }
    free(bars);
    return SWP_OK;
}

static swp_status refuse_repeat(const swp__bar_list *list, uint64_t index, const char *path, swp__facts *facts,
                                swp_error *error)
{
    char text[SWP__TIME_TEXT_SIZE];
    facts->is_order_refused = true;
    swp__time_format(list->time_ns[index], swp__time_detail_of(list->time_ns[index]), text);
    return swp__refuse_line(error, path, list->line[index],
                            "time %s repeats that of line %" PRIu64 "; --duplicates first or last keeps one", text,
                            list->line[index - 1]);
}

static bool is_same_close(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void note_repeat(const swp__bar_list *list, uint64_t index, swp__facts *facts)
{
    facts->repeat_line = facts->repeats_count++ == 0 ? list->line[index] : facts->repeat_line;
    facts->repeats_differ_count += is_same_close(list->close[index], list->close[index - 1]) ? 0 : 1;
}

static swp_status keep_one(swp__bar_list *list, swp_bars_duplicates duplicates, const char *path, swp__facts *facts,
                           swp_error *error)
{
    uint64_t kept = 0;
    list->nan_count = 0;
    for (uint64_t i = 0; i < list->count; i++) {
        bool repeats = i > 0 && list->time_ns[i] == list->time_ns[i - 1];
        if (repeats && duplicates == SWP_DUPLICATES_REFUSE) {
            return refuse_repeat(list, i, path, facts, error);
        }
        if (repeats) {
            note_repeat(list, i, facts);
        }
        bool has_next = i + 1 < list->count && list->time_ns[i + 1] == list->time_ns[i];
        if (duplicates == SWP_DUPLICATES_LAST ? !has_next : !repeats) {
            const swp__bar bar = swp__bar_list_get(list, i);
            list->nan_count += isnan(bar.close) ? 1 : 0;
            swp__bar_list_set(list, kept++, &bar);
        }
    }
    list->count = kept;
    return SWP_OK;
}

swp_status swp__arrange(swp__bar_list *list, const swp_bars_options *options, const char *path, swp__facts *facts,
                        swp_error *error)
{
    swp_status status = options->order == SWP_ORDER_SORT ? sort(list, facts, error) : SWP_OK;
    return status == SWP_OK ? keep_one(list, options->duplicates, path, facts, error) : status;
}
