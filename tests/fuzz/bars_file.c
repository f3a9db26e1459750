#include "fuzz/bars_file.h"

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <unistd.h>
#include "fuzz/fuzz.h"

static char folder[64];

static void remove_folder(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    (void)!system(command);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    PROMISE(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

static bool may_stand(double close, uint32_t allow)
{
    if (isnan(close)) {
        return (allow & SWP_ALLOW_NAN) != 0;
    }
    if (isinf(close)) {
        return (allow & SWP_ALLOW_INF) != 0;
    }
    return close > 0.0 || (allow & SWP_ALLOW_NONPOSITIVE) != 0;
}

static void check_bars(const swp_bars *bars, uint32_t allow)
{
    uint64_t nans = 0;
    PROMISE(bars->bars_count >= 1);
    for (uint64_t i = 0; i < bars->bars_count; i++) {
        PROMISE(may_stand(bars->close[i], allow));
        PROMISE(bars->time_ns == NULL || i == 0 || bars->time_ns[i] > bars->time_ns[i - 1]);
        nans += isnan(bars->close[i]) ? 1 : 0;
    }
    PROMISE(nans == bars->nan_count && bars->jumps_count < bars->bars_count);
    PROMISE(strncmp(bars->summary, "read ", 5) == 0);
}

void check_bars_file(const char *name, const void *bytes, size_t size, const swp_bars_options *options)
{
    char path[128];
    swp_bars bars = {0};
    swp_error error;
    if (folder[0] == '\0') {
        snprintf(folder, sizeof folder, "%s/sweepd-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        PROMISE(mkdtemp(folder) != NULL);
        atexit(remove_folder);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_file(path, bytes, size);
    swp_status status = swp_bars_read(path, options, &bars, &error);
    if (status == SWP_OK) {
        check_bars(&bars, options->allow);
    } else {
        PROMISE(error.status == status && error.message[0] != '\0' && bars.close == NULL && bars.time_ns == NULL);
        PROMISE(status == SWP_BAD_PARAM);
    }
    swp_bars_free(&bars);
}
