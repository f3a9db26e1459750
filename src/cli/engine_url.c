#include "cli/engine_url.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/token.h"

static const char *own_program(const char *url, char *text, size_t size)
{
    char path[1024];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (strcmp(url, "spawn:") != 0 || length <= 0) {
        return url;
    }
    snprintf(text, size, "spawn:%.*s", (int)length, path);
    return text;
}

swp_status swp__engine_connect(const swp__arguments *arguments, const char *url, swp_client **client, swp_error *error)
{
    char text[1100];
    swp__token token = {.size = 0};
    swp_status status = arguments->token_file != NULL ? swp__token_read(arguments->token_file, &token, error) : SWP_OK;
    if (status != SWP_OK) {
        return status;
    }
    swp_client_options options = {
        .timeout_ms = (uint32_t)(arguments->timeout * 1000.0),
        .spin_us = arguments->spin == 0 ? SWP_NO_SPIN : (uint32_t)arguments->spin,
        .token = token.size > 0 ? token.bytes : NULL,
        .token_size = token.size,
        .name = "sweepd",
        .threads = (uint32_t)arguments->threads,
    };
    return swp_client_open(own_program(url, text, sizeof text), &options, client, error);
}
