/* Sign words with AVX2: four lanes. */
#define SWP_LANES 4
#define OPS swp__sign_ops_avx2
#include "kernel/sign_words.inc"
