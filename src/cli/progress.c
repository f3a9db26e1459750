#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/host.h"
#include "cli/arguments.h"

#define PATIENCE_NS UINT64_C(300000000) /* what is done by then needs no bar */
enum { BAR_CELLS = 30 };

static bool terminal_draws(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && (term == NULL || strcmp(term, "dumb") != 0);
}

swp__progress swp__progress_begin(uint32_t setting)
{
    return (swp__progress){.on = setting == SWP__PROGRESS_AUTO && terminal_draws(),
                           .begun_ns = swp__now_ns(&swp__system_clock)};
}

void swp__progress_show(void *context, uint64_t combos_done, uint64_t combos_count)
{
    swp__progress *progress = context;
    uint64_t passed_ns = swp__now_ns(&swp__system_clock) - progress->begun_ns;
    if (!progress->on || combos_done == combos_count || passed_ns < PATIENCE_NS) {
        swp__progress_end(progress);
        return;
    }
    double share = (double)combos_done / (double)combos_count;
    char bar[BAR_CELLS + 1];
    memset(bar, '.', BAR_CELLS);
    memset(bar, '#', (size_t)(share * BAR_CELLS));
    bar[BAR_CELLS] = '\0';
    fprintf(stderr, "\r[%s] %3.0f %%  %" PRIu64 " of %" PRIu64 " combos, %.0f s", bar, share * 100.0, combos_done, combos_count,
            (double)passed_ns * 1e-9);
    progress->drawn = true;
}

void swp__progress_end(swp__progress *progress)
{
    if (progress->drawn) {
        fputs("\r\x1b[K", stderr);
        progress->drawn = false;
    }
}
