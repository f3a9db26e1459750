/* Listening sockets that a service manager opened for us. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include "base/error.h"
#include "transport/sockets.h"

static bool get_int(int fd, int option, int *value)
{
    socklen_t size = sizeof *value;
    return getsockopt(fd, SOL_SOCKET, option, value, &size) == 0;
}

swp_status swp__listen_inherited(int fd, const swp__listen_options *options, swp__acceptor *acceptor, swp_error *error)
{
    static const swp__listen_options defaults;
    int domain, type, listening;
    options = options != NULL ? options : &defaults;
    if (!get_int(fd, SO_DOMAIN, &domain) || !get_int(fd, SO_TYPE, &type) || !get_int(fd, SO_ACCEPTCONN, &listening) ||
        type != SOCK_STREAM || !listening) {
        return swp__fail(error, SWP_BAD_PARAM, 1, "descriptor %d is not a listening stream socket", fd);
    }
    swp__acceptor made;
    bool usable = (domain == AF_UNIX && swp__unix_adopt(fd, options, &made)) ||
                  ((domain == AF_INET || domain == AF_INET6) && swp__tcp_adopt(fd, &made));
    if (!usable) {
        return swp__fail(error, SWP_BAD_PARAM, 1, "descriptor %d listens on neither a Unix socket nor a loopback address", fd);
    }
    if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
        return swp__fail(error, SWP_BAD_PARAM, 1, "descriptor %d: %s", fd, strerror(errno));
    }
    *acceptor = made;
    return SWP_OK;
}
