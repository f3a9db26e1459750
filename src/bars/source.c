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
    *source = (swp__source){.path = path,
                            .descriptor = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                                                 : open(path, O_RDONLY | O_CLOEXEC)};
    struct stat status;
    if (source->descriptor < 0) {
        return fail(source, error);
    }
    if (fstat(source->descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
        source->size_bytes = (uint64_t)status.st_size;
    }
    return SWP_OK;
}

static swp_status read_file(void *context, void *bytes, size_t size, size_t *got, swp_error *error)
{
    swp__source *source = context;
    size_t filled = source->first_size - source->first_at;
    filled = filled < size ? filled : size;
    memcpy(bytes, source->first + source->first_at, filled);
    source->first_at += filled;
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

swp_status swp__source_unpack(swp__source *source, swp_error *error)
{
    swp_status status = read_file(source, source->first, sizeof source->first, &source->first_size, error);
    if (status == SWP_OK) {
        status = swp__unpack_new(source->first, source->first_size, source->path, &source->unpack, error);
    }
    source->size_bytes = source->unpack != NULL ? 0 : source->size_bytes;
    return status;
}

swp_status swp__source_read(swp__source *source, void *bytes, size_t size, size_t *got, swp_error *error)
{
    return source->unpack != NULL ? swp__unpack_read(source->unpack, read_file, source, bytes, size, got, error)
                                  : read_file(source, bytes, size, got, error);
}

void swp__source_close(swp__source *source)
{
    swp__unpack_free(source->unpack);
    close(source->descriptor);
}
