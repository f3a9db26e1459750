/* Products not rounded, as the filters with AVX2, AVX-512 and NEON do. */
#define DIFFERENCES swp__differences_fused
#define DIFFERENCES_ALONE swp__differences_fused_alone
#define madd(a, b, c) ((vec){__builtin_fma((a)[0], (b)[0], (c)[0]), __builtin_fma((a)[1], (b)[1], (c)[1])})
#define msub(a, b, c) madd(a, b, -(c))
#include "kernel/certify_differences.inc"
