#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

int swp__exit_failed(const swp_error *error)
{
    fprintf(stderr, "sweepd: %s\n", error->message);
    return SWP__EXIT_FAILED;
}

int swp__exit_usage(const swp_error *error)
{
    fprintf(stderr, "sweepd: %s\n", error->message);
    return SWP__EXIT_USAGE;
}

int swp__exit_flushed(int code)
{
    errno = 0;
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return code;
    }
    if (errno == EPIPE) { /* only where SIGPIPE is blocked; else it has ended us */
        return SWP__EXIT_SIGNAL + SIGPIPE;
    }
    fprintf(stderr, "sweepd: standard output cannot be written: %s\n", errno != 0 ? strerror(errno) : "write error");
    return SWP__EXIT_FAILED;
}
