/* `strict`: the specification, line for line. Every other kernel is compared with this one. */
#include <assert.h>
#include "kernel/hma_cross_strict.h"

#define KERNEL swp__hma_cross_strict
#define KERNEL_NAME "strict"
#define AT(array, index, count) ((void)(count), (array)[index])
#include "kernel/hma_cross_strict.inc"
