/* Shared memory as a stream. It begins as a Unix socket; each side makes memory of its own (ring.h has what is in it), sends its
 * descriptor to the other, and from then on the bytes go through the rings. The socket stays: as the sign of life, for
 * descriptors, and to wake who sleeps, with four zero bytes.
 *
 *     swp__shm_new ── swp__shm_fd: to the other side ── swp__shm_join: theirs ── swp__shm_attach: the stream is one of rings
 *
 * A side's memory can be written by that side alone: it is sealed against growing, shrinking, holes and further writable
 * mappings, with all of its pages there, before it is sent; so no access to it ever raises SIGBUS, and what a peer does to its
 * own memory shows as -EPROTO at worst. */
#ifndef SWP_TRANSPORT_SHM_H
#define SWP_TRANSPORT_SHM_H

#include <fcntl.h>
#include "transport/transport.h"

enum {
    SWP__SHM_RING_MIN = 1 << 16,      /* bytes; a power of two */
    SWP__SHM_RING_STANDARD = 1 << 18, /* asked for by a client */
};

/* What the memfd of a series must have. */
enum { SWP__SERIES_SEALS = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW };

/* A memfd of `size` bytes, all of them allocated, that may be sealed. -1 with errno; ENOMEM, too, when the system has not as
 * much left. */
int swp__memfd_new(const char *name, uint64_t size);

/* One that holds these bytes. -1 with errno, likewise. */
int swp__memfd_of(const char *name, const void *bytes, uint64_t size);

/* May memory that came as a descriptor be looked at? DENIED: it has not all of these seals (F_SEAL_*; `names` says them in
 * words), is in huge pages, has not exactly `size` bytes, or not all of them allocated: then an access could fault, or what was
 * checked could change. */
SWP_MUST_CHECK swp_status swp__memfd_check(int fd, unsigned seals, const char *names, uint64_t size, swp_error *error);

typedef struct swp__shm swp__shm;

/* May the two ends of this stream share memory? A connected Unix socket of the system. */
bool swp__shm_is_possible(const swp__stream *stream);

/* Memory of ours with a ring of so many bytes, a power of two from SWP__SHM_RING_MIN on. NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__shm_new(uint64_t ring_bytes, const swp_allocator *allocator, swp__shm **shm, swp_error *error);

/* To be sent to the other side; stays ours. */
int swp__shm_fd(const swp__shm *shm);

/* Takes over the other side's descriptor and maps its memory. DENIED: it is not sealed as it must be, or not all there, or has
 * another size; BAD_FRAME: its first line is not what it must be; NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__shm_join(swp__shm *shm, int fd, swp_error *error);

/* Makes the stream, a socket, one that goes through the rings and owns `shm`. */
void swp__shm_attach(swp__shm *shm, swp__stream *stream);

/* One that was not attached. NULL is a no-op. */
void swp__shm_free(swp__shm *shm);

/* ---- of an attached one, for a server that waits with a poller ---- */

/* Is there something to read? Without a system call. */
bool swp__shm_has_input(const swp__shm *shm);

/* From here on the other side writes to the socket when it has sent something; false: it has already, and does not. Called
 * again while it holds it makes no difference. */
bool swp__shm_sleep(swp__shm *shm);
void swp__shm_awake(swp__shm *shm);

/* The poller has told of the socket: the next read looks at it, or swp__shm_catch_up. */
void swp__shm_socket_is_ready(swp__shm *shm);

/* Looks at the socket if it was told of, whether anything else is to be read or not: a full socket takes no wake. As
 * swp__shm_read_socket. */
int swp__shm_catch_up(swp__stream *stream);

/* Has a read taken a wake from the socket since this was last asked? There may be room again then. */
bool swp__shm_was_woken(swp__shm *shm);

/* Reads what is there on the socket; descriptors come into the stream. Less than 0: it has ended, or what came is no wake. */
int swp__shm_read_socket(swp__stream *stream);

#endif
