/* Log lines. The wall clock is read for their time stamps only; nothing is ever measured with it. */
#include "base/log.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/text.h"
#include "base/utf8.h"

enum { TEXT_SIZE = 1001, LINE_SIZE = 4096 }; /* a line of at most PIPE_BUF bytes is written whole or not at all */

static const char *const level_names[] = {"debug", "info", "warning", "error"};

static void stamp(char *text, size_t size)
{
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t length = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + length, size - length, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

static bool would_wait(int fd)
{
    struct pollfd end = {.fd = fd, .events = POLLOUT};
    return poll(&end, 1, 0) != 1;
}

static void write_line(swp__log *log, swp__log_level level, const char *text)
{
    char time[32], line[LINE_SIZE];
    swp__text piece = {.at = line, .size = sizeof line};
    stamp(time, sizeof time);
    if (log->format == SWP__LOG_JSON) {
        swp__text_add(&piece, "{\"time\":\"%s\",\"level\":\"%s\",\"text\":", time, level_names[level]);
        swp__text_add_json(&piece, text, strlen(text));
        swp__text_add(&piece, "}\n");
    } else {
        piece.length = (size_t)snprintf(line, sizeof line, "%s %s %s\n", time, level_names[level], text);
    }
    if (would_wait(log->fd) || write(log->fd, line, piece.length) != (ssize_t)piece.length) {
        __atomic_fetch_add(&log->dropped, 1, __ATOMIC_RELAXED);
    }
}

void swp__log_line(swp__log *log, swp__log_level level, const char *format, ...)
{
    if (log->fd < 0 || level < log->least) {
        return;
    }
    char text[TEXT_SIZE];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length >= (int)sizeof text) {
        memcpy(text + sizeof text - 4, "...", 4);
    }
    swp__utf8_clean(text, strlen(text));
    uint64_t dropped = __atomic_exchange_n(&log->dropped, 0, __ATOMIC_RELAXED);
    if (dropped > 0) {
        char told[64];
        snprintf(told, sizeof told, "log: %llu lines were dropped", (unsigned long long)dropped);
        write_line(log, SWP__LOG_WARNING, told);
    }
    write_line(log, level, text);
}

bool swp__log_allowed(swp__log_limiter *limiter, uint64_t now_ns, uint64_t window_ns, uint64_t most, uint64_t *suppressed)
{
    if (now_ns >= limiter->window_end_ns) {
        limiter->window_end_ns = now_ns + window_ns;
        limiter->lines = 0;
    }
    if (limiter->lines == most) {
        limiter->suppressed++;
        return false;
    }
    limiter->lines++;
    *suppressed = limiter->suppressed;
    limiter->suppressed = 0;
    return true;
}
