#include "cli/preload.h"

#include <string.h>
#include "base/error.h"
#include "cli/input.h"
#include "wire/wire.h"

static swp_status hold(swp__scope *scope, const swp_bars *bars, uint32_t allow, swp__series_info *info, swp_error *error)
{
    bool has_time = bars->time_ns != NULL;
    size_t size = bars->bars_count * sizeof(double);
    swp__shape shape = {.bars_count = bars->bars_count,
                        .columns = SWP__SERIES_CLOSE | (has_time ? (uint32_t)SWP__SERIES_TIME : 0),
                        .policy = allow};
    swp__load *load;
    swp_status status = swp__load_new(scope, &shape, &load, error);
    if (status != SWP_OK) {
        return status;
    }
    memcpy(swp__load_column(load, SWP__SERIES_CLOSE), bars->close, size);
    if (has_time) {
        memcpy(swp__load_column(load, SWP__SERIES_TIME), bars->time_ns, size);
    }
    swp__load_ready(load, has_time ? 2 * size : size);
    return swp__load_commit(load, info, error);
}

static swp_status load_file(const swp__arguments *arguments, swp__scope *scope, const char *name, size_t name_size,
                            const char *path, swp__log *log, swp_error *error)
{
    swp_bars_options options;
    swp_bars bars;
    swp__series_info info;
    swp_status status = swp__wire_check_text((const uint8_t *)name, name_size, SWP_AT_NONE, error);
    status = status == SWP_OK ? swp__input_bars_options(arguments, &options, error) : status;
    status = status == SWP_OK ? swp_bars_read(path, &options, &bars, error) : status;
    if (status != SWP_OK) {
        return status;
    }
    status = hold(scope, &bars, arguments->allow, &info, error);
    status = status == SWP_OK ? swp__scope_name(scope, info.handle, name, name_size, error) : status;
    status = status == SWP_OK && arguments->pin ? swp__scope_pin(scope, info.handle, error) : status;
    if (status == SWP_OK) {
        swp__log_line(log, SWP__LOG_INFO, "series %.*s: %s", (int)name_size, name, bars.summary);
    }
    swp_bars_free(&bars);
    return status;
}

swp_status swp__preload(const swp__arguments *arguments, swp__store *store, swp__log *log, swp_error *error)
{
    swp__scope *scope;
    if (arguments->load.count == 0) {
        return SWP_OK;
    }
    swp_status status = swp__scope_new(store, (swp__identity){0, 0}, &scope, error); /* everybody's */
    if (status != SWP_OK) {
        return status;
    }
    for (size_t i = 0; i < arguments->load.count && status == SWP_OK; i++) {
        const char *text = arguments->load.texts[i], *equals = strchr(text, '=');
        swp_error why;
        if (equals == NULL || equals == text || equals[1] == '\0') {
            status = swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "--load is \"%s\", expected NAME=FILE", text);
            continue;
        }
        status = load_file(arguments, scope, text, (size_t)(equals - text), equals + 1, log, &why);
        if (status != SWP_OK) {
            (void)swp__fail(error, status, why.at, "--load %.*s: %s", (int)(equals - text), text, why.message);
        }
    }
    swp__scope_free(scope);
    return status;
}
