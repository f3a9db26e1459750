/* Each layout that is recognised, and the row beside it that is not. */
#include "bars/layout.h"

#include <string.h>
#include "support/temp.h"
#include "support/test.h"

static swp_bars read_text(const char *text)
{
    swp_bars bars;
    swp_error error;
    if (swp_bars_read(temp_write("in.csv", text, strlen(text)), NULL, &bars, &error) != SWP_OK) {
        fail_msg("%s", error.message);
    }
    return bars;
}

static void assert_layout(const char *text, const char *name, double close)
{
    swp_bars bars = read_text(text);
    if (strstr(bars.summary, name) == NULL || bars.time_ns == NULL) {
        fail_msg("\"%s\", expected %s", bars.summary, name);
    }
    assert_bits_equal(bars.close[0], close);
    swp_bars_free(&bars);
}

static void assert_refused(const char *text, const char *part)
{
    swp_bars bars;
    swp_error error;
    swp_status status = swp_bars_read(temp_write("in.csv", text, strlen(text)), NULL, &bars, &error);
    if (status != SWP_BAD_PARAM || strstr(error.message, part) == NULL) {
        fail_msg("status %d, \"%s\", expected \"%s\"", (int)status, error.message, part);
    }
}

static const char unknown[] = "are no layout that is known; choose by --close N";

TEST(layout_binance_klines)
{
    assert_layout("1637971200000,3,5,2,4,36304.2,1637971259999,1.03,79,19523.0,0.55,0\n", "Binance klines", 4);
    assert_layout("1637971200000000,3,5,2,4,36304.2,1637971259999999,1.03,79,19523.0,0.55,0\n", "Binance klines", 4);
    assert_refused("1637971200000,3,5,2,4,36304.2,1637971199999,1.03,79,19523.0,0.55,0\n",
                   unknown); /* closes before it opens */
    assert_refused("1637971200000,3,5,2,4,36304.2,1637971259999,1.03,79.5,19523.0,0.55,0\n", unknown); /* trades in parts */
    assert_refused("1637971200000,3,5,2,6,36304.2,1637971259999,1.03,79,19523.0,0.55,0\n", unknown); /* closes above the high */
    assert_refused("1637971200000,3,5,2,4,36304.2,1637971259999,1.03,79,19523.0,0.55\n", unknown);
    assert_refused("1637971200000;3;5;2;4;36304.2;1637971259999;1.03;79;19523.0;0.55;0\n", unknown);
}

TEST(layout_ninjatrader_and_histdata)
{
    assert_layout("20110301 090100;133.9;134.01;133.9;133.98;3778\n", "NinjaTrader or HistData ASCII", 133.98);
    assert_refused("20110301 090100,133.9,134.01,133.9,133.98,3778\n", unknown);
    assert_refused("20110301 090100;133.9;133.95;133.9;133.98;3778\n", unknown);
    assert_layout("20110301;133.9;134.01;133.9;133.98;3778\n", "NinjaTrader days", 133.98);
    assert_refused("20110301;133.9;134.01;133.9;133.98\n", unknown);
    assert_layout("2012.02.01,00:00,1.306,1.307,1.305,1.3065,0\n", "MetaTrader 4 or HistData MT", 1.3065);
    assert_refused("2012-02-01,00:00,1.306,1.307,1.305,1.3065,0\n", unknown);
    assert_refused("2012.02.01,0000,1.306,1.307,1.305,1.3065,0\n", unknown);
}

TEST(layout_of_exchanges)
{
    assert_layout("1577836800,7160,7190,7150,7180,12.5,340\n", "Kraken OHLCVT", 7180);
    assert_refused("1577836800000,7160,7190,7150,7180,12.5,340\n", unknown);
    assert_refused("1577836800,7160,7190,7150,7180,12.5,34.5\n", unknown);
    assert_layout("1577836800,7150,7190,7160,7180,12.5\n", "Coinbase candles", 7180);
    assert_refused("1577836800,7160,7190,7150,7180,12.5\n", unknown);
    assert_layout("1577836800000,7160,7190,7150,7180,12.5\n", "ccxt OHLCV", 7180);
    assert_refused("1577836800000,7160,7180,7190,7150,12.5\n", unknown); /* Bitfinex: open, close, high, low */
}

TEST(layout_is_believed_only_while_every_row_bears_it_out)
{
    assert_refused("20110301 090100;134;134;134;134;1\n20110301 090200;133;134;135;136;1\n",
                   "in.csv:2: the columns were taken for NinjaTrader or HistData ASCII, but high and low do not enclose");
    assert_refused("20110301 090100;134;134;134;134;1\n20110301 090200;133;134;132;133\n",
                   "in.csv:2: 5 fields, but the first line has 6");
    assert_refused("20110301 090100;134;134;134;134;1\n20110301 090200,133,134,132,133,1\n", "in.csv:2: 1 fields");
    assert_refused(
        "20110301 090100;134;134;134;134;1\n20110301;133;134;132;133;1\n",
        "in.csv:2: time \"20110301\" is a date YYYYMMDD without a time; the lines above have a date YYYYMMDD with a time");
}
