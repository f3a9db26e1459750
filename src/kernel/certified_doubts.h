/* What the filter leaves open in a superblock: bars without averages, and bars whose sign is not certain. */
#ifndef SWP_KERNEL_CERTIFIED_DOUBTS_H
#define SWP_KERNEL_CERTIFIED_DOUBTS_H

#include "kernel/certified_plan.h"

/* The superblock [from, to) is next; whether its closes and those the filter looked back to are all finite. */
void swp__certified_begin(swp__certified_plan *p, const swp__slice *slice, int64_t from, int64_t to, bool finite);

/* Of distinct combo `d`: down[], as the filter found it, and p->doubt where any_doubt -> up[] and down[], but for bars that remain
 * to be settled. first_valid: the first bar that may trade, has both averages and need not be settled; -1: none. */
void swp__certified_finish(swp__certified_plan *p, const swp__slice *slice, int64_t from, int64_t to, size_t d, uint64_t *up,
                           uint64_t *down, int64_t *first_valid);

/* Evaluates what remains of all combos in the strict order. Of distinct combo d are the words that begin at p->combos[d].index *
 * out->stride, and out->first_valid[p->combos[d].index]. */
void swp__certified_settle(swp__certified_plan *p, const swp__slice *slice, int64_t from, int64_t to, const swp__signs *out);

#endif
