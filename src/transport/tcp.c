/* Loopback TCP. Any user of the machine may connect: the server tells them apart by token, or not at all. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>
#include "base/error.h"
#include "transport/sockets.h"

typedef union name {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} name;

static socklen_t make_name(const swp__address *address, name *n)
{
    memset(n, 0, sizeof *n);
    if (address->ipv6) {
        n->v6 =
            (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(address->port), .sin6_addr = in6addr_loopback};
        return sizeof n->v6;
    }
    n->v4 = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(address->port), .sin_addr = {.s_addr = htonl(address->ipv4)}};
    return sizeof n->v4;
}

/* Small replies must leave at once. */
static void set_no_delay(int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static int open_socket(const swp__address *address)
{
    return socket(address->ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

swp_status swp__tcp_connect(const swp__address *address, uint64_t deadline_ns, swp__stream *stream, swp_error *error)
{
    char text[SWP__ADDRESS_TEXT_SIZE];
    swp__address_print(address, text);
    int fd = open_socket(address);
    if (fd < 0) {
        return swp__fail(error, SWP_REFUSED, SWP_AT_NONE, "%.100s: no socket: %s", text, strerror(errno));
    }
    name n;
    socklen_t size = make_name(address, &n);
    swp_status status = swp__socket_connect(fd, &n.any, size, deadline_ns, text, error);
    if (status != SWP_OK) {
        close(fd);
        return status;
    }
    set_no_delay(fd);
    *stream = swp__stream_from_socket(fd);
    return SWP_OK;
}

static swp_status bind_failed(const swp__address *address, swp_error *error)
{
    char text[SWP__ADDRESS_TEXT_SIZE];
    swp__address_print(address, text);
    const char *why = errno == EADDRINUSE ? "already running: somebody listens there" : strerror(errno);
    return swp__fail(error, SWP_REFUSED, SWP_AT_NONE, "%.100s: %s", text, why);
}

/* The address as bound. */
static bool read_name(int fd, swp__address *address)
{
    name n;
    socklen_t size = sizeof n;
    if (getsockname(fd, &n.any, &size) != 0) {
        return false;
    }
    *address = (swp__address){.scheme = SWP__SCHEME_TCP};
    if (n.any.sa_family == AF_INET6) {
        address->ipv6 = true;
        address->port = ntohs(n.v6.sin6_port);
        return memcmp(&n.v6.sin6_addr, &in6addr_loopback, sizeof in6addr_loopback) == 0;
    }
    address->ipv4 = ntohl(n.v4.sin_addr.s_addr);
    address->port = ntohs(n.v4.sin_port);
    return n.any.sa_family == AF_INET && address->ipv4 >> 24 == 127;
}

swp_status swp__tcp_listen(const swp__address *address, swp__acceptor *acceptor, swp_error *error)
{
    int fd = open_socket(address);
    if (fd < 0) {
        return bind_failed(address, error);
    }
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on); /* past connections in TIME_WAIT do not hold the port */
    name n;
    socklen_t size = make_name(address, &n);
    if (bind(fd, &n.any, size) != 0 || listen(fd, SWP__BACKLOG) != 0) {
        swp_status status = bind_failed(address, error);
        close(fd);
        return status;
    }
    *acceptor = (swp__acceptor){.ops = &swp__tcp_acceptor_ops, .fd = fd, .lock_fd = -1};
    read_name(fd, &acceptor->address);
    return SWP_OK;
}

static int tcp_accept(swp__acceptor *acceptor, swp__stream *stream, swp__peer *peer)
{
    int fd = swp__socket_accept(acceptor->fd);
    if (fd < 0) {
        return fd;
    }
    set_no_delay(fd);
    *peer = (swp__peer){0};
    *stream = swp__stream_from_socket(fd);
    return 0;
}

static void tcp_close(swp__acceptor *acceptor)
{
    close(acceptor->fd);
}

const swp__acceptor_ops swp__tcp_acceptor_ops = {tcp_accept, tcp_close};

bool swp__tcp_adopt(int fd, swp__acceptor *acceptor)
{
    *acceptor = (swp__acceptor){.ops = &swp__tcp_acceptor_ops, .fd = fd, .lock_fd = -1, .inherited = true};
    return read_name(fd, &acceptor->address);
}
