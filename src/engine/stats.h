/* What the engine and its store count, as Prometheus reads it. */
#ifndef SWP_ENGINE_STATS_H
#define SWP_ENGINE_STATS_H

#include "engine/store.h"

/* HELP, TYPE and value of every counter; times in seconds. Writes at most `size` bytes, no NUL, and returns what the
 * whole text needs. `store` may be NULL. */
size_t swp__stats_text(swp_engine *engine, swp__store *store, char *text, size_t size);

#endif
