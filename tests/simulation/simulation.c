/* The whole server in one thread and in virtual time: model clients, a network in memory, an engine that is stepped.
 * What happens when is drawn from a seed; the same seed runs the same way again.
 *
 *   simulation [--seeds N] [--first N]     N runs (1000), from the first seed (1)
 *   simulation --seed N                    one run, told about
 *
 * What must hold in every run: each reply belongs to its request and comes once; each sweep's numbers are the
 * reference's; every request that was sent whole is answered, or its connection ends, for a reason; nothing leaks; and
 * the server ends when told to. */
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
    swp_engine *engine;
    swp__store *store;
    swp__server *server;
    swp__log log;
    swp__client *clients[CLIENTS_MAX];
    bool ended;
    uint64_t steps;
} run;

static swp__server_limits random_limits(swp__random *random)
{
    swp__server_limits limits = swp__server_limits_standard();
    limits.max_in_flight = 1 + swp__random_below(random, 8);
    limits.max_connections = 2 + swp__random_below(random, CLIENTS_MAX);
    limits.max_waiting = 4096 + swp__random_below(random, 20000);
    limits.spin_us = 0;
    return limits;
}

static swp__limits random_engine_limits(swp__random *random)
{
    swp__limits limits = swp__limits_standard();
    limits.max_blocks = 1 + swp__random_below(random, 4);
    limits.max_block_bytes = 64 + swp__random_below(random, 2000);
    return limits;
}

static void open_run(run *r, uint64_t seed, const swp__model *model)
{
    memset(r, 0, sizeof *r);
    r->random.state = seed;
    r->clock.now_ns = UINT64_C(1000000000);
    r->clock.step_ns = 1 + swp__random_below(&r->random, 300000); /* so that units end early, too */
    r->log.fd = is_told ? STDERR_FILENO : -1;
    swp__net_init(&r->net, &r->random);
    swp_allocator allocator = swp__test_allocator(&r->memory);
    swp_clock clock = swp__test_clock_of(&r->clock);
    swp__limits engine_limits = random_engine_limits(&r->random);
    swp_engine_options engine_options = {
        .threads = 1 + (uint32_t)swp__random_below(&r->random, 4), .allocator = &allocator, .clock = &clock};
    swp_status status = swp__engine_new(&engine_options, &engine_limits, true, &r->engine, NULL);
    assert(status == SWP_OK);
    status = swp__store_new(r->engine, (uint32_t)seed, &r->store, NULL);
    assert(status == SWP_OK);
    swp__server_options options = {.engine = r->engine,
                                   .store = r->store,
                                   .poller = &r->net.poller,
                                   .log = &r->log,
                                   .limits = random_limits(&r->random),
                                   .may_run_inline = swp__random_once_in(&r->random, 2)};
    status = swp__server_new(&options, &r->server, NULL);
    assert(status == SWP_OK);
    swp__acceptor acceptor = swp__net_acceptor(&r->net);
    status = swp__server_add_acceptor(r->server, &acceptor, NULL);
    assert(status == SWP_OK);
    r->world = (swp__world){.model = model,
                            .random = &r->random,
                            .net = &r->net,
                            .max_in_flight = options.limits.max_in_flight,
                            .memory_may_fail = swp__random_once_in(&r->random, 4)};
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

/* One thing happens. */
static void happen(run *r)
{
    swp__random *random = &r->random;
    size_t i = swp__random_below(random, CLIENTS_MAX);
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
        if (r->clients[i] != NULL && swp__client_is_over(r->clients[i])) {
            swp__client_free(r->clients[i]);
            r->clients[i] = NULL;
        }
        if (r->clients[i] == NULL) {
            if (swp__random_once_in(random, 4)) {
                r->clients[i] = swp__client_new(&r->world, swp__random_once_in(random, 4) ? 1 : 2);
            }
        } else {
            swp__client_act(r->clients[i]);
        }
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

static void close_run(run *r)
{
    r->memory.fail_at = 0;
    swp__server_free(r->server);
    for (size_t i = 0; i < CLIENTS_MAX; i++) {
        if (r->clients[i] != NULL) {
            swp__client_free(r->clients[i]);
        }
    }
    swp__store_free(r->store);
    swp_engine_free(r->engine);
    swp__net_fini(&r->net);
    if (r->memory.live_count != 0) {
        swp__simulation_fail("%" PRIu64 " blocks of memory, %" PRIu64 " bytes, are left behind", (uint64_t)r->memory.live_count,
                             (uint64_t)r->memory.live_bytes);
    }
}

/* What is seen in a run, in one number. */
static uint64_t simulate(uint64_t seed, const swp__model *model, swp__world *total)
{
    static run r;
    current_seed = seed;
    open_run(&r, seed, model);
    uint64_t events = 200 + swp__random_below(&r.random, 6000);
    for (uint64_t i = 0; i < events; i++) {
        happen(&r);
    }
    if (swp__random_once_in(&r.random, 2)) {
        finish(&r);
    }
    drain(&r);
    close_run(&r);
    total->replies += r.world.replies;
    total->sweeps_right += r.world.sweeps_right;
    total->cancelled += r.world.cancelled;
    total->refused += r.world.refused;
    total->connections_lost += r.world.connections_lost;
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

int main(int argc, char **argv)
{
    swp__model model;
    swp__world total = {0};
    swp__model_init(&model);
    signal(SIGABRT, on_abort);
    signal(SIGSEGV, on_abort);
    uint64_t seed = number(argc, argv, "--seed", 0), first = number(argc, argv, "--first", 1);
    is_told = seed != 0;
    uint64_t last = seed != 0 ? seed : first + number(argc, argv, "--seeds", 1000) - 1;
    for (uint64_t s = seed != 0 ? seed : first; s <= last; s++) {
        uint64_t trace = simulate(s, &model, &total);
        if (s < first + 20 && simulate(s, &model, &total) != trace) {
            swp__simulation_fail("does not run the same way twice");
        }
    }
    swp__model_fini(&model);
    printf("%" PRIu64 " seeds: %" PRIu64 " replies, %" PRIu64 " sweeps equal to the reference, %" PRIu64 " cancelled, %" PRIu64
           " refused, %" PRIu64 " connections ended by the server\n",
           seed != 0 ? 1 : last - first + 1, total.replies, total.sweeps_right, total.cancelled, total.refused,
           total.connections_lost);
    bool too_little =
        seed == 0 && last - first >= 100 && (total.sweeps_right < last || total.cancelled == 0 || total.refused == 0);
    if (too_little) {
        fprintf(stderr, "the runs did too little to mean anything\n");
    }
    return too_little ? 1 : 0;
}
