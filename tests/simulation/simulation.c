/* The whole server in one thread and in virtual time: model clients, a network in memory, an engine that is stepped.
 * What happens when is drawn from a seed; the same seed runs the same way again.
 *
 *   simulation [--seeds N] [--first N]     N runs (1000), from the first seed (1)
 *   simulation --seed N                    one run, told about
 *
 * A run has several lives of the server: it is killed, or told to end, and started again with nothing in memory; its clients
 * connect again, find or send again their series, and restore their sessions from what they have saved.
 *
 * What must hold in every run: each reply belongs to its request and comes once; each sweep's numbers are the reference's;
 * a session's states are those of a sweep over the bars so far, whatever was repeated, refused or restored; every request
 * that was sent whole is answered, or its connection ends, for a reason; no life of the server leaves memory behind; and it
 * ends when told to. */
#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "server/server.h"
#include "simulation/client.h"
#include "support/host.h"

enum { CLIENTS_MAX = 12, ROUNDS_MAX = 200000 };

static uint64_t current_seed;
static bool is_told;

void swp__simulation_fail(const char *format, ...)
{
    va_list args;
    fprintf(stderr, "seed %" PRIu64 ": ", current_seed);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\nreplay with: simulation --seed %" PRIu64 "\n", current_seed);
    exit(1);
}

/* An assertion of the server's says nothing of the seed. */
static void on_abort(int number)
{
    char text[80];
    int length = snprintf(text, sizeof text, "\nseed %" PRIu64 ": ended by signal %d\n", current_seed, number);
    (void)!write(STDERR_FILENO, text, (size_t)length);
    signal(number, SIG_DFL);
    raise(number);
}

typedef struct run {
    swp__random random;
    swp__test_memory memory;
    swp__test_clock clock;
    swp__net net;
    swp__world world;
    swp_engine_options engine_options;
    swp__limits engine_limits;
    swp__server_options options;
    swp_allocator allocator;
    swp_clock clock_hooks;
    swp__log log;
    swp__client *clients[CLIENTS_MAX];
    size_t clients_count; /* places for them */
    uint64_t steps;

    /* one life of the server */
    swp_engine *engine;
    swp__store *store;
    swp__server *server;
    bool ended;
} run;

static swp__server_limits random_limits(swp__random *random)
{
    swp__server_limits limits = swp__server_limits_standard();
    limits.max_in_flight = 1 + swp__random_below(random, 8);
    limits.max_connections = 2 + swp__random_below(random, CLIENTS_MAX);
    limits.max_sessions = 1 + swp__random_below(random, 4);
    limits.max_waiting = 4096 + swp__random_below(random, 20000);
    limits.spin_us = 0;
    return limits;
}

static swp__limits random_engine_limits(swp__random *random, bool is_tight)
{
    swp__limits limits = swp__limits_standard();
    limits.max_blocks = 1 + swp__random_below(random, 4);
    limits.max_block_bytes = 64 + swp__random_below(random, 2000);
    limits.max_uploads = 1 + swp__random_below(random, 4);
    if (is_tight) {
        limits.max_memory = 65536 + swp__random_below(random, 65536);
        limits.max_live_memory = 65536 + swp__random_below(random, 65536);
    }
    return limits;
}

static void start_server(run *r)
{
    r->memory.fail_at = 0;
    swp_status status = swp__engine_new(&r->engine_options, &r->engine_limits, true, &r->engine, NULL);
    assert(status == SWP_OK);
    status = swp__store_new(r->engine, (uint32_t)swp__random_next(&r->random), &r->store, NULL);
    assert(status == SWP_OK);
    r->options.engine = r->engine;
    r->options.store = r->store;
    status = swp__server_new(&r->options, &r->server, NULL);
    assert(status == SWP_OK);
    swp__acceptor acceptor = swp__net_acceptor(&r->net);
    status = swp__server_add_acceptor(r->server, &acceptor, NULL);
    assert(status == SWP_OK);
    r->ended = false;
}

static void free_server(run *r)
{
    r->memory.fail_at = 0;
    swp__server_free(r->server);
    swp__store_free(r->store);
    swp_engine_free(r->engine);
    if (r->memory.live_count != 0) {
        swp__simulation_fail("%" PRIu64 " blocks of memory, %" PRIu64 " bytes, are left behind by life %" PRIu32
                             " of the server",
                             (uint64_t)r->memory.live_count, (uint64_t)r->memory.live_bytes, r->world.life);
    }
}

static void open_run(run *r, uint64_t seed, const swp__model *model)
{
    memset(r, 0, sizeof *r);
    r->random.state = seed;
    r->clock.now_ns = UINT64_C(1000000000);
    r->clock.step_ns = 1 + swp__random_below(&r->random, 300000); /* so that units end early, too */
    r->log.fd = is_told ? STDERR_FILENO : -1;
    swp__net_init(&r->net, &r->random);
    r->allocator = swp__test_allocator(&r->memory);
    r->clock_hooks = swp__test_clock_of(&r->clock);
    r->clients_count = 1 + swp__random_below(&r->random, CLIENTS_MAX);
    bool is_tight = swp__random_once_in(&r->random, 3);
    r->engine_limits = random_engine_limits(&r->random, is_tight);
    r->engine_options = (swp_engine_options){
        .threads = 1 + (uint32_t)swp__random_below(&r->random, 4), .allocator = &r->allocator, .clock = &r->clock_hooks};
    r->options = (swp__server_options){.poller = &r->net.poller,
                                       .log = &r->log,
                                       .limits = random_limits(&r->random),
                                       .may_run_inline = swp__random_once_in(&r->random, 2)};
    r->world = (swp__world){.model = model,
                            .random = &r->random,
                            .net = &r->net,
                            .max_in_flight = r->options.limits.max_in_flight,
                            .max_uploads = r->engine_limits.max_uploads,
                            .max_sessions = r->options.limits.max_sessions,
                            .max_memory = r->engine_limits.max_memory,
                            .max_live_memory = r->engine_limits.max_live_memory,
                            .memory_may_fail = swp__random_once_in(&r->random, 4),
                            .memory_is_tight = is_tight};
    start_server(r);
}

static void step_server(run *r)
{
    r->steps++;
    if (!r->ended && !swp__server_step(r->server, 0)) {
        r->ended = true;
    }
}

static void advance(run *r, uint64_t ns)
{
    r->clock.now_ns += ns;
}

static void refuse_memory_later(run *r)
{
    if (r->world.memory_may_fail && r->memory.fail_at <= r->memory.allocs_count) {
        r->memory.fail_at = r->memory.allocs_count + 1 + swp__random_below(&r->random, 300);
    }
}

/* Who is over connects again, mostly, or makes room for somebody else. */
static void act(run *r, swp__client **client)
{
    swp__random *random = &r->random;
    if (*client != NULL && !swp__client_is_over(*client)) {
        swp__client_act(*client);
    } else if (*client != NULL && swp__random_once_in(random, 8)) {
        swp__client_free(*client);
        *client = NULL;
    } else if (*client != NULL && swp__random_once_in(random, 4)) {
        r->world.seen.reconnects += swp__client_connect(*client) ? 1 : 0;
    } else if (*client == NULL && swp__random_once_in(random, 4)) {
        *client = swp__client_new(&r->world, swp__random_once_in(random, 6) ? 1 : 2);
    }
}

/* One thing happens. */
static void happen(run *r)
{
    swp__random *random = &r->random;
    size_t i = swp__random_below(random, r->clients_count);
    refuse_memory_later(r);
    switch (swp__random_below(random, 16)) {
    case 0:
    case 1:
    case 2:
        step_server(r);
        break;
    case 3:
    case 4:
    case 5:
        swp__net_deliver(&r->net);
        break;
    case 6:
    case 7:
        swp__engine_step(r->engine);
        break;
    case 8:
        advance(r, swp__random_below(random, 20000000));
        break;
    case 9:
        if (swp__random_once_in(random, 300)) {
            r->net.refuse_accepts = 3;
        }
        if (swp__random_once_in(random, 2000)) { /* those who wait or stopped half way are closed now */
            r->world.jumps++;
            advance(r, UINT64_C(40000000000));
        }
        break;
    default:
        act(r, &r->clients[i]);
    }
}

/* Everybody gets what is due. */
static void finish(run *r)
{
    r->memory.fail_at = 0;
    for (uint64_t round = 0;; round++) {
        bool more = false;
        for (size_t i = 0; i < CLIENTS_MAX; i++) {
            more = (r->clients[i] != NULL && swp__client_finish(r->clients[i])) || more;
        }
        if (!more) {
            return;
        }
        swp__net_deliver(&r->net);
        swp__engine_step(r->engine);
        step_server(r);
        advance(r, 100000);
        if (round == ROUNDS_MAX) {
            swp__simulation_fail("somebody waits for ever");
        }
    }
}

static void drain(run *r)
{
    r->world.draining = true;
    swp__server_stop(r->server);
    bool at_once = swp__random_once_in(&r->random, 4);
    for (uint64_t round = 0; !r->ended; round++) {
        happen(r);
        swp__engine_step(r->engine);
        step_server(r);
        if (at_once && swp__random_once_in(&r->random, 20)) {
            swp__server_stop(r->server);
        }
        if (round == ROUNDS_MAX) {
            swp__simulation_fail("the server does not end");
        }
    }
}

/* Ends one way or the other, and begins again. */
static void restart(run *r)
{
    if (swp__random_once_in(&r->random, 2)) {
        drain(r);
        r->world.lives_drained |= UINT64_C(1) << r->world.life;
        r->world.draining = false;
    } else {
        swp__net_crash(&r->net);
    }
    free_server(r);
    r->world.life++;
    memset(r->world.loaded, 0, sizeof r->world.loaded);
    start_server(r);
}

static void close_run(run *r)
{
    free_server(r);
    for (size_t i = 0; i < CLIENTS_MAX; i++) {
        if (r->clients[i] != NULL) {
            swp__client_free(r->clients[i]);
        }
    }
    swp__net_fini(&r->net);
}

static void add_seen(swp__seen *total, const swp__seen *seen)
{
    for (size_t i = 0; i < sizeof *seen / sizeof(uint64_t); i++) {
        ((uint64_t *)total)[i] += ((const uint64_t *)seen)[i];
    }
}

/* What is seen in a run, in one number. */
static uint64_t simulate(uint64_t seed, const swp__model *model, swp__seen *total)
{
    static run r;
    current_seed = seed;
    open_run(&r, seed, model);
    uint64_t lives = 1 + (swp__random_once_in(&r.random, 2) ? swp__random_below(&r.random, 4) : 0);
    for (uint64_t life = 1;; life++) {
        uint64_t events = 200 + swp__random_below(&r.random, 12000);
        for (uint64_t i = 0; i < events; i++) {
            happen(&r);
        }
        if (life == lives) {
            break;
        }
        restart(&r);
    }
    if (swp__random_once_in(&r.random, 2)) {
        finish(&r);
    }
    drain(&r);
    close_run(&r);
    add_seen(total, &r.world.seen);
    return r.world.trace ^ r.clock.now_ns ^ r.steps;
}

static uint64_t number(int argc, char **argv, const char *name, uint64_t otherwise)
{
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return strtoull(argv[i + 1], NULL, 10);
        }
    }
    return otherwise;
}

static void print_seen(const swp__seen *n, uint64_t seeds)
{
    printf("%" PRIu64 " seeds: %" PRIu64 " replies, %" PRIu64 " sweeps equal to the reference, %" PRIu64 " cancelled, %" PRIu64
           " refused, %" PRIu64 " of them for memory, uploads or sessions; %" PRIu64 " connections ended by the server\n",
           seeds, n->replies, n->sweeps_right, n->cancelled, n->refused, n->limits, n->connections_lost);
    printf("uploads: %" PRIu64 " became series, %" PRIu64 " were refused. Sessions: %" PRIu64 " pushes, %" PRIu64
           " looks, %" PRIu64 " repeats known again, %" PRIu64 " out of place, %" PRIu64 " restored\n",
           n->uploads, n->uploads_refused, n->pushes, n->peeks, n->repeats, n->stale, n->restores);
    printf("clients: %" PRIu64 " connected again, %" PRIu64 " series found again, %" PRIu64 " sent again\n", n->reconnects,
           n->found_again, n->sent_again);
}

/* A simulation in which something never happens proves nothing about it. */
static bool is_too_little(const swp__seen *seen, uint64_t seeds)
{
    bool too_little = seen->sweeps_right < seeds;
    for (size_t i = 0; i < sizeof *seen / sizeof(uint64_t); i++) {
        too_little = too_little || ((const uint64_t *)seen)[i] == 0;
    }
    return too_little;
}

int main(int argc, char **argv)
{
    swp__model model;
    swp__seen total = {0};
    swp__model_init(&model);
    signal(SIGABRT, on_abort);
    signal(SIGSEGV, on_abort);
    signal(SIGTRAP, on_abort);
    signal(SIGILL, on_abort);
    signal(SIGBUS, on_abort);
    uint64_t seed = number(argc, argv, "--seed", 0), first = number(argc, argv, "--first", 1);
    is_told = seed != 0;
    uint64_t seeds = seed != 0 ? 1 : number(argc, argv, "--seeds", 1000);
    first = seed != 0 ? seed : first;
    for (uint64_t s = first; s < first + seeds; s++) {
        uint64_t trace = simulate(s, &model, &total);
        if (s < first + 20 && simulate(s, &model, &total) != trace) {
            swp__simulation_fail("does not run the same way twice");
        }
    }
    swp__model_fini(&model);
    print_seen(&total, seeds);
    bool too_little = seeds > 100 && is_too_little(&total, seeds);
    if (too_little) {
        fprintf(stderr, "the runs did too little to mean anything\n");
    }
    return too_little ? 1 : 0;
}
