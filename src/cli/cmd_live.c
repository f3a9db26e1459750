/* sweepd live: closes in as they arrive, states out, a row for each bar and combo. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bars/refuse.h"
#include "bars/table.h"
#include "bars/time_stamp.h"
#include "base/error.h"
#include "base/number.h"
#include "cli/combos.h"
#include "cli/engine_url.h"
#include "cli/input.h"
#include "cli/journal.h"

typedef struct live {
    const swp__arguments *arguments;
    swp__combos combos;
    int64_t *rows; /* of combos */
    swp_live_request request;
    swp_bars warm_up;     /* --warm-up */
    swp__journal journal; /* path NULL: none */
    uint64_t begun_at;    /* bars before the first one of standard input */
    swp_client *client;
    swp_client_live *session;
    swp_live_state *states;
    bool has_bars; /* of standard input */
} live;

#define INPUT "standard input"

enum { FORMAT_CSV, FORMAT_JSON }; /* --format of this command */

/* ---- output ---- */

static void print_header(const live *l)
{
    if (l->arguments->format == FORMAT_CSV) {
        puts("bar,close,combo,position,entry,pnl,trades,time");
        fflush(stdout);
    }
}

/* In UTC; "" without one. */
static const char *stamp_of(const swp__followed *bar, char text[SWP__TIME_TEXT_SIZE])
{
    text[0] = '\0';
    if (bar->has_time) {
        swp__time_format(bar->time_ns, bar->is_date ? SWP__TIME_TO_THE_DAY : swp__time_detail_of(bar->time_ns), text);
    }
    return text;
}

static void put_csv(uint64_t number, const swp__followed *bar, uint64_t combo, const swp_live_state *s)
{
    char numbers[3][SWP__NUMBER_SIZE] = {"", "", ""}, stamp[SWP__TIME_TEXT_SIZE];
    swp__number_format(bar->close, numbers[0]);
    if (s->position != 0) {
        swp__number_format(s->entry, numbers[1]);
    }
    swp__number_format(s->pnl, numbers[2]);
    printf("%" PRIu64 ",%s,%" PRIu64 ",%" PRId64 ",%s,%s,%" PRId64 ",%s\n", number, numbers[0], combo, s->position, numbers[1],
           numbers[2], s->trades, stamp_of(bar, stamp));
}

static void put_json(uint64_t number, const swp__followed *bar, uint64_t combo, const swp_live_state *s)
{
    char numbers[3][SWP__NUMBER_SIZE] = {"", "null", ""}, stamp[SWP__TIME_TEXT_SIZE];
    swp__number_format_json(bar->close, numbers[0]);
    if (s->position != 0) {
        swp__number_format_json(s->entry, numbers[1]);
    }
    swp__number_format_json(s->pnl, numbers[2]);
    const char *quote = bar->has_time ? "\"" : "";
    printf("{\"bar\":%" PRIu64 ",\"close\":%s,\"combo\":%" PRIu64 ",\"position\":%" PRId64
           ",\"entry\":%s,\"pnl\":%s,\"trades\":%" PRId64 ",\"time\":%s%s%s}\n",
           number, numbers[0], combo, s->position, numbers[1], numbers[2], s->trades, quote,
           bar->has_time ? stamp_of(bar, stamp) : "null", quote);
}

static swp_status print_states(const live *l, const swp__followed *bar, swp_error *error)
{
    uint64_t number = (uint64_t)l->states[0].bars_seen - 1;
    for (uint64_t i = 0; i < l->request.combos_count; i++) {
        (l->arguments->format == FORMAT_JSON ? put_json : put_csv)(number, bar, i, &l->states[i]);
    }
    return fflush(stdout) == 0
               ? SWP_OK
               : swp__fail(error, SWP_FILE, SWP_AT_NONE, "standard output cannot be written; the bar was taken");
}

/* ---- one bar ---- */

/* The first bar with a stamp comes after those of the warm-up. */
static swp_status check_follows(const live *l, const swp__followed *bar, swp_error *error)
{
    uint64_t count = l->warm_up.bars_count;
    if (!bar->has_time || l->has_bars || l->warm_up.time_ns == NULL || bar->time_ns > l->warm_up.time_ns[count - 1]) {
        return SWP_OK;
    }
    char stamp[SWP__TIME_TEXT_SIZE], last[SWP__TIME_TEXT_SIZE];
    swp__time_format(l->warm_up.time_ns[count - 1], swp__time_detail_of(l->warm_up.time_ns[count - 1]), last);
    return swp__refuse_line(error, INPUT, bar->line, "time %s is not after %s, the last bar of --warm-up", stamp_of(bar, stamp),
                            last);
}

static void tell_repeated(void *context, uint64_t line)
{
    (void)context;
    fprintf(stderr, "sweepd: " INPUT ":%" PRIu64 ": its time stamp repeats: passed over\n", line);
}

/* Into the session, then the journal, then out: what was printed is in the journal. */
static swp_status take_bar(void *context, const swp__followed *bar, swp_error *error)
{
    live *l = context;
    double close = bar->close;
    uint64_t expected = swp_client_live_bars_count(l->session);
    swp_status status = check_follows(l, bar, error);
    if (status != SWP_OK) {
        return status;
    }
    l->has_bars = true;
    status = swp_client_live_push(l->session, expected, &close, 1, 0, l->states, NULL, error);
    if (status == SWP_TIMED_OUT) { /* it may have been taken: the same push again is taken once */
        status = swp_client_live_push(l->session, expected, &close, 1, 0, l->states, NULL, error);
    }
    if (status == SWP_OK && l->journal.path != NULL) {
        status = swp__journal_append(&l->journal, close, l->states, error);
    }
    return status == SWP_OK ? print_states(l, bar, error) : status;
}

/* ---- beginning ---- */

static swp_status check_arguments(const swp__arguments *arguments, swp_error *error)
{
    const char *const of_engine[] = {"timeout", "token-file"};
    for (size_t i = 0; i < 2 && arguments->engine == NULL; i++) {
        if (swp__options_given(arguments, of_engine[i])) {
            return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "--%s is for --engine", of_engine[i]);
        }
    }
    if (arguments->duplicates == SWP_DUPLICATES_LAST) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE,
                         "--duplicates last: a bar that was taken cannot be replaced by a later one");
    }
    if (arguments->fsync && arguments->journal == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "--fsync is for --journal");
    }
    return SWP_OK;
}

static swp_status make_request(live *l, swp_error *error)
{
    swp_status status = swp__combos_make(l->arguments, &l->combos, error);
    status = status == SWP_OK ? swp__combos_rows(&l->combos, &l->rows, error) : status;
    if (status != SWP_OK) {
        return status;
    }
    l->request = (swp_live_request){.params = l->rows,
                                    .combos_count = l->combos.grid.combos_count,
                                    .fee = l->arguments->fee,
                                    .entry = (swp_entry)l->arguments->entry,
                                    .allow = l->arguments->allow};
    return SWP_OK;
}

/* A journal's options hold; what the command line says beside them must be the same. */
static swp_status check_same(const live *l, swp_error *error)
{
    const swp_live_request *kept = &l->journal.request, *said = &l->request;
    const swp__arguments *a = l->arguments;
    const char *other = NULL;
    bool combos_said = swp__options_given(a, "length") || a->length3 != NULL || a->params != NULL;
    if (combos_said && (kept->combos_count != said->combos_count ||
                        memcmp(kept->params, said->params, kept->combos_count * sizeof(swp_params)) != 0)) {
        other = "combos";
    } else if (swp__options_given(a, "fee") && kept->fee != said->fee) {
        other = "fee";
    } else if (swp__options_given(a, "entry") && kept->entry != said->entry) {
        other = "entry rule";
    } else if (swp__options_given(a, "allow") && kept->allow != said->allow) {
        other = "input policy (--allow)";
    }
    return other == NULL ? SWP_OK
                         : swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "%s was begun with another %s", l->journal.path, other);
}

/* The bars a session begins from: those of the journal, else of --warm-up. */
static swp_status begin_bars(live *l, const swp_bars_options *options, const double **close, uint64_t *count, swp_error *error)
{
    const swp__arguments *a = l->arguments;
    swp_status status = SWP_NOT_FOUND;
    if (a->journal != NULL) {
        status = swp__journal_open(a->journal, true, a->fsync, &l->journal, error);
    }
    if (status == SWP_OK) {
        l->begun_at = l->journal.bars_count;
        *close = l->journal.closes;
        *count = l->journal.bars_count;
        return check_same(l, error);
    }
    if (status != SWP_NOT_FOUND) {
        return status;
    }
    status = a->warm_up != NULL ? swp_bars_read(a->warm_up, options, &l->warm_up, error) : SWP_OK;
    if (status == SWP_OK && a->journal != NULL) {
        status =
            swp__journal_begin(a->journal, &l->request, l->warm_up.close, l->warm_up.bars_count, a->fsync, &l->journal, error);
    }
    *close = l->warm_up.close;
    *count = l->warm_up.bars_count;
    return status;
}

static swp_status open_session(live *l, const double *close, uint64_t count, swp_error *error)
{
    const swp__arguments *a = l->arguments;
    swp_client_series *series = NULL;
    const swp_live_request *request = l->journal.path != NULL ? &l->journal.request : &l->request; /* a journal's own hold */
    swp_columns columns = {.bars_count = count, .close = close};
    l->request = *request;
    l->states = malloc(request->combos_count * sizeof *l->states);
    if (l->states == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for %" PRIu64 " states", request->combos_count);
    }
    swp_status status = swp__engine_connect(a, a->engine != NULL ? a->engine : "inproc:", &l->client, error);
    if (status == SWP_OK && count > 0) {
        status = swp_client_load(l->client, &columns, request->allow, SWP_KEEP_NOTHING, 0, &series, error);
    }
    if (status == SWP_OK) {
        status = swp_client_live_open(l->client, series, request, 0, &l->session, l->states, error);
    }
    if (series != NULL) {
        (void)swp_client_drop(l->client, series, 0, NULL);
    }
    return status;
}

/* A journal that this engine does not arrive at is not gone on with. */
static swp_status check_resumed(const live *l, swp_error *error)
{
    uint64_t recorded = l->journal.bars_count - l->journal.warm_count, combos = l->request.combos_count;
    if (l->journal.states == NULL || recorded == 0) {
        return SWP_OK;
    }
    const swp_live_state *last = l->journal.states + (recorded - 1) * combos;
    if (memcmp(last, l->states, combos * sizeof *last) != 0) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE,
                         "%s: its bars lead to other states than it recorded; sweepd verify --journal names the first",
                         l->journal.path);
    }
    return SWP_OK;
}

static void tell_beginning(const live *l)
{
    if (l->journal.torn_bytes > 0) {
        fprintf(stderr, "sweepd: %s: its last record was torn: %" PRIu64 " bytes dropped\n", l->journal.path,
                l->journal.torn_bytes);
    }
    if (l->begun_at > 0) {
        fprintf(stderr, "sweepd: %s: goes on behind bar %" PRIu64 "%s\n", l->journal.path, l->begun_at - 1,
                l->arguments->warm_up != NULL ? "; --warm-up is not read again" : "");
    } else if (l->warm_up.bars_count > 0) {
        fprintf(stderr, "%s\n", l->warm_up.summary);
    }
}

static swp_status begin(live *l, const swp_bars_options *options, swp_error *error)
{
    const double *close;
    uint64_t count;
    swp_status status = begin_bars(l, options, &close, &count, error);
    status = status == SWP_OK ? open_session(l, close, count, error) : status;
    status = status == SWP_OK ? check_resumed(l, error) : status;
    if (status == SWP_OK) {
        tell_beginning(l);
        print_header(l);
    }
    return status;
}

static void end(live *l)
{
    swp_client_close(l->client);
    swp__journal_close(&l->journal);
    swp_bars_free(&l->warm_up);
    swp__combos_free(&l->combos);
    free(l->rows);
    free(l->states);
}

int swp__live_command(const swp__arguments *arguments)
{
    live l = {.arguments = arguments};
    swp_error error;
    swp_bars_options options;
    swp_status status = check_arguments(arguments, &error);
    status = status == SWP_OK ? swp__input_bars_options(arguments, &options, &error) : status;
    status = status == SWP_OK ? make_request(&l, &error) : status;
    if (status != SWP_OK) {
        end(&l);
        return swp__exit_usage(&error);
    }
    status = begin(&l, &options, &error);
    const swp__follower follower = {take_bar, tell_repeated, &l};
    status = status == SWP_OK ? swp__table_follow(STDIN_FILENO, INPUT, &options, &follower, &error) : status;
    end(&l);
    return status == SWP_OK ? SWP__EXIT_OK : swp__exit_failed(&error);
}
