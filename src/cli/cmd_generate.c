/* sweepd generate: a series made by rule, into a file. */
#include "cli/cli.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include "base/error.h"
#include "bars/generate.h"

/* A signal that ends the program waits until the file is in its place: its temporary file must not stay behind. */
static swp_status write_undisturbed(const swp__arguments *arguments, const double *close, swp_error *error)
{
    sigset_t ending, former;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGHUP);
    sigprocmask(SIG_BLOCK, &ending, &former);
    swp_status status = swp__closes_write(arguments->out, close, arguments->bars, error);
    sigprocmask(SIG_SETMASK, &former, NULL);
    return status;
}

int swp__generate_command(const swp__arguments *arguments)
{
    swp_error error;
    const char *shape = swp__generate_shapes[arguments->shape];
    swp__generate_options options = {.shape = shape, .bars_count = arguments->bars, .seed = arguments->seed,
                                     .sigma = arguments->sigma, .start = arguments->start};
    double *close = malloc(arguments->bars * sizeof *close);
    if (close == NULL) {
        swp__fail(&error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for %" PRIu64 " bars", arguments->bars);
        return swp__exit_failed(&error);
    }
    swp_status status = swp__generate(&options, close, &error);
    status = status == SWP_OK ? write_undisturbed(arguments, close, &error) : status;
    free(close);
    if (status != SWP_OK) {
        return swp__exit_failed(&error);
    }
    fprintf(stderr, "wrote %" PRIu64 " bars of %s, seed %" PRIu64 ", to %s\n", arguments->bars, shape, arguments->seed,
            arguments->out);
    return SWP__EXIT_OK;
}
