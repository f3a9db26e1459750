#include "base/token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"

swp_status swp__token_read(const char *path, swp__token *token, swp_error *error)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 && fstat(fd, &info) == 0 ? read(fd, token->bytes, sizeof token->bytes) : -1;
    int failure = errno;
    if (fd >= 0) {
        close(fd);
    }
    if (got < 0) {
        return swp__fail(error, SWP_FILE, SWP_AT_NONE, "token file %s: %s", path, strerror(failure));
    }
    if ((info.st_mode & 077) != 0 && S_ISREG(info.st_mode)) {
        return swp__fail(error, SWP_FILE, SWP_AT_NONE, "token file %s has mode %04o: others can read it; chmod it to 0600",
                         path, (unsigned)(info.st_mode & 07777));
    }
    size_t size = (size_t)got - (got > 0 && token->bytes[got - 1] == '\n' ? 1 : 0);
    if (size == 0 || size > SWP__TOKEN_SIZE_MAX) {
        return swp__fail(error, SWP_FILE, SWP_AT_NONE, "token file %s: the token has %s bytes, expected 1..%d", path,
                         size == 0 ? "no" : "too many", SWP__TOKEN_SIZE_MAX);
    }
    token->size = size;
    return SWP_OK;
}

bool swp__token_equal(const void *a, size_t a_size, const void *b, size_t b_size)
{
    const uint8_t *left = a, *right = b;
    uint8_t differ = a_size != b_size;
    for (size_t i = 0; i < a_size && i < b_size; i++) {
        differ |= left[i] ^ right[i];
    }
    return differ == 0;
}
