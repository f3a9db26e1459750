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

/* What was moved was moved, even when another could not be. */
static swp_status resize_all(swp__bar_list *list, uint64_t room, swp_error *error)
{
    void *close = list->close, *time_ns = list->time_ns, *line = list->line;
    bool resized =
        resize(&close, room) && (!list->has_time || resize(&time_ns, room)) && (!list->has_line || resize(&line, room));
    list->close = close;
    list->time_ns = time_ns;
    list->line = line;
    for (size_t i = 0; i < SWP__BESIDE_COUNT && resized; i++) {
        void *beside = list->beside[i];
        resized = !list->has_beside[i] || resize(&beside, room);
        list->beside[i] = beside;
    }
    if (!resized) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for %" PRIu64 " bars", room);
    }
    list->capacity = room;
    return SWP_OK;
}

swp_status swp__bar_list_reserve(swp__bar_list *list, uint64_t room, swp_error *error)
{
    return room > list->capacity ? resize_all(list, room, error) : SWP_OK;
}

void swp__bar_list_set(swp__bar_list *list, uint64_t index, const swp__bar *bar)
{
    list->close[index] = bar->close;
    if (list->has_time) {
        list->time_ns[index] = bar->time_ns;
    }
    if (list->has_line) {
        list->line[index] = bar->line;
    }
    for (size_t i = 0; i < SWP__BESIDE_COUNT; i++) {
        if (list->has_beside[i]) {
            list->beside[i][index] = bar->beside[i];
        }
    }
}

swp__bar swp__bar_list_get(const swp__bar_list *list, uint64_t index)
{
    swp__bar bar = {.close = list->close[index]};
    bar.time_ns = list->has_time ? list->time_ns[index] : 0;
    bar.line = list->has_line ? list->line[index] : 0;
    for (size_t i = 0; i < SWP__BESIDE_COUNT; i++) {
        bar.beside[i] = list->has_beside[i] ? list->beside[i][index] : 0;
    }
    return bar;
}

swp_status swp__bar_list_push(swp__bar_list *list, const swp__bar *bar, swp_error *error)
{
    if (list->count == list->capacity) {
        swp_status status = resize_all(list, list->capacity == 0 ? FIRST_ROOM : list->capacity * 2, error);
        if (status != SWP_OK) {
            return status;
        }
    }
    list->nan_count += isnan(bar->close) ? 1 : 0;
    swp__bar_list_set(list, list->count++, bar);
    return SWP_OK;
}

void swp__bar_list_trim(swp__bar_list *list)
{
    if (list->count > 0 && list->count < list->capacity) {
        swp_status status = resize_all(list, list->count, NULL); /* what cannot be given back stays */
        (void)status;
    }
}

void swp__bar_list_fini(swp__bar_list *list)
{
    free(list->close);
    free(list->time_ns);
    free(list->line);
    for (size_t i = 0; i < SWP__BESIDE_COUNT; i++) {
        free(list->beside[i]);
    }
    *list = (swp__bar_list){0};
}
