#include "cli/report.h"

#include <inttypes.h>
#include "base/number.h"

static void put_real(FILE *out, double value)
{
    char text[SWP__NUMBER_SIZE];
    swp__number_format_json(value, text);
    fputs(text, out);
}

static void put_named_real(FILE *out, const char *name, double value)
{
    fprintf(out, ",\"%s\":", name);
    put_real(out, value);
}

static void put_open_trade(FILE *out, const swp_sweep_result *r, uint64_t i)
{
    if (r->open_side[i] == 0) {
        fputs(",\"open\":null", out);
        return;
    }
    fprintf(out, ",\"open\":{\"side\":%" PRId64 ",\"entry_bar\":%" PRId64, r->open_side[i], r->open_entry_bar[i]);
    put_named_real(out, "entry", r->open_entry[i]);
    put_named_real(out, "last", r->open_last[i]);
    put_named_real(out, "pnl", r->open_pnl[i]);
    fputc('}', out);
}

static void put_combo(FILE *out, const swp__report *report, uint64_t i)
{
    const swp_sweep_result *r = &report->columns->of;
    swp_params p = swp_grid_at(&report->combos->grid, i);
    fputc('{', out);
    if (report->combos->lengths.count > 0) {
        fprintf(out, "\"length\":%" PRId64 ",", swp__combos_length(report->combos, i));
    }
    if (report->combos->lengths3.count > 0) {
        fprintf(out, "\"length3\":%" PRId64 ",", swp__combos_length3(report->combos, i));
    }
    fprintf(out, "\"params\":[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "]", p.half, p.full,
            p.smooth, p.third, p.mid, p.p);
    put_named_real(out, "pnl", r->pnl[i]);
    fprintf(out, ",\"trades\":%" PRId64, r->trades[i]);
    if (r->first_bar[i] >= 0) {
        fprintf(out, ",\"first_bar\":%" PRId64, r->first_bar[i]);
    } else {
        fputs(",\"first_bar\":null", out);
    }
    put_open_trade(out, r, i);
    fputc('}', out);
}

void swp__report_json(FILE *out, const swp__report *report)
{
    fprintf(out, "{\"series\":{\"bars\":%" PRIu64 "},\"strategy\":\"hma-cross\"", report->bars->bars_count);
    put_named_real(out, "fee", report->fee);
    if (swp__report_partial(report)) {
        fputs(",\"partial\":true", out);
    }
    fputs(",\"combos\":[", out);
    const char *separator = "\n";
    for (uint64_t i = 0; i < report->columns->count; i++) {
        if (report->columns->of.finished[i]) {
            fputs(separator, out);
            put_combo(out, report, i);
            separator = ",\n";
        }
    }
    fputs("\n]}\n", out);
}
