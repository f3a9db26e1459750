/* Walking with any kernel. */
#include "kernel/hma_cross.h"
#include "kernel/sign_words.h"

void swp__trade_signs(const swp__kernel *kernel, const swp__slice *slice, const swp__exec *exec, size_t combos_count,
                      int64_t from, int64_t to, const swp__signs *signs, swp__trade_state *states)
{
    kernel->sign_ops->trade_words(slice, exec, from, to, combos_count, signs->up, signs->down, signs->stride, states);
    for (size_t i = 0; i < combos_count; i++) {
        states[i].first_bar = states[i].first_bar < 0 ? signs->first_valid[i] : states[i].first_bar;
    }
}

void swp__walk(const swp__kernel *kernel, const swp__slice *slice, const swp__exec *exec, const swp_params *combos,
               size_t combos_count, int64_t from, int64_t to, const swp__signs *words, swp__trade_state *states, void *scratch)
{
    if (kernel->run != NULL) {
        kernel->run(slice, exec, combos, combos_count, from, to, states, scratch);
        return;
    }
    kernel->signs(slice, combos, combos_count, from, to, words, scratch);
    if (swp__is_unwanted(slice)) {
        return;
    }
    swp__trade_signs(kernel, slice, exec, combos_count, from, to, words, states);
}
