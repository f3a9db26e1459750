/* Unix sockets: who may connect, and whose file it is.
 *
 * The file's mode is set on the descriptor before bind, so that it is never open to others, not for a moment. PATH.lock
 * is held by the server that listens on PATH for as long as it lives; whoever gets the lock and finds a socket behind
 * which nobody listens may replace it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/error.h"
#include "base/host.h"
#include "transport/sockets.h"

typedef union name {
    struct sockaddr any;
    struct sockaddr_un un;
} name;

static name make_name(const char *path)
{
    name n = {.un = {.sun_family = AF_UNIX}};
    memcpy(n.un.sun_path, path, strlen(path) + 1);
    return n;
}

static int open_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* The address with the default path filled in. */
static swp_status resolve(const swp__address *address, bool create, swp__address *resolved, swp_error *error)
{
    *resolved = *address;
    resolved->scheme = SWP__SCHEME_UNIX;
    return address->path[0] != '\0' ? SWP_OK : swp__default_socket_path(create, resolved->path, error);
}

swp_status swp__unix_connect(const swp__address *address, uint64_t deadline_ns, swp__stream *stream, swp_error *error)
{
    swp__address resolved;
    swp_status status = resolve(address, false, &resolved, error);
    if (status != SWP_OK) {
        return status;
    }
    int fd = open_socket();
    if (fd < 0) {
        return swp__fail(error, SWP_REFUSED, SWP_AT_NONE, "unix:%s: no socket: %s", resolved.path, strerror(errno));
    }
    char text[SWP__ADDRESS_TEXT_SIZE];
    swp__address_print(&resolved, text);
    swp__socket_widen(fd);
    name n = make_name(resolved.path);
    status = swp__socket_connect(fd, &n.any, sizeof n.un, deadline_ns, text, error);
    if (status != SWP_OK) {
        close(fd);
        return status;
    }
    *stream = swp__stream_from_socket(fd);
    return SWP_OK;
}

static swp_status already_running(const char *path, swp_error *error)
{
    return swp__fail(error, SWP_REFUSED, SWP_AT_NONE, "unix:%s: already running: another server listens there", path);
}

static swp_status refused(const char *path, swp_error *error)
{
    if (errno == EACCES || errno == EPERM || errno == EROFS) {
        return swp__fail(error, SWP_REFUSED, SWP_AT_NONE, "unix:%s: %s: its directory must be one we may write to", path,
                         strerror(errno));
    }
    return swp__fail(error, SWP_REFUSED, SWP_AT_NONE, "unix:%s: %s", path, strerror(errno));
}

static bool same_file(int fd, const char *path)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 && lstat(path, &named) == 0 && open_one.st_dev == named.st_dev &&
           open_one.st_ino == named.st_ino;
}

/* Locks PATH.lock. The server that ends removes the file, so one that was locked may be gone from its place:
 * try again. */
static swp_status take_lock(const char *path, int *lock_fd, swp_error *error)
{
    char lock_path[SWP__ADDRESS_PATH_SIZE + 8];
    snprintf(lock_path, sizeof lock_path, "%s.lock", path);
    for (;;) {
        int fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) {
            return refused(path, error);
        }
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            bool held = errno == EWOULDBLOCK;
            swp_status status = held ? already_running(path, error) : refused(path, error);
            close(fd);
            return status;
        }
        if (same_file(fd, lock_path)) {
            *lock_fd = fd;
            return SWP_OK;
        }
        close(fd);
    }
}

static void drop_lock(const char *path, int lock_fd)
{
    char lock_path[SWP__ADDRESS_PATH_SIZE + 8];
    snprintf(lock_path, sizeof lock_path, "%s.lock", path);
    unlink(lock_path); /* while it is still locked: see take_lock */
    close(lock_fd);
}

static bool somebody_listens(const name *n)
{
    int fd = open_socket();
    if (fd < 0) {
        return true;
    }
    bool listens = connect(fd, &n->any, sizeof n->un) == 0 || errno == EAGAIN || errno == EACCES;
    close(fd);
    return listens;
}

/* Makes way for bind. Called with the lock. */
static swp_status remove_stale(const char *path, const name *n, swp_error *error)
{
    struct stat info;
    if (lstat(path, &info) != 0) {
        return errno == ENOENT ? SWP_OK : refused(path, error);
    }
    if (!S_ISSOCK(info.st_mode)) {
        return swp__fail(error, SWP_REFUSED, SWP_AT_NONE, "unix:%s: there is a file that is not a socket; it was left as it is",
                         path);
    }
    if (somebody_listens(n)) {
        return already_running(path, error);
    }
    return unlink(path) == 0 ? SWP_OK : refused(path, error);
}

/* Widens from 0600 only once the file has its group. */
static bool open_to_group(const char *path, gid_t group)
{
    return lchown(path, (uid_t)-1, group) == 0 && chmod(path, 0660) == 0;
}

static swp_status bind_socket(int fd, const char *path, const swp__listen_options *options, swp_error *error)
{
    name n = make_name(path);
    swp_status status = remove_stale(path, &n, error);
    if (status != SWP_OK) {
        return status;
    }
    if (fchmod(fd, 0600) != 0 || bind(fd, &n.any, sizeof n.un) != 0) {
        return refused(path, error);
    }
    if ((options->group_allowed && !open_to_group(path, options->group)) || listen(fd, SWP__BACKLOG) != 0) {
        status = refused(path, error);
        unlink(path);
    }
    return status;
}

static void remember_file(swp__acceptor *acceptor)
{
    struct stat info;
    if (lstat(acceptor->address.path, &info) == 0) {
        acceptor->device = info.st_dev;
        acceptor->inode = info.st_ino;
    }
}

swp_status swp__unix_listen(const swp__address *address, const swp__listen_options *options, swp__acceptor *acceptor,
                            swp_error *error)
{
    swp__acceptor made = {.ops = &swp__unix_acceptor_ops,
                          .fd = -1,
                          .lock_fd = -1,
                          .group_allowed = options->group_allowed,
                          .group = options->group};
    swp_status status = resolve(address, true, &made.address, error);
    if (status == SWP_OK) {
        status = take_lock(made.address.path, &made.lock_fd, error);
    }
    if (status != SWP_OK) {
        return status;
    }
    made.fd = open_socket();
    status = made.fd >= 0 ? bind_socket(made.fd, made.address.path, options, error) : refused(made.address.path, error);
    if (status != SWP_OK) {
        if (made.fd >= 0) {
            close(made.fd);
        }
        drop_lock(made.address.path, made.lock_fd);
        return status;
    }
    remember_file(&made);
    *acceptor = made;
    return SWP_OK;
}

/* Is the peer, by its main group or one of its others, a member? */
static bool in_group(int fd, const struct ucred *peer, gid_t group)
{
    gid_t groups[256];
    socklen_t size = sizeof groups;
    if (peer->gid == group) {
        return true;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0) {
        return false; /* more groups than we look at: not vouched for */
    }
    for (size_t i = 0; i < size / sizeof *groups; i++) {
        if (groups[i] == group) {
            return true;
        }
    }
    return false;
}

static int unix_accept(swp__acceptor *acceptor, swp__stream *stream, swp__peer *peer)
{
    int fd = swp__socket_accept(acceptor->fd);
    if (fd < 0) {
        return fd;
    }
    swp__socket_widen(fd);
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    *stream = swp__stream_from_socket(fd);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
        *peer = (swp__peer){0};
        return -EACCES;
    }
    *peer = (swp__peer){.known = true, .uid = credentials.uid, .gid = credentials.gid, .pid = credentials.pid};
    bool allowed = credentials.uid == geteuid() || (acceptor->group_allowed && in_group(fd, &credentials, acceptor->group));
    return allowed ? 0 : -EACCES;
}

/* The file goes first, so that a client that comes now hears "no such socket" and not nothing. */
static void unix_close(swp__acceptor *acceptor)
{
    struct stat info;
    const char *path = acceptor->address.path;
    if (!acceptor->inherited && lstat(path, &info) == 0 && info.st_dev == acceptor->device && info.st_ino == acceptor->inode) {
        unlink(path);
    }
    close(acceptor->fd);
    if (acceptor->lock_fd >= 0) {
        drop_lock(path, acceptor->lock_fd);
    }
}

const swp__acceptor_ops swp__unix_acceptor_ops = {unix_accept, unix_close};

bool swp__unix_adopt(int fd, const swp__listen_options *options, swp__acceptor *acceptor)
{
    name n;
    socklen_t size = sizeof n;
    *acceptor = (swp__acceptor){.ops = &swp__unix_acceptor_ops,
                                .fd = fd,
                                .lock_fd = -1,
                                .address = {.scheme = SWP__SCHEME_UNIX},
                                .group_allowed = options->group_allowed,
                                .group = options->group,
                                .inherited = true};
    if (getsockname(fd, &n.any, &size) != 0 || n.un.sun_family != AF_UNIX) {
        return false;
    }
    snprintf(acceptor->address.path, sizeof acceptor->address.path, "%.*s", (int)sizeof n.un.sun_path, n.un.sun_path);
    return true;
}
