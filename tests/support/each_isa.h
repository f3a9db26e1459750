/* A test for every instruction set by name: TEST_EACH_ISA(promise) { ... variant ... } makes promise_c, promise_avx2,
 * promise_avx512 and promise_eight_lanes: the AVX-512 source split by the compiler for whatever machine this is. Where the
 * machine lacks the set, the test is skipped aloud. */
#ifndef SWP_TESTS_SUPPORT_EACH_ISA_H
#define SWP_TESTS_SUPPORT_EACH_ISA_H

#include "base/cpu.h"
#include "support/test.h"

typedef enum swp__variant {
    SWP__VARIANT_C = SWP__ISA_C,
    SWP__VARIANT_AVX2 = SWP__ISA_AVX2,
    SWP__VARIANT_AVX512 = SWP__ISA_AVX512,
    SWP__VARIANT_EIGHT_LANES,
} swp__variant;

static inline swp__variant swp__need_isa(swp__isa isa)
{
    if (isa > swp__cpu_isa()) {
        fprintf(stderr, "this machine has no %s; ", swp__isa_name(isa));
        SKIP("not tested here");
    }
    return (swp__variant)isa;
}

#define TEST_EACH_ISA(name)                                                                                                    \
    static void name(swp__variant variant);                                                                                    \
    TEST(name##_c)                                                                                                             \
    {                                                                                                                          \
        name(SWP__VARIANT_C);                                                                                                  \
    }                                                                                                                          \
    TEST(name##_avx2)                                                                                                          \
    {                                                                                                                          \
        name(swp__need_isa(SWP__ISA_AVX2));                                                                                    \
    }                                                                                                                          \
    TEST(name##_avx512)                                                                                                        \
    {                                                                                                                          \
        name(swp__need_isa(SWP__ISA_AVX512));                                                                                  \
    }                                                                                                                          \
    TEST(name##_eight_lanes)                                                                                                   \
    {                                                                                                                          \
        name(SWP__VARIANT_EIGHT_LANES);                                                                                        \
    }                                                                                                                          \
    static void name(swp__variant variant)

#endif
