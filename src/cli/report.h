/* The finished sweep as a person or a program reads it. JSON and CSV have every finished combo in input order and doubles
 * that read back to the same bits; the table is ranked. A sweep that was interrupted says that it is partial in each. */
#ifndef SWP_CLI_REPORT_H
#define SWP_CLI_REPORT_H

#include <stdio.h>
#include "cli/columns.h"
#include "cli/combos.h"
#include "swp/bars.h"

typedef struct swp__report {
    const swp_bars *bars;
    const swp__combos *combos;
    const swp__columns *columns;
    double fee;
    swp_entry entry;
    swp_kernel kernel;
    uint32_t threads;
    double seconds; /* of the sweep alone */
    uint64_t finished_count;
    uint32_t rank; /* SWP__RANK_* */
    uint64_t top;  /* rows of the table */
} swp__report;

static inline bool swp__report_partial(const swp__report *report)
{
    return report->finished_count < report->columns->count;
}

void swp__report_json(FILE *out, const swp__report *report);
void swp__report_csv(FILE *out, const swp__report *report);

/* NO_MEMORY: nothing was printed. */
SWP_MUST_CHECK swp_status swp__report_table(FILE *out, const swp__report *report, swp_error *error);

#endif
