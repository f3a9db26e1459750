/* The simulation's one source of chance: the same seed, the same run. */
#ifndef SWP_TESTS_SIMULATION_RANDOM_H
#define SWP_TESTS_SIMULATION_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct swp__random {
    uint64_t state;
} swp__random;

/* splitmix64 */
static inline uint64_t swp__random_next(swp__random *random)
{
    uint64_t z = random->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* 0..below-1 */
static inline uint64_t swp__random_below(swp__random *random, uint64_t below)
{
    return swp__random_next(random) % below;
}

/* True once in `times`, on average. */
static inline bool swp__random_once_in(swp__random *random, uint64_t times)
{
    return swp__random_below(random, times) == 0;
}

#endif
