/* Ctrl+C in a call that waits inside the library: Python runs its signal handlers only between its own steps. While a watch
 * stands, SIGINT sets its flag at once, from the signal handler, and then goes on to the handler that was there before,
 * Python's; when the call has come back, PyErr_CheckSignals raises what that one wants raised. A process that ignores SIGINT,
 * or dies of it, goes on doing so. Watches stand in the main thread only, where Python runs handlers, and may be nested. */
#ifndef SWEEPD_INTERRUPT_H
#define SWEEPD_INTERRUPT_H

#include <stdbool.h>
#include "swp/engine.h"

typedef struct swp__py_watch {
    struct swp__py_watch *outer;
    swp_cancel *cancel;
    bool stands;
} swp__py_watch;

bool swp__py_in_main_thread(void);

/* Both in the main thread, with the GIL; they pair like brackets. */
void swp__py_watch_begin(swp__py_watch *watch, swp_cancel *cancel);
void swp__py_watch_end(swp__py_watch *watch);

#endif
