#include "cli/input.h"

#include <string.h>
#include "base/error.h"
#include "cli/cli.h"
#include "cli/engine_url.h"

/* A sign by itself or by its name; 0: none of them. */
static char delimiter_of(const char *text)
{
    static const struct {
        const char *name;
        char sign;
    } named[] = {{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"\\t", '\t'}, {"pipe", '|'}};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (strcmp(text, named[i].name) == 0 || (text[0] == named[i].sign && text[1] == '\0')) {
            return named[i].sign;
        }
    }
    return 0;
}

/* Lengths stand on the command line, so what is wrong with them is a wrong usage; a file of parameters is content. */
static int open_combos(const swp__arguments *arguments, swp__input *input)
{
    swp_error error;
    swp_status status = swp__combos_make(arguments, &input->combos, &error);
    if (status == SWP_OK) {
        return SWP__EXIT_OK;
    }
    bool said_here = arguments->params == NULL || arguments->length3 != NULL || swp__options_given(arguments, "length");
    return said_here && status != SWP_NO_MEMORY ? swp__exit_usage(&error) : swp__exit_failed(&error);
}

swp_status swp__input_renew_series(const swp__arguments *arguments, swp__input *input, swp_error *error)
{
    swp_series_free(input->series);
    input->series = NULL;
    return swp_series_new(input->engine, input->bars.close, input->bars.bars_count, arguments->allow, SWP_BORROW,
                          &input->series, error);
}

/* Sends the bars only where they are not held already. */
static swp_status open_remote(const swp__arguments *arguments, swp__input *input, swp_error *error)
{
    swp_columns columns = {.bars_count = input->bars.bars_count, .close = input->bars.close};
    swp_status status = swp__engine_connect(arguments, arguments->engine, &input->client, error);
    if (status != SWP_OK) {
        return status;
    }
    status = swp_client_find(input->client, &columns, arguments->allow, SWP_KEEP_BORROWED, 0, &input->held, error);
    return status != SWP_NOT_FOUND
               ? status
               : swp_client_load(input->client, &columns, arguments->allow, SWP_KEEP_BORROWED, 0, &input->held, error);
}

static swp_status open_here(const swp__arguments *arguments, uint64_t threads, swp__input *input, swp_error *error)
{
    swp_status status = swp_engine_new(&(swp_engine_options){.threads = (uint32_t)threads}, &input->engine, error);
    return status == SWP_OK ? swp__input_renew_series(arguments, input, error) : status;
}

swp_status swp__input_bars_options(const swp__arguments *arguments, swp_bars_options *options, swp_error *error)
{
    *options = (swp_bars_options){
        .close = arguments->close,
        .time = arguments->time,
        .open = arguments->open,
        .high = arguments->high,
        .low = arguments->low,
        .volume = arguments->volume,
        .allow = arguments->allow,
        .header = (swp_bars_header)arguments->header,
        .order = (swp_bars_order)arguments->order,
        .duplicates = (swp_bars_duplicates)arguments->duplicates,
        .time_format = arguments->time_format,
        .time_zone = arguments->time_zone,
        .skip_lines = arguments->skip_lines,
        .from = arguments->from,
        .to = arguments->to,
        .dtype = arguments->dtype,
        .big_endian = arguments->big_endian,
    };
    if (arguments->decimal != NULL) {
        bool is_comma = strcmp(arguments->decimal, "comma") == 0 || strcmp(arguments->decimal, ",") == 0;
        if (!is_comma && strcmp(arguments->decimal, "point") != 0 && strcmp(arguments->decimal, ".") != 0) {
            return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "--decimal is \"%s\", expected point, comma or the sign itself",
                             arguments->decimal);
        }
        options->decimal = is_comma ? ',' : '.';
    }
    options->delimiter = arguments->delimiter != NULL ? delimiter_of(arguments->delimiter) : 0;
    if (arguments->delimiter != NULL && options->delimiter == 0) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE,
                         "--delimiter is \"%s\", expected comma, semicolon, tab, pipe or the sign itself",
                         arguments->delimiter);
    }
    return SWP_OK;
}

int swp__input_open(const swp__arguments *arguments, uint64_t threads, swp__input *input)
{
    *input = (swp__input){0};
    swp_error error;
    swp_bars_options options;
    if (swp__input_bars_options(arguments, &options, &error) != SWP_OK) {
        return swp__exit_usage(&error);
    }
    int code = open_combos(arguments, input);
    if (code != SWP__EXIT_OK) {
        return code;
    }
    if (swp_bars_read(arguments->operand, &options, &input->bars, &error) != SWP_OK) {
        return swp__exit_failed(&error);
    }
    swp_status status =
        arguments->engine != NULL ? open_remote(arguments, input, &error) : open_here(arguments, threads, input, &error);
    return status == SWP_OK ? SWP__EXIT_OK : swp__exit_failed(&error);
}

void swp__input_close(swp__input *input)
{
    swp_series_free(input->series);
    swp_engine_free(input->engine);
    swp_client_close(input->client);
    swp_bars_free(&input->bars);
    swp__combos_free(&input->combos);
}
