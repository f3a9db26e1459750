/* sweepd generate: a series made by rule, into a file. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include "base/error.h"
#include "bars/generate.h"
#include "cli/interrupt.h"

int swp__generate_command(const swp__arguments *arguments)
{
    swp_error error;
    const char *shape = swp__generate_shapes[arguments->shape];
    swp__generate_options options = {.shape = shape,
                                     .bars_count = arguments->bars,
                                     .seed = arguments->seed,
                                     .sigma = arguments->sigma,
                                     .start = arguments->start};
    double *close = malloc(arguments->bars * sizeof *close);
    if (close == NULL) {
        swp__fail(&error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for %" PRIu64 " bars", arguments->bars);
        return swp__exit_failed(&error);
    }
    swp_status status = swp__generate(&options, close, &error);
    int signal_number = 0;
    if (status == SWP_OK) {
        const swp_cancel *cancel = swp__interrupt_begin();
        status = swp__closes_write(arguments->out, close, arguments->bars, cancel, &error);
        signal_number = swp__interrupt_end();
    }
    free(close);
    if (status == SWP_CANCELLED) {
        swp__exit_failed(&error);
        return SWP__EXIT_SIGNAL + signal_number;
    }
    if (status != SWP_OK) {
        return swp__exit_failed(&error);
    }
    fprintf(stderr, "wrote %" PRIu64 " bars of %s, seed %" PRIu64 ", to %s\n", arguments->bars, shape, arguments->seed,
            arguments->out);
    return SWP__EXIT_OK;
}
