#include "bars/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"

static swp_status fail(const swp__source *source, swp_error *error)
{
    return swp__fail(error, SWP_FILE, SWP_AT_NONE, "%s: cannot be read: %s", source->path, strerror(errno));
}

swp_status swp__source_open(const char *path, swp__source *source, swp_error *error)
{
    *source = (swp__source){.path = path, .descriptor = open(path, O_RDONLY | O_CLOEXEC)};
    struct stat status;
    if (source->descriptor < 0) {
        return fail(source, error);
    }
    if (fstat(source->descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
        source->size_bytes = (uint64_t)status.st_size;
    }
    return SWP_OK;
}

swp_status swp__source_read(swp__source *source, void *bytes, size_t size, size_t *got, swp_error *error)
{
    size_t filled = 0;
    while (filled < size) {
        ssize_t count = read(source->descriptor, (char *)bytes + filled, size - filled);
        if (count < 0 && errno != EINTR) {
            return fail(source, error);
        }
        if (count == 0) {
            break;
        }
        filled += count > 0 ? (size_t)count : 0;
    }
    *got = filled;
    return SWP_OK;
}

void swp__source_close(swp__source *source)
{
    close(source->descriptor);
}
