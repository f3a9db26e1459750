#include "http/callers.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include "base/host.h"

void swp__callers_init(swp__callers *callers)
{
    *callers = (swp__callers){.first = NULL};
    pthread_mutex_init(&callers->lock, NULL);
}

void swp__callers_fini(swp__callers *callers)
{
    pthread_mutex_destroy(&callers->lock);
}

swp__caller *swp__caller_new(swp__callers *callers, int fd, uint64_t most)
{
    swp__caller *caller = calloc(1, sizeof *caller);
    if (caller == NULL) {
        return NULL;
    }
    caller->fd = fd;
    caller->since_ns = swp__now_ns(&swp__system_clock);
    pthread_mutex_lock(&callers->lock);
    caller->next = callers->first;
    if (caller->next != NULL) {
        caller->next->previous = caller;
    }
    callers->first = caller;
    caller->is_surplus = callers->count >= most;
    callers->count++;
    pthread_mutex_unlock(&callers->lock);
    return caller;
}

void swp__caller_free(swp__callers *callers, swp__caller *caller)
{
    pthread_mutex_lock(&callers->lock);
    if (caller->next != NULL) {
        caller->next->previous = caller->previous;
    }
    *(caller->previous != NULL ? &caller->previous->next : &callers->first) = caller->next;
    callers->count--;
    pthread_mutex_unlock(&callers->lock);
    free(caller);
}

void swp__caller_take_interim(swp__callers *callers, swp__caller *caller, bool takes_interim)
{
    pthread_mutex_lock(&callers->lock);
    caller->takes_interim = takes_interim;
    pthread_mutex_unlock(&callers->lock);
}

void swp__caller_enter(swp__callers *callers, swp__caller *caller, swp__caller_phase phase)
{
    pthread_mutex_lock(&callers->lock);
    caller->phase = phase;
    caller->since_ns = swp__now_ns(&swp__system_clock);
    if (phase == SWP__CALLER_WAITING) {
        caller->cancel = (swp_cancel){0};
        caller->has_interim = false;
        if (callers->cancelled) {
            swp_cancel_request(&caller->cancel);
        }
    }
    pthread_mutex_unlock(&callers->lock);
}

/* The HTTP library writes nothing while its thread is with the engine. Of so few bytes all are taken, or none. */
static bool send_interim(int fd)
{
    static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
    return send(fd, interim, sizeof interim - 1, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof interim - 1;
}

/* One that is still there after an interim answer only sends no more; what a reset leaves is told by poll. */
static bool has_gone(swp__caller *caller)
{
    struct pollfd end = {.fd = caller->fd, .events = POLLRDHUP};
    if (poll(&end, 1, 0) != 1) {
        return false;
    }
    if ((end.revents & (POLLERR | POLLHUP)) != 0 || !caller->takes_interim) {
        return true;
    }
    if (!caller->has_interim) {
        caller->has_interim = true;
        return !send_interim(caller->fd);
    }
    return false;
}

static void look_at(swp__callers *callers, swp__caller *caller, const swp__http_limits *limits, uint64_t now_ns)
{
    if (caller->phase == SWP__CALLER_WAITING) {
        if (has_gone(caller)) {
            swp_cancel_request(&caller->cancel);
        }
        return; /* the sweep has a time-out of its own */
    }
    uint64_t most_ms = caller->phase == SWP__CALLER_ASKING ? limits->request_timeout_ms : limits->reply_timeout_ms;
    if (!caller->ended && now_ns - caller->since_ns > most_ms * 1000000) {
        caller->ended = true;
        callers->timed_out++;
        shutdown(caller->fd, SHUT_RDWR);
    }
}

uint64_t swp__callers_look(swp__callers *callers, const swp__http_limits *limits)
{
    uint64_t busy = 0;
    pthread_mutex_lock(&callers->lock);
    uint64_t now_ns = swp__now_ns(&swp__system_clock);
    for (swp__caller *caller = callers->first; caller != NULL; caller = caller->next) {
        look_at(callers, caller, limits, now_ns);
        busy += caller->phase != SWP__CALLER_ASKING ? 1 : 0;
    }
    pthread_mutex_unlock(&callers->lock);
    return busy;
}

void swp__callers_cancel(swp__callers *callers)
{
    pthread_mutex_lock(&callers->lock);
    callers->cancelled = true;
    for (swp__caller *caller = callers->first; caller != NULL; caller = caller->next) {
        if (caller->phase == SWP__CALLER_WAITING) {
            swp_cancel_request(&caller->cancel);
        }
    }
    pthread_mutex_unlock(&callers->lock);
}
