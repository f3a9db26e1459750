/* Letters of a column:
 *   s m      seconds, or milli- to microseconds, since 1970
 *   E        the same as m, not before the first column: when the bar closes
 *   d D p    20110301 090100; 20110301; 2011.03.01
 *   t        09:01, joined to the date before it
 *   O H L C  prices;  V n numbers;  i a whole number */
#include "bars/layout.h"

#include <string.h>
#include "base/number.h"
#include "bars/time_stamp.h"

/* Where from: Binance's data.binance.vision and REST API; NinjaTrader's and HistData's manuals; MetaTrader's export of
 * bars; Kraken's OHLCVT archives; Coinbase Exchange's /candles; the rows of ccxt's fetch_ohlcv. */
static const swp__layout layouts[] = {
    {"Binance klines", ',', "mOHLCVEninnn"}, {"NinjaTrader or HistData ASCII", ';', "dOHLCV"},
    {"NinjaTrader days", ';', "DOHLCV"},     {"MetaTrader 4 or HistData MT", ',', "ptOHLCV"},
    {"Kraken OHLCVT", ',', "sOHLCVi"},       {"Coinbase candles", ',', "sLHOCV"},
    {"ccxt OHLCV", ',', "mOHLCV"},
};

static bool parse_number(const char *cell, char decimal, double *value)
{
    return swp__number_parse_with(cell, strlen(cell), decimal, value) == SWP__NUMBER_OK;
}

static bool is_whole(const char *cell)
{
    return *cell != '\0' && strspn(cell, "0123456789") == strlen(cell);
}

static bool is_time_of_day(const char *cell)
{
    return strlen(cell) >= 5 && cell[2] == ':' && strspn(cell, "0123456789:") == strlen(cell);
}

/* The cell's stamp has one of two forms. */
static bool has_form(const char *cell, swp__time_form a, swp__time_form b, int64_t *ns)
{
    swp__time_stamp stamp;
    if (swp__time_parse(cell, strlen(cell), &stamp) != NULL || (stamp.form != a && stamp.form != b)) {
        return false;
    }
    *ns = stamp.ns;
    return true;
}

static bool cell_fits(char letter, const char *cell, char decimal, int64_t *ns, double prices[4])
{
    static const char price_letters[] = "OHLC";
    const int64_t begin = *ns;
    const char *price = strchr(price_letters, letter);
    double number;
    if (price != NULL) {
        return parse_number(cell, decimal, &prices[price - price_letters]);
    }
    switch (letter) {
    case 's':
        return has_form(cell, SWP__TIME_SECONDS, SWP__TIME_SECONDS, ns);
    case 'm':
        return has_form(cell, SWP__TIME_MILLISECONDS, SWP__TIME_MICROSECONDS, ns);
    case 'E':
        return has_form(cell, SWP__TIME_MILLISECONDS, SWP__TIME_MICROSECONDS, ns) && *ns >= begin;
    case 'd':
        return has_form(cell, SWP__TIME_COMPACT, SWP__TIME_COMPACT, ns);
    case 'D':
        return has_form(cell, SWP__TIME_COMPACT_DATE, SWP__TIME_COMPACT_DATE, ns);
    case 'p':
        return has_form(cell, SWP__TIME_DATE, SWP__TIME_DATE, ns) && cell[4] == '.';
    case 't':
        return is_time_of_day(cell);
    case 'i':
        return is_whole(cell);
    default:
        return parse_number(cell, decimal, &number);
    }
}

static bool fits(const swp__layout *layout, const swp__header *row, char decimal)
{
    int64_t ns = 0;
    double prices[4] = {0};
    if (strlen(layout->columns) != row->count) {
        return false;
    }
    for (size_t i = 0; i < row->count; i++) {
        if (!cell_fits(layout->columns[i], swp__header_name(row, i), decimal, &ns, prices)) {
            return false;
        }
    }
    return swp__bar_is_sound(prices[0], prices[1], prices[2], prices[3]);
}

bool swp__bar_is_sound(double open, double high, double low, double close)
{
    return high >= open && high >= close && low <= open && low <= close;
}

const swp__layout *swp__layout_find(const swp__header *first_row, char delimiter, char decimal)
{
    const swp__layout *found = NULL;
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        if (layouts[i].delimiter == delimiter && fits(&layouts[i], first_row, decimal)) {
            found = &layouts[i];
        }
    }
    return found;
}

static size_t column_of(const swp__layout *layout, const char *letters)
{
    size_t column = strcspn(layout->columns, letters);
    return layout->columns[column] != '\0' ? column : SWP__NO_COLUMN;
}

swp__roles swp__layout_roles(const swp__layout *layout)
{
    return (swp__roles){.close = column_of(layout, "C"),
                        .time = 0,
                        .time_of_day = column_of(layout, "t"),
                        .beside = {column_of(layout, "O"), column_of(layout, "H"), column_of(layout, "L"), SWP__NO_COLUMN},
                        .close_why = "where the layout has it",
                        .time_why = "where the layout has it"};
}
