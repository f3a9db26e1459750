/* The sweep tells each combo's trades; from these the state after every bar is laid out, and must be the recorded or the live
 * one, bit for bit. The last states are compared with a sweep on the fastest kernel, too. */
#include "cli/verify_live.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/journal.h"
#include "swp/client.h"

typedef struct proof {
    swp_client *client;
    swp_client_series *series;
    const swp_live_request *request;
    uint64_t bars_count;
    swp_live_state *expected; /* [bars_count] of one combo */
} proof;

static void lay_out(const swp_trades *trades, uint64_t bars_count, swp_live_state *states)
{
    swp_live_state now = {0};
    uint64_t next = 0, open = UINT64_MAX;
    for (uint64_t bar = 0; bar < bars_count; bar++) {
        if (open != UINT64_MAX && trades->exit_bar[open] == (int64_t)bar) {
            now.pnl += trades->pnl[open];
            now.pnl = isnan(now.pnl) ? (double)NAN : now.pnl;
            now.trades++;
            now.position = 0;
            open = UINT64_MAX;
        }
        if (next < trades->count && trades->entry_bar[next] == (int64_t)bar) {
            now.position = trades->side[next];
            now.entry = isnan(trades->entry[next]) ? (double)NAN : trades->entry[next];
            open = next++;
        }
        now.bars_seen = (int64_t)bar + 1;
        states[bar] = now;
    }
}

static swp_status expect(const proof *p, uint64_t combo, swp_error *error)
{
    swp_trades trades;
    double pnl;
    int64_t count;
    const swp_sweep_request request = {
        .grid = {.combos_count = 1, .rows = p->request->params + combo * SWP_PARAMS_COUNT},
        .fee = p->request->fee,
        .entry = p->request->entry,
    };
    const swp_sweep_result result = {.pnl = &pnl, .trades = &count};
    swp_status status = swp_client_trades(p->client, p->series, &request, SWP_NO_TIMEOUT, &trades, error);
    if (status != SWP_OK) {
        return status;
    }
    lay_out(&trades, p->bars_count, p->expected);
    swp_trades_free(p->client, &trades);
    status = swp_client_sweep(p->client, p->series, &request, &result, SWP_NO_TIMEOUT, error);
    const swp_live_state *last = &p->expected[p->bars_count - 1];
    if (status == SWP_OK && (memcmp(&last->pnl, &pnl, sizeof pnl) != 0 || last->trades != count)) {
        return swp__fail(error, SWP_INTERNAL, SWP_AT_NONE, "combo %" PRIu64 ": the sweep and its list of trades differ", combo);
    }
    return status;
}

static swp_status open_proof(proof *p, const double *close, uint64_t bars_count, uint32_t allow, swp_error *error)
{
    const swp_columns columns = {.bars_count = bars_count, .close = close};
    p->bars_count = bars_count;
    p->expected = malloc(bars_count * sizeof *p->expected);
    if (p->expected == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for %" PRIu64 " states", bars_count);
    }
    swp_status status = swp_client_open("inproc:", NULL, &p->client, error);
    return status == SWP_OK ? swp_client_load(p->client, &columns, allow, SWP_KEEP_NOTHING, 0, &p->series, error) : status;
}

static void close_proof(proof *p)
{
    swp_client_close(p->client);
    free(p->expected);
}

static void print_difference(uint64_t combo, uint64_t bar, const char *whose, const swp_live_state *got,
                             const swp_live_state *expected)
{
    printf("DIFFERENT: combo %" PRIu64 ", bar %" PRIu64 ": %s position %" PRId64 ", entry %.17g, pnl %.17g, trades %" PRId64
           "; the sweep: position %" PRId64 ", entry %.17g, pnl %.17g, trades %" PRId64 "\n",
           combo, bar, whose, got->position, got->entry, got->pnl, got->trades, expected->position, expected->entry,
           expected->pnl, expected->trades);
}

/* ---- a journal ---- */

/* The first recorded bar of this combo that is not what the sweep says; UINT64_MAX: none. */
static uint64_t first_difference(const swp__journal *j, const proof *p, uint64_t combo)
{
    for (uint64_t bar = j->warm_count; bar < j->bars_count; bar++) {
        const swp_live_state *got = j->states + (bar - j->warm_count) * j->request.combos_count + combo;
        if (memcmp(got, &p->expected[bar], sizeof *got) != 0) {
            return bar;
        }
    }
    return UINT64_MAX;
}

static swp_status verify_records(const swp__journal *j, proof *p, bool *identical, swp_error *error)
{
    uint64_t first = UINT64_MAX, first_combo = 0;
    swp_live_state expected = {0};
    for (uint64_t combo = 0; combo < j->request.combos_count; combo++) {
        swp_status status = expect(p, combo, error);
        if (status != SWP_OK) {
            return status;
        }
        uint64_t bar = first_difference(j, p, combo);
        if (bar < first) {
            first = bar;
            first_combo = combo;
            expected = p->expected[bar];
        }
    }
    *identical = first == UINT64_MAX;
    if (!*identical) {
        const swp_live_state *got = j->states + (first - j->warm_count) * j->request.combos_count + first_combo;
        print_difference(first_combo, first, "the journal says", got, &expected);
    }
    return SWP_OK;
}

static int conclude_journal(const swp__journal *j, bool identical)
{
    if (j->torn_bytes > 0) {
        printf("%s: its last record is torn: %" PRIu64 " bytes are not looked at\n", j->path, j->torn_bytes);
    }
    if (!identical) {
        printf("NOT identical: what %s recorded is not what a sweep over its bars says\n", j->path);
        return SWP__EXIT_FAILED;
    }
    printf("identical: %" PRIu64 " recorded bars behind %" PRIu64 " of warm-up, %" PRIu64
           " combos, every state bit for bit that of a sweep\n",
           j->bars_count - j->warm_count, j->warm_count, j->request.combos_count);
    return SWP__EXIT_OK;
}

int swp__verify_journal(const swp__arguments *arguments)
{
    swp__journal journal;
    swp_error error;
    bool identical = true;
    if (swp__journal_open(arguments->journal, false, false, &journal, &error) != SWP_OK) {
        return swp__exit_failed(&error);
    }
    proof p = {.request = &journal.request};
    swp_status status = SWP_OK;
    if (journal.bars_count > 0) {
        status = open_proof(&p, journal.closes, journal.bars_count, journal.request.allow, &error);
        status = status == SWP_OK ? verify_records(&journal, &p, &identical, &error) : status;
    }
    close_proof(&p);
    int code = status == SWP_OK ? conclude_journal(&journal, identical) : swp__exit_failed(&error);
    swp__journal_close(&journal);
    return code;
}

/* ---- a file, live ---- */

/* One combo at a time, so that the states of all bars fit. */
static swp_status verify_combo(proof *p, const double *close, uint64_t combo, bool *identical, swp_error *error)
{
    swp_client_live *session;
    swp_live_state state;
    swp_live_request request = *p->request;
    request.params += combo * SWP_PARAMS_COUNT;
    request.combos_count = 1;
    swp_status status = expect(p, combo, error);
    status = status == SWP_OK ? swp_client_live_open(p->client, NULL, &request, 0, &session, &state, error) : status;
    if (status != SWP_OK) {
        return status;
    }
    for (uint64_t bar = 0; bar < p->bars_count && status == SWP_OK; bar++) {
        status = swp_client_live_push(session, bar, &close[bar], 1, 0, &state, NULL, error);
        if (status == SWP_OK && memcmp(&state, &p->expected[bar], sizeof state) != 0) {
            print_difference(combo, bar, "live", &state, &p->expected[bar]);
            *identical = false;
            break;
        }
    }
    (void)swp_client_live_close(session, 0, NULL);
    return status;
}

static swp_status verify_entry(const swp__arguments *arguments, const swp__input *input, swp_entry entry, swp_error *error)
{
    uint64_t combos = input->combos.grid.combos_count, different = 0;
    int64_t *rows;
    swp_status status = swp__combos_rows(&input->combos, &rows, error);
    if (status != SWP_OK) {
        return status;
    }
    const swp_live_request request = {
        .params = rows, .combos_count = combos, .fee = arguments->fee, .entry = entry, .allow = arguments->allow};
    proof p = {.request = &request};
    status = open_proof(&p, input->bars.close, input->bars.bars_count, arguments->allow, error);
    for (uint64_t i = 0; i < combos && status == SWP_OK; i++) {
        bool identical = true;
        status = verify_combo(&p, input->bars.close, i, &identical, error);
        different += identical ? 0 : 1;
    }
    close_proof(&p);
    free(rows);
    if (status == SWP_OK && different == 0) {
        printf("live             entry %s: identical, %" PRIu64 " combos, after each of %" PRIu64 " bars\n",
               swp__entry_names[entry], combos, input->bars.bars_count);
    } else if (status == SWP_OK) {
        status = swp__fail(error, SWP_INTERNAL, SWP_AT_NONE, "NOT identical: %" PRIu64 " of %" PRIu64 " combos differ live",
                           different, combos);
    }
    return status;
}

int swp__verify_live(const swp__arguments *arguments)
{
    swp__input input;
    swp_error error;
    int code = swp__input_open(arguments, 1, &input);
    if (code == SWP__EXIT_OK) {
        printf("%s\n", input.bars.summary);
        swp_status status = verify_entry(arguments, &input, SWP_ENTRY_FIRST, &error);
        status = status == SWP_OK ? verify_entry(arguments, &input, SWP_ENTRY_CROSS, &error) : status;
        code = status == SWP_OK ? SWP__EXIT_OK : swp__exit_failed(&error);
    }
    swp__input_close(&input);
    return code;
}
