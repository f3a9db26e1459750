/* For tests: the differences of one combo over the first 2 * rows bars of a slice, d[bar], and the bound E of each half. */
#ifndef SWP_KERNEL_CERTIFY_DIFFERENCES_H
#define SWP_KERNEL_CERTIFY_DIFFERENCES_H

#include "kernel/certify_filter.h"

typedef void swp__differences(const swp__slice *slice, const swp__filter_combo *combo, int64_t lead, int64_t hma_lead,
                              int64_t rows, double *d, double *bound);

swp__differences swp__differences_plain, swp__differences_fused;

#endif
