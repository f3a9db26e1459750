/* sweepd bench sweep: what a machine does. A kernel is timed only after its results were the strict kernel's, or those of
 * another that --against names, bit for bit; and each timed run must give them again. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/host.h"
#include "base/number.h"
#include "bars/generate.h"
#include "cli/columns.h"
#include "cli/combos.h"
#include "cli/interrupt.h"
#include "swp/version.h"

enum { LENGTH_LOW = 6, LENGTH_HIGH = 200, LENGTHS_COUNT = LENGTH_HIGH - LENGTH_LOW + 1 };

typedef struct bench {
    const swp__arguments *arguments;
    double *close;
    swp__combos combos;
    swp_engine *engine;
    swp_series *series;
    swp__columns expected, got;
    swp_cancel *cancel;
    double *seconds; /* runs, in their order */
    double *sorted;  /* the same, the least first */
    double first;    /* seconds of the run before them */
} bench;

/* ---- input ---- */

static swp_status spaced_lengths(uint64_t count, swp__lengths *lengths, swp_error *error)
{
    char text[64];
    snprintf(text, sizeof text, "%d:%d/%" PRIu64, LENGTH_LOW, LENGTH_HIGH, count);
    return swp__lengths_parse("combos", text, lengths, error);
}

/* Up to 195 combos: as many lengths, evenly spaced. Beyond that every length for HMA, with HMA3's own lengths, evenly spaced,
 * one after the other: all combos are different and their windows are as long. */
static swp_status counted_rows(uint64_t count, int64_t *rows, swp_error *error)
{
    bool own = count > LENGTHS_COUNT;
    swp__lengths lengths = {0}, lengths3 = {0};
    swp_status status = spaced_lengths(own ? LENGTHS_COUNT : count, &lengths, error);
    if (status == SWP_OK && own) {
        status = spaced_lengths((count + LENGTHS_COUNT - 1) / LENGTHS_COUNT, &lengths3, error);
    }
    for (uint64_t i = 0; i < count && status == SWP_OK; i++) {
        swp_params a, b;
        int64_t length = lengths.values[i % lengths.count];
        status = swp_params_from_length(length, &a, error);
        if (status == SWP_OK) {
            status = swp_params_from_length(own ? lengths3.values[i / lengths.count] : length, &b, error);
        }
        if (status == SWP_OK) {
            *(swp_params *)(void *)(rows + i * SWP_PARAMS_COUNT) = (swp_params){a.half, a.full, a.smooth, b.third, b.mid, b.p};
        }
    }
    swp__lengths_free(&lengths);
    swp__lengths_free(&lengths3);
    return status;
}

/* --combos, or what a sweep takes. */
static swp_status make_combos(bench *b, swp_error *error)
{
    const swp__arguments *arguments = b->arguments;
    if (!swp__options_given(arguments, "combos")) {
        return swp__combos_make(arguments, &b->combos, error);
    }
    if (swp__options_given(arguments, "length") || arguments->length3 != NULL || arguments->params != NULL) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE,
                         "--combos makes the combos; --length, --length3 and --params cannot stand beside it");
    }
    b->combos.values = malloc(arguments->combos * SWP_PARAMS_COUNT * sizeof *b->combos.values);
    if (b->combos.values == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for %" PRIu64 " combos", arguments->combos);
    }
    b->combos.grid = (swp_grid){.form = SWP_GRID_ROWS, .combos_count = arguments->combos, .rows = b->combos.values};
    return counted_rows(arguments->combos, b->combos.values, error);
}

static swp_status fill_close(const swp__arguments *arguments, double *close, swp_error *error)
{
    swp__generate_options options = {.shape = swp__generate_shapes[arguments->shape],
                                     .bars_count = arguments->bars,
                                     .seed = arguments->seed,
                                     .sigma = arguments->sigma,
                                     .start = arguments->start};
    return swp__generate(&options, close, error);
}

static swp_status prepare(bench *b, swp_error *error)
{
    const swp__arguments *arguments = b->arguments;
    b->close = malloc(arguments->bars * sizeof *b->close);
    b->seconds = malloc(arguments->runs * sizeof *b->seconds);
    b->sorted = malloc(arguments->runs * sizeof *b->sorted);
    if (b->close == NULL || b->seconds == NULL || b->sorted == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for %" PRIu64 " bars", arguments->bars);
    }
    swp_engine_options options = {.threads = (uint32_t)arguments->threads};
    swp_status status = fill_close(arguments, b->close, error);
    status = status == SWP_OK ? make_combos(b, error) : status;
    status = status == SWP_OK ? swp__columns_new(b->combos.grid.combos_count, &b->expected, error) : status;
    status = status == SWP_OK ? swp__columns_new(b->combos.grid.combos_count, &b->got, error) : status;
    status = status == SWP_OK ? swp_engine_new(&options, &b->engine, error) : status;
    return status == SWP_OK ? swp_series_new(b->engine, b->close, arguments->bars, SWP_ALLOW_ALL, SWP_BORROW, &b->series, error)
                            : status;
}

static void release(bench *b)
{
    swp_series_free(b->series);
    swp_engine_free(b->engine);
    swp__columns_free(&b->expected);
    swp__columns_free(&b->got);
    swp__combos_free(&b->combos);
    free(b->close);
    free(b->seconds);
    free(b->sorted);
}

/* ---- runs ---- */

/* Every combo in a sweep of its own: what not batching costs. */
static swp_status sweep_one_by_one(const bench *b, swp_sweep_request request, const swp__columns *columns, swp_error *error)
{
    const swp_sweep_result *of = &columns->of;
    swp_status status = SWP_OK;
    for (uint64_t i = 0; i < columns->count && status == SWP_OK; i++) {
        swp_params params = swp_grid_at(&b->combos.grid, i);
        int64_t row[SWP_PARAMS_COUNT] = {params.half, params.full, params.smooth, params.third, params.mid, params.p};
        swp_sweep_result result = {.pnl = of->pnl + i,
                                   .trades = of->trades + i,
                                   .first_bar = of->first_bar + i,
                                   .open_side = of->open_side + i,
                                   .open_entry_bar = of->open_entry_bar + i,
                                   .open_entry = of->open_entry + i,
                                   .open_last = of->open_last + i,
                                   .open_pnl = of->open_pnl + i,
                                   .finished = of->finished + i};
        request.grid = (swp_grid){.form = SWP_GRID_ROWS, .combos_count = 1, .rows = row};
        status = swp_sweep(b->engine, b->series, &request, &result, error);
    }
    return status;
}

static swp_status run(const bench *b, uint32_t kernel, bool one_by_one, const swp__columns *columns, double *seconds,
                      swp_error *error)
{
    swp_sweep_request request = {
        .grid = b->combos.grid, .fee = b->arguments->fee, .kernel = (swp_kernel)kernel, .cancel = b->cancel};
    uint64_t begun_ns = swp__now_ns(&swp__system_clock);
    swp_status status = one_by_one ? sweep_one_by_one(b, request, columns, error)
                                   : swp_sweep(b->engine, b->series, &request, &columns->of, error);
    *seconds = (double)(swp__now_ns(&swp__system_clock) - begun_ns) * 1e-9;
    return status;
}

static swp_status check_same(const bench *b, const char *when, swp_error *error)
{
    swp__difference d;
    if (swp__columns_identical(&b->expected, &b->got, &d)) {
        return SWP_OK;
    }
    char text[SWP__DIFFERENCE_SIZE];
    swp__difference_describe(&d, text);
    return swp__fail(error, SWP_INTERNAL, d.combo, "%s, kernel %s is not the %s one and is not timed: combo %" PRIu64 ", %s",
                     when, swp_kernel_name((swp_kernel)b->arguments->kernel),
                     swp_kernel_name((swp_kernel)b->arguments->against), d.combo, text);
}

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static swp_status measure(bench *b, swp_error *error)
{
    const swp__arguments *a = b->arguments;
    double untimed;
    swp_status status = run(b, a->against, false, &b->expected, &untimed, error);
    if (status == SWP_OK) {
        status = run(b, a->kernel, a->one_by_one, &b->got, &b->first, error);
        status = status == SWP_OK ? check_same(b, "before timing", error) : status;
    }
    for (uint64_t i = 0; i < a->runs && status == SWP_OK; i++) {
        status = run(b, a->kernel, a->one_by_one, &b->got, &b->seconds[i], error);
        status = status == SWP_OK ? check_same(b, "in a timed run", error) : status;
    }
    if (status == SWP_OK) {
        memcpy(b->sorted, b->seconds, a->runs * sizeof *b->sorted);
        qsort(b->sorted, a->runs, sizeof *b->sorted, compare_seconds);
    }
    return status;
}

/* ---- output ---- */

typedef struct spread {
    double min, median, max;
} spread;

static spread spread_of(const bench *b)
{
    uint64_t runs = b->arguments->runs;
    return (spread){b->sorted[0], (b->sorted[(runs - 1) / 2] + b->sorted[runs / 2]) / 2, b->sorted[runs - 1]};
}

/* Nanoseconds for one bar of one combo. */
static spread per_bar(const bench *b, spread seconds)
{
    double scale = 1e9 / ((double)b->arguments->bars * (double)b->combos.grid.combos_count);
    return (spread){seconds.min * scale, seconds.median * scale, seconds.max * scale};
}

static void print_spread(const char *name, spread s)
{
    char min[SWP__NUMBER_SIZE], median[SWP__NUMBER_SIZE], max[SWP__NUMBER_SIZE];
    swp__number_format(s.min, min);
    swp__number_format(s.median, median);
    swp__number_format(s.max, max);
    printf(",\"%s\":{\"min\":%s,\"median\":%s,\"max\":%s}", name, min, median, max);
}

static void print_samples(const bench *b)
{
    for (uint64_t i = 0; i < b->arguments->runs; i++) {
        char text[SWP__NUMBER_SIZE];
        swp__number_format(b->seconds[i], text);
        printf("%s%s", i == 0 ? ",\"samples\":[" : ",", text);
    }
    printf("]");
}

static void print_json(const bench *b, const char *hash)
{
    const swp__arguments *a = b->arguments;
    char fee[SWP__NUMBER_SIZE];
    swp__number_format(a->fee, fee);
    printf("{\"bench\":\"sweep\",\"shape\":\"%s\",\"seed\":%" PRIu64 ",\"bars\":%" PRIu64 ",\"combos\":%" PRIu64
           ",\"fee\":%s,\"kernel\":\"%s\",\"isa\":\"%s\",\"threads\":%" PRIu32 ",\"version\":\"%s\",\"compiler\":\"%s\""
           ",\"one_by_one\":%s,\"runs\":%" PRIu64,
           swp__generate_shapes[a->shape], a->seed, a->bars, b->combos.grid.combos_count, fee,
           swp_kernel_name((swp_kernel)a->kernel), swp_isa(), swp_engine_threads(b->engine), swp_version(), swp_compiler(),
           a->one_by_one ? "true" : "false", a->runs);
    spread seconds = spread_of(b);
    print_spread("seconds", seconds);
    print_spread("ns_per_bar_and_combo", per_bar(b, seconds));
    print_samples(b);
    char first[SWP__NUMBER_SIZE];
    swp__number_format(b->first, first);
    printf(",\"first_seconds\":%s", first);
    printf(",\"gate\":\"identical to %s\",\"hash\":\"%s\"}\n", swp_kernel_name((swp_kernel)a->against), hash);
}

static void print_table(const bench *b, const char *hash)
{
    const swp__arguments *a = b->arguments;
    spread seconds = spread_of(b), ns = per_bar(b, seconds);
    printf("%s, seed %" PRIu64 ": %" PRIu64 " bars x %" PRIu64 " combos; kernel %s (%s), %" PRIu32 " thread%s, %" PRIu64
           " runs\n\n",
           swp__generate_shapes[a->shape], a->seed, a->bars, b->combos.grid.combos_count,
           swp_kernel_name((swp_kernel)a->kernel), swp_isa(), swp_engine_threads(b->engine),
           swp_engine_threads(b->engine) == 1 ? "" : "s", a->runs);
    printf("%24s  %10s  %10s  %10s\n", "", "min", "median", "max");
    printf("%24s  %10.6f  %10.6f  %10.6f\n", "seconds", seconds.min, seconds.median, seconds.max);
    printf("%24s  %10.4f  %10.4f  %10.4f\n\n", "ns per bar and combo", ns.min, ns.median, ns.max);
    printf("identical to the %s kernel; result hash %s\n", swp_kernel_name((swp_kernel)a->against), hash);
}

int swp__bench_sweep_command(const swp__arguments *arguments)
{
    bench b = {.arguments = arguments};
    swp_error error;
    swp_status status = prepare(&b, &error);
    int signal_number = 0;
    if (status == SWP_OK) {
        b.cancel = swp__interrupt_begin();
        status = measure(&b, &error);
        signal_number = swp__interrupt_end();
    }
    int code = SWP__EXIT_OK;
    if (status == SWP_OK) {
        char hash[SWP__HASH_TEXT_SIZE];
        swp__columns_hash(&b.got, hash);
        (arguments->format == SWP__FORMAT_JSON ? print_json : print_table)(&b, hash);
    } else {
        code = status == SWP_CANCELLED ? SWP__EXIT_SIGNAL + signal_number : swp__exit_failed(&error);
    }
    release(&b);
    return code;
}
