/* The filter in portable vector C: two lanes, with what SSE2 and NEON have for it. */
#define SWP_LANES 2
#define COST                                                                                                                   \
    {                                                                                                                          \
        .signs = 1.48, .hma = 0.48, .hma3 = 0.92, .pair = 0.29                                                                 \
    }
#define OPS swp__filter_ops_c
#include "kernel/certify_filter.h"

#include "kernel/vec.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#define madd(a, b, c) ((vec)vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b)))
#define msub(a, b, c) (-(vec)vfmsq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b)))
#define larger_of(a, b) ((vec)vmaxq_f64((float64x2_t)(a), (float64x2_t)(b)))
#define shift_in(words, d) ((ivec)vsraq_n_u64(vshlq_n_u64((uint64x2_t)(words), 1), (uint64x2_t)(d), 63))
#define least_of(least, d) ((vec)vminq_f64((float64x2_t)(least), vabsq_f64((float64x2_t)(d))))

#include "kernel/certify_signs.inc"

#else

#define madd(a, b, c) ((a) * (b) + (c))
#define msub(a, b, c) ((a) * (b) - (c))

#if defined(__SSE2__)

#include <emmintrin.h>

#define larger_of(a, b) ((vec)_mm_max_pd((__m128d)(a), (__m128d)(b)))

/* Signs are packed with saturation, as in x86/certify_filter_avx2.c, sixteen rows at a time. */

INLINE __m128i upper_halves(vec d0, vec d1)
{
    return (__m128i)_mm_shuffle_ps((__m128)d0, (__m128)d1, 0xDD); /* [r0 l0, r0 l1, r1 l0, r1 l1] */
}

INLINE uint64_t signs_of_quads(const __m128i rows4[4])
{
    return (uint64_t)_mm_movemask_epi8(
        _mm_packs_epi16(_mm_packs_epi32(rows4[0], rows4[1]), _mm_packs_epi32(rows4[2], rows4[3])));
}

INLINE bool signs_of_rows(const vec a[64], const vec b[64], vec bound, uint64_t down[SWP_LANES])
{
    const __m128d sign = _mm_set1_pd(-0.0);
    __m128d least = _mm_set1_pd(__builtin_inf());
    down[0] = down[1] = 0;
    for (int row = 0; row < 64; row += 16) {
        __m128i lane0[4], lane1[4];
        for (int j = 0; j < 4; j++) {
            vec rows[4];
            for (int k = 0; k < 4; k++) {
                int at = row + 4 * j + k;
                rows[k] = b != NULL ? a[at] + b[at] : a[at];
                least = _mm_min_pd(least, _mm_andnot_pd(sign, (__m128d)rows[k]));
            }
            __m128 first = (__m128)upper_halves(rows[0], rows[1]), second = (__m128)upper_halves(rows[2], rows[3]);
            lane0[j] = (__m128i)_mm_shuffle_ps(first, second, 0x88);
            lane1[j] = (__m128i)_mm_shuffle_ps(first, second, 0xDD);
        }
        down[0] |= signs_of_quads(lane0) << row;
        down[1] |= signs_of_quads(lane1) << row;
    }
    return _mm_movemask_pd(_mm_cmpgt_pd(least, (__m128d)bound)) == 3;
}

#else
#include "kernel/certify_signs.inc"
#endif
#endif

#include "kernel/certify_filter.inc"

const swp__filter_ops *swp__filter_ops_get(swp__isa isa)
{
    switch (isa) {
    case SWP__ISA_C:
        return &swp__filter_ops_c;
#if defined(__x86_64__)
    case SWP__ISA_AVX2:
        return &swp__filter_ops_avx2;
    case SWP__ISA_AVX512:
        return &swp__filter_ops_avx512;
#endif
    default:
        return NULL;
    }
}
