/* A bar on standard error for a person who waits: only on a terminal, only when it takes long, gone at the end. */
#ifndef SWP_CLI_PROGRESS_H
#define SWP_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct swp__progress {
    bool on;
    bool drawn;
    uint64_t begun_ns;
} swp__progress;

/* `setting` is SWP__PROGRESS_AUTO or _NEVER. */
swp__progress swp__progress_begin(uint32_t setting);

/* swp_sweep_request.progress; the context is a swp__progress. The call with done == count wipes the bar, as does _end. */
void swp__progress_show(void *progress, uint64_t combos_done, uint64_t combos_count);

void swp__progress_end(swp__progress *progress);

#endif
