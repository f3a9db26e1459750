/* Sign words in portable vector C: two lanes, which is what every x86-64 and aarch64 has. Also the reference of the others'
 * tests, and the list of them. */
#define SWP_LANES 2
#define OPS swp__sign_ops_c
#include "kernel/sign_words.inc"

const swp__sign_ops *swp__sign_ops_get(swp__isa isa)
{
    switch (isa) {
    case SWP__ISA_C:
        return &swp__sign_ops_c;
#if defined(__x86_64__)
    case SWP__ISA_AVX2:
        return &swp__sign_ops_avx2;
    case SWP__ISA_AVX512:
        return &swp__sign_ops_avx512;
#endif
    default:
        return NULL;
    }
}

size_t swp__exact_word_scratch_size(const swp_params *combo)
{
    int64_t longest = combo->smooth > combo->p ? combo->smooth : combo->p;
    size_t bytes = (size_t)(longest - 1 + SWP__WORD_BARS) * sizeof(double);
    return 2 * ((bytes + 63) / 64 * 64);
}

static bool is_tame(double x)
{
    double magnitude = fabs(x);
    return !(magnitude > 0x1p900) && !(magnitude < 0x1p-500 && magnitude > 0.0);
}

bool swp__closes_are_tame(const double *close, int64_t from, int64_t to)
{
    int wild = 0;
    for (int64_t bar = from; bar < to; bar++) {
        wild |= !is_tame(close[bar]);
    }
    return !wild;
}
