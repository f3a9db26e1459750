/* sweepd verify --live and --journal: bar by bar against the sweep's own trades. */
#ifndef SWP_CLI_VERIFY_LIVE_H
#define SWP_CLI_VERIFY_LIVE_H

#include "cli/arguments.h"

/* A live session over the bars of arguments->operand, one at a time, against the sweep; both entry rules. */
int swp__verify_live(const swp__arguments *arguments);

/* What arguments->journal recorded, against the sweep over the same bars. */
int swp__verify_journal(const swp__arguments *arguments);

#endif
