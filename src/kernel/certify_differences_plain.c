/* Every product and sum rounded, as the portable filter does on x86-64. */
#define DIFFERENCES swp__differences_plain
#define DIFFERENCES_ALONE swp__differences_plain_alone
#define madd(a, b, c) ((a) * (b) + (c))
#define msub(a, b, c) ((a) * (b) - (c))
#include "kernel/certify_differences.inc"
