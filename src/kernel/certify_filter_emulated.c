/* The AVX-512 filter for machines without it: its own source, with the four operations it takes from the instruction set
 * emulated by SIMDe, or by plain C where SIMDe is not installed or lacks one. For tests. */
#include "kernel/certify_filter.h"

#define SWP_EMULATED_AVX512
#define SWP_LANES 8
#define OPS swp__filter_ops_eight_lanes
extern const swp__filter_ops swp__filter_ops_eight_lanes;

#include "kernel/vec.h"

#if __has_include(<simde/x86/avx512/range.h>)
#include <simde/x86/avx512/fmadd.h>
#include <simde/x86/avx512/fmsub.h>
#include <simde/x86/avx512/loadu.h>
#include <simde/x86/avx512/range.h>
#include <simde/x86/avx512/storeu.h>

INLINE simde__m512d to_simde(vec v)
{
    return simde_mm512_loadu_pd(&v);
}

INLINE vec from_simde(simde__m512d v)
{
    vec out;
    simde_mm512_storeu_pd(&out, v);
    return out;
}

#define madd(a, b, c) from_simde(simde_mm512_fmadd_pd(to_simde(a), to_simde(b), to_simde(c)))
#define msub(a, b, c) from_simde(simde_mm512_fmsub_pd(to_simde(a), to_simde(b), to_simde(c)))
#define least_of(least, d) from_simde(simde_mm512_range_pd(to_simde(least), to_simde(d), LEAST_MAGNITUDE))
#else
#define madd(a, b, c) ((a) * (b) + (c))
#define msub(a, b, c) ((a) * (b) - (c))
#endif

#include "kernel/x86/certify_filter_avx512.c"
