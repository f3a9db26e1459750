/* `exact`: every average in the specification's order of operations, as vectors across the outputs; its variants are one
 * source (hma_cross_exact.inc) compiled for each instruction set. */
#ifndef SWP_KERNEL_HMA_CROSS_EXACT_H
#define SWP_KERNEL_HMA_CROSS_EXACT_H

#include <stdbool.h>
#include "kernel/exact_plan.h"
#include "kernel/sign_words.h"

extern const swp__kernel swp__hma_cross_exact_c;
extern const swp__kernel swp__hma_cross_exact_avx2;   /* x86-64 only */
extern const swp__kernel swp__hma_cross_exact_avx512; /* x86-64 only */

int64_t swp__exact_quantum_bars(const swp__slice *slice, const swp_params *combos, size_t combos_count);

/* Whether divisions may go by reciprocal: no parameter too long, and bars [from, to) zero, NaN or of a magnitude that keeps
 * every intermediate clear of overflow and underflow. */
bool swp__exact_is_tame(const swp__exact_plan *plan, const double *close, int64_t from, int64_t to);

#endif
