/* sweepd verify: every kernel of every instruction set that the machine has (or of the one that SWP_ISA names), several thread
 * counts and both entry rules over one file, compared bit for bit with the strict kernel on one thread. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include "base/cpu.h"
#include "base/error.h"
#include "cli/columns.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/verify_live.h"
#include "kernel/hma_cross.h"
#include "swp/version.h"

static const uint32_t thread_counts[] = {1, 2, 3, 8};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof thread_counts[0], THREADS_MOST = 8 };

typedef struct verify {
    const swp__arguments *arguments;
    swp__input input;              /* its engine has THREADS_MOST threads */
    swp__columns expected[2], got; /* expected: by entry rule */
    swp_cancel *cancel;
    uint64_t runs, differences;
    const swp__kernel *seen[SWP__KERNELS_MAX]; /* what each number stood for under the last instruction set */
} verify;

static swp_status run(const verify *v, swp_kernel kernel, uint32_t threads, swp_entry entry, const swp__columns *columns,
                      swp_error *error)
{
    swp_sweep_request request = {.grid = v->input.combos.grid,
                                 .fee = v->arguments->fee,
                                 .entry = entry,
                                 .kernel = kernel,
                                 .max_threads = threads,
                                 .cancel = v->cancel};
    return swp_sweep(v->input.engine, v->input.series, &request, &columns->of, error);
}

/* "length 23 (12,23,5,4,6,12)" */
static void describe_combo(const swp__combos *combos, uint64_t index, char *text, size_t size)
{
    swp_params p = swp_grid_at(&combos->grid, index);
    size_t used = 0;
    text[0] = '\0';
    if (combos->lengths.count > 0) {
        used += (size_t)snprintf(text, size, "length %" PRId64 " ", swp__combos_length(combos, index));
    }
    if (combos->lengths3.count > 0) {
        used += (size_t)snprintf(text + used, size - used, "length3 %" PRId64 " ", swp__combos_length3(combos, index));
    }
    snprintf(text + used, size - used, "(%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ")", p.half,
             p.full, p.smooth, p.third, p.mid, p.p);
}

static void print_difference(const verify *v, swp_kernel kernel, uint32_t threads, swp_entry entry, const swp__difference *d)
{
    char combo[160], numbers[SWP__DIFFERENCE_SIZE];
    describe_combo(&v->input.combos, d->combo, combo, sizeof combo);
    swp__difference_describe(d, numbers);
    printf("DIFFERENT: kernel %s (%s), %" PRIu32 " thread%s, entry %s, combo %" PRIu64 ", %s: %s\n", swp_kernel_name(kernel),
           swp_isa(), threads, threads == 1 ? "" : "s", swp__entry_names[entry], d->combo, combo, numbers);
}

/* One kernel at every thread count under one entry rule; the first difference is told, the rest counted. */
static swp_status verify_kernel(verify *v, swp_kernel kernel, swp_entry entry, swp_error *error)
{
    for (size_t t = 0; t < THREAD_COUNTS; t++) {
        swp__difference difference;
        swp_status status = run(v, kernel, thread_counts[t], entry, &v->got, error);
        if (status != SWP_OK) {
            return status;
        }
        v->runs++;
        if (!swp__columns_identical(&v->expected[entry], &v->got, &difference)) {
            print_difference(v, kernel, thread_counts[t], entry, &difference);
            v->differences++;
        }
    }
    return SWP_OK;
}

/* Every kernel under the instruction set in use, but for those that the last one has, too. */
static swp_status verify_isa(verify *v, swp_error *error)
{
    swp_status status = SWP_OK;
    for (uint32_t k = 0; k < SWP__KERNELS_MAX && status == SWP_OK; k++) {
        swp_kernel kernel = (swp_kernel)k;
        uint64_t before = v->differences;
        if (swp_kernel_name(kernel) == NULL || v->seen[k] == swp__kernel_get(kernel)) {
            continue;
        }
        v->seen[k] = swp__kernel_get(kernel);
        status = verify_kernel(v, kernel, SWP_ENTRY_FIRST, error);
        status = status == SWP_OK ? verify_kernel(v, kernel, SWP_ENTRY_CROSS, error) : status;
        if (status == SWP_OK && v->differences == before) {
            printf("%-16s %-7s identical on 1, 2, 3 and 8 threads, entry first and cross\n", swp_kernel_name(kernel),
                   swp_isa());
        }
    }
    return status;
}

static swp_status expect(verify *v, swp_error *error)
{
    uint64_t combos_count = v->input.combos.grid.combos_count;
    swp_status status = swp__columns_new(combos_count, &v->got, error);
    for (uint32_t entry = 0; entry < 2 && status == SWP_OK; entry++) {
        status = swp__columns_new(combos_count, &v->expected[entry], error);
        status = status == SWP_OK ? run(v, SWP_KERNEL_STRICT, 1, (swp_entry)entry, &v->expected[entry], error) : status;
    }
    return status;
}

static swp_status verify_all(verify *v, swp_error *error)
{
    swp_status status = expect(v, error);
    const char *forced = getenv("SWP_ISA"); /* the engine has taken it, so it names one of ours, or nothing */
    if (status != SWP_OK || (forced != NULL && forced[0] != '\0')) {
        return status == SWP_OK ? verify_isa(v, error) : status;
    }
    for (uint32_t isa = SWP__ISA_C; isa <= swp__cpu_isa() && status == SWP_OK; isa++) {
        swp__isa_use((swp__isa)isa);
        status = swp__input_renew_series(v->arguments, &v->input, error);
        status = status == SWP_OK ? verify_isa(v, error) : status;
    }
    return status;
}

static int conclude(const verify *v)
{
    uint64_t combos_count = v->input.combos.grid.combos_count;
    if (v->differences > 0) {
        printf("NOT identical: %" PRIu64 " of %" PRIu64 " runs differ from the strict kernel on one thread\n", v->differences,
               v->runs);
        return SWP__EXIT_FAILED;
    }
    printf("identical: %" PRIu64 " combos over %" PRIu64 " bars in %" PRIu64 " runs, every column bit for bit\n", combos_count,
           v->input.bars.bars_count, v->runs);
    return SWP__EXIT_OK;
}

/* What stands beside each other means one thing. */
static swp_status check_arguments(const swp__arguments *a, swp_error *error)
{
    if (a->journal != NULL && (a->operand != NULL || a->live)) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "--journal has its own bars: %s cannot stand beside it",
                         a->live ? "--live" : "FILE");
    }
    return a->journal == NULL && a->operand == NULL ? swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "FILE is missing") : SWP_OK;
}

static int verify_kernels(const swp__arguments *arguments)
{
    verify v = {.arguments = arguments};
    int code = swp__input_open(arguments, THREADS_MOST, &v.input);
    if (code == SWP__EXIT_OK) {
        swp_error error;
        printf("%s\n", v.input.bars.summary);
        v.cancel = swp__interrupt_begin();
        swp_status status = verify_all(&v, &error);
        int signal_number = swp__interrupt_end();
        if (status == SWP_OK) {
            code = conclude(&v);
        } else {
            code = status == SWP_CANCELLED ? SWP__EXIT_SIGNAL + signal_number : swp__exit_failed(&error);
        }
    }
    swp__columns_free(&v.expected[0]);
    swp__columns_free(&v.expected[1]);
    swp__columns_free(&v.got);
    swp__input_close(&v.input);
    return code;
}

int swp__verify_command(const swp__arguments *arguments)
{
    swp_error error;
    if (check_arguments(arguments, &error) != SWP_OK) {
        return swp__exit_usage(&error);
    }
    return arguments->journal != NULL ? swp__verify_journal(arguments)
           : arguments->live          ? swp__verify_live(arguments)
                                      : verify_kernels(arguments);
}
