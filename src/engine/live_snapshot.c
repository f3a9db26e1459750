/* A live session as bytes, for swp_live_restore. Everything is little-endian and 8-byte aligned:
 *
 *     head     magic, version, strategy, id of the numbers, size, counts, options, the last push
 *     combos   [combos] the six parameters
 *     states   [combos] the seven numbers of swp__trade_state
 *     closes   the last bars that a window reaches back to from the next bar, oldest first
 *     inputs   [combos] likewise, of the two second averages
 *     sum      XXH3-128 of all before it
 *
 * NaN is written as one NaN, so that the bytes are the same on every instruction set. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "base/error.h"
#include "base/host.h"
#include "engine/live.h"
#include "engine/rows.h"
#include "engine/series.h"
#include "engine/sweep.h"

static const char MAGIC[8] = {'s', 'w', 'p', '-', 'l', 'i', 'v', 'e'};
enum { VERSION = 1, SUM_SIZE = 16 };

typedef struct head {
    char magic[8];
    uint32_t version, strategy;
    swp__fingerprint kernel_id;
    uint64_t size; /* of the snapshot, sum included */
    uint64_t combos_count, bars_count;
    double fee;
    uint32_t entry, allow;
    uint64_t push_expected; /* UINT64_MAX: no push yet */
    swp__fingerprint push_fingerprint;
} head;

_Static_assert(sizeof(head) == 96, "fields as in the picture, without gaps");
_Static_assert(sizeof(swp__trade_state) == 56 && offsetof(swp__trade_state, entry) == 40, "seven words");

static uint64_t reach(int64_t window, int64_t bars_count)
{
    return (uint64_t)(window - 1 < bars_count ? window - 1 : bars_count);
}

/* ---- writing ---- */

typedef struct writer {
    char *at;
    swp__fingerprinter sum;
} writer;

static void write_bytes(writer *w, const void *bytes, size_t size)
{
    memcpy(w->at, bytes, size);
    swp__fingerprinter_add(&w->sum, bytes, size);
    w->at += size;
}

static void write_history(writer *w, const swp__history *history, int64_t bars_count)
{
    uint64_t count = reach(history->length, bars_count);
    for (uint64_t i = 0; i < count; i++) {
        double value = swp__canonical(swp__history_at(history, (int64_t)(count - 1 - i)));
        write_bytes(w, &value, sizeof value);
    }
}

static void write_state(writer *w, const swp__trade_state *state)
{
    swp__trade_state copy = *state;
    copy.entry = swp__canonical(copy.entry);
    copy.pnl = swp__canonical(copy.pnl);
    write_bytes(w, &copy, sizeof copy);
}

static uint64_t snapshot_size(const swp__live_bars *bars)
{
    uint64_t values = reach(bars->closes.length, bars->bars_count);
    for (size_t i = 0; i < bars->combos_count; i++) {
        values += reach(bars->combos[i].params.smooth, bars->bars_count) + reach(bars->combos[i].params.p, bars->bars_count);
    }
    return sizeof(head) + bars->combos_count * (sizeof(swp_params) + sizeof(swp__trade_state)) + values * sizeof(double) +
           SUM_SIZE;
}

size_t swp_live_snapshot(const swp_live *live, void *bytes, size_t size)
{
    const swp__live_bars *bars = &live->bars;
    uint64_t needed = snapshot_size(bars);
    if (bytes == NULL || size < needed) {
        return needed;
    }
    head h = {
        .version = VERSION,
        .strategy = SWP_STRATEGY_HMA_CROSS,
        .kernel_id = swp__hma_cross_id(),
        .size = needed,
        .combos_count = bars->combos_count,
        .bars_count = (uint64_t)bars->bars_count,
        .fee = bars->exec.fee,
        .entry = (uint32_t)bars->exec.entry,
        .allow = live->allow,
        .push_expected = live->has_push ? live->push_expected : UINT64_MAX,
        .push_fingerprint = live->push_fingerprint,
    };
    memcpy(h.magic, MAGIC, sizeof MAGIC);
    writer w = {.at = bytes};
    swp__fingerprinter_init(&w.sum);
    write_bytes(&w, &h, sizeof h);
    for (size_t i = 0; i < bars->combos_count; i++) {
        write_bytes(&w, &bars->combos[i].params, sizeof(swp_params));
    }
    for (size_t i = 0; i < bars->combos_count; i++) {
        write_state(&w, &bars->states[i]);
    }
    write_history(&w, &bars->closes, bars->bars_count);
    for (size_t i = 0; i < bars->combos_count; i++) {
        write_history(&w, &bars->combos[i].hma_input, bars->bars_count);
        write_history(&w, &bars->combos[i].hma3_input, bars->bars_count);
    }
    swp__fingerprint sum = swp__fingerprinter_end(&w.sum);
    memcpy(w.at, &sum, sizeof sum);
    return needed;
}

/* ---- reading ---- */

typedef struct reader {
    const char *bytes;
    size_t size, at;
} reader;

static swp_status damaged(swp_error *error, uint64_t at, const char *what)
{
    return swp__fail(error, SWP_BAD_PARAM, at, "snapshot: byte %" PRIu64 ": %s", at, what);
}

static swp_status check_head(const head *h, size_t size, swp_error *error)
{
    if (memcmp(h->magic, MAGIC, sizeof MAGIC) != 0) {
        return damaged(error, 0, "not the beginning of a snapshot");
    }
    if (h->version != VERSION) {
        return swp__fail(error, SWP_UNKNOWN, offsetof(head, version), "snapshot: version %" PRIu32 ", this library reads %d",
                         h->version, VERSION);
    }
    if (h->strategy != SWP_STRATEGY_HMA_CROSS) {
        return swp__fail(error, SWP_UNKNOWN, offsetof(head, strategy), "snapshot: strategy %" PRIu32 ", known: 1 (hma-cross)",
                         h->strategy);
    }
    if (!swp__fingerprint_equal(h->kernel_id, swp__hma_cross_id())) {
        return swp__fail(error, SWP_UNKNOWN, offsetof(head, kernel_id),
                         "snapshot: made by a library that computes other numbers (another kernel id)");
    }
    if (h->size != size) {
        return swp__fail(error, SWP_BAD_PARAM, size < h->size ? size : offsetof(head, size),
                         "snapshot: %zu bytes, it says it has %" PRIu64, size, h->size);
    }
    return SWP_OK;
}

static swp_status check_sum(const reader *r, swp_error *error)
{
    size_t at = r->size - SUM_SIZE;
    swp__fingerprint said, found = swp__fingerprint_of(r->bytes, at);
    memcpy(&said, r->bytes + at, sizeof said);
    return swp__fingerprint_equal(said, found) ? SWP_OK : damaged(error, at, "the checksum is not that of the bytes before it");
}

/* A right checksum is no proof that we wrote it. */
static swp_status check_counts(const head *h, swp_error *error)
{
    uint64_t room = h->size - sizeof *h - SUM_SIZE;
    if (h->combos_count == 0 || h->combos_count > room / (sizeof(swp_params) + sizeof(swp__trade_state))) {
        return damaged(error, offsetof(head, combos_count), "combos that do not fit its size");
    }
    if (h->bars_count > INT64_MAX / 2) { /* and go on from there */
        return damaged(error, offsetof(head, bars_count), "an impossible count of bars");
    }
    if (!(fabs(h->fee) <= 100.0)) {
        return damaged(error, offsetof(head, fee), "a fee beyond -100..100");
    }
    if (h->entry != SWP_ENTRY_FIRST && h->entry != SWP_ENTRY_CROSS) {
        return damaged(error, offsetof(head, entry), "an unknown entry rule");
    }
    if ((h->allow & ~(uint32_t)SWP_ALLOW_ALL) != 0) {
        return damaged(error, offsetof(head, allow), "an unknown input policy");
    }
    if (h->push_expected != UINT64_MAX && h->push_expected >= h->bars_count) {
        return damaged(error, offsetof(head, push_expected), "a last push that is ahead of the session");
    }
    return SWP_OK;
}

static swp_status check_rows(const head *h, const int64_t *rows, swp_error *error)
{
    for (uint64_t i = 0; i < h->combos_count * SWP_PARAMS_COUNT; i++) {
        if (rows[i] < 1 || rows[i] > SWP_PARAM_MAX) {
            return damaged(error, sizeof *h + i * sizeof *rows, "a parameter beyond 1..2^31-1");
        }
    }
    return SWP_OK;
}

static bool is_sound(const swp__trade_state *s, int64_t bars_count)
{
    return s->position >= -1 && s->position <= 1 && s->armed >= -1 && s->armed <= 1 && s->trades >= 0 &&
           s->trades <= bars_count && s->entry_bar >= -1 && s->entry_bar < bars_count && s->first_bar >= -1 &&
           s->first_bar < bars_count && (s->position != 0) == (s->entry_bar >= 0);
}

static swp_status read_states(reader *r, swp__live_bars *bars, swp_error *error)
{
    for (size_t i = 0; i < bars->combos_count; i++) {
        memcpy(&bars->states[i], r->bytes + r->at, sizeof bars->states[i]);
        if (!is_sound(&bars->states[i], bars->bars_count)) {
            return damaged(error, r->at, "an impossible state");
        }
        r->at += sizeof bars->states[i];
    }
    return SWP_OK;
}

static void read_history(reader *r, swp__history *history, int64_t bars_count)
{
    uint64_t count = reach(history->length, bars_count);
    for (uint64_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, r->bytes + r->at, sizeof value);
        swp__history_push(history, value);
        r->at += sizeof value;
    }
}

static swp_status check_closes(const swp_live *live, size_t at, swp_error *error)
{
    uint64_t count = reach(live->bars.closes.length, live->bars.bars_count);
    for (uint64_t i = 0; i < count; i++) {
        double close = swp__history_at(&live->bars.closes, (int64_t)(count - 1 - i));
        if (swp__closes_judge(&close, 1, i, live->allow, &(swp__closes_seen){0}, NULL) != SWP_OK) {
            return damaged(error, at + i * sizeof close, "a close that its own input policy refuses");
        }
    }
    return SWP_OK;
}

static swp_status fill(swp_live *live, const head *h, reader *r, swp_error *error)
{
    swp__live_bars *bars = &live->bars;
    bars->bars_count = (int64_t)h->bars_count;
    live->has_push = h->push_expected != UINT64_MAX;
    live->push_expected = h->push_expected;
    live->push_fingerprint = h->push_fingerprint;
    if (snapshot_size(bars) != h->size) {
        return damaged(error, offsetof(head, size), "a size that is not that of its combos and bars");
    }
    swp_status status = read_states(r, bars, error);
    if (status != SWP_OK) {
        return status;
    }
    size_t closes_at = r->at;
    read_history(r, &bars->closes, bars->bars_count);
    for (size_t i = 0; i < bars->combos_count; i++) {
        read_history(r, &bars->combos[i].hma_input, bars->bars_count);
        read_history(r, &bars->combos[i].hma3_input, bars->bars_count);
    }
    return check_closes(live, closes_at, error);
}

static swp_status read_combos(swp_engine *engine, const head *h, reader *r, const int64_t *rows, swp_live **live,
                              swp_error *error)
{
    const swp__exec exec = {.fee = h->fee, .entry = (swp_entry)h->entry};
    swp_live *made;
    swp_status status = check_rows(h, rows, error);
    if (status == SWP_OK) {
        status = swp__live_make(engine, rows, h->combos_count, &exec, h->allow, &made, error);
    }
    if (status != SWP_OK) {
        return status;
    }
    r->at = sizeof *h + h->combos_count * sizeof(swp_params);
    status = fill(made, h, r, error);
    if (status != SWP_OK) {
        swp_live_free(made);
        return status;
    }
    *live = made;
    pthread_mutex_lock(&engine->lock);
    engine->counters.live_restored++;
    pthread_mutex_unlock(&engine->lock);
    return SWP_OK;
}

swp_status swp_live_restore(swp_engine *engine, const void *bytes, size_t size, swp_live **live, swp_error *error)
{
    if (engine == NULL || bytes == NULL || live == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, engine == NULL ? 1 : bytes == NULL ? 2 : 4, "live session: NULL pointer");
    }
    reader r = {.bytes = bytes, .size = size};
    head h;
    swp_status status = swp__engine_check_process(engine, error);
    if (status == SWP_OK && size < sizeof h + SUM_SIZE) {
        status = damaged(error, size, "ends before a snapshot can");
    }
    if (status == SWP_OK) {
        memcpy(&h, bytes, sizeof h);
        status = check_head(&h, size, error);
    }
    status = status == SWP_OK ? check_sum(&r, error) : status;
    status = status == SWP_OK ? check_counts(&h, error) : status;
    if (status != SWP_OK) {
        return status;
    }
    size_t count = h.combos_count * SWP_PARAMS_COUNT; /* copied: the bytes may stand anywhere */
    int64_t *rows = swp__alloc(&engine->allocator, count, sizeof *rows);
    if (rows == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "snapshot: no memory for %" PRIu64 " combos", h.combos_count);
    }
    memcpy(rows, (const char *)bytes + sizeof h, count * sizeof *rows);
    status = read_combos(engine, &h, &r, rows, live, error);
    swp__free(&engine->allocator, rows, count, sizeof *rows);
    return status;
}
