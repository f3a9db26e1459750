/* The kernels there are, by their public number. */
#include "kernel/hma_cross.h"

static const swp__kernel *const table[] = {
    [SWP_KERNEL_AUTO] = &swp__hma_cross_strict,
    [SWP_KERNEL_STRICT] = &swp__hma_cross_strict,
    [SWP_KERNEL_STRICT_CHECKED] = &swp__hma_cross_strict_checked,
};

const swp__kernel *swp__kernel_get(swp_kernel kernel)
{
    size_t index = (size_t)kernel;
    return index < sizeof table / sizeof table[0] ? table[index] : NULL;
}

const char *swp_kernel_name(swp_kernel kernel)
{
    const swp__kernel *found = swp__kernel_get(kernel);
    return kernel == SWP_KERNEL_AUTO ? "auto" : found != NULL ? found->name : NULL;
}
