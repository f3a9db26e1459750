/* The HTTP door of an engine: JSON for what cannot speak the protocol. It is a client of the engine, no part of it.
 *
 *     GET  /healthz   is the engine there
 *     GET  /metrics   what the engine counts, and the door, as Prometheus reads it
 *     POST /v1/sweep  sweep_body.h in, sweep_answer.h out
 *
 * Whom it serves: programs of this machine. It listens on loopback only; a request must name a host of this machine in its Host
 * header, so that no web page can reach it by a name of its own; JSON must be said to be JSON, which a page cannot do unasked;
 * where the engine has a token, requests bring it (Authorization: Bearer TOKEN), /healthz excepted.
 *
 * An error is {"error": {"status": "BAD_PARAM", "at": 7, "message": "..."}} with an HTTP status that fits (docs/http.md). */
#ifndef SWP_HTTP_DOOR_H
#define SWP_HTTP_DOOR_H

#include "base/log.h"
#include "base/token.h"
#include "http/limits.h"
#include "transport/address.h"

typedef struct swp__door swp__door;

/* All of it borrowed until the door is closed. */
typedef struct swp__door_options {
    const char *engine;          /* its URL; it need not be there yet */
    const swp__address *address; /* tcp: where to listen */
    const swp__token *token;     /* the engine's; size 0: it has none */
    const swp__http_limits *limits;
    swp__log *log;
} swp__door_options;

/* Opens it; requests are served by threads of the HTTP library from now on. BAD_PARAM (an address that is not tcp:, the engine's
 * URL), REFUSED (the port), DENIED (the engine is there and wants another token), UNKNOWN (it speaks no common version), NO_MEMORY,
 * INTERNAL (the HTTP library). */
SWP_MUST_CHECK swp_status swp__door_open(const swp__door_options *options, swp__door **door, swp_error *error);

/* Looks after time-outs; to be called a few times a second. Returns how many requests are being answered. */
uint64_t swp__door_look(swp__door *door);

/* No new connection is accepted. */
void swp__door_drain(swp__door *door);

/* Cancels what still runs and waits for its end. NULL is a no-op. */
void swp__door_close(swp__door *door);

#endif
