/* The certified kernel, by instruction set. */
#ifndef SWP_KERNEL_HMA_CROSS_CERTIFIED_H
#define SWP_KERNEL_HMA_CROSS_CERTIFIED_H

#include "kernel/hma_cross.h"

extern const swp__kernel swp__hma_cross_certified_c;
extern const swp__kernel swp__hma_cross_certified_avx2;   /* x86-64 only */
extern const swp__kernel swp__hma_cross_certified_avx512; /* x86-64 only */

#endif
