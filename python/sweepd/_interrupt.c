#include "_interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static swp__py_watch *innermost; /* read by the handler: changed only while that is not installed, or in one store */
static struct sigaction former;

static void on_interrupt(int number, siginfo_t *info, void *context)
{
    for (swp__py_watch *w = __atomic_load_n(&innermost, __ATOMIC_ACQUIRE); w != NULL; w = w->outer) {
        swp_cancel_request(w->cancel);
    }
    if ((former.sa_flags & SA_SIGINFO) != 0) {
        former.sa_sigaction(number, info, context);
    } else {
        former.sa_handler(number);
    }
}

bool swp__py_in_main_thread(void)
{
    return gettid() == getpid();
}

void swp__py_watch_begin(swp__py_watch *watch, swp_cancel *cancel)
{
    *watch = (swp__py_watch){.outer = innermost, .cancel = cancel};
    if (innermost == NULL) {
        sigaction(SIGINT, NULL, &former);
        bool has_handler =
            (former.sa_flags & SA_SIGINFO) != 0 || (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN);
        if (!has_handler) {
            return;
        }
    }
    watch->stands = true;
    __atomic_store_n(&innermost, watch, __ATOMIC_RELEASE);
    if (watch->outer == NULL) {
        struct sigaction ours = former;
        ours.sa_flags |= SA_SIGINFO;
        ours.sa_sigaction = on_interrupt;
        sigaction(SIGINT, &ours, NULL);
    }
}

/* What a handler changed meanwhile, with signal.signal(), stays. */
void swp__py_watch_end(swp__py_watch *watch)
{
    if (!watch->stands) {
        return;
    }
    if (watch->outer == NULL) {
        struct sigaction current;
        sigaction(SIGINT, NULL, &current);
        if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_interrupt) {
            sigaction(SIGINT, &former, NULL);
        }
    }
    __atomic_store_n(&innermost, watch->outer, __ATOMIC_RELEASE);
}
