/* A call on a connection: entered into the table of those on their way, sent, waited for, taken out. */
#include "client/internal.h"

#include <string.h>
#include "base/error.h"
#include "base/host.h"

#define CANCEL_NS UINT64_C(10000000000) /* for the end of a call after its CANCEL */

/* ---- the table ---- */

static swp_pending **bucket_of(swp_client *c, uint32_t id)
{
    return &c->pending[id % SWP__PENDING_BUCKETS];
}

static void enter(swp_client *c, swp_pending *p)
{
    swp_pending **bucket = bucket_of(c, p->request.id);
    p->next = *bucket;
    *bucket = p;
    p->registered = true;
    p->generation = c->generation;
    c->pending_count++;
}

static void leave(swp_client *c, swp_pending *p)
{
    swp_pending **link = bucket_of(c, p->request.id);
    while (*link != p) {
        link = &(*link)->next;
    }
    *link = p->next;
    p->registered = false;
    c->pending_count--;
    swp__client_tell_change(c);
}

void swp__call_end(swp_client *c, swp_pending *p, swp_status status, const swp_error *error)
{
    leave(c, p);
    p->status = status;
    if (status != SWP_OK) {
        p->error = *error;
    }
    p->done = true;
    if (p->waits) {
        pthread_cond_signal(&p->woken);
    }
}

/* ---- sending ---- */

/* As many as the server takes at once; the others wait here. */
static swp_status wait_for_room(swp_client *c, uint64_t deadline_ns, swp_error *error)
{
    while (swp__link_is_open(c) && c->pending_count + c->given_up_count >= c->server.max_in_flight) {
        if (swp__now_ns(&c->clock) >= deadline_ns) {
            return swp__timed_out(c, error);
        }
        if (c->reading) {
            swp__client_wait_change(c, deadline_ns);
        } else {
            swp__receive(c, NULL, deadline_ns);
            swp__wake_leader(c);
        }
    }
    return SWP_OK;
}

static uint32_t next_id(swp_client *c)
{
    c->next_id = (c->next_id + 1) & ~SWP__CANCEL_ID_BIT;
    c->next_id += c->next_id == 0 ? 1 : 0; /* 0 stands for errors about the connection */
    return c->next_id;
}

static swp_status encode(const swp_client *c, swp_pending *p, const swp__ask *ask, swp__wire_out *out, swp_error *error)
{
    if (ask->series != NULL) {
        memcpy(p->request.fixed + ask->handle_at, &ask->series->handle, sizeof ask->series->handle);
    }
    if (ask->sweep != NULL) {
        swp__wire_encode_sweep(&p->request, ask->sweep, out);
    } else {
        swp__wire_encode_request(&p->request, out);
        uint64_t before = out->size;
        for (size_t i = 0; i < ask->tail_count; i++) {
            swp__wire_append(out, ask->tail[i].iov_base, ask->tail[i].iov_len);
        }
        p->request.tail_size = out->size - before;
    }
    return swp__wire_finish(out, c->server.max_body, error);
}

swp_status swp__call_send(swp_client *c, swp_pending *p, const swp__ask *ask, bool *has_left, swp_error *error)
{
    swp__wire_out out;
    *has_left = false;
    p->request.id = next_id(c);
    swp_status status = encode(c, p, ask, &out, error);
    if (status != SWP_OK) {
        *has_left = true;
        return status;
    }
    enter(c, p);
    status = swp__send(c, &out, ask->fd, p->deadline_ns, has_left, error);
    if (p->done) { /* it was answered before it had left whole, or the connection was lost: that tells more */
        if (status != SWP_OK && error != NULL) {
            *error = p->error;
        }
        return status != SWP_OK && *has_left ? p->status : status;
    }
    if (status != SWP_OK) {
        leave(c, p);
    }
    return status;
}

/* One try: false, the connection was lost before anything was sent. */
static bool try_start(swp_client *c, swp_pending *p, const swp__ask *ask, swp_status *status, swp_error *error)
{
    bool has_left = true;
    *status = swp__link_ensure(c, p->deadline_ns, error);
    if (*status == SWP_OK && ask->generation != 0 && ask->generation != c->generation) {
        *status = swp__fail(error, SWP_CLOSED, SWP_AT_NONE, "%.100s: the connection was lost meanwhile", c->url);
    }
    if (*status == SWP_OK && ask->series != NULL && ask->series->generation != c->generation) {
        *status = swp__series_renew(c, ask->series, p->deadline_ns, error);
    }
    if (*status == SWP_OK) {
        *status = wait_for_room(c, p->deadline_ns, error);
    }
    bool is_same = swp__link_is_open(c) && (ask->series == NULL || ask->series->generation == c->generation);
    if (*status == SWP_OK && !is_same) { /* it was lost while we waited */
        *status = swp__fail(error, SWP_CLOSED, SWP_AT_NONE, "%.100s: the connection was lost meanwhile", c->url);
        return false;
    }
    if (*status == SWP_OK) {
        *status = swp__call_send(c, p, ask, &has_left, error);
    }
    return *status != SWP_CLOSED || has_left;
}

swp_status swp__call_start(swp_client *c, swp_pending *p, const swp__ask *ask, swp_error *error)
{
    enum { TRIES = 2 }; /* a connection that ended while nobody used it is found out by sending */
    swp_status status;
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < TRIES && !try_start(c, p, ask, &status, error); i++) {
        p->done = false;
    }
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* ---- waiting ---- */

void swp__wake_leader(swp_client *c)
{
    if (!c->reading && c->waiters != NULL) {
        pthread_cond_signal(&c->waiters->woken);
    }
}

static void follow(swp_client *c, swp_pending *p, uint64_t until_ns)
{
    swp__cond_init(&p->woken);
    p->waits = true;
    p->next_waiter = NULL;
    p->previous_waiter = c->waiters_last;
    *(c->waiters_last != NULL ? &c->waiters_last->next_waiter : &c->waiters) = p;
    c->waiters_last = p;
    swp__cond_wait(c, &p->woken, until_ns);
    *(p->previous_waiter != NULL ? &p->previous_waiter->next_waiter : &c->waiters) = p->next_waiter;
    *(p->next_waiter != NULL ? &p->next_waiter->previous_waiter : &c->waiters_last) = p->previous_waiter;
    p->waits = false;
    pthread_cond_destroy(&p->woken);
}

/* Its late answer will be dropped by its id; a sweep nobody waits for is cancelled. */
static void give_up(swp_client *c, swp_pending *p)
{
    swp_error error;
    swp_status status = swp__timed_out(c, &error);
    bool is_final = false;
    if (c->filling == p) {
        is_final = c->filling_reply.status != SWP_MORE;
        c->skip_left = c->tail_left;
        c->filling = NULL;
    }
    c->given_up_count += is_final ? 0 : 1;
    p->cancel_wanted = p->request.opcode == SWP__OP_SWEEP && !is_final;
    swp__call_end(c, p, status, &error);
}

static void cancel_if_wanted(swp_client *c, swp_pending *p)
{
    if (p->cancel != NULL && __atomic_load_n(&p->cancel->requested, __ATOMIC_RELAXED) != 0) {
        p->cancel_wanted = true;
    }
    if (p->cancel_wanted && !p->cancel_sent && c->cancels_count < SWP__CANCELS_MAX) {
        uint64_t patience_ns = swp__now_ns(&c->clock) + CANCEL_NS;
        p->deadline_ns = p->deadline_ns < patience_ns ? p->deadline_ns : patience_ns;
        p->cancel_sent = true;
        c->cancels[c->cancels_count++] = p->request.id;
    }
    swp__send_cancels(c);
}

static void tell_progress(swp_client *c, swp_pending *p)
{
    if (p->progress == NULL || p->combos_told == p->combos_done) {
        return;
    }
    uint64_t done = p->combos_told = p->combos_done;
    pthread_mutex_unlock(&c->lock);
    p->progress(p->progress_context, done, p->combos_count);
    pthread_mutex_lock(&c->lock);
}

/* A follower with a flag to look at is woken for it. */
static uint64_t look_again_ns(const swp_client *c, const swp_pending *p)
{
    uint64_t soon = p->cancel != NULL ? swp__now_ns(&c->clock) + UINT64_C(10000000) : SWP__NO_DEADLINE;
    return soon < p->deadline_ns ? soon : p->deadline_ns;
}

void swp__call_wait(swp_client *c, swp_pending *p)
{
    bool first = true;
    while (!p->done) {
        if (!first && swp__now_ns(&c->clock) >= p->deadline_ns) {
            give_up(c, p);
        }
        first = false;
        cancel_if_wanted(c, p);
        if (p->done) {
            break;
        }
        if (c->reading) {
            follow(c, p, look_again_ns(c, p));
        } else {
            swp__receive(c, p, p->deadline_ns);
        }
        tell_progress(c, p);
    }
    swp__wake_leader(c);
    tell_progress(c, p);
}

void swp__call_finish(swp_client *c, swp_pending *p)
{
    pthread_mutex_lock(&c->lock);
    swp__call_wait(c, p);
    pthread_mutex_unlock(&c->lock);
}

bool swp_pending_is_done(swp_pending *p)
{
    swp_client *c = p->client;
    if (swp__client_check(c, NULL) != SWP_OK) {
        return true;
    }
    pthread_mutex_lock(&c->lock);
    while (c->local == NULL && !p->done && !c->reading && swp__link_is_open(c) && swp__receive_now(c)) {
    }
    bool done = p->done || swp__now_ns(&c->clock) >= p->deadline_ns;
    pthread_mutex_unlock(&c->lock);
    return done;
}

void swp_pending_cancel(swp_pending *p)
{
    swp_client *c = p->client;
    if (swp__client_check(c, NULL) != SWP_OK) {
        return;
    }
    pthread_mutex_lock(&c->lock);
    p->cancel_wanted = true;
    if (c->local != NULL) {
        pthread_cond_signal(&p->woken);
    } else if (!p->done) {
        cancel_if_wanted(c, p);
    }
    pthread_mutex_unlock(&c->lock);
}
