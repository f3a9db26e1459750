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
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef double vec __attribute__((vector_size(SWP_LANES * sizeof(double))));
typedef int64_t ivec __attribute__((vector_size(SWP_LANES * sizeof(int64_t))));
typedef uint64_t uvec __attribute__((vector_size(SWP_LANES * sizeof(uint64_t))));

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

/* Bit i: lane i of the comparison is true. */
INLINE uint64_t true_lanes(ivec comparison)
{
#if defined(__AVX512DQ__) && SWP_LANES == 8
    return _mm512_movepi64_mask((__m512i)comparison);
#elif defined(__AVX2__) && SWP_LANES == 4
    return (uint64_t)_mm256_movemask_pd((__m256d)comparison);
#elif defined(__SSE2__) && SWP_LANES == 2
    return (uint64_t)_mm_movemask_pd((__m128d)comparison);
#else
    uint64_t lanes = 0;
    for (int i = 0; i < SWP_LANES; i++) {
        lanes |= ((uint64_t)comparison[i] & 1) << i;
    }
    return lanes;
#endif
}

INLINE vec clear_low_27_bits(vec v)
{
    ivec bits;
    memcpy(&bits, &v, sizeof bits);
    bits &= ~((INT64_C(1) << 27) - 1);
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* a - b * c, where the result is a double exactly and c is an integer below 2^26: without a fused operation by cutting b into
 * two parts whose products are exact. */
INLINE vec exact_remainder(vec a, vec b, vec c)
{
#if defined(__AVX512F__) && SWP_LANES == 8
    return (vec)_mm512_fnmadd_pd((__m512d)b, (__m512d)c, (__m512d)a);
#elif defined(__FMA__) && SWP_LANES == 4
    return (vec)_mm256_fnmadd_pd((__m256d)b, (__m256d)c, (__m256d)a);
#elif defined(__aarch64__) && SWP_LANES == 2
    return (vec)vfmsq_f64((float64x2_t)a, (float64x2_t)b, (float64x2_t)c);
#else
    vec high = clear_low_27_bits(b);
    return (a - high * c) - (b - high) * c;
#endif
}

/* sum / d, rounded correctly, for an integer d below 2^26, its reciprocal rounded to nearest, and a sum that is zero, NaN or of
 * a magnitude that keeps every step clear of overflow and underflow (docs/decisions/0002-exact-kernel.md). */
INLINE vec divide_by_reciprocal(vec sum, vec d, vec reciprocal)
{
    vec quotient = sum * reciprocal;
    return quotient + exact_remainder(sum, quotient, d) * reciprocal;
}

#endif
