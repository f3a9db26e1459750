/* Standard input and output, or any pair of pipes, as one stream.
 *
 * O_NONBLOCK is a property of the open file and not of the descriptor, so whoever shares it (a terminal's other
 * programs) sees it: it is put back on closing. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "transport/sockets.h"

/* Which ends were made non-blocking by us, in stream->context. */
enum { IN_CHANGED = 1, OUT_CHANGED = 2 };

static ssize_t pipe_recv(swp__stream *stream, const struct iovec *iovecs, int count)
{
    ssize_t got;
    do {
        got = readv(stream->in, iovecs, count);
    } while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

static ssize_t pipe_send(swp__stream *stream, const struct iovec *iovecs, int count, const int *fd)
{
    if (fd != NULL) {
        return -EOPNOTSUPP;
    }
    ssize_t sent;
    do {
        sent = writev(stream->out, iovecs, count);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

static void pipe_shut_output(swp__stream *stream)
{
    if (stream->out >= 0 && stream->out != stream->in) {
        shutdown(stream->out, SHUT_WR); /* in case it is a socket that somebody else holds, too */
        close(stream->out);
        stream->out = -1;
    } else {
        shutdown(stream->in, SHUT_WR);
    }
}

static void set_blocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0) {
        fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    }
}

static void pipe_close(swp__stream *stream)
{
    intptr_t changed = (intptr_t)stream->context;
    if ((changed & IN_CHANGED) != 0) {
        set_blocking(stream->in);
    }
    if ((changed & OUT_CHANGED) != 0 && stream->out >= 0) {
        set_blocking(stream->out);
    }
    close(stream->in);
    if (stream->out >= 0 && stream->out != stream->in) {
        close(stream->out);
    }
}

static const swp__stream_ops pipe_ops = {pipe_recv, NULL, pipe_send, pipe_shut_output, pipe_close, NULL};

/* 1 changed, 0 it was non-blocking or a regular file, which never blocks; -1 failed. */
static int make_non_blocking(int fd, const struct stat *info)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0) {
        return -1;
    }
    if (S_ISREG(info->st_mode) || (flags & O_NONBLOCK) != 0) {
        return 0;
    }
    return fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 ? 1 : -1;
}

swp_status swp__stream_from_pipes(int in, int out, swp__stream *stream, swp_error *error)
{
    struct stat in_info, out_info;
    if (fstat(in, &in_info) != 0 || fstat(out, &out_info) != 0) {
        return swp__fail(error, SWP_BAD_PARAM, 1, "stdio: standard input or output is closed");
    }
    int in_changed = make_non_blocking(in, &in_info);
    int out_changed = make_non_blocking(out, &out_info);
    if (in_changed < 0 || out_changed < 0) {
        return swp__fail(error, SWP_BAD_PARAM, 1, "stdio: cannot be made non-blocking: %s", strerror(errno));
    }
    intptr_t changed = (in_changed ? IN_CHANGED : 0) + (out_changed ? OUT_CHANGED : 0);
    *stream = (swp__stream){.ops = &pipe_ops, .in = in, .out = out, .context = (void *)changed};
    return SWP_OK;
}

swp_status swp__stdio_open(swp__stream *stream, swp_error *error)
{
    return swp__stream_from_pipes(STDIN_FILENO, STDOUT_FILENO, stream, error);
}
