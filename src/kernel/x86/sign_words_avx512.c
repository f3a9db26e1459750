/* Sign words with AVX-512: eight lanes. */
#define SWP_LANES 8
#define OPS swp__sign_ops_avx512
#include "kernel/sign_words.inc"
