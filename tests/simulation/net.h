/* A network in memory: connections whose bytes arrive when the simulation says so, and the server's poller over them.
 *
 *     client ── send ──> [ on the way | arrived ] ── recv ──> server          and the same the other way round
 *
 * Bytes sent are on the way until swp__net_deliver lets some arrive; a lane holds so many and no more. Edges are raised
 * as epoll raises them, and no oftener: a server that misses one hangs here, too. */
#ifndef SWP_TESTS_SIMULATION_NET_H
#define SWP_TESTS_SIMULATION_NET_H

#include "simulation/random.h"
#include "transport/poller.h"

enum { SWP__NET_LINES_MAX = 64, SWP__NET_USERS = 2 };

typedef struct swp__lane {
    uint8_t *bytes;
    size_t capacity;
    uint64_t sent, arrived, taken; /* since it was opened */
    bool ended, end_arrived;       /* the sender sends no more; the receiver can know */
} swp__lane;

typedef struct swp__line {
    bool is_acceptor; /* false: see swp__net */
    struct swp__net *net;
    swp__lane to_server, to_client;
    bool used, accepted, server_open, client_open;
    uint32_t user;   /* whom the system vouches for, 1..SWP__NET_USERS; 0: nobody */
    bool crashed;    /* the server is gone without a word */
    bool tells_gone; /* like a Unix socket: the server hears when the client has closed, not only at its next write */
    bool client_gone_arrived;
    void *tag; /* of the server's poller; NULL: not registered */
    uint32_t raised;
    bool wants_output;
} swp__line;

typedef struct swp__net {
    bool is_acceptor; /* true: acceptors' context is the net itself */
    swp__random *random;
    swp__line lines[SWP__NET_LINES_MAX];
    swp__poller poller;
    void *acceptor_tag;
    bool acceptor_raised;
    uint32_t refuse_accepts; /* as many times the system has no descriptor left */
    uint64_t wakes;
} swp__net;

void swp__net_init(swp__net *net, swp__random *random);
void swp__net_fini(swp__net *net);

/* The server's door. */
swp__acceptor swp__net_acceptor(swp__net *net);

/* The server is killed: of what it has sent some arrives yet, then the end; nothing more is sent. */
void swp__net_crash(swp__net *net);

/* Something has yet to arrive, or to be told to the server. */
bool swp__net_is_busy(const swp__net *net);

/* Lets some bytes of some lane arrive. */
void swp__net_deliver(swp__net *net);

/* ---- the client's end ---- */

/* NULL: nobody listens, or no line is free. */
swp__line *swp__net_connect(swp__net *net);

/* Who the server is told it is: 1..SWP__NET_USERS; 0: nobody the system knows. */
uint32_t swp__line_user(const swp__line *line);

size_t swp__net_send(swp__line *line, const uint8_t *bytes, size_t size); /* how many were taken */

/* Bytes > 0, 0 nothing just now, -1 the end. */
int64_t swp__net_recv(swp__line *line, uint8_t *bytes, size_t size);

void swp__net_shut(swp__line *line);  /* sends no more, still reads */
void swp__net_close(swp__line *line); /* and the line is free again once the server has closed, too */

#endif
