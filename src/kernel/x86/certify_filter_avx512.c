/* The filter with AVX-512: eight lanes. certify_filter_emulated.c compiles it for machines without. */
/* Of the prototype on a 3.7 GHz Zen 4, where this set was at home. */
#define COST                                                                                                                   \
    {                                                                                                                          \
        .signs = 0.38, .hma = 0.13, .hma3 = 0.22, .pair = 0.08                                                                 \
    }

#ifndef SWP_EMULATED_AVX512
#define SWP_LANES 8
#define OPS swp__filter_ops_avx512
#include "kernel/certify_filter.h"

#include <immintrin.h>
/* Without optimisation gcc's intrinsics are macros, whose conversions would be ours. */
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "kernel/vec.h"

#define madd(a, b, c) ((vec)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define msub(a, b, c) ((vec)_mm512_fmsub_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define larger_of(a, b) ((vec)_mm512_max_pd((__m512d)(a), (__m512d)(b)))
#define shift_in(words, d) ((ivec)_mm512_shldi_epi64((__m512i)(words), (__m512i)(d), 1))
#define least_of(least, d) ((vec)_mm512_range_pd((__m512d)(least), (__m512d)(d), LEAST_MAGNITUDE))
#endif

enum { LEAST_MAGNITUDE = 2 | 2 << 2 }; /* of vrangepd: the smaller magnitude, its sign cleared */

#include "kernel/certify_signs.inc"

#include "kernel/certify_filter.inc"
