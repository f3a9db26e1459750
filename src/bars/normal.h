/* NumPy's random stream: default_rng(seed), that is PCG64 (XSL-RR 128/64) seeded through SeedSequence, and
 * standard_normal by the 256-step ziggurat. Bit for bit what NumPy gives on the same machine: the base of the study's
 * series. */
#ifndef SWP_BARS_NORMAL_H
#define SWP_BARS_NORMAL_H

#include <stdint.h>

__extension__ typedef unsigned __int128 swp__u128;

/* A generator; belongs to one thread. */
typedef struct swp__pcg64 {
    swp__u128 state, increment;
} swp__pcg64;

/* Any seed is good, 0 included. */
void swp__pcg64_init(swp__pcg64 *pcg, uint64_t seed);

uint64_t swp__pcg64_next(swp__pcg64 *pcg);

/* Uniform in [0, 1), a multiple of 2^-53: NumPy's random(). */
double swp__uniform_next(swp__pcg64 *pcg);

/* NumPy's standard_normal(). Needs round to nearest. The rare draw beyond 3.654 takes its last bit from libm's log1p. */
double swp__normal_next(swp__pcg64 *pcg);

#endif
