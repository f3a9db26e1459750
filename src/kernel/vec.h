/* Vectors of SWP_LANES doubles for code that is written once and compiled for each instruction set: a file sets SWP_LANES
 * (2, 4 or 8), then includes this and the .inc that holds the code. The compiler's vector types give each lane the plain
 * IEEE operation, so a lane computes what scalar code would.
 *
 * Wider vectors than the compiler's flags know are split by it: SWP_LANES 8 runs on any machine, which is how tests reach
 * that code without AVX-512. */
#ifndef SWP_KERNEL_VEC_H
#define SWP_KERNEL_VEC_H

#include <stdint.h>
#include <string.h>

typedef double vec __attribute__((vector_size(SWP_LANES * sizeof(double))));
typedef int64_t ivec __attribute__((vector_size(SWP_LANES * sizeof(int64_t))));

/* How a vector is passed to a function depends on the flags; none is: what takes one is always inlined. (meson.build turns
 * the compiler's note about it off.) */
#define INLINE static inline __attribute__((always_inline))

INLINE vec load_unaligned(const double *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE void store_unaligned(double *to, vec v)
{
    memcpy(to, &v, sizeof v);
}

INLINE vec splat(double value)
{
    return value - (vec){0}; /* exact for every value, and folded to a broadcast */
}

#endif
