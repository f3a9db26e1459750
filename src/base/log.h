/* One line an event on a descriptor: for people as text, for programs as JSON. A line is one write, and one that would
 * have to wait (a full pipe) is dropped and counted: logging never holds a server up. Any thread. */
#ifndef SWP_BASE_LOG_H
#define SWP_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

typedef enum swp__log_format {
    SWP__LOG_TEXT, /* 2026-01-31T12:00:00.123Z info connection 7: opened */
    SWP__LOG_JSON, /* {"time":"2026-01-31T12:00:00.123Z","level":"info","text":"connection 7: opened"} */
} swp__log_format;

typedef enum swp__log_level {
    SWP__LOG_DEBUG,
    SWP__LOG_INFO,
    SWP__LOG_WARNING,
    SWP__LOG_ERROR,
} swp__log_level;

typedef struct swp__log {
    int fd; /* -1: nothing is written */
    swp__log_format format;
    swp__log_level least; /* lines below are left out */
    uint64_t dropped;     /* internal: lines since the last one that could be written */
} swp__log;

/* A text of up to 1,000 bytes; longer ones end in "...". Control characters and broken UTF-8 are shown as '?'. */
void swp__log_line(swp__log *log, swp__log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* For what may happen often: at most `most` lines each `window_ns`. */
typedef struct swp__log_limiter {
    uint64_t window_end_ns, lines, suppressed;
} swp__log_limiter;

/* True: write it; *suppressed is how many were not let through before, and is told of with it. */
bool swp__log_allowed(swp__log_limiter *limiter, uint64_t now_ns, uint64_t window_ns, uint64_t most, uint64_t *suppressed);

#endif
