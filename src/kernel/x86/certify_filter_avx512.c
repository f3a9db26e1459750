/* The filter with AVX-512: eight lanes. A test compiles this file for machines without, with these four operations emulated. */
#define SWP_LANES 8
#ifndef OPS
#define OPS swp__filter_ops_avx512
#endif
#include "kernel/certify_filter.h"

#include "kernel/vec.h"
#ifndef SWP_EMULATED_AVX512
#include <immintrin.h>
#endif

#define madd(a, b, c) ((vec)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define msub(a, b, c) ((vec)_mm512_fmsub_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define shift_in(words, d) ((ivec)_mm512_shldi_epi64((__m512i)(words), (__m512i)(d), 1))
#define least_of(least, d) ((vec)_mm512_range_pd((__m512d)(least), (__m512d)(d), 0x0A)) /* magnitudes' minimum, sign cleared */

#include "kernel/certify_signs.inc"

#include "kernel/certify_filter.inc"
