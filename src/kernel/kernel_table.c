/* The kernels there are, by their public number and by instruction set. */
#include "base/cpu.h"
#include "kernel/hma_cross.h"
#include "kernel/hma_cross_certified.h"
#include "kernel/hma_cross_exact.h"

enum { ISA_COUNT = SWP__ISA_AVX512 + 1 };

#define EVERY_ISA(kernel)                                                                                                      \
    {                                                                                                                          \
        &(kernel), &(kernel), &(kernel)                                                                                        \
    }
#if defined(__x86_64__)
#define CERTIFIED                                                                                                              \
    {                                                                                                                          \
        &swp__hma_cross_certified_c, &swp__hma_cross_certified_avx2, &swp__hma_cross_certified_avx512                          \
    }
#define EXACT                                                                                                                  \
    {                                                                                                                          \
        &swp__hma_cross_exact_c, &swp__hma_cross_exact_avx2, &swp__hma_cross_exact_avx512                                      \
    }
#else
#define EXACT EVERY_ISA(swp__hma_cross_exact_c)
#define CERTIFIED EVERY_ISA(swp__hma_cross_certified_c)
#endif

static const swp__kernel *const table[][ISA_COUNT] = {
    [SWP_KERNEL_AUTO] = CERTIFIED,
    [SWP_KERNEL_STRICT] = EVERY_ISA(swp__hma_cross_strict),
    [SWP_KERNEL_STRICT_CHECKED] = EVERY_ISA(swp__hma_cross_strict_checked),
    [SWP_KERNEL_EXACT] = EXACT,
    [SWP_KERNEL_CERTIFIED] = CERTIFIED,
};

const swp__kernel *swp__kernel_get(swp_kernel kernel)
{
    size_t index = (size_t)kernel;
    return index < sizeof table / sizeof table[0] ? table[index][swp__isa_in_use()] : NULL;
}

const char *swp_kernel_name(swp_kernel kernel)
{
    const swp__kernel *found = swp__kernel_get(kernel);
    return kernel == SWP_KERNEL_AUTO ? "auto" : found != NULL ? found->name : NULL;
}
