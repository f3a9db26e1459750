/* `strict-checked`: `strict` with every index checked, as a memory-safe language would: what those checks cost is a question
 * the study asks. */
#include <assert.h>
#include <stdlib.h>
#include "kernel/hma_cross_strict.h"

static inline double checked(const double *array, size_t index, size_t count)
{
    if (index >= count) {
        abort();
    }
    return array[index];
}

#define KERNEL swp__hma_cross_strict_checked
#define KERNEL_NAME "strict-checked"
#define AT(array, index, count) checked((array), (index), (count))
#include "kernel/hma_cross_strict.inc"
