/* Where an engine is found: the text a person types, taken apart.
 *
 *   unix:PATH          a Unix socket; without PATH the default one (swp__default_socket_path)
 *   shm:PATH           the same socket, then shared memory
 *   tcp:HOST:PORT      loopback only: localhost, 127.x.y.z or [::1]
 *   stdio:             standard input and output
 *   spawn:[PROGRAM]    a process of our own (client); without PROGRAM "sweepd"
 *   inproc:            this process (client) */
#ifndef SWP_TRANSPORT_ADDRESS_H
#define SWP_TRANSPORT_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "swp/error.h"

typedef enum swp__scheme {
    SWP__SCHEME_UNIX,
    SWP__SCHEME_SHM,
    SWP__SCHEME_TCP,
    SWP__SCHEME_STDIO,
    SWP__SCHEME_SPAWN,
    SWP__SCHEME_INPROC,
} swp__scheme;

enum {
    SWP__SOCKET_PATH_SIZE = 108, /* bytes of a Unix socket's path with its NUL: the system's limit */
    SWP__ADDRESS_PATH_SIZE = 1024,
    SWP__ADDRESS_TEXT_SIZE = SWP__ADDRESS_PATH_SIZE + 8,
};

typedef struct swp__address {
    swp__scheme scheme;
    char path[SWP__ADDRESS_PATH_SIZE]; /* unix, shm, spawn; "": the default */
    bool ipv6;                         /* tcp: ::1; else `ipv4` */
    uint32_t ipv4;                     /* tcp: host byte order, 127.0.0.0/8 */
    uint16_t port;                     /* tcp: 0 lets the system choose (listening only) */
} swp__address;

/* BAD_PARAM with what was expected; *address is set only on success. */
SWP_MUST_CHECK swp_status swp__address_parse(const char *url, swp__address *address, swp_error *error);

/* The text again, in SWP__ADDRESS_TEXT_SIZE bytes. */
void swp__address_print(const swp__address *address, char text[SWP__ADDRESS_TEXT_SIZE]);

/* $XDG_RUNTIME_DIR/sweepd.sock, else sweepd-UID/sweepd.sock in the system's directory for temporary files. The
 * directory must be ours and closed to others, so that nobody can stand in for the server: REFUSED otherwise. `create`
 * makes the second one when it is missing. */
SWP_MUST_CHECK swp_status swp__default_socket_path(bool create, char path[SWP__SOCKET_PATH_SIZE], swp_error *error);

#endif
