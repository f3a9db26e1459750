/* For tests: the differences of one combo over the first 2 * rows bars of a slice, and the bound E of each; `alone`: as they are
 * found without a batch. */
#ifndef SWP_KERNEL_CERTIFY_DIFFERENCES_H
#define SWP_KERNEL_CERTIFY_DIFFERENCES_H

#include "kernel/certify_filter.h"

typedef void swp__differences(const swp__slice *slice, const swp__filter_combo *combo, int64_t lead, int64_t hma_lead,
                              int64_t rows, double *d, double *bound);

swp__differences swp__differences_plain, swp__differences_fused;
swp__differences swp__differences_plain_alone, swp__differences_fused_alone;

#endif
