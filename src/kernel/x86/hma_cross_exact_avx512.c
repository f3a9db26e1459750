/* `exact` with AVX-512: eight lanes. */
#define SWP_LANES 8
#define OPS swp__sign_ops_avx512
#define KERNEL swp__hma_cross_exact_avx512
#include "kernel/hma_cross_exact.inc"
