/* Every trade of a sweep of one combo, kept as it is found (swp__listener.trade), then laid out as the wire wants it.
 * Belongs to one thread at a time. */
#ifndef SWP_ENGINE_TRADE_LIST_H
#define SWP_ENGINE_TRADE_LIST_H

#include "engine/sweep.h"

enum { SWP__TRADE_BYTES = 6 * 8 }; /* of one trade in the six arrays */

typedef struct swp__trade_list {
    const swp_allocator *allocator;
    swp__trade *trades;
    size_t count, room;
    bool no_memory; /* some trades are missing */
} swp__trade_list;

void swp__trade_list_add(swp__trade_list *list, const swp__trade *trade);

/* Six arrays of list->count values, one behind the other: entry_bar, exit_bar, side, entry, exit, pnl. */
void swp__trade_list_write(const swp__trade_list *list, void *arrays);

void swp__trade_list_free(swp__trade_list *list);

#endif
