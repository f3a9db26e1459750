/* sweepd stats, sweepd list: what an engine says of itself, as it says it. */
#include "cli/cli.h"

#include <string.h>
#include "cli/engine_url.h"

static int print_text(const swp__arguments *arguments,
                      swp_status (*ask)(swp_client *client, uint32_t timeout_ms, char **text, swp_error *error))
{
    swp_client *client;
    swp_error error;
    char *text;
    if (swp__engine_connect(arguments, arguments->operand, &client, &error) != SWP_OK) {
        return swp__exit_failed(&error);
    }
    swp_status status = ask(client, 0, &text, &error);
    if (status == SWP_OK) {
        size_t size = strlen(text);
        fputs(text, stdout);
        if (size == 0 || text[size - 1] != '\n') {
            putchar('\n');
        }
        swp_client_text_free(client, text);
    }
    swp_client_close(client);
    return status == SWP_OK ? SWP__EXIT_OK : swp__exit_failed(&error);
}

int swp__stats_command(const swp__arguments *arguments)
{
    return print_text(arguments, swp_client_stats);
}

int swp__list_command(const swp__arguments *arguments)
{
    return print_text(arguments, swp_client_list);
}
