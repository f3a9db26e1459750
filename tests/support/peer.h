/* A server as a test wants it: a thread that listens on a Unix socket and plays a script, one connection after the other. What
 * it does not get as expected fails the test when it is stopped. */
#ifndef SWP_TESTS_SUPPORT_PEER_H
#define SWP_TESTS_SUPPORT_PEER_H

#include <pthread.h>
#include <stdbool.h>
#include "wire/wire.h"

enum { PEER_BODY_MAX = 4 << 20, PEER_MAX_BODY = 1 << 20, PEER_MAX_IN_FLIGHT = 8 };

typedef struct peer {
    int fd;          /* the connection */
    int connections; /* so far, this one included */
    void *context;
    char failure[200]; /* "": all went as scripted */

    /* the frame peer_expect or peer_next read */
    uint8_t opcode, flags;
    uint32_t id, tail_size;
    swp__wire_request request;
    uint8_t *body; /* PEER_BODY_MAX bytes */

    /* set before peer_start where the standard will not do */
    uint32_t max_in_flight;
    uint64_t max_body;
    bool silent; /* does not answer HELLO by itself */

    /* internal */
    void (*script)(struct peer *peer);
    char url[128];
    int listening_fd;
    bool stopping;
    pthread_t thread;
} peer;

/* Returns the address. The script is called for each connection, after HELLO; the connection is closed when it returns. */
const char *peer_start(peer *p, void (*script)(peer *p), void *context);

/* Ends the thread, once its script has returned; asserts that all went as scripted. */
void peer_stop(peer *peer);

/* Reads the next frame; false at the end of the stream. */
bool peer_next(peer *peer);

/* Reads the next frame, which must have this opcode. */
bool peer_expect(peer *peer, uint8_t opcode);

/* The tail of the frame that was read. */
const void *peer_tail(const peer *peer);

void peer_send(peer *peer, const void *bytes, size_t size);

/* A reply; `fixed` is the fixed part of that message's, `tail` follows. */
void peer_reply(peer *peer, uint8_t opcode, uint8_t status, uint32_t id, const void *fixed, size_t fixed_size, const void *tail,
                size_t tail_size);
void peer_fail(peer *peer, uint8_t opcode, uint32_t id, swp_status status, uint64_t at, const char *text);

/* The usual answers to the frame that was read: the same bytes; a series of that handle, its closes anywhere in memory. */
void peer_echo(peer *peer);
void peer_tell_series(peer *peer, uint64_t handle, const void *close, uint64_t bars_count);

#endif
