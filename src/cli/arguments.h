/* The commands, and what was said on the command line: one field for each row of option_table.c. */
#ifndef SWP_CLI_ARGUMENTS_H
#define SWP_CLI_ARGUMENTS_H

#include "cli/options.h"
#include "http/limits.h"
#include "server/limits.h"

enum {
    SWP__COMMAND_SWEEP = 1 << 0,
    SWP__COMMAND_VERIFY = 1 << 1,
    SWP__COMMAND_BENCH_SWEEP = 1 << 2,
    SWP__COMMAND_GENERATE = 1 << 3,
    SWP__COMMAND_SERVE = 1 << 4,
    SWP__COMMAND_PING = 1 << 5,
    SWP__COMMAND_STATS = 1 << 6,
    SWP__COMMAND_LIST = 1 << 7,
    SWP__COMMAND_HTTP = 1 << 8, /* the program sweepd-http */
    SWP__COMMAND_LIVE = 1 << 9,
    SWP__COMMAND_INSPECT = 1 << 10,
};

enum { SWP__FORMAT_TABLE, SWP__FORMAT_JSON, SWP__FORMAT_CSV };
enum { SWP__RANK_PNL, SWP__RANK_TRADES };
enum { SWP__PROGRESS_AUTO, SWP__PROGRESS_NEVER };

struct swp__arguments {
    bool help;
    bool given[SWP__OPTIONS_MAX]; /* by row of the table; read through swp__options_given */

    const char *operand;

    /* reading a file of bars */
    const char *close, *time, *delimiter;
    const char *open, *high, *low, *volume;
    const char *decimal, *time_format, *time_zone, *from, *to;
    const char *dtype; /* of raw numbers */
    bool big_endian;
    uint32_t header, order, duplicates; /* swp_bars_header, swp_bars_order, swp_bars_duplicates */
    uint64_t skip_lines;
    uint32_t allow; /* SWP_ALLOW_* */

    /* which combos, and how they trade */
    const char *length, *length3, *params;
    double fee;
    uint32_t entry; /* swp_entry */

    uint32_t kernel; /* swp_kernel */
    uint64_t threads;

    /* results */
    uint32_t format, rank, progress;
    uint64_t top;
    const char *out;
    bool resume;

    /* made series, and benches on them */
    uint64_t bars, seed, combos, runs;
    uint32_t against; /* swp_kernel */
    bool one_by_one;
    double sigma, start;
    uint32_t shape; /* index in swp__generate_shapes */

    /* an engine elsewhere */
    const char *engine; /* its URL; NULL: this process */
    double timeout;     /* seconds; 0: none was given */
    uint64_t spin;      /* microseconds; 0: never */
    uint64_t count, bytes;

    /* live */
    const char *warm_up, *journal;
    bool fsync;
    bool live; /* verify */

    /* the service */
    swp__option_list listen, load;
    bool pin;
    const char *token_file, *group;
    uint32_t log_format, log_level; /* swp__log_format, swp__log_level */
    swp__server_limits server_limits;
    swp__limits engine_limits;

    /* the HTTP door; engine, token_file and the log too */
    const char *door;
    swp__http_limits http_limits;
};

#endif
