/* The filter in portable vector C: two lanes. */
#define SWP_LANES 2
#define OPS swp__filter_ops_c
#include "kernel/certify_filter.h"

#include "kernel/vec.h"

#define madd(a, b, c) ((a) * (b) + (c))
#define msub(a, b, c) ((a) * (b) - (c))

typedef struct signs {
    ivec words; /* the last row's sign lowest */
    vec least;
} signs;

INLINE void signs_begin(signs *s)
{
    s->words = (ivec){0};
    s->least = splat(__builtin_inf());
}

INLINE void signs_row(signs *s, vec d)
{
    typedef uint64_t uvec __attribute__((vector_size(SWP_LANES * sizeof(uint64_t))));
    vec magnitude = (vec)((ivec)d & INT64_MAX);
    ivec less = magnitude < s->least;
    s->words = (s->words << 1) | (ivec)((uvec)d >> 63);
    s->least = (vec)(((ivec)magnitude & less) | ((ivec)s->least & ~less));
}

INLINE void signs_pair(signs *s, int pair, vec d0, vec d1)
{
    (void)pair;
    signs_row(s, d0);
    signs_row(s, d1);
}

static uint64_t reversed(uint64_t x)
{
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    x = (x >> 4 & 0x0F0F0F0F0F0F0F0Fu) | (x & 0x0F0F0F0F0F0F0F0Fu) << 4;
    return __builtin_bswap64(x);
}

INLINE bool signs_end(const signs *s, vec bound, uint64_t down[SWP_LANES])
{
    ivec certain = s->least > bound;
    bool all = true;
    for (int lane = 0; lane < SWP_LANES; lane++) {
        down[lane] = reversed((uint64_t)s->words[lane]);
        all &= certain[lane] != 0;
    }
    return all;
}

#include "kernel/certify_filter.inc"

const swp__filter_ops *swp__filter_ops_get(swp__isa isa)
{
    switch (isa) {
    case SWP__ISA_C:
        return &swp__filter_ops_c;
#if defined(__x86_64__)
    case SWP__ISA_AVX2:
        return &swp__filter_ops_avx2;
#endif
    default:
        return NULL;
    }
}
