/* Opening and closing, and the way from a public call to a door and back. */
#include "swp/client.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include "base/error.h"
#include "base/fork.h"
#include "base/host.h"
#include "client/internal.h"

#define WAIT_NS UINT64_C(1000000000) /* the longest wait without a look at the clock */

/* ---- opening ---- */

static swp_status check_options(const swp_client_options *o, swp_error *error)
{
    if (o->token_size > SWP__TOKEN_MAX || (o->token == NULL && o->token_size > 0)) {
        return swp__fail(error, SWP_BAD_PARAM, 2, "token of %zu bytes, expected at most %" PRIu64, o->token_size,
                         SWP__TOKEN_MAX);
    }
    size_t name_size = o->name != NULL ? strlen(o->name) : 0;
    if (name_size > SWP__CLIENT_NAME_MAX) {
        return swp__fail(error, SWP_BAD_PARAM, 2, "client name of %zu bytes, expected at most %" PRIu64, name_size,
                         SWP__CLIENT_NAME_MAX);
    }
    if (name_size > 0 && swp__wire_check_text((const uint8_t *)o->name, name_size, 0, NULL) != SWP_OK) {
        return swp__fail(error, SWP_BAD_PARAM, 2, "client name is not UTF-8 text without control characters");
    }
    return SWP_OK;
}

static swp_status check_scheme(const char *url, const swp__address *address, swp_error *error)
{
    switch (address->scheme) {
    case SWP__SCHEME_UNIX:
    case SWP__SCHEME_SHM:
    case SWP__SCHEME_TCP:
    case SWP__SCHEME_SPAWN:
    case SWP__SCHEME_INPROC:
        return SWP_OK;
    default:
        return swp__fail(error, SWP_BAD_PARAM, 1,
                         "address \"%.100s\": expected unix:PATH, shm:PATH, tcp:HOST:PORT, spawn: or inproc:", url);
    }
}

static void take_options(swp_client *c, const swp_client_options *o)
{
    c->timeout_ms = o->timeout_ms != 0 ? o->timeout_ms : SWP_TIMEOUT_STANDARD_MS;
    c->threads = o->threads;
    c->token_size = o->token_size;
    c->name_size = o->name != NULL ? strlen(o->name) : 0;
    if (c->token_size > 0) {
        memcpy(c->token, o->token, c->token_size);
    }
    if (c->name_size > 0) {
        memcpy(c->name, o->name, c->name_size);
    }
    uint32_t spin_us = o->spin_us == 0 ? SWP_SPIN_STANDARD_US : o->spin_us == SWP_NO_SPIN ? 0 : o->spin_us;
    c->spin = swp__spin_new(spin_us * UINT64_C(1000));
}

static swp_status connect_first(swp_client *c, swp_error *error)
{
    if (c->address.scheme == SWP__SCHEME_INPROC) {
        return swp__local_open(c, error);
    }
    pthread_mutex_lock(&c->lock);
    swp_status status = swp__link_ensure(c, swp__client_deadline(c, 0), error);
    pthread_mutex_unlock(&c->lock);
    return status;
}

swp_status swp_client_open(const char *url, const swp_client_options *options, swp_client **client, swp_error *error)
{
    static const swp_client_options standard;
    const swp_client_options *o = options != NULL ? options : &standard;
    swp__address address;
    if (url == NULL || client == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, url == NULL ? 1 : 3, "client: NULL pointer");
    }
    swp_status status = swp__address_parse(url, &address, error);
    status = status == SWP_OK ? check_scheme(url, &address, error) : status;
    status = status == SWP_OK ? check_options(o, error) : status;
    if (status != SWP_OK) {
        return status;
    }
    const swp_allocator *allocator = o->allocator != NULL ? o->allocator : &swp__system_allocator;
    swp_client *made = swp__alloc(allocator, 1, sizeof *made);
    if (made == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "client: no memory");
    }
    memset(made, 0, sizeof *made);
    made->allocator = *allocator;
    made->clock = o->clock != NULL ? *o->clock : swp__system_clock;
    made->address = address;
    made->fork_count = swp__fork_count();
    swp__address_print(&address, made->url);
    take_options(made, o);
    pthread_mutex_init(&made->lock, NULL);
    swp__cond_init(&made->changed);
    status = connect_first(made, error);
    if (status != SWP_OK) {
        swp_client_close(made);
        return status;
    }
    *client = made;
    return SWP_OK;
}

/* In a forked child the lock may be held for ever and the process is the parent's: only what is ours is given back. */
void swp_client_close(swp_client *c)
{
    if (c == NULL) {
        return;
    }
    bool is_ours = c->fork_count == swp__fork_count();
    swp__stream_close(&c->stream);
    if (c->process != 0 && is_ours) {
        swp__spawn_reap(c->process);
    }
    swp__lives_free_all(c, c->local != NULL && is_ours);
    if (c->local != NULL) {
        swp__local_close(c);
    }
    if (is_ours) {
        pthread_cond_destroy(&c->changed);
        pthread_mutex_destroy(&c->lock);
    }
    swp__series_free_all(c);
    swp_allocator allocator = c->allocator;
    swp__free(&allocator, c, 1, sizeof *c);
}

swp_server_info swp_client_server(swp_client *c)
{
    pthread_mutex_lock(&c->lock);
    swp_server_info info = c->server;
    pthread_mutex_unlock(&c->lock);
    return info;
}

/* ---- time ---- */

uint64_t swp__client_deadline(const swp_client *c, uint32_t timeout_ms)
{
    uint32_t ms = timeout_ms != 0 ? timeout_ms : c->timeout_ms;
    return ms == SWP_NO_TIMEOUT ? SWP__NO_DEADLINE : swp__now_ns(&c->clock) + ms * UINT64_C(1000000);
}

swp_status swp__timed_out(const swp_client *c, swp_error *error)
{
    return swp__fail(error, SWP_TIMED_OUT, SWP_AT_NONE, "%.100s: no answer within the time-out", c->url);
}

void swp__cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

void swp__cond_wait(swp_client *c, pthread_cond_t *cond, uint64_t until_ns)
{
    uint64_t now = swp__now_ns(&c->clock);
    uint64_t wait_ns = until_ns <= now ? 0 : until_ns - now < WAIT_NS ? until_ns - now : WAIT_NS;
    uint64_t until = swp__now_ns(&swp__system_clock) + wait_ns;
    struct timespec time = {.tv_sec = (time_t)(until / 1000000000), .tv_nsec = (long)(until % 1000000000)};
    pthread_cond_timedwait(cond, &c->lock, &time);
}

bool swp__client_wait_change(swp_client *c, uint64_t deadline_ns)
{
    if (swp__now_ns(&c->clock) >= deadline_ns) {
        return false;
    }
    c->changed_waiters++;
    swp__cond_wait(c, &c->changed, deadline_ns);
    c->changed_waiters--;
    return true;
}

void swp__client_tell_change(swp_client *c)
{
    if (c->changed_waiters > 0) {
        pthread_cond_broadcast(&c->changed);
    }
}

/* ---- calls ---- */

swp_status swp__client_check(const swp_client *c, swp_error *error)
{
    if (c->fork_count != swp__fork_count()) {
        return swp__fail(error, SWP_WRONG_PROCESS, SWP_AT_NONE,
                         "%.100s: this client was opened before a fork, by the parent process: open one here", c->url);
    }
    return SWP_OK;
}

swp_status swp__client_start(swp_client *c, swp_pending *p, const swp__ask *ask, swp_error *error)
{
    p->done = false;
    p->status = SWP_OK;
    return c->local != NULL ? swp__local_start(c, p, ask, error) : swp__call_start(c, p, ask, error);
}

swp_status swp__client_finish(swp_client *c, swp_pending *p, swp_error *error)
{
    if (c->local != NULL) {
        swp__local_finish(c, p);
    } else {
        swp__call_finish(c, p);
    }
    if (p->status != SWP_OK) {
        swp__sink_free(&p->sink, &c->allocator);
        if (error != NULL) {
            *error = p->error;
        }
    }
    return p->status;
}

swp_status swp__client_call(swp_client *c, swp_pending *p, const swp__ask *ask, swp_error *error)
{
    swp_status status = swp__client_start(c, p, ask, error);
    return status == SWP_OK ? swp__client_finish(c, p, error) : status;
}
