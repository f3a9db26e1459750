#include "engine/stats.h"

#include <inttypes.h>
#include "base/text.h"

typedef struct row {
    const char *name, *type, *help;
    size_t offset; /* of a uint64_t */
    bool is_ns;    /* written as seconds */
} row;

#define ENGINE(field) offsetof(swp__engine_counters, field)
#define STORE(field) offsetof(swp__store_counters, field)

static const row engine_rows[] = {
    {"sweepd_sweeps_started_total", "counter", "Sweeps started.", ENGINE(sweeps_started), false},
    {"sweepd_sweeps_finished_total", "counter", "Sweeps that ended with every result.", ENGINE(sweeps_finished), false},
    {"sweepd_sweeps_cancelled_total", "counter", "Sweeps that ended early.", ENGINE(sweeps_cancelled), false},
    {"sweepd_sweeps_in_progress", "gauge", "Sweeps in progress.", ENGINE(sweeps_running), false},
    {"sweepd_sweep_bytes", "gauge", "Memory of sweeps in progress, result blocks too.", ENGINE(sweep_bytes), false},
    {"sweepd_combos_total", "counter", "Combos done, each window of each.", ENGINE(combos), false},
    {"sweepd_bar_combos_total", "counter", "Bars x combos computed.", ENGINE(bar_combos), false},
    {"sweepd_units_total", "counter", "Units of work done.", ENGINE(units), false},
    {"sweepd_busy_seconds_total", "counter", "Time in units, all threads together.", ENGINE(busy_ns), true},
    {"sweepd_blocks_total", "counter", "Result blocks delivered.", ENGINE(blocks), false},
    {"sweepd_live_opened_total", "counter", "Live sessions opened.", ENGINE(live_opened), false},
    {"sweepd_live_restored_total", "counter", "Live sessions restored from a snapshot.", ENGINE(live_restored), false},
    {"sweepd_live_bars_total", "counter", "Bars pushed to live sessions.", ENGINE(live_bars), false},
    {"sweepd_live_sessions", "gauge", "Live sessions.", ENGINE(live_sessions), false},
    {"sweepd_live_bytes", "gauge", "Memory of live sessions.", ENGINE(live_bytes), false},
    {"sweepd_workers", "gauge", "Threads of the pool that run.", ENGINE(workers), false},
};

static const row store_rows[] = {
    {"sweepd_series", "gauge", "Series held.", STORE(series), false},
    {"sweepd_series_unused", "gauge", "Series held that nobody uses.", STORE(series_unused), false},
    {"sweepd_series_bytes", "gauge", "Bytes of series held and on their way in.", STORE(bytes), false},
    {"sweepd_series_unused_bytes", "gauge", "Bytes of series that nobody uses.", STORE(bytes_unused), false},
    {"sweepd_series_limit_bytes", "gauge", "Most bytes of series (max-memory).", STORE(bytes_limit), false},
    {"sweepd_series_loaded_total", "counter", "Series loaded, merged ones too.", STORE(loads), false},
    {"sweepd_series_merged_total", "counter", "Loads whose content was held already.", STORE(merges), false},
    {"sweepd_series_found_total", "counter", "Series found by fingerprint.", STORE(finds), false},
    {"sweepd_series_missed_total", "counter", "Fingerprints not found.", STORE(misses), false},
    {"sweepd_series_evicted_total", "counter", "Unused series that made room.", STORE(evictions), false},
    {"sweepd_scopes", "gauge", "Clients of the store.", STORE(scopes), false},
};

static void add_rows(swp__text *text, const row *rows, size_t count, const void *counters)
{
    for (size_t i = 0; i < count; i++) {
        const row *r = &rows[i];
        uint64_t value = *(const uint64_t *)(const void *)((const char *)counters + r->offset);
        swp__text_add(text, "# HELP %s %s\n# TYPE %s %s\n", r->name, r->help, r->name, r->type);
        if (r->is_ns) {
            /* Without printf's %f, which writes the locale's decimal sign. */
            swp__text_add(text, "%s %" PRIu64 ".%09" PRIu64 "\n", r->name, value / 1000000000, value % 1000000000);
        } else {
            swp__text_add(text, "%s %" PRIu64 "\n", r->name, value);
        }
    }
}

size_t swp__stats_text(swp_engine *engine, swp__store *store, char *at, size_t size)
{
    swp__text text = {.at = at, .size = size};
    swp__engine_counters engine_counters = swp__engine_count(engine);
    add_rows(&text, engine_rows, sizeof engine_rows / sizeof engine_rows[0], &engine_counters);
    if (store != NULL) {
        swp__store_counters store_counters = swp__store_count(store);
        add_rows(&text, store_rows, sizeof store_rows / sizeof store_rows[0], &store_counters);
    }
    return text.length;
}
