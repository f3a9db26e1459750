/* Which closes are let in: one rule for files, arrays, the protocol and live sessions. */
#ifndef SWP_BASE_CLOSE_POLICY_H
#define SWP_BASE_CLOSE_POLICY_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

/* Finite and above zero: let in by every policy. Loops ask this first. */
static inline bool swp__close_is_plain(double close)
{
    return close > 0.0 && close <= DBL_MAX;
}

/* Why a sum of SWP_ALLOW_* refuses this close, for the end of a sentence; NULL when it is let in. */
const char *swp__close_refusal(double close, uint32_t allow);

#endif
