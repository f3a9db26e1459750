/* The pool of threads. */
#include "engine/engine.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include "base/cpu.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "base/host.h"
#include "engine/sweep.h"

swp_status swp_engine_new(const swp_engine_options *options, swp_engine **engine, swp_error *error)
{
    static const swp_engine_options defaults;
    if (engine == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, 2, "engine: NULL pointer");
    }
    if (options == NULL) {
        options = &defaults;
    }
    if (options->threads > SWP__THREADS_MAX) {
        return swp__fail(error, SWP_BAD_PARAM, 1, "engine: %" PRIu32 " threads, expected 0..%d", options->threads,
                         SWP__THREADS_MAX);
    }
    swp_status status = swp__isa_check(error);
    if (status != SWP_OK) {
        return status;
    }
    uint32_t threads = options->threads != 0 ? options->threads : swp__cpu_usable_count();
    if (threads > SWP__THREADS_MAX) {
        threads = SWP__THREADS_MAX;
    }
    const swp_allocator *allocator = options->allocator != NULL ? options->allocator : &swp__system_allocator;
    swp_engine *made = swp__alloc(allocator, 1, sizeof *made);
    pthread_t *workers = swp__alloc(allocator, threads, sizeof *workers);
    if (made == NULL || workers == NULL) {
        swp__free(allocator, made, 1, sizeof *made);
        swp__free(allocator, workers, threads, sizeof *workers);
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "engine: no memory");
    }
    *made = (swp_engine){
        .allocator = *allocator,
        .clock = options->clock != NULL ? *options->clock : swp__system_clock,
        .threads = threads,
        .workers = workers,
    };
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->work_ready, NULL);
    *engine = made;
    return SWP_OK;
}

void swp_engine_free(swp_engine *engine)
{
    if (engine == NULL) {
        return;
    }
    pthread_mutex_lock(&engine->lock);
    engine->stopping = true;
    pthread_cond_broadcast(&engine->work_ready);
    pthread_mutex_unlock(&engine->lock);
    for (uint32_t i = 0; i < engine->workers_count; i++) {
        pthread_join(engine->workers[i], NULL);
    }
    pthread_cond_destroy(&engine->work_ready);
    pthread_mutex_destroy(&engine->lock);
    swp_allocator allocator = engine->allocator;
    swp__free(&allocator, engine->workers, engine->threads, sizeof *engine->workers);
    swp__free(&allocator, engine, 1, sizeof *engine);
}

uint32_t swp_engine_threads(const swp_engine *engine)
{
    return engine->threads;
}

static void *worker_main(void *argument)
{
    swp_engine *engine = argument;
    uint64_t saved = swp__fpenv_enter();
    pthread_mutex_lock(&engine->lock);
    while (!engine->stopping) {
        swp__slot *slot = swp__engine_take(engine);
        if (slot == NULL) {
            engine->idle_count++;
            pthread_cond_wait(&engine->work_ready, &engine->lock);
            engine->idle_count--;
            continue;
        }
        pthread_mutex_unlock(&engine->lock);
        swp__slot_run(slot);
        pthread_mutex_lock(&engine->lock);
        swp__slot_give_back(slot);
    }
    pthread_mutex_unlock(&engine->lock);
    swp__fpenv_leave(saved);
    return NULL;
}

static bool start_worker(swp_engine *engine)
{
    pthread_t *thread = &engine->workers[engine->workers_count];
    sigset_t all, former; /* a program's signals are for its own threads */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    int failed = pthread_create(thread, NULL, worker_main, engine);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    if (failed) {
        return false;
    }
    engine->workers_count++;
    char name[16];
    snprintf(name, sizeof name, "worker-%" PRIu32, engine->workers_count);
    pthread_setname_np(*thread, name);
    return true;
}

void swp__engine_want_workers(swp_engine *engine, uint32_t wanted)
{
    uint32_t most = engine->threads - 1;
    while (engine->workers_count < (wanted < most ? wanted : most) && start_worker(engine)) {
    }
    for (uint32_t i = 0; i < wanted && i < engine->idle_count; i++) {
        pthread_cond_signal(&engine->work_ready);
    }
}
