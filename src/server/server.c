/* The loop. One step: wait for events, give every connection that has something to do its turn, take what the engine's
 * threads posted, until nothing is left; then look at the time. */
#include "server/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "base/cpu.h"
#include "base/error.h"
#include "base/host.h"

enum { EVENTS_MAX = 64 };

#define NEVER UINT64_MAX
#define ACCEPT_PAUSE_NS UINT64_C(100000000)   /* before accepting again when the system had no room */
#define ACCEPT_LINES_NS UINT64_C(10000000000) /* between two lines about that, or about others' users */

swp_status swp__server_new(const swp__server_options *options, swp__server **server, swp_error *error)
{
    swp_status status = swp__server_limits_check(&options->limits, error);
    if (status != SWP_OK) {
        return status;
    }
    swp__server *made = swp__alloc(&options->engine->allocator, 1, sizeof *made);
    if (made == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "server: no memory");
    }
    memset(made, 0, sizeof *made);
    made->options = *options;
    made->engine = options->engine;
    made->allocator = options->engine->allocator;
    made->clock = options->engine->clock;
    made->log = options->log;
    made->poller = options->poller;
    made->now_ns = made->started_ns = swp__now_ns(&made->clock);
    made->look_ns = NEVER;
    made->spin = options->may_spin ? swp__spin_new(options->limits.spin_us * 1000) : (swp__spin){0};
    pthread_mutex_init(&made->posted_lock, NULL);
    *server = made;
    return SWP_OK;
}

/* ---- doors ---- */

swp_status swp__server_add_acceptor(swp__server *server, const swp__acceptor *acceptor, swp_error *error)
{
    swp__door *door = swp__alloc(&server->allocator, 1, sizeof *door);
    if (door == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "server: no memory");
    }
    *door = (swp__door){.acceptor = *acceptor, .is_door = true, .ready = true, .next = server->doors};
    int failure = swp__poller_add_acceptor(server->poller, &door->acceptor, door);
    if (failure != 0) {
        swp__free(&server->allocator, door, 1, sizeof *door);
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "server: cannot watch a socket: %s", strerror(-failure));
    }
    server->doors = door;
    char text[SWP__ADDRESS_TEXT_SIZE];
    swp__address_print(&acceptor->address, text);
    swp__log_line(server->log, SWP__LOG_INFO, "listening on %s", text);
    return SWP_OK;
}

swp_status swp__server_add_stream(swp__server *server, const swp__stream *stream, const swp__peer *peer, swp_error *error)
{
    swp__connection *c = swp__connection_open(server, stream, peer);
    if (c == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "server: cannot watch standard input and output");
    }
    c->is_stdio = true;
    server->streams_count++;
    c->readable = true;
    swp__connection_wants_turn(c);
    return SWP_OK;
}

static void close_doors(swp__server *server)
{
    while (server->doors != NULL) {
        swp__door *door = server->doors;
        server->doors = door->next;
        swp__poller_remove_acceptor(server->poller, &door->acceptor, door);
        swp__acceptor_close(&door->acceptor);
        swp__free(&server->allocator, door, 1, sizeof *door);
    }
}

/* An error frame to somebody who will not be served. */
static void turn_away(swp__server *server, swp__stream *stream, swp_status status, const char *why)
{
    swp_error error;
    swp__wire_out out;
    (void)swp__fail(&error, status, SWP_AT_NONE, "%s", why);
    swp__wire_encode_error(0, 0, &error, &out);
    if (swp__wire_finish(&out, UINT64_MAX, NULL) == SWP_OK) {
        swp__stream_send(stream, out.parts, (int)out.parts_count, NULL);
    }
    swp__stream_close(stream);
    server->counters.connections_refused++;
}

static void refuse_peer(swp__server *server, swp__stream *stream, const swp__peer *peer)
{
    uint64_t suppressed;
    if (swp__log_allowed(&server->refuse_limiter, server->now_ns, ACCEPT_LINES_NS, 1, &suppressed)) {
        swp__log_line(server->log, SWP__LOG_WARNING, "refused uid %u: the socket serves its owner and --group only",
                      (unsigned)peer->uid);
    }
    turn_away(server, stream, SWP_DENIED, "this server serves the user who started it and the members of its --group only");
}

static void no_room(swp__server *server, int failure)
{
    uint64_t suppressed;
    server->accept_ns = server->now_ns + ACCEPT_PAUSE_NS;
    if (swp__log_allowed(&server->accept_limiter, server->now_ns, ACCEPT_LINES_NS, 1, &suppressed)) {
        swp__log_line(server->log, SWP__LOG_ERROR,
                      "cannot accept: %s (%" PRIu64 " connections are open); those who wait stay in the queue",
                      strerror(failure), server->connections_count);
    }
}

/* False: nobody waits, or there is no room just now. */
static bool accept_one(swp__server *server, swp__door *door)
{
    swp__stream stream;
    swp__peer peer;
    int failure = swp__accept(&door->acceptor, &stream, &peer);
    if (failure == -EACCES) {
        refuse_peer(server, &stream, &peer);
        return true;
    }
    if (failure != 0) {
        door->ready = failure != -EAGAIN;
        if (failure != -EAGAIN) {
            no_room(server, -failure);
        }
        return false;
    }
    if (server->connections_count >= server->options.limits.max_connections) {
        turn_away(server, &stream, SWP_BUSY, "too many connections: try again when one is closed, or raise --max-connections");
        return true;
    }
    swp__connection *c = swp__connection_open(server, &stream, &peer);
    if (c == NULL) {
        turn_away(server, &stream, SWP_NO_MEMORY, "no memory for one more connection");
        return true;
    }
    c->readable = true; /* who connects asks at once, mostly */
    swp__connection_wants_turn(c);
    return true;
}

static void accept_all(swp__server *server)
{
    for (swp__door *door = server->doors; door != NULL; door = door->next) {
        while (door->ready && server->now_ns >= server->accept_ns && accept_one(server, door)) {
        }
    }
}

void swp__server_lost(swp__server *server, swp__connection *c)
{
    server->connections_count--;
    server->accept_ns = 0; /* there is room again */
    server->lost_some = true;
    if (c->is_stdio) {
        server->streams_count--;
        server->stdio_failed = server->stdio_failed || c->failed;
        server->had_streams = true;
    }
}

static void free_lost(swp__server *server)
{
    if (!server->lost_some) {
        return;
    }
    server->lost_some = false;
    swp__connection *next;
    for (swp__connection *c = server->connections; c != NULL; c = next) {
        next = c->next;
        if (swp__stream_is_open(&c->stream)) {
            continue;
        }
        if (c->calls_count > 0) {
            server->lost_some = true; /* the engine still has some of its calls */
            continue;
        }
        if (c->previous != NULL) {
            c->previous->next = next;
        } else {
            server->connections = next;
        }
        if (next != NULL) {
            next->previous = c->previous;
        }
        if (server->last_caller == c) {
            server->last_caller = NULL;
        }
        swp__free(&server->allocator, c->stash, SWP__READ_SIZE, 1);
        swp__free(&server->allocator, c, 1, sizeof *c);
    }
}

/* ---- the engine's posts ---- */

static bool some_posted(const swp__server *server)
{
    return __atomic_load_n(&server->posted_some, __ATOMIC_SEQ_CST) != 0;
}

void swp__server_take_posted(swp__server *server)
{
    if (!some_posted(server)) {
        return;
    }
    pthread_mutex_lock(&server->posted_lock);
    swp__outgoing *first = server->posted_first;
    server->posted_first = server->posted_last = NULL;
    __atomic_store_n(&server->posted_some, 0, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&server->posted_lock);
    for (swp__outgoing *o = first, *next; o != NULL; o = next) {
        next = o->next;
        swp__call_posted(o);
    }
}

/* ---- loads with work left ---- */

void swp__server_work_later(swp__server *server, swp__call *call)
{
    swp__call **link = &server->working;
    while (*link != NULL) {
        link = &(*link)->work_next;
    }
    *link = call;
    call->work_next = NULL;
}

void swp__server_forget_work(swp__server *server, const swp__call *call)
{
    for (swp__call **link = &server->working; *link != NULL; link = &(*link)->work_next) {
        if (*link == call) {
            *link = call->work_next;
            return;
        }
    }
}

/* One slice of one load, or of one live session. */
static void work(swp__server *server)
{
    swp__call *call = server->working;
    if (call == NULL) {
        return;
    }
    server->working = call->work_next;
    bool done = call->load != NULL ? swp__load_go_on(call) : swp__live_go_on(call);
    if (!done) {
        swp__server_work_later(server, call);
    }
}

/* ---- shared memory ---- */

void swp__server_watch(swp__server *server, swp__connection *c)
{
    swp__shm_awake(c->shm);
    c->is_watched = true;
    c->watched_next = server->watched;
    server->watched = c;
}

void swp__server_forget_watched(swp__server *server, swp__connection *c)
{
    for (swp__connection **link = &server->watched; *link != NULL; link = &(*link)->watched_next) {
        if (*link == c) {
            *link = c->watched_next;
            c->is_watched = false;
            return;
        }
    }
}

/* Gives a turn to who has sent something; how many those are. */
static int look_at_rings(swp__server *server)
{
    int found = 0;
    for (swp__connection *c = server->watched; c != NULL; c = c->watched_next) {
        if (swp__connection_has_input(c)) {
            swp__connection_wants_turn(c);
            found++;
        }
    }
    return found;
}

/* Nobody's ring is looked at any more: who sends wakes us. False: somebody has sent already. */
static bool leave_rings(swp__server *server)
{
    while (server->watched != NULL) {
        swp__connection *c = server->watched;
        if (!swp__shm_sleep(c->shm) && swp__connection_has_input(c)) {
            swp__connection_wants_turn(c);
            return false;
        }
        server->watched = c->watched_next;
        c->is_watched = false;
    }
    return true;
}

/* ---- waiting ---- */

/* How long to look for events before sleeping. To sleep between the pieces of a frame would be slower than its sender. */
static uint64_t time_to_look(swp__server *server, bool is_in_frame)
{
    if (is_in_frame) {
        return server->spin.most_ns;
    }
    return server->running > 0 ? 0 : swp__spin_begin(&server->spin);
}

/* A ring is looked at in no time; the poller, not so often. */
static bool look_at_rings_for_long(swp__server *server)
{
    enum { LOOKS = 64 };
    int found = 0;
    for (int i = 0; server->watched != NULL && i < LOOKS && found == 0; i++) {
        found = look_at_rings(server);
        swp__spin_relax();
    }
    return found > 0;
}

/* Looks for events for a while before sleeping, as long as that pays. Not while sweeps run: they need the CPU more. A caller
 * that was woken on our CPU cannot answer while we look, and the system likes to put the two of a quick exchange on one CPU:
 * after some looks in vain the next begins on another one. Not after the first: to be moved takes longer than a call, and where the
 * caller was only held up for once it would be moved onto the caller's CPU. */
static int look_for_events(swp__server *server, swp__event *events)
{
    bool is_in_frame = server->expects_bytes;
    server->expects_bytes = false;
    uint64_t look_ns = time_to_look(server, is_in_frame);
    if (look_ns == 0) {
        return 0;
    }
    if (!is_in_frame && swp__spin_is_in_vain(&server->spin)) {
        swp__cpu_step_aside();
    }
    uint64_t end = swp__now_ns(&server->clock) + look_ns;
    int count = 0;
    bool found = false;
    do {
        found = look_at_rings_for_long(server);
        count = found ? 0 : swp__poller_wait(server->poller, events, EVENTS_MAX, 0);
        swp__spin_relax();
    } while (count == 0 && !found && !some_posted(server) && swp__now_ns(&server->clock) < end);
    if (!is_in_frame) {
        swp__spin_end(&server->spin, count > 0 || found);
    }
    return count;
}

static int sleep_for_events(swp__server *server, swp__event *events, int64_t timeout_ns)
{
    __atomic_store_n(&server->sleeping, 1, __ATOMIC_SEQ_CST); /* before the list is looked at: see post */
    if (some_posted(server) || __atomic_load_n(&server->stop_requests, __ATOMIC_SEQ_CST) > server->stops_seen ||
        !leave_rings(server)) {
        timeout_ns = 0;
    }
    int count = swp__poller_wait(server->poller, events, EVENTS_MAX, timeout_ns);
    __atomic_store_n(&server->sleeping, 0, __ATOMIC_SEQ_CST);
    return count;
}

static int wait_for_events(swp__server *server, swp__event *events, int64_t timeout_ns)
{
    if (timeout_ns == 0 || look_at_rings(server) > 0) {
        return swp__poller_wait(server->poller, events, EVENTS_MAX, 0);
    }
    int count = look_for_events(server, events);
    bool is_over = count > 0 || some_posted(server) || server->turn_first != NULL;
    return is_over ? count : sleep_for_events(server, events, timeout_ns);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int64_t time_to_wait(const swp__server *server, int64_t most_ns)
{
    if (server->turn_first != NULL || server->working != NULL || some_posted(server)) {
        return 0;
    }
    uint64_t until = server->look_ns;
    if (server->draining) {
        until = earlier(until, server->drain_until_ns);
    }
    for (const swp__door *door = server->doors; door != NULL; door = door->next) {
        until = door->ready ? earlier(until, server->accept_ns) : until; /* there was no room for who waits */
    }
    int64_t wait = until == NEVER ? -1 : until > server->now_ns ? (int64_t)(until - server->now_ns) : 0;
    return wait < 0 || (most_ns >= 0 && most_ns < wait) ? most_ns : wait;
}

/* ---- the loop ---- */

static void take_event(swp__server *server, const swp__event *event)
{
    swp__door *door = event->tag;
    if (door->is_door) {
        door->ready = true;
        return;
    }
    swp__connection *c = event->tag;
    if (!swp__stream_is_open(&c->stream)) {
        return;
    }
    c->readable = c->readable || (event->what & SWP__READABLE) != 0;
    c->writable = c->writable || (event->what & SWP__WRITABLE) != 0;
    if (c->shm != NULL) {
        swp__shm_socket_is_ready(c->shm);
        c->writable = true; /* there may be room in the ring */
    }
    c->end_seen = c->end_seen || (event->what & SWP__ENDED) != 0;
    if ((event->what & SWP__GONE) != 0 && !c->is_stdio) {
        swp__connection_drop(c, "the peer is gone");
        return;
    }
    (void)server;
    swp__connection_wants_turn(c);
}

/* One turn for each connection that has something to do now; who is not through, or becomes so meanwhile, comes next
 * round, after new events. */
static void give_turns(swp__server *server)
{
    server->round++;
    while (server->turn_first != NULL && server->turn_first->turn_round < server->round) {
        swp__connection *c = server->turn_first;
        server->turn_first = c->turn_next;
        swp__connection_turn(c);
    }
}

static void look_at_time(swp__server *server)
{
    if (server->now_ns < server->look_ns) {
        return;
    }
    uint64_t next = NEVER;
    for (swp__connection *c = server->connections; c != NULL; c = c->next) {
        swp__connection_judge(c, &next);
    }
    server->look_ns = next;
}

static void begin_drain(swp__server *server)
{
    server->draining = true;
    server->drain_until_ns = server->now_ns + server->options.limits.drain_timeout_ms * 1000000;
    swp__log_line(server->log, SWP__LOG_INFO, "stopping: %" PRIu64 " connections, %" PRIu64 " sweeps in progress",
                  server->connections_count, server->running);
    close_doors(server);
}

static void take_stops(swp__server *server)
{
    int requests = __atomic_load_n(&server->stop_requests, __ATOMIC_SEQ_CST);
    if (requests == server->stops_seen) {
        return;
    }
    server->stops_seen = requests;
    if (!server->draining) {
        begin_drain(server);
    }
    if (requests > 1) {
        swp__log_line(server->log, SWP__LOG_WARNING, "stopping at once");
        server->stopped = true;
    }
}

/* Nothing is in the works, half read or waiting to leave. */
static bool is_quiet(const swp__server *server)
{
    for (const swp__connection *c = server->connections; c != NULL; c = c->next) {
        if (c->calls_count > 0 || c->head_size > 0 || c->skip_left > 0) {
            return false;
        }
    }
    return server->turn_first == NULL && !some_posted(server);
}

static bool has_ended(swp__server *server, int events_count)
{
    if (server->stopped) {
        return true;
    }
    if (server->had_streams && server->streams_count == 0 && server->doors == NULL) {
        return server->connections == NULL || server->draining;
    }
    if (!server->draining) {
        return false;
    }
    if (server->now_ns >= server->drain_until_ns) {
        swp__log_line(server->log, SWP__LOG_WARNING, "the drain time-out is over: %" PRIu64 " sweeps are given up",
                      server->running);
        return true;
    }
    return events_count == 0 && is_quiet(server);
}

bool swp__server_step(swp__server *server, int64_t most_ns)
{
    swp__event events[EVENTS_MAX];
    take_stops(server);
    bool looks_quiet = server->draining && is_quiet(server);
    int count = wait_for_events(server, events, looks_quiet ? 0 : time_to_wait(server, most_ns));
    server->now_ns = swp__now_ns(&server->clock);
    for (int i = 0; i < count; i++) {
        take_event(server, &events[i]);
    }
    look_at_rings(server);
    swp__server_take_posted(server);
    accept_all(server);
    work(server);
    give_turns(server);
    look_at_time(server);
    free_lost(server);
    take_stops(server);
    return !has_ended(server, count);
}

void swp__server_stop(swp__server *server)
{
    __atomic_fetch_add(&server->stop_requests, 1, __ATOMIC_SEQ_CST);
    swp__poller_wake(server->poller);
}

bool swp__server_is_stopping(const swp__server *server)
{
    return server->draining;
}

bool swp__server_ended_well(const swp__server *server)
{
    return !server->stdio_failed;
}

void swp__server_free(swp__server *server)
{
    if (server == NULL) {
        return;
    }
    close_doors(server);
    for (swp__connection *c = server->connections; c != NULL; c = c->next) {
        swp__connection_drop(c, "the server ends");
    }
    while (server->running > 0) { /* they are cancelled: it does not take long */
        if (!swp__engine_step(server->engine) && !some_posted(server)) {
            swp__event events[EVENTS_MAX];
            sleep_for_events(server, events, 1000000);
        }
        swp__server_take_posted(server);
    }
    free_lost(server);
    swp__calls_fini(server);
    pthread_mutex_destroy(&server->posted_lock);
    swp_allocator allocator = server->allocator;
    swp__free(&allocator, server, 1, sizeof *server);
}
