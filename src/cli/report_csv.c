/* One line a combo. What JSON calls null is an empty cell; what is not finite is NaN, Infinity or -Infinity. A partial
 * result ends in a line that is no combo, so that it is never taken for a whole one. */
#include "cli/report.h"

#include <inttypes.h>
#include "base/number.h"

static void put_real(FILE *out, double value)
{
    char text[SWP__NUMBER_SIZE];
    swp__number_format(value, text);
    fprintf(out, ",%s", text);
}

static void put_open_trade(FILE *out, const swp_sweep_result *r, uint64_t i)
{
    if (r->open_side[i] == 0) {
        fputs(",,,,,\n", out);
        return;
    }
    fprintf(out, ",%" PRId64 ",%" PRId64, r->open_side[i], r->open_entry_bar[i]);
    put_real(out, r->open_entry[i]);
    put_real(out, r->open_last[i]);
    put_real(out, r->open_pnl[i]);
    fputc('\n', out);
}

static void put_combo(FILE *out, const swp__report *report, uint64_t i)
{
    const swp_sweep_result *r = &report->columns->of;
    swp_params p = swp_grid_at(&report->combos->grid, i);
    if (report->combos->lengths.count > 0) {
        fprintf(out, "%" PRId64 ",", swp__combos_length(report->combos, i));
    }
    if (report->combos->lengths3.count > 0) {
        fprintf(out, "%" PRId64 ",", swp__combos_length3(report->combos, i));
    }
    fprintf(out, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, p.half, p.full, p.smooth, p.third,
            p.mid, p.p);
    put_real(out, r->pnl[i]);
    fprintf(out, ",%" PRId64 ",", r->trades[i]);
    if (r->first_bar[i] >= 0) {
        fprintf(out, "%" PRId64, r->first_bar[i]);
    }
    put_open_trade(out, r, i);
}

void swp__report_csv(FILE *out, const swp__report *report)
{
    fprintf(out,
            "%s%shalf,full,smooth,third,mid,p,pnl,trades,first_bar,open_side,open_entry_bar,open_entry,open_last,"
            "open_pnl\n",
            report->combos->lengths.count > 0 ? "length," : "", report->combos->lengths3.count > 0 ? "length3," : "");
    for (uint64_t i = 0; i < report->columns->count; i++) {
        if (report->columns->of.finished[i]) {
            put_combo(out, report, i);
        }
    }
    if (swp__report_partial(report)) {
        fprintf(out, "# partial: %" PRIu64 " of %" PRIu64 " combos\n", report->finished_count, report->columns->count);
    }
}
