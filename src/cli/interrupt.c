#include "cli/interrupt.h"

#include <signal.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS_COUNT = sizeof signals / sizeof signals[0] };

static swp_cancel cancel;
static volatile sig_atomic_t received;
static struct sigaction former[SIGNALS_COUNT];

static void on_signal(int number)
{
    received = number;
    swp_cancel_request(&cancel);
}

swp_cancel *swp__interrupt_begin(void)
{
    received = 0;
    cancel = (swp_cancel){0};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < SIGNALS_COUNT; i++) {
        sigaction(signals[i], NULL, &former[i]);
        if (former[i].sa_handler != SIG_IGN) {
            sigaction(signals[i], &action, NULL);
        }
    }
    return &cancel;
}

int swp__interrupt_end(void)
{
    for (size_t i = 0; i < SIGNALS_COUNT; i++) {
        sigaction(signals[i], &former[i], NULL);
    }
    return received;
}
