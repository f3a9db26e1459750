/* sweepd bench sweep: what a machine does. A kernel is timed only after its results were the strict kernel's, bit for bit;
 * and each timed run must give them again. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/host.h"
#include "base/number.h"
#include "bars/generate.h"
#include "cli/columns.h"
#include "cli/interrupt.h"
#include "cli/lengths.h"
#include "swp/version.h"

enum { LENGTH_LOW = 6, LENGTH_HIGH = 200, LENGTHS_COUNT = LENGTH_HIGH - LENGTH_LOW + 1 };

typedef struct bench {
    const swp__arguments *arguments;
    double *close;
    int64_t *rows; /* combos x 6 */
    swp_engine *engine;
    swp_series *series;
    swp__columns expected, got;
    swp_cancel *cancel;
    double *seconds; /* runs, sorted when all are in */
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
static swp_status fill_rows(uint64_t count, int64_t *rows, swp_error *error)
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
    b->rows = malloc(arguments->combos * SWP_PARAMS_COUNT * sizeof *b->rows);
    b->seconds = malloc(arguments->runs * sizeof *b->seconds);
    if (b->close == NULL || b->rows == NULL || b->seconds == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for %" PRIu64 " bars", arguments->bars);
    }
    swp_engine_options options = {.threads = (uint32_t)arguments->threads};
    swp_status status = fill_close(arguments, b->close, error);
    status = status == SWP_OK ? fill_rows(arguments->combos, b->rows, error) : status;
    status = status == SWP_OK ? swp__columns_new(arguments->combos, &b->expected, error) : status;
    status = status == SWP_OK ? swp__columns_new(arguments->combos, &b->got, error) : status;
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
    free(b->close);
    free(b->rows);
    free(b->seconds);
}

/* ---- runs ---- */

static swp_status run(const bench *b, uint32_t kernel, const swp__columns *columns, double *seconds, swp_error *error)
{
    swp_sweep_request request = {
        .grid = {.form = SWP_GRID_ROWS, .combos_count = b->arguments->combos, .rows = b->rows},
        .fee = b->arguments->fee,
        .kernel = (swp_kernel)kernel,
        .cancel = b->cancel,
    };
    uint64_t begun_ns = swp__now_ns(&swp__system_clock);
    swp_status status = swp_sweep(b->engine, b->series, &request, &columns->of, error);
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
    return swp__fail(error, SWP_INTERNAL, d.combo,
                     "%s, kernel %s is not the strict one and is not timed: combo %" PRIu64 ", %s", when,
                     swp_kernel_name((swp_kernel)b->arguments->kernel), d.combo, text);
}

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static swp_status measure(const bench *b, swp_error *error)
{
    double untimed;
    uint32_t kernel = b->arguments->kernel;
    swp_status status = run(b, SWP_KERNEL_STRICT, &b->expected, &untimed, error);
    if (status == SWP_OK && kernel != SWP_KERNEL_STRICT) {
        status = run(b, kernel, &b->got, &untimed, error);
        status = status == SWP_OK ? check_same(b, "before timing", error) : status;
    }
    for (uint64_t i = 0; i < b->arguments->runs && status == SWP_OK; i++) {
        status = run(b, kernel, &b->got, &b->seconds[i], error);
        status = status == SWP_OK ? check_same(b, "in a timed run", error) : status;
    }
    if (status == SWP_OK) {
        qsort(b->seconds, b->arguments->runs, sizeof *b->seconds, compare_seconds);
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
    return (spread){b->seconds[0], (b->seconds[(runs - 1) / 2] + b->seconds[runs / 2]) / 2, b->seconds[runs - 1]};
}

/* Nanoseconds for one bar of one combo. */
static spread per_bar(const bench *b, spread seconds)
{
    double scale = 1e9 / ((double)b->arguments->bars * (double)b->arguments->combos);
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

static void print_json(const bench *b, const char *hash)
{
    const swp__arguments *a = b->arguments;
    char fee[SWP__NUMBER_SIZE];
    swp__number_format(a->fee, fee);
    printf("{\"bench\":\"sweep\",\"shape\":\"%s\",\"seed\":%" PRIu64 ",\"bars\":%" PRIu64 ",\"combos\":%" PRIu64
           ",\"fee\":%s,\"kernel\":\"%s\",\"isa\":\"%s\",\"threads\":%" PRIu32 ",\"version\":\"%s\",\"compiler\":\"%s\""
           ",\"runs\":%" PRIu64,
           swp__generate_shapes[a->shape], a->seed, a->bars, a->combos, fee, swp_kernel_name((swp_kernel)a->kernel), swp_isa(),
           swp_engine_threads(b->engine), swp_version(), swp_compiler(), a->runs);
    spread seconds = spread_of(b);
    print_spread("seconds", seconds);
    print_spread("ns_per_bar_and_combo", per_bar(b, seconds));
    printf(",\"gate\":\"identical to strict\",\"hash\":\"%s\"}\n", hash);
}

static void print_table(const bench *b, const char *hash)
{
    const swp__arguments *a = b->arguments;
    spread seconds = spread_of(b), ns = per_bar(b, seconds);
    printf("%s, seed %" PRIu64 ": %" PRIu64 " bars x %" PRIu64 " combos; kernel %s (%s), %" PRIu32 " thread%s, %" PRIu64
           " runs\n\n",
           swp__generate_shapes[a->shape], a->seed, a->bars, a->combos, swp_kernel_name((swp_kernel)a->kernel), swp_isa(),
           swp_engine_threads(b->engine), swp_engine_threads(b->engine) == 1 ? "" : "s", a->runs);
    printf("%24s  %10s  %10s  %10s\n", "", "min", "median", "max");
    printf("%24s  %10.6f  %10.6f  %10.6f\n", "seconds", seconds.min, seconds.median, seconds.max);
    printf("%24s  %10.4f  %10.4f  %10.4f\n\n", "ns per bar and combo", ns.min, ns.median, ns.max);
    printf("identical to the strict kernel; result hash %s\n", hash);
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
