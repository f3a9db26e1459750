/* `exact` with AVX2: four lanes. */
#define SWP_LANES 4
#define OPS swp__sign_ops_avx2
#define KERNEL swp__hma_cross_exact_avx2
#include "kernel/hma_cross_exact.inc"
