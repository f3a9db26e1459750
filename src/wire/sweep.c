/* The tail of SWEEP, TRADES and LIVE_OPEN:
 *
 *     [execution options] [windows: warm, begin, end] [parameters, in one of three forms]
 *
 * All of it is 8-byte numbers, so a tail read to an aligned place is used where it lies. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include "base/error.h"
#include "wire/layout.h"

enum { ROW_SIZE = 8 * SWP_PARAMS_COUNT, TRIPLE = 3 };

_Static_assert(sizeof(swp_window) == 24, "windows are used where they lie");

/* The execution options as they stand in the block, the defaults where the block is shorter. */
typedef struct exec_block {
    double fee;
    uint64_t entry;
    uint64_t kernel;
    uint64_t max_threads;
} exec_block;

_Static_assert(sizeof(exec_block) == SWP__EXEC_BYTES, "every option has its field");
_Static_assert(offsetof(exec_block, fee) == SWP__EXEC_FEE_AT && offsetof(exec_block, entry) == SWP__EXEC_ENTRY_AT, "");
_Static_assert(offsetof(exec_block, kernel) == SWP__EXEC_KERNEL_AT, "");
_Static_assert(offsetof(exec_block, max_threads) == SWP__EXEC_MAX_THREADS_AT, "");
_Static_assert(SWP__EXEC_ENTRY_MAX == (int)SWP_ENTRY_CROSS && SWP__EXEC_KERNEL_MAX == (int)SWP_KERNEL_CERTIFIED,
               "messages.json knows every entry rule and kernel");

/* What the three messages have in common. */
typedef struct counts {
    swp_grid_form form;
    uint64_t n_combos;
    uint32_t n_windows;
    uint32_t exec_bytes;
    uint32_t fixed_size;
} counts;

static counts counts_of(const swp__wire_request *request)
{
    if (request->opcode == SWP__OP_LIVE_OPEN) {
        const swp__wire_live_open *open = &request->live_open;
        return (counts){SWP_GRID_ROWS, open->n_combos, 0, open->exec_bytes, sizeof *open};
    }
    const swp__wire_sweep *s = &request->sweep;
    return (counts){(swp_grid_form)s->param_form, s->n_combos, s->n_windows, s->exec_bytes, sizeof *s};
}

/* Parameters of the fewest bytes these counts allow; all of them for rows. */
static uint64_t least_params_size(const counts *c)
{
    uint64_t bytes;
    switch (c->form) {
    case SWP_GRID_AXES:
        return 8 * SWP_PARAMS_COUNT;
    case SWP_GRID_PAIRS:
        return 8 * 2;
    default:
        return __builtin_mul_overflow(c->n_combos, (uint64_t)ROW_SIZE, &bytes) ? UINT64_MAX : bytes;
    }
}

uint64_t swp__wire_sweep_tail_size(const swp__wire_request *request)
{
    counts c = counts_of(request);
    uint64_t least = c.exec_bytes + c.n_windows * (uint64_t)sizeof(swp_window);
    if (__builtin_add_overflow(least, least_params_size(&c), &least)) {
        return UINT64_MAX;
    }
    return c.form != SWP_GRID_ROWS && request->tail_size > least ? request->tail_size : least;
}

static swp_status read_exec(const counts *c, const uint8_t *tail, swp_sweep_request *sweep, swp_error *error)
{
    exec_block exec = {.fee = SWP__EXEC_FEE_DEFAULT};
    uint64_t at = SWP__WIRE_PAYLOAD_AT + (uint64_t)c->fixed_size;
    memcpy(&exec, tail, c->exec_bytes);
    if (exec.entry > SWP__EXEC_ENTRY_MAX) {
        return swp__fail(error, SWP_BAD_PARAM, at + SWP__EXEC_ENTRY_AT, "entry is %" PRIu64 ", expected 0..%d", exec.entry,
                         SWP__EXEC_ENTRY_MAX);
    }
    if (exec.kernel > SWP__EXEC_KERNEL_MAX) {
        return swp__fail(error, SWP_BAD_PARAM, at + SWP__EXEC_KERNEL_AT, "kernel is %" PRIu64 ", expected 0..%d", exec.kernel,
                         SWP__EXEC_KERNEL_MAX);
    }
    sweep->fee = exec.fee;
    sweep->entry = (swp_entry)exec.entry;
    sweep->kernel = (swp_kernel)exec.kernel;
    sweep->max_threads = exec.max_threads > UINT32_MAX ? UINT32_MAX : (uint32_t)exec.max_threads;
    return SWP_OK;
}

/* The rest of a tail, taken from the front. */
typedef struct reader {
    const uint8_t *bytes;
    uint64_t left;
} reader;

/* A count and as many groups of `width` numbers. False when the tail ends before them. */
static bool read_list(reader *r, uint64_t width, const int64_t **values, uint64_t *count)
{
    if (r->left < 8) {
        return false;
    }
    memcpy(count, r->bytes, 8);
    *values = (const int64_t *)(const void *)(r->bytes + 8);
    if (*count > (r->left - 8) / (8 * width)) {
        return false;
    }
    r->bytes += 8 + *count * width * 8;
    r->left -= 8 + *count * width * 8;
    return true;
}

static bool read_grid(reader *r, swp_grid *grid)
{
    if (grid->form == SWP_GRID_ROWS) {
        grid->rows = (const int64_t *)(const void *)r->bytes;
        r->left -= grid->combos_count * ROW_SIZE;
        return true;
    }
    if (grid->form == SWP_GRID_PAIRS) {
        return read_list(r, TRIPLE, &grid->hma, &grid->hma_count) && read_list(r, TRIPLE, &grid->hma3, &grid->hma3_count);
    }
    bool whole = true;
    for (size_t i = 0; whole && i < SWP_PARAMS_COUNT; i++) {
        whole = read_list(r, 1, &grid->axes[i], &grid->axis_counts[i]);
    }
    return whole;
}

swp_status swp__wire_decode_sweep(const swp__wire_request *request, const void *tail, swp_sweep_request *sweep,
                                  swp_error *error)
{
    assert((uintptr_t)tail % 8 == 0);
    counts c = counts_of(request);
    swp_sweep_request made = {.grid = {.form = c.form, .combos_count = c.n_combos}, .windows_count = c.n_windows};
    swp_status status = read_exec(&c, tail, &made, error);
    if (status != SWP_OK) {
        return status;
    }
    uint64_t windows_size = c.n_windows * (uint64_t)sizeof(swp_window);
    reader r = {(const uint8_t *)tail + c.exec_bytes, request->tail_size - c.exec_bytes};
    made.windows = c.n_windows > 0 ? (const swp_window *)(const void *)r.bytes : NULL;
    r.bytes += windows_size;
    r.left -= windows_size;
    uint64_t end = SWP__WIRE_PAYLOAD_AT + c.fixed_size + request->tail_size;
    if (!read_grid(&r, &made.grid)) {
        return swp__fail(error, SWP_BAD_FRAME, end, "parameters end inside a list");
    }
    if (r.left > 0) {
        return swp__fail(error, SWP_BAD_FRAME, end - r.left, "%" PRIu64 " bytes after the last parameter", r.left);
    }
    *sweep = made;
    return SWP_OK;
}

/* ---- Writing ---- */

static void append_list(swp__wire_out *out, const uint64_t *count, uint64_t width, const int64_t *values)
{
    uint64_t bytes;
    swp__wire_append(out, count, sizeof *count);
    swp__wire_append(out, values, __builtin_mul_overflow(*count, 8 * width, &bytes) ? UINT64_MAX : bytes);
}

static void append_grid(swp__wire_out *out, const swp_grid *grid)
{
    uint64_t bytes;
    switch (grid->form) {
    case SWP_GRID_ROWS:
        bytes = __builtin_mul_overflow(grid->combos_count, (uint64_t)ROW_SIZE, &bytes) ? UINT64_MAX : bytes;
        swp__wire_append(out, grid->rows, bytes);
        break;
    case SWP_GRID_AXES:
        for (size_t i = 0; i < SWP_PARAMS_COUNT; i++) {
            append_list(out, &grid->axis_counts[i], 1, grid->axes[i]);
        }
        break;
    case SWP_GRID_PAIRS:
        append_list(out, &grid->hma_count, TRIPLE, grid->hma);
        append_list(out, &grid->hma3_count, TRIPLE, grid->hma3);
        break;
    }
}

/* Counts too large for their field are cut: the arrays behind them do not fit a frame, and swp__wire_finish says so. */
static void fill_counts(swp__wire_request *request, const swp_sweep_request *sweep)
{
    if (request->opcode == SWP__OP_LIVE_OPEN) {
        assert(sweep->grid.form == SWP_GRID_ROWS && sweep->windows_count == 0);
        request->live_open.strategy = SWP_STRATEGY_HMA_CROSS;
        request->live_open.n_combos = (uint32_t)sweep->grid.combos_count;
        request->live_open.exec_bytes = SWP__EXEC_BYTES;
        return;
    }
    request->sweep.strategy = SWP_STRATEGY_HMA_CROSS;
    request->sweep.param_form = (uint32_t)sweep->grid.form;
    request->sweep.n_combos = sweep->grid.combos_count;
    request->sweep.n_windows = (uint32_t)sweep->windows_count;
    request->sweep.exec_bytes = SWP__EXEC_BYTES;
}

void swp__wire_encode_sweep(swp__wire_request *request, const swp_sweep_request *sweep, swp__wire_out *out)
{
    exec_block exec = {sweep->fee, (uint64_t)sweep->entry, (uint64_t)sweep->kernel, sweep->max_threads};
    fill_counts(request, sweep);
    swp__wire_encode_request(request, out);
    uint64_t before = out->size;
    swp__wire_extend_start(out, &exec, sizeof exec);
    uint64_t bytes;
    bool wraps = __builtin_mul_overflow(sweep->windows_count, (uint64_t)sizeof(swp_window), &bytes);
    swp__wire_append(out, sweep->windows, wraps ? UINT64_MAX : bytes);
    append_grid(out, &sweep->grid);
    request->tail_size = out->size - before;
}
