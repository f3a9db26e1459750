#include "bars/bar_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "base/error.h"

enum { FIRST_ROOM = 4096 };

static bool resize(void **array, uint64_t room)
{
    size_t bytes;
    if (__builtin_mul_overflow(room, sizeof(double), &bytes)) {
        return false;
    }
    void *moved = realloc(*array, bytes);
    *array = moved != NULL ? moved : *array;
    return moved != NULL;
}

static swp_status resize_both(swp__bar_list *list, uint64_t room, swp_error *error)
{
    void *close = list->close, *time_ns = list->time_ns, *line = list->line;
    bool resized =
        resize(&close, room) && (!list->has_time || resize(&time_ns, room)) && (!list->has_line || resize(&line, room));
    list->close = close; /* what was moved was moved, even when the other could not be */
    list->time_ns = time_ns;
    list->line = line;
    if (!resized) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for %" PRIu64 " bars", room);
    }
    list->capacity = room;
    return SWP_OK;
}

swp_status swp__bar_list_reserve(swp__bar_list *list, uint64_t room, swp_error *error)
{
    return room > list->capacity ? resize_both(list, room, error) : SWP_OK;
}

swp_status swp__bar_list_push(swp__bar_list *list, int64_t time_ns, uint64_t line, double close, swp_error *error)
{
    if (list->count == list->capacity) {
        swp_status status = resize_both(list, list->capacity == 0 ? FIRST_ROOM : list->capacity * 2, error);
        if (status != SWP_OK) {
            return status;
        }
    }
    if (list->has_time) {
        list->time_ns[list->count] = time_ns;
    }
    if (list->has_line) {
        list->line[list->count] = line;
    }
    list->nan_count += isnan(close) ? 1 : 0;
    list->close[list->count++] = close;
    return SWP_OK;
}

void swp__bar_list_trim(swp__bar_list *list)
{
    if (list->count > 0 && list->count < list->capacity) {
        swp_status status = resize_both(list, list->count, NULL); /* what cannot be given back stays */
        (void)status;
    }
}

void swp__bar_list_fini(swp__bar_list *list)
{
    free(list->close);
    free(list->time_ns);
    free(list->line);
    *list = (swp__bar_list){0};
}
