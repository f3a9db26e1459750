/* The filter with AVX2 and FMA: four lanes.
 *
 * Only the upper half of each difference is looked at: it has the sign, and as an integer it orders magnitudes (cut off, so
 * that the least found is never above the true one). Two rows' halves make one vector, and packing with saturation keeps
 * signs, so that eight rows come to one movemask. */
#define SWP_LANES 4
#define COST                                                                                                                   \
    {                                                                                                                          \
        .signs = 0.6, .hma = 0.22, .hma3 = 0.38, .pair = 0.15                                                                  \
    }
#define OPS swp__filter_ops_avx2
#include "kernel/certify_filter.h"

#include <immintrin.h>
#include "kernel/vec.h"

#define madd(a, b, c) ((vec)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define msub(a, b, c) ((vec)_mm256_fmsub_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))

#define larger_of(a, b) ((vec)_mm256_max_pd((__m256d)(a), (__m256d)(b)))

/* The upper halves of two rows: [r0 l0, r0 l1, r1 l0, r1 l1 | r0 l2, r0 l3, r1 l2, r1 l3]. */
INLINE __m256i upper_halves(vec d0, vec d1)
{
    return (__m256i)_mm256_shuffle_ps((__m256)d0, (__m256)d1, 0xDD);
}

/* The signs of four such pairs, a byte a lane. */
INLINE int signs_of_pairs(const __m256i pairs[4])
{
    const __m256i by_lane = _mm256_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15, 0, 2, 4, 6, 8, 10, 12, 14, 1,
                                             3, 5, 7, 9, 11, 13, 15);
    __m256i rows = _mm256_packs_epi16(_mm256_packs_epi32(pairs[0], pairs[1]), _mm256_packs_epi32(pairs[2], pairs[3]));
    return _mm256_movemask_epi8(_mm256_shuffle_epi8(rows, by_lane));
}

/* Eight times a byte a lane -> a word a lane. */
INLINE __m256i words_of_bytes(__m256i bytes)
{
    const __m256i by_lane = _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 4, 8, 12, 1, 5, 9, 13, 2,
                                             6, 10, 14, 3, 7, 11, 15);
    return _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(bytes, by_lane), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

INLINE bool signs_of_rows(const vec a[64], const vec b[64], vec bound, uint64_t down[SWP_LANES])
{
    int bytes[8] __attribute__((aligned(32)));
    __m256i least = _mm256_set1_epi32(-1);
    for (int i = 0; i < 8; i++) {
        __m256i pairs[4];
        for (int j = 0; j < 4; j++) {
            int row = 8 * i + 2 * j;
            pairs[j] = b != NULL ? upper_halves(a[row] + b[row], a[row + 1] + b[row + 1]) : upper_halves(a[row], a[row + 1]);
            least = _mm256_min_epu32(least, _mm256_and_si256(pairs[j], _mm256_set1_epi32(INT32_MAX)));
        }
        bytes[i] = signs_of_pairs(pairs);
    }
    _mm256_storeu_si256((__m256i *)down, words_of_bytes(_mm256_load_si256((const __m256i *)bytes)));
    least = _mm256_min_epu32(least, _mm256_shuffle_epi32(least, 0x4E));
    __m256d magnitude = (__m256d)_mm256_unpacklo_epi32(_mm256_setzero_si256(), least);
    return _mm256_movemask_pd(_mm256_cmp_pd(magnitude, (__m256d)bound, _CMP_GT_OQ)) == 15;
}

#include "kernel/certify_filter.inc"
