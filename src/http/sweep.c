#include "http/sweep.h"

static swp_status find_series(swp_client *client, const swp__sweep_body *body, uint32_t timeout_ms, swp_client_series **series,
                              swp_error *error)
{
    if (body->series != NULL) {
        return swp_client_open_series(client, body->series, timeout_ms, series, error);
    }
    swp_columns columns = {.bars_count = body->bars_count, .close = body->close};
    return swp_client_load(client, &columns, body->allow, SWP_KEEP_BORROWED, timeout_ms, series, error);
}

static swp_status sweep(swp_client *client, swp_client_series *series, const swp__sweep_body *body, uint32_t timeout_ms,
                        swp_cancel *cancel, swp__sweep_answer *answer, swp_error *error)
{
    swp__sweep_answer made;
    swp_status status = swp__sweep_answer_init(body, &made, error);
    if (status != SWP_OK) {
        return status;
    }
    swp_series_info info = swp_client_series_info(series);
    made.bars_count = info.bars_count;
    made.nan_count = info.nan_count;
    swp_sweep_request request = {
        .grid = {.form = SWP_GRID_ROWS, .combos_count = body->combos_count, .rows = body->rows},
        .fee = body->fee,
        .entry = body->entry,
        .kernel = body->kernel,
        .max_threads = body->max_threads,
        .windows = body->windows,
        .windows_count = body->windows_count,
        .cancel = cancel,
    };
    swp_sweep_result result = swp__sweep_answer_arrays(&made);
    status = swp_client_sweep(client, series, &request, &result, timeout_ms, error);
    if (status != SWP_OK) {
        swp__sweep_answer_fini(&made);
        return status;
    }
    *answer = made;
    return SWP_OK;
}

swp_status swp__http_sweep(swp_client *client, const swp__sweep_body *body, uint32_t timeout_ms, swp_cancel *cancel,
                           swp__sweep_answer *answer, swp_error *error)
{
    swp_client_series *series;
    swp_status status = find_series(client, body, timeout_ms, &series, error);
    if (status == SWP_OK) {
        status = sweep(client, series, body, timeout_ms, cancel, answer, error);
        (void)swp_client_drop(client, series, timeout_ms, NULL); /* what the engine says to that changes nothing here */
    }
    return status;
}
