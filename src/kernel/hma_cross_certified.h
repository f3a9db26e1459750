/* The certified kernel, by instruction set. */
#ifndef SWP_KERNEL_HMA_CROSS_CERTIFIED_H
#define SWP_KERNEL_HMA_CROSS_CERTIFIED_H

#include "kernel/certified_plan.h"

extern const swp__kernel swp__hma_cross_certified_c;
extern const swp__kernel swp__hma_cross_certified_avx2;   /* x86-64 only */
extern const swp__kernel swp__hma_cross_certified_avx512; /* x86-64 only */

/* The members of swp__kernel, for the loops of one instruction set. */
int64_t swp__certified_quantum_bars(const swp__filter_ops *filter, const swp__slice *slice, const swp_params *combos,
                                    size_t combos_count);
void swp__certified_signs(const swp__slice *slice, const swp_params *combos, size_t combos_count, int64_t from, int64_t to,
                          const swp__signs *signs, void *scratch);

/* Defines swp__hma_cross_certified_<suffix>; exact is the exact kernel of the instruction set, combo_ns what a bar of a combo
 * costs, measured on the study's series. */
#define SWP__CERTIFIED_KERNEL(suffix, loops, trading, exact, combo_ns)                                                         \
    static void prepare_##suffix(const swp__slice *slice, const swp_params *combos, size_t combos_count, void *scratch)        \
    {                                                                                                                          \
        swp__certified_plan_make(&(loops), &(trading), &(exact), slice, combos, combos_count, scratch);                        \
    }                                                                                                                          \
    static size_t scratch_size_##suffix(int64_t bars_count, const swp_params *largest, size_t combos_count)                    \
    {                                                                                                                          \
        return swp__certified_plan_size(&(loops), bars_count, largest, combos_count);                                          \
    }                                                                                                                          \
    static int64_t quantum_bars_##suffix(const swp__slice *slice, const swp_params *combos, size_t combos_count)               \
    {                                                                                                                          \
        return swp__certified_quantum_bars(&(loops), slice, combos, combos_count);                                             \
    }                                                                                                                          \
    static double cost_ns_##suffix(const swp_params *combos, size_t combos_count)                                              \
    {                                                                                                                          \
        (void)combos;                                                                                                          \
        return 2.0 + (combo_ns) * (double)combos_count;                                                                        \
    }                                                                                                                          \
    const swp__kernel swp__hma_cross_certified_##suffix = {                                                                    \
        .name = "certified",                                                                                                   \
        .batch = SWP__BATCH_MAX,                                                                                               \
        .quantum_bars = quantum_bars_##suffix,                                                                                 \
        .scratch_size = scratch_size_##suffix,                                                                                 \
        .cost_ns = cost_ns_##suffix,                                                                                           \
        .prepare = prepare_##suffix,                                                                                           \
        .signs = swp__certified_signs,                                                                                         \
        .sign_ops = &(trading),                                                                                                \
    };

#endif
