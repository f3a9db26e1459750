/* The certified kernel, by instruction set. */
#ifndef SWP_KERNEL_HMA_CROSS_CERTIFIED_H
#define SWP_KERNEL_HMA_CROSS_CERTIFIED_H

#include "kernel/certify_filter.h"
#include "kernel/sign_words.h"

extern const swp__kernel swp__hma_cross_certified_c;
extern const swp__kernel swp__hma_cross_certified_avx2;   /* x86-64 only */
extern const swp__kernel swp__hma_cross_certified_avx512; /* x86-64 only */

/* The members of swp__kernel, for the loops of one instruction set. */
size_t swp__certified_scratch_size(const swp__filter_ops *filter, int64_t bars_count, const swp_params *largest,
                                   size_t combos_count);
int64_t swp__certified_quantum_bars(const swp__filter_ops *filter, const swp__slice *slice, const swp_params *combos,
                                    size_t combos_count);
void swp__certified_run(const swp__filter_ops *filter, const swp__sign_ops *sign, const swp__slice *slice,
                        const swp__exec *exec, const swp_params *combos, size_t combos_count, int64_t from, int64_t to,
                        swp__trade_state *states, void *scratch);

/* Defines swp__hma_cross_certified_<suffix>; combo_ns is what a bar of a combo costs, measured on the study's series. */
#define SWP__CERTIFIED_KERNEL(suffix, filter_ops, sign_ops, combo_ns)                                                   \
    static void run_##suffix(const swp__slice *slice, const swp__exec *exec, const swp_params *combos,                  \
                             size_t combos_count, int64_t from, int64_t to, swp__trade_state *states, void *scratch)    \
    {                                                                                                                   \
        swp__certified_run(&(filter_ops), &(sign_ops), slice, exec, combos, combos_count, from, to, states, scratch);   \
    }                                                                                                                   \
    static size_t scratch_size_##suffix(int64_t bars_count, const swp_params *largest, size_t combos_count)             \
    {                                                                                                                   \
        return swp__certified_scratch_size(&(filter_ops), bars_count, largest, combos_count);                           \
    }                                                                                                                   \
    static int64_t quantum_bars_##suffix(const swp__slice *slice, const swp_params *combos, size_t combos_count)        \
    {                                                                                                                   \
        return swp__certified_quantum_bars(&(filter_ops), slice, combos, combos_count);                                 \
    }                                                                                                                   \
    static double cost_ns_##suffix(const swp_params *combos, size_t combos_count)                                       \
    {                                                                                                                   \
        (void)combos;                                                                                                   \
        return 2.0 + (combo_ns) * (double)combos_count;                                                                 \
    }                                                                                                                   \
    const swp__kernel swp__hma_cross_certified_##suffix = {                                                             \
        .name = "certified",                                                                                            \
        .batch = SWP__BATCH_MAX,                                                                                        \
        .quantum_bars = quantum_bars_##suffix,                                                                          \
        .scratch_size = scratch_size_##suffix,                                                                          \
        .cost_ns = cost_ns_##suffix,                                                                                    \
        .run = run_##suffix,                                                                                            \
    };

#endif
