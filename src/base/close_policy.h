/* Which closes are let in: one rule for files, arrays, the protocol and live sessions. */
#ifndef SWP_BASE_CLOSE_POLICY_H
#define SWP_BASE_CLOSE_POLICY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Finite and above zero: let in by every policy. Loops ask this first. Of its bits, since a comparison of subnormals is another
 * one in a thread that flushes them. */
static inline bool swp__close_is_plain(double close)
{
    uint64_t bits;
    memcpy(&bits, &close, sizeof bits);
    return bits - 1 < UINT64_C(0x7fefffffffffffff); /* DBL_MAX */
}

/* Why a sum of SWP_ALLOW_* refuses this close, for the end of a sentence; NULL when it is let in. */
const char *swp__close_refusal(double close, uint32_t allow);

#endif
