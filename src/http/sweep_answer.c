#include "http/sweep_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "base/number.h"
#include "http/memory.h"

static uint64_t cells_count(const swp__sweep_answer *answer)
{
    return answer->combos_count * (answer->windows_count > 0 ? answer->windows_count : 1);
}

swp_status swp__sweep_answer_init(const swp__sweep_body *body, swp__sweep_answer *answer, swp_error *error)
{
    *answer = (swp__sweep_answer){.combos_count = body->combos_count, .windows_count = body->windows_count};
    uint64_t cells;
    bool fits = !__builtin_mul_overflow(body->combos_count, body->windows_count > 0 ? body->windows_count : 1, &cells);
    for (uint32_t i = 0; i < SWP__SWEEP_RESULTS_COUNT && fits; i++) {
        if ((body->results >> i & 1) != 0) {
            answer->columns[i] = swp__memory_array(cells, sizeof(double));
            fits = answer->columns[i] != NULL;
        }
    }
    if (!fits) {
        swp__sweep_answer_fini(answer);
        return swp__fail(error, SWP_LIMIT, SWP_AT_NONE,
                         "results of %" PRIu64 " combos x %" PRIu64 " windows take more memory than is left of --max-memory",
                         body->combos_count, body->windows_count > 0 ? body->windows_count : 1);
    }
    return SWP_OK;
}

void swp__sweep_answer_fini(swp__sweep_answer *answer)
{
    for (uint32_t i = 0; i < SWP__SWEEP_RESULTS_COUNT; i++) {
        swp__memory_free(answer->columns[i]);
    }
    *answer = (swp__sweep_answer){0};
}

swp_sweep_result swp__sweep_answer_arrays(const swp__sweep_answer *answer)
{
    return (swp_sweep_result){
        .pnl = answer->columns[0],
        .trades = answer->columns[1],
        .first_bar = answer->columns[2],
        .open_side = answer->columns[3],
        .open_entry_bar = answer->columns[4],
        .open_entry = answer->columns[5],
        .open_last = answer->columns[6],
        .open_pnl = answer->columns[7],
    };
}

/* ---- text ---- */

static const bool is_real[SWP__SWEEP_RESULTS_COUNT] = {true, false, false, false, false, true, true, true};

static void put_head(swp__sweep_answer *answer)
{
    answer->piece_size =
        (size_t)snprintf(answer->piece, sizeof answer->piece, "{\"bars\":%" PRIu64 ",\"nan\":%" PRIu64 ",\"combos\":%" PRIu64,
                         answer->bars_count, answer->nan_count, answer->combos_count);
    answer->part = SWP__ANSWER_COLUMNS;
}

static void format_cell(const swp__sweep_answer *answer, char text[SWP__NUMBER_SIZE])
{
    const void *column = answer->columns[answer->column];
    if (is_real[answer->column]) {
        swp__number_format_json(((const double *)column)[answer->cell], text);
    } else {
        snprintf(text, SWP__NUMBER_SIZE, "%" PRId64, ((const int64_t *)column)[answer->cell]);
    }
}

/* One cell, with what stands around it. */
static void put_cell(swp__sweep_answer *answer)
{
    char number[SWP__NUMBER_SIZE], name[40] = "";
    bool nested = answer->windows_count > 0, last = answer->cell + 1 == cells_count(answer);
    bool ends_window = nested && (answer->cell + 1) % answer->combos_count == 0;
    if (answer->cell == 0) {
        snprintf(name, sizeof name, ",\"%s\":[%s", swp__sweep_results[answer->column], nested ? "[" : "");
    }
    format_cell(answer, number);
    const char *behind = last ? (nested ? "]]" : "]") : ends_window ? "],[" : ",";
    answer->piece_size = (size_t)snprintf(answer->piece, sizeof answer->piece, "%s%s%s", name, number, behind);
    answer->cell = last ? 0 : answer->cell + 1;
    answer->column += last ? 1 : 0;
}

/* Leaves the piece empty at the end of the text. */
static void put_next(swp__sweep_answer *answer)
{
    answer->piece_size = answer->piece_done = 0;
    if (answer->part == SWP__ANSWER_HEAD) {
        put_head(answer);
        return;
    }
    while (answer->column < SWP__SWEEP_RESULTS_COUNT && answer->columns[answer->column] == NULL) {
        answer->column++;
    }
    if (answer->column < SWP__SWEEP_RESULTS_COUNT) {
        put_cell(answer);
    } else if (answer->part == SWP__ANSWER_COLUMNS) {
        answer->piece_size = (size_t)snprintf(answer->piece, sizeof answer->piece, "}\n");
        answer->part = SWP__ANSWER_DONE;
    }
}

size_t swp__sweep_answer_read(swp__sweep_answer *answer, char *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        if (answer->piece_done == answer->piece_size) {
            put_next(answer);
            if (answer->piece_size == 0) {
                break;
            }
        }
        size_t left = answer->piece_size - answer->piece_done;
        size_t part = left < size - done ? left : size - done;
        memcpy(bytes + done, answer->piece + answer->piece_done, part);
        answer->piece_done += part;
        done += part;
    }
    return done;
}
