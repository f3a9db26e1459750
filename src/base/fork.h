/* Whether this process is a fork of the one an object was made in: its threads are gone there, and a lock may be
 * held by one of them for ever. */
#ifndef SWP_BASE_FORK_H
#define SWP_BASE_FORK_H

#include <stdint.h>

/* Forks between the first call in the first process and this one. Costs one load. An object keeps the count it was made
 * under and is of no use under another. */
uint32_t swp__fork_count(void);

#endif
