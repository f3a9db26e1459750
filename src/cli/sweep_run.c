#include "cli/sweep_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/host.h"
#include "cli/progress.h"

#define LOG_NS UINT64_C(1000000000) /* between two additions to the log */
enum { PIECE_COMBOS = 1 << 16 };    /* of what is missing, in one sweep */

/* Combos that are swept together: what is missing, or the whole grid, which has neither indices nor rows. */
typedef struct swept {
    swp__columns *columns;
    uint64_t *indices; /* in the grid */
    int64_t *rows;     /* their parameters */
} swept;

typedef struct runner {
    const swp__sweep_run *run;
    swp__columns *columns; /* of the grid */
    const swept *piece;
    uint64_t before; /* combos finished before this piece */
    uint64_t logged_ns;
    swp__progress progress;
} runner;

/* Finished rows of the piece to where they stand in the grid. */
static void collect(const runner *r)
{
    unsigned char row[SWP__ROW_BYTES];
    const swp__columns *of_piece = r->piece->columns;
    for (uint64_t i = 0; r->piece->indices != NULL && i < of_piece->count; i++) {
        uint64_t at = r->piece->indices[i];
        if (!r->columns->of.finished[at] && __atomic_load_n(&of_piece->of.finished[i], __ATOMIC_ACQUIRE)) {
            swp__columns_pack(of_piece, i, 1, row);
            swp__columns_unpack(r->columns, at, 1, row);
        }
    }
}

static void add_to_log(runner *r)
{
    swp_error error;
    collect(r);
    if (r->run->log != NULL && swp__sweep_log_add(r->run->log, r->columns, &error) != SWP_OK) {
        swp__progress_end(&r->progress);
        fprintf(stderr, "sweepd: %s; the sweep goes on, but what is finished from here on is not kept before its end\n",
                error.message);
    }
    r->logged_ns = swp__now_ns(&swp__system_clock);
}

static void hear_progress(void *context, uint64_t combos_done, uint64_t combos_count)
{
    runner *r = context;
    (void)combos_count;
    swp__progress_show(&r->progress, r->before + combos_done, r->columns->count);
    if (r->run->log != NULL && swp__now_ns(&swp__system_clock) - r->logged_ns >= LOG_NS) {
        add_to_log(r);
    }
}

static swp_status sweep_grid(runner *r, const swp_grid *grid, swp_error *error)
{
    const swp__arguments *arguments = r->run->arguments;
    const swp__input *input = r->run->input;
    swp_sweep_request request = {
        .grid = *grid,
        .fee = arguments->fee,
        .entry = (swp_entry)arguments->entry,
        .kernel = (swp_kernel)arguments->kernel,
        .max_threads = input->client != NULL ? (uint32_t)arguments->threads : 0, /* here the engine has no more */
        .progress = hear_progress,
        .progress_context = r,
        .cancel = r->run->cancel,
    };
    uint32_t timeout_ms = arguments->timeout > 0.0 ? 0 : SWP_NO_TIMEOUT;
    swp_status status = input->client != NULL
                            ? swp_client_sweep(input->client, input->held, &request, &r->piece->columns->of, timeout_ms, error)
                            : swp_sweep(input->engine, input->series, &request, &r->piece->columns->of, error);
    add_to_log(r);
    return status;
}

/* The next missing combos from *at on, as many as the piece holds. */
static uint64_t gather(const runner *r, const swept *piece, uint64_t *at)
{
    const swp_grid *grid = &r->run->input->combos.grid;
    uint64_t count = 0;
    for (; *at < r->columns->count && count < PIECE_COMBOS; ++*at) {
        if (!r->columns->of.finished[*at]) {
            swp_params p = swp_grid_at(grid, *at);
            memcpy(piece->rows + count * SWP_PARAMS_COUNT, &p, sizeof p);
            piece->indices[count++] = *at;
        }
    }
    return count;
}

static swp_status sweep_piece(runner *r, swept *piece, uint64_t count, swp_error *error)
{
    swp__columns columns;
    swp_grid grid = {.form = SWP_GRID_ROWS, .combos_count = count, .rows = piece->rows};
    swp_status status = swp__columns_new(count, &columns, error);
    if (status != SWP_OK) {
        return status;
    }
    piece->columns = &columns;
    r->piece = piece;
    status = sweep_grid(r, &grid, error);
    swp__columns_free(&columns);
    r->before += count;
    return status;
}

static swp_status sweep_missing(runner *r, swp_error *error)
{
    swept piece = {.indices = malloc(PIECE_COMBOS * sizeof *piece.indices),
                   .rows = malloc(PIECE_COMBOS * SWP_PARAMS_COUNT * sizeof *piece.rows)};
    swp_status status = SWP_OK;
    if (piece.indices == NULL || piece.rows == NULL) {
        status = swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for what is missing of the sweep");
    }
    uint64_t at = 0, count = 0;
    while (status == SWP_OK && (count = gather(r, &piece, &at)) > 0) {
        status = sweep_piece(r, &piece, count, error);
    }
    free(piece.indices);
    free(piece.rows);
    return status;
}

swp_status swp__sweep_to_columns(swp__sweep_run *run, swp__columns *columns, swp_error *error)
{
    uint64_t begun_ns = swp__now_ns(&swp__system_clock);
    swept whole = {.columns = columns};
    runner r = {
        .run = run,
        .columns = columns,
        .piece = &whole,
        .before = run->log != NULL ? run->log->logged_count : 0,
        .logged_ns = begun_ns,
        .progress = swp__progress_begin(run->arguments->progress),
    };
    swp_status status = r.before == 0 ? sweep_grid(&r, &run->input->combos.grid, error) : sweep_missing(&r, error);
    swp__progress_end(&r.progress);
    run->seconds = (double)(swp__now_ns(&swp__system_clock) - begun_ns) * 1e-9;
    return status;
}
