/* The words of an inspection: what was decided, the command, the screen. */
#ifndef SWP_BARS_INSPECT_H
#define SWP_BARS_INSPECT_H

#include "bars/facts.h"
#include "swp/inspect.h"

enum { SWP__INSPECT_BARS_SHOWN = 2 }; /* at either end */

/* Fills in->decisions. `options` are those the file was read by; `was_set_right`: its order was not as it was told. */
void swp__inspect_decisions(const swp__facts *facts, const swp_bars_options *options, bool was_set_right, swp_inspection *in);

/* "sweepd sweep bars.csv --close 'Adj Close'", the caller's to free; NULL: no memory. */
char *swp__inspect_shell(const char *path, const swp_bars_options *options);

/* `shown` are the bars at both ends, the caller's to free; NULL: no memory. */
char *swp__inspect_text(const swp_inspection *in, const swp_bar_place *shown, size_t shown_count);

#endif
