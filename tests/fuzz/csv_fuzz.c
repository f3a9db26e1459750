/* CSV files, plain and compressed, under any options. fuzz/bars_file.h says what holds.
 *
 * Input: u8 policy and order, u8 delimiter and decimal, u8 time format and zone, u8 columns and skipped lines, then the file. */
#include "fuzz/bars_file.h"
#include "fuzz/fuzz.h"

static const char *const time_formats[] = {NULL, "dmy", "mdy", "ymd", "s", "ms", "%d-%b-%Y %H:%M", "%Y%m%d %I:%M:%S.%f %p%z"};
static const char *const time_zones[] = {NULL, "+02:00", "UTC", "Europe/Paris"};
static const char *const close_columns[] = {NULL, "1", "2", "last"};
static const char *const time_columns[] = {NULL, "none", "1", "when"};
static const char *const froms[] = {NULL, "2017-04-19", "2020-01-01 00:00:01", "2017-04"};
static const char delimiters[] = {0, ',', ';', '\t', '|'};
static const char decimals[] = {0, '.', ','};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, size};
    uint64_t policy = input_number(&in, 1), text = input_number(&in, 1), time = input_number(&in, 1),
             columns = input_number(&in, 1);
    const swp_bars_options options = {
        .allow = policy & 7,
        .order = (policy >> 3 & 1) != 0 ? SWP_ORDER_SORT : SWP_ORDER_REFUSE,
        .duplicates = (swp_bars_duplicates)((policy >> 4) % 3),
        .delimiter = delimiters[text % sizeof delimiters],
        .decimal = decimals[(text >> 3) % sizeof decimals],
        .header = (swp_bars_header)((text >> 5) % 3),
        .time_format = time_formats[time & 7],
        .time_zone = time_zones[time >> 3 & 3],
        .from = froms[time >> 5 & 3],
        .to = (time >> 7 & 1) != 0 ? "2021-12-31" : NULL,
        .close = close_columns[columns & 3],
        .time = time_columns[columns >> 2 & 3],
        .skip_lines = columns >> 4 & 3,
    };
    check_bars_file("input.csv", in.at, in.left, &options);
    return 0;
}
