/* Memory that a series is written into and a server takes over. It is a memfd: the caller writes through a shared mapping until it
 * is loaded; then a private one takes its place, so that no writer is left, it can be sealed, and whoever still writes there has a
 * page of his own from then on. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/error.h"
#include "client/internal.h"
#include "transport/shm.h"

struct swp_series_buffer {
    uint64_t bars_count;
    double *close;
    int fd; /* -1: handed over, or it could not be; the mapping stays */
};

swp_status swp_series_buffer_new(uint64_t bars_count, swp_series_buffer **buffer, swp_error *error)
{
    uint64_t size;
    if (buffer == NULL || bars_count == 0 || __builtin_mul_overflow(bars_count, sizeof(double), &size)) {
        return swp__fail(error, SWP_BAD_PARAM, buffer == NULL ? 2 : 1, "series buffer: %" PRIu64 " bars, at %p", bars_count,
                         (void *)buffer);
    }
    swp_series_buffer *made = malloc(sizeof *made);
    int fd = made != NULL ? swp__memfd_new("sweepd-series", size) : -1;
    void *memory = fd >= 0 ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (memory == MAP_FAILED) {
        int failure = errno;
        if (fd >= 0) {
            close(fd);
        }
        free(made);
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "series buffer: no memory for %" PRIu64 " bars: %s", bars_count,
                         strerror(failure));
    }
    *made = (swp_series_buffer){.bars_count = bars_count, .close = memory, .fd = fd};
    *buffer = made;
    return SWP_OK;
}

double *swp_series_buffer_close(swp_series_buffer *buffer)
{
    return buffer->close;
}

static void forget_file(swp_series_buffer *b)
{
    if (b->fd >= 0) {
        close(b->fd);
        b->fd = -1;
    }
}

void swp_series_buffer_free(swp_series_buffer *buffer)
{
    if (buffer != NULL) {
        forget_file(buffer);
        munmap(buffer->close, buffer->bars_count * sizeof *buffer->close);
        free(buffer);
    }
}

/* Nobody can change the file any more; the caller's mapping becomes one of its own pages. False: somebody else may write there. */
static bool seal(swp_series_buffer *b)
{
    size_t size = b->bars_count * sizeof *b->close;
    void *memory = mmap(b->close, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, b->fd, 0);
    return memory != MAP_FAILED && fcntl(b->fd, F_ADD_SEALS, SWP__SERIES_SEALS) == 0;
}

swp_status swp_client_load_buffer(swp_client *c, swp_series_buffer *buffer, uint32_t allow, uint32_t timeout_ms,
                                  swp_client_series **series, swp_error *error)
{
    if (c == NULL || buffer == NULL || series == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, c == NULL ? 1 : buffer == NULL ? 2 : 5, "series: NULL pointer");
    }
    swp_columns columns = {.bars_count = buffer->bars_count, .close = buffer->close};
    bool is_handed_over = buffer->fd >= 0 && swp__client_takes_fds(c) && (allow & ~(uint32_t)SWP_ALLOW_ALL) == 0 &&
                          swp__client_check(c, error) == SWP_OK && seal(buffer);
    if (!is_handed_over) {
        return swp_client_load(c, &columns, allow, SWP_KEEP_NOTHING, timeout_ms, series, error);
    }
    swp_status status = swp__series_load_fd(c, buffer->fd, &columns, allow, swp__client_deadline(c, timeout_ms), series, error);
    forget_file(buffer); /* what is written to the memory from here on is not in it */
    return status;
}
