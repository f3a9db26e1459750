/* What unix.c, tcp.c and stdio.c share. */
#ifndef SWP_TRANSPORT_SOCKETS_H
#define SWP_TRANSPORT_SOCKETS_H

#include <sys/socket.h>
#include "transport/transport.h"

enum { SWP__BACKLOG = 512 }; /* connections that may wait to be accepted */

extern const swp__stream_ops swp__socket_stream_ops;

/* Connects a non-blocking socket; REFUSED, TIMED_OUT; `text` is the address for the message. */
swp_status swp__socket_connect(int fd, const struct sockaddr *name, socklen_t size, uint64_t deadline_ns, const char *text,
                               swp_error *error);

/* Room for a few large pieces on their way, where the system's own default is narrow (Unix sockets). */
void swp__socket_widen(int fd);

/* accept4 with the flags every stream has: a descriptor or a negative errno. */
int swp__socket_accept(int listening_fd);

swp_status swp__unix_connect(const swp__address *address, uint64_t deadline_ns, swp__stream *stream, swp_error *error);
swp_status swp__unix_listen(const swp__address *address, const swp__listen_options *options, swp__acceptor *acceptor,
                            swp_error *error);
swp_status swp__tcp_connect(const swp__address *address, uint64_t deadline_ns, swp__stream *stream, swp_error *error);
swp_status swp__tcp_listen(const swp__address *address, swp__acceptor *acceptor, swp_error *error);

/* Fill *acceptor for a socket of that family made elsewhere; false: not one we serve. */
bool swp__unix_adopt(int fd, const swp__listen_options *options, swp__acceptor *acceptor);
bool swp__tcp_adopt(int fd, swp__acceptor *acceptor);

extern const swp__acceptor_ops swp__unix_acceptor_ops;
extern const swp__acceptor_ops swp__tcp_acceptor_ops;

#endif
