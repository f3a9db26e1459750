/* Ctrl+C, SIGTERM and SIGHUP while a sweep runs or a file is written: they set a flag that is looked at instead of ending the
 * program, so that what is finished can be printed and no temporary file stays behind. */
#ifndef SWP_CLI_INTERRUPT_H
#define SWP_CLI_INTERRUPT_H

#include "swp/engine.h"

/* From here on the signals set the flag that is returned; a signal that was ignored stays ignored. */
swp_cancel *swp__interrupt_begin(void);

/* From here on they do what they did before. Returns the signal that came in between; 0: none. */
int swp__interrupt_end(void);

#endif
