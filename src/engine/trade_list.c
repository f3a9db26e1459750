#include "engine/trade_list.h"

#include <string.h>
#include "base/host.h"

enum { FIRST_ROOM = 64 };

static bool grow(swp__trade_list *list)
{
    size_t room = list->room > 0 ? 2 * list->room : FIRST_ROOM;
    swp__trade *trades = swp__alloc(list->allocator, room, sizeof *trades);
    if (trades == NULL) {
        return false;
    }
    if (list->count > 0) {
        memcpy(trades, list->trades, list->count * sizeof *trades);
    }
    swp__free(list->allocator, list->trades, list->room, sizeof *trades);
    list->trades = trades;
    list->room = room;
    return true;
}

void swp__trade_list_add(swp__trade_list *list, const swp__trade *trade)
{
    list->no_memory = list->no_memory || (list->count == list->room && !grow(list));
    if (!list->no_memory) {
        list->trades[list->count++] = *trade;
    }
}

void swp__trade_list_write(const swp__trade_list *list, void *arrays)
{
    size_t count = list->count;
    int64_t *numbers = arrays;
    double *reals = (double *)(void *)(numbers + 3 * count);
    for (size_t i = 0; i < count; i++) {
        const swp__trade *t = &list->trades[i];
        numbers[i] = t->entry_bar;
        numbers[count + i] = t->exit_bar;
        numbers[2 * count + i] = t->side;
        reals[i] = t->entry;
        reals[count + i] = t->exit;
        reals[2 * count + i] = t->pnl;
    }
}

void swp__trade_list_free(swp__trade_list *list)
{
    swp__free(list->allocator, list->trades, list->room, sizeof *list->trades);
    list->trades = NULL;
    list->count = list->room = 0;
}
