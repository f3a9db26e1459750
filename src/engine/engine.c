/* The pool of threads. */
#include "engine/engine.h"

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include "base/cpu.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/fpenv.h"
#include "base/host.h"
#include "engine/turns.h"

static uint32_t choose_threads(const swp_engine_options *options, bool stepped)
{
    uint32_t threads = options->threads != 0 ? options->threads : stepped ? 1 : swp__cpu_usable_count();
    return threads < SWP__THREADS_MAX ? threads : SWP__THREADS_MAX;
}

swp_status swp__engine_new(const swp_engine_options *options, const swp__limits *limits, bool stepped, swp_engine **engine,
                           swp_error *error)
{
    static const swp_engine_options defaults;
    options = options != NULL ? options : &defaults;
    if (engine == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, 2, "engine: NULL pointer");
    }
    if (options->threads > SWP__THREADS_MAX) {
        return swp__fail(error, SWP_BAD_PARAM, 1, "engine: %" PRIu32 " threads, expected 0..%d", options->threads,
                         SWP__THREADS_MAX);
    }
    swp__limits in_effect = limits != NULL ? *limits : swp__limits_most();
    swp_status status = swp__isa_check(error);
    if (status == SWP_OK) {
        status = swp__limits_check(&in_effect, error);
    }
    if (status != SWP_OK) {
        return status;
    }
    uint32_t threads = choose_threads(options, stepped);
    const swp_allocator *allocator = options->allocator != NULL ? options->allocator : &swp__system_allocator;
    swp_engine *made = swp__alloc(allocator, 1, sizeof *made);
    swp__worker *workers = swp__alloc(allocator, threads, sizeof *workers);
    if (made == NULL || workers == NULL) {
        swp__free(allocator, made, 1, sizeof *made);
        swp__free(allocator, workers, threads, sizeof *workers);
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "engine: no memory");
    }
    *made = (swp_engine){
        .allocator = *allocator,
        .clock = options->clock != NULL ? *options->clock : swp__system_clock,
        .limits = in_effect,
        .threads = threads,
        .fork_count = swp__fork_count(),
        .stepped = stepped,
        .workers = workers,
    };
    for (uint32_t i = 0; i < threads; i++) {
        workers[i] = (swp__worker){.engine = made};
    }
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->work_ready, NULL);
    *engine = made;
    return SWP_OK;
}

swp_status swp_engine_new(const swp_engine_options *options, swp_engine **engine, swp_error *error)
{
    return swp__engine_new(options, NULL, false, engine, error);
}

static void join_worker(swp__worker *worker)
{
    if (worker->state != SWP__WORKER_NONE) {
        pthread_join(worker->thread, NULL);
        worker->state = SWP__WORKER_NONE;
    }
}

static void stop_workers(swp_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    engine->stopping = true;
    pthread_cond_broadcast(&engine->work_ready);
    pthread_mutex_unlock(&engine->lock);
    for (uint32_t i = 0; i < engine->threads; i++) {
        join_worker(&engine->workers[i]);
    }
    pthread_cond_destroy(&engine->work_ready);
    pthread_mutex_destroy(&engine->lock);
}

void swp_engine_free(swp_engine *engine)
{
    if (engine == NULL) {
        return;
    }
    if (engine->fork_count == swp__fork_count()) { /* a forked child has the memory, but not the threads */
        stop_workers(engine);
    }
    swp_allocator allocator = engine->allocator;
    swp__free(&allocator, engine->workers, engine->threads, sizeof *engine->workers);
    swp__free(&allocator, engine, 1, sizeof *engine);
}

uint32_t swp_engine_threads(const swp_engine *engine)
{
    return engine->threads;
}

swp_status swp__engine_check_process(const swp_engine *engine, swp_error *error)
{
    if (engine->fork_count != swp__fork_count()) {
        return swp__fail(error, SWP_WRONG_PROCESS, SWP_AT_NONE,
                         "engine: made before a fork; a forked child makes its own engine");
    }
    return SWP_OK;
}

swp__engine_counters swp__engine_count(swp_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    swp__engine_counters counters = engine->counters;
    counters.workers = engine->workers_count;
    counters.live_bars = __atomic_load_n(&engine->counters.live_bars, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&engine->lock);
    return counters;
}

/* A bar that has come is not to wait for a time slice of a sweep: to the system's scheduler a worker is then an idle thread,
 * which any other one preempts when it wakes. */
static void step_back(void)
{
    const struct sched_param lowest = {.sched_priority = 0};
    (void)pthread_setschedparam(pthread_self(), SCHED_IDLE, &lowest);
}

static void *worker_main(void *argument)
{
    swp__worker *worker = argument;
    swp_engine *engine = worker->engine;
    bool stepped_back = false;
    uint64_t saved = swp__fpenv_enter();
    pthread_mutex_lock(&engine->lock);
    while (!engine->stopping) {
        if (engine->counters.live_sessions > 0 && !stepped_back) {
            step_back();
            stepped_back = true;
        }
        if (swp__turn(engine)) {
            continue;
        }
        if (stepped_back && engine->counters.live_sessions == 0 && engine->sweeps == NULL) {
            pthread_cond_broadcast(&engine->work_ready); /* the others end, too */
            break;
        }
        engine->idle_count++;
        pthread_cond_wait(&engine->work_ready, &engine->lock);
        engine->idle_count--;
    }
    engine->workers_count--;
    worker->state = SWP__WORKER_ENDED;
    pthread_mutex_unlock(&engine->lock);
    swp__fpenv_leave(saved);
    return NULL;
}

bool swp__engine_step(swp_engine *engine)
{
    uint64_t saved = swp__fpenv_enter();
    pthread_mutex_lock(&engine->lock);
    bool done = swp__turn(engine);
    pthread_mutex_unlock(&engine->lock);
    swp__fpenv_leave(saved);
    return done;
}

static swp__worker *find_place(swp_engine *engine)
{
    swp__worker *worker = engine->workers;
    while (worker->state == SWP__WORKER_RUNNING) {
        worker++; /* fewer run than there are places */
    }
    join_worker(worker);
    return worker;
}

static bool start_worker(swp_engine *engine)
{
    swp__worker *worker = find_place(engine);
    sigset_t all, former; /* a program's signals are for its own threads */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    int failed = pthread_create(&worker->thread, NULL, worker_main, worker);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    if (failed) {
        return false;
    }
    worker->state = SWP__WORKER_RUNNING;
    engine->workers_count++;
    char name[16];
    snprintf(name, sizeof name, "worker-%" PRIu32, (uint32_t)(worker - engine->workers) + 1);
    pthread_setname_np(worker->thread, name);
    return true;
}

uint32_t swp__engine_want_workers(swp_engine *engine, uint32_t wanted)
{
    wanted = wanted < engine->threads ? wanted : engine->threads;
    while (engine->workers_count < wanted && start_worker(engine)) {
    }
    return engine->workers_count;
}

void swp__engine_wake(swp_engine *engine, uint64_t count)
{
    for (uint64_t i = 0; i < count && i < engine->idle_count; i++) {
        pthread_cond_signal(&engine->work_ready);
    }
}
