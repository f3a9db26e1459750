/* The filter with AVX2 and FMA: four lanes.
 *
 * Only the upper half of each difference is looked at: it has the sign, and as an integer it orders magnitudes (cut off, so
 * that the least found is never above the true one). Two rows' halves make one vector, and packing with saturation keeps
 * signs, so that eight rows come to one movemask. */
#define SWP_LANES 4
#define OPS swp__filter_ops_avx2
#include "kernel/certify_filter.h"

#include <immintrin.h>
#include "kernel/vec.h"

#define madd(a, b, c) ((vec)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define msub(a, b, c) ((vec)_mm256_fmsub_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))

typedef struct signs {
    __m256i pairs[32]; /* of two rows each: upper halves [r l0, r l1, r+1 l0, r+1 l1 | r l2, r l3, r+1 l2, r+1 l3] */
    __m256i least;     /* of the magnitudes of such halves */
} signs;

INLINE void signs_begin(signs *s)
{
    s->least = _mm256_set1_epi32(-1);
}

INLINE void signs_pair(signs *s, int pair, vec d0, vec d1)
{
    __m256i halves = (__m256i)_mm256_shuffle_ps((__m256)d0, (__m256)d1, 0xDD);
    s->pairs[pair] = halves;
    s->least = _mm256_min_epu32(s->least, _mm256_and_si256(halves, _mm256_set1_epi32(INT32_MAX)));
}

INLINE bool signs_end(const signs *s, vec bound, uint64_t down[SWP_LANES])
{
    const __m256i by_lane = _mm256_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15, 0, 2, 4, 6, 8, 10, 12, 14,
                                             1, 3, 5, 7, 9, 11, 13, 15);
    const __m256i lane_bytes = _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 4, 8, 12, 1, 5, 9,
                                                13, 2, 6, 10, 14, 3, 7, 11, 15);
    int masks[8] __attribute__((aligned(32)));
    for (int i = 0; i < 8; i++) {
        __m256i rows4 = _mm256_packs_epi32(s->pairs[4 * i], s->pairs[4 * i + 1]);
        __m256i rows8 = _mm256_packs_epi16(rows4, _mm256_packs_epi32(s->pairs[4 * i + 2], s->pairs[4 * i + 3]));
        masks[i] = _mm256_movemask_epi8(_mm256_shuffle_epi8(rows8, by_lane));
    }
    __m256i bytes = _mm256_shuffle_epi8(_mm256_load_si256((const __m256i *)masks), lane_bytes);
    _mm256_storeu_si256((__m256i *)down, _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
    __m256i least = _mm256_min_epu32(s->least, _mm256_shuffle_epi32(s->least, 0x4E));
    __m256d magnitude = (__m256d)_mm256_unpacklo_epi32(_mm256_setzero_si256(), least);
    return _mm256_movemask_pd(_mm256_cmp_pd(magnitude, (__m256d)bound, _CMP_GT_OQ)) == 15;
}

#include "kernel/certify_filter.inc"
