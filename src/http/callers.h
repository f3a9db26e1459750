/* The connections of the HTTP door, and how long each may take. The HTTP library serves each in a thread of its own, which may
 * be inside a read, a sweep or a write; one thread beside them looks at all a few times a second, shuts down those whose time is
 * up, and cancels the sweeps of those whose client has gone.
 *
 * A client that has closed its connection and one that only will not send any more (shutdown(SHUT_WR), nc -N) look alike until
 * something is written to them: the first one's system resets the connection then. So who seems to have gone while it waits is
 * sent an interim answer, 100 Continue, which HTTP/1.1 lets a server send at any time and clients pass over. HTTP/1.0 has none:
 * there both count as gone. */
#ifndef SWP_HTTP_CALLERS_H
#define SWP_HTTP_CALLERS_H

#include <pthread.h>
#include <stdbool.h>
#include "http/limits.h"
#include "swp/engine.h"

typedef enum swp__caller_phase {
    SWP__CALLER_ASKING,  /* its next request is not there yet, or not whole */
    SWP__CALLER_WAITING, /* for the engine */
    SWP__CALLER_READING, /* its answer */
} swp__caller_phase;

typedef struct swp__caller {
    struct swp__caller *next, *previous;
    int fd; /* the HTTP library's */
    swp__caller_phase phase;
    uint64_t since_ns;
    swp_cancel cancel;  /* of the sweep it waits for */
    bool takes_interim; /* HTTP/1.1: an interim answer may be sent ahead of its answer */
    bool has_interim;   /* it was, to this request */
    bool ended;         /* shut down */
    bool is_surplus;    /* it came when `most` were there */
} swp__caller;

typedef struct swp__callers {
    pthread_mutex_t lock;
    swp__caller *first;
    uint64_t count, timed_out;
    bool cancelled; /* all of them, those to come too */
} swp__callers;

void swp__callers_init(swp__callers *callers);
void swp__callers_fini(swp__callers *callers);

/* NULL: no memory. `fd` must stay open until swp__caller_free. */
swp__caller *swp__caller_new(swp__callers *callers, int fd, uint64_t most);
void swp__caller_free(swp__callers *callers, swp__caller *caller);

/* Before it waits. */
void swp__caller_take_interim(swp__callers *callers, swp__caller *caller, bool takes_interim);

/* The caller's clock starts anew. */
void swp__caller_enter(swp__callers *callers, swp__caller *caller, swp__caller_phase phase);

/* One look at all of them. Returns how many wait for the engine or read. */
uint64_t swp__callers_look(swp__callers *callers, const swp__http_limits *limits);

/* Cancels what they wait for, from now on. */
void swp__callers_cancel(swp__callers *callers);

#endif
