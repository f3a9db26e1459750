/* sweepd inspect: what a file of bars is taken for, on one screen, and the command that reads it. */
#include "cli/cli.h"

#include <stdio.h>
#include "cli/input.h"
#include "swp/inspect.h"

int swp__inspect_command(const swp__arguments *arguments)
{
    swp_bars_options options;
    swp_inspection inspection;
    swp_error error;
    if (swp__input_bars_options(arguments, &options, &error) != SWP_OK) {
        return swp__exit_usage(&error);
    }
    if (swp_bars_inspect(arguments->operand, &options, &inspection, &error) != SWP_OK) {
        return swp__exit_failed(&error);
    }
    fputs(inspection.text, stdout);
    swp_inspection_free(&inspection);
    return SWP__EXIT_OK;
}
