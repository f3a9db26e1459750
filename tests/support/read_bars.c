/* read_bars FILE CLOSE TIME DELIMITER ALLOW: reads a file ("" leaves an option at its default) and writes the summary
 * as a line, the closes as raw doubles and, where there are any, the stamps as raw int64; on failure `at` and the
 * message, and exits with the status. For the Python tests. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "swp/bars.h"

int main(int argc, char **argv)
{
    if (argc != 6) {
        return 99;
    }
    const swp_bars_options options = {
        .close = argv[2][0] != '\0' ? argv[2] : NULL,
        .time = argv[3][0] != '\0' ? argv[3] : NULL,
        .delimiter = argv[4][0],
        .allow = (uint32_t)strtoul(argv[5], NULL, 10),
    };
    swp_bars bars;
    swp_error error;
    swp_status status = swp_bars_read(argv[1], &options, &bars, &error);
    if (status != SWP_OK) {
        printf("%" PRId64 "\n%s\n", (int64_t)error.at, error.message);
        return (int)status;
    }
    printf("%s\n", bars.summary);
    fwrite(bars.close, sizeof *bars.close, bars.bars_count, stdout);
    if (bars.time_ns != NULL) {
        fwrite(bars.time_ns, sizeof *bars.time_ns, bars.bars_count, stdout);
    }
    swp_bars_free(&bars);
    return fclose(stdout) == 0 ? 0 : 1;
}
