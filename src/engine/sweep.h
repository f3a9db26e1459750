/* A sweep in progress, as the pool sees it. */
#ifndef SWP_ENGINE_SWEEP_H
#define SWP_ENGINE_SWEEP_H

#include "engine/engine.h"

typedef struct swp__slot swp__slot;

/* A slot with a unit to run: a chain in progress, or the next chain in a free slot; NULL when there is none just now.
 * Called locked. */
swp__slot *swp__sweep_take(swp__sweep *sweep);

/* Runs one unit. Called unlocked, by the thread that took the slot. */
void swp__slot_run(swp__slot *slot);

/* Puts a slot back after its unit. Called locked. */
void swp__slot_give_back(swp__slot *slot);

/* The next sweep of the ring that has a unit to take, starting behind the last one asked; NULL: none. Called locked. */
swp__slot *swp__engine_take(swp_engine *engine);

#endif
