/* Memory, seals and mappings; and the ring as a stream. */
#include "transport/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#include "base/error.h"
#include "base/host.h"
#include "transport/ring.h"
#include "transport/sockets.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

enum {
    VERSION = 1,
    SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE, /* the last one forbids holes, too */
    WAKE_SIZE = 4,
    LOOKS = 64, /* in vain, before the socket is looked at */
};
#define NAP_NS UINT64_C(50000) /* of who waits for room beside a thread that reads */

static const char magic[8] = "swp-ring";
static const uint8_t wake_bytes[WAKE_SIZE];

struct swp__shm {
    swp__ring ring;
    swp_allocator allocator;
    size_t header_bytes;
    int fd;             /* our memory, until attached; -1 */
    void *ours;         /* header, ring, ring again */
    const void *theirs; /* likewise; NULL: not joined yet */

    /* who takes */
    bool socket_is_ready, ended, is_asleep, was_woken;
    uint32_t looks;
};

/* ---- mapping ---- */

static size_t mapping_bytes(const swp__shm *shm)
{
    return shm->header_bytes + 2 * (size_t)shm->ring.size;
}

/* Header and ring, and the ring once more behind. NULL: no memory. */
static void *map_twice(const swp__shm *shm, int fd, int protection)
{
    size_t ring = (size_t)shm->ring.size, header = shm->header_bytes;
    char *at = mmap(NULL, mapping_bytes(shm), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        return NULL;
    }
    int flags = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
    if (mmap(at, header + ring, protection, flags, fd, 0) == MAP_FAILED ||
        mmap(at + header + ring, ring, protection, flags, fd, (off_t)header) == MAP_FAILED) {
        munmap(at, mapping_bytes(shm));
        return NULL;
    }
    madvise(at, mapping_bytes(shm), MADV_DONTFORK); /* a child of ours is no end of it */
    return at;
}

/* What the system can give without harm to anybody, by its own estimate: pages of a memfd that do not fit end in the killing of
 * some process, not in an error. No estimate: no limit. */
static uint64_t memory_available(void)
{
    uint64_t kib = UINT64_MAX >> 10;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return kib << 10;
}

static int new_memfd(const char *name, uint64_t size)
{
    if (size > INT64_MAX || size > memory_available()) {
        errno = ENOMEM;
        return -1;
    }
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    return fd >= 0 || errno != EINVAL ? fd : memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); /* before Linux 6.3 */
}

static int close_failed(int fd)
{
    int failure = errno;
    close(fd);
    errno = failure;
    return -1;
}

int swp__memfd_new(const char *name, uint64_t size)
{
    int fd = new_memfd(name, size);
    bool is_whole = fd >= 0 && ftruncate(fd, (off_t)size) == 0 && fallocate(fd, 0, 0, (off_t)size) == 0;
    return fd < 0 || is_whole ? fd : close_failed(fd);
}

int swp__memfd_of(const char *name, const void *bytes, uint64_t size)
{
    int fd = new_memfd(name, size);
    for (uint64_t done = 0; fd >= 0 && done < size;) {
        ssize_t written = write(fd, (const char *)bytes + done, size - done);
        if (written < 0 && errno != EINTR) {
            return close_failed(fd);
        }
        done += written > 0 ? (uint64_t)written : 0;
    }
    return fd;
}

static void write_header(swp__shm *shm)
{
    swp__ring_words *words = shm->ours;
    memcpy(words->magic, magic, sizeof magic);
    words->version = VERSION;
    words->header_bytes = (uint32_t)shm->header_bytes;
    words->ring_bytes = shm->ring.size;
}

swp_status swp__shm_new(uint64_t ring_bytes, const swp_allocator *allocator, swp__shm **shm, swp_error *error)
{
    swp__shm *made = swp__alloc(allocator, 1, sizeof *made);
    if (made == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "shared memory: no memory");
    }
    *made = (swp__shm){
        .ring = {.size = ring_bytes}, .allocator = *allocator, .header_bytes = (size_t)sysconf(_SC_PAGESIZE), .fd = -1};
    made->fd = swp__memfd_new("sweepd-ring", made->header_bytes + ring_bytes);
    made->ours = made->fd >= 0 ? map_twice(made, made->fd, PROT_READ | PROT_WRITE) : NULL;
    if (made->ours != NULL) {
        write_header(made);
    }
    if (made->ours == NULL || fcntl(made->fd, F_ADD_SEALS, SEALS) != 0) {
        swp_status status =
            swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE,
                      "shared memory: the system gives no sealed memory of %" PRIu64 " bytes: %s", ring_bytes, strerror(errno));
        swp__shm_free(made);
        return status;
    }
    *shm = made;
    return SWP_OK;
}

int swp__shm_fd(const swp__shm *shm)
{
    return shm->fd;
}

static void unmap(const swp__shm *shm)
{
    if (shm->ours != NULL) {
        munmap(shm->ours, mapping_bytes(shm));
    }
    if (shm->theirs != NULL) {
        munmap((void *)(uintptr_t)shm->theirs, mapping_bytes(shm));
    }
}

void swp__shm_free(swp__shm *shm)
{
    if (shm == NULL) {
        return;
    }
    unmap(shm);
    if (shm->fd >= 0) {
        close(shm->fd);
    }
    swp_allocator allocator = shm->allocator;
    swp__free(&allocator, shm, 1, sizeof *shm);
}

/* ---- the other side's ---- */

swp_status swp__memfd_check(int fd, unsigned seals, const char *names, uint64_t size, swp_error *error)
{
    struct stat info;
    struct statfs system;
    int got = fcntl(fd, F_GET_SEALS);
    if (got < 0 || ((unsigned)got & seals) != seals) {
        return swp__fail(error, SWP_DENIED, SWP_AT_NONE, "the descriptor has the seals %#x, expected %s, %#x of a memfd",
                         got < 0 ? 0U : (unsigned)got, names, seals);
    }
    if (fstatfs(fd, &system) != 0 || system.f_type != TMPFS_MAGIC) {
        return swp__fail(error, SWP_DENIED, SWP_AT_NONE, "the descriptor is in huge pages");
    }
    if (fstat(fd, &info) != 0 || (uint64_t)info.st_size != size) {
        return swp__fail(error, SWP_DENIED, SWP_AT_NONE, "the descriptor has %" PRIu64 " bytes, expected %" PRIu64,
                         (uint64_t)info.st_size, size);
    }
    if ((uint64_t)info.st_blocks * 512 < size) {
        return swp__fail(error, SWP_DENIED, SWP_AT_NONE,
                         "the descriptor has %" PRIu64 " bytes allocated of %" PRIu64 ": allocate it whole (fallocate)",
                         (uint64_t)info.st_blocks * 512, size);
    }
    return SWP_OK;
}

/* Read once; nothing of it is looked at again. */
static swp_status check_header(const swp__shm *shm, swp_error *error)
{
    swp__ring_words words;
    memcpy(&words, shm->theirs, offsetof(swp__ring_words, tail));
    if (memcmp(words.magic, magic, sizeof magic) != 0 || words.version != VERSION || words.header_bytes != shm->header_bytes ||
        words.ring_bytes != shm->ring.size) {
        return swp__fail(error, SWP_BAD_FRAME, SWP_AT_NONE,
                         "shared memory: its header is not version %d with rings of %" PRIu64 " bytes behind %zu", VERSION,
                         shm->ring.size, shm->header_bytes);
    }
    return SWP_OK;
}

swp_status swp__shm_join(swp__shm *shm, int fd, swp_error *error)
{
    swp_status status =
        swp__memfd_check(fd, SEALS, "SEAL, SHRINK, GROW and FUTURE_WRITE", shm->header_bytes + shm->ring.size, error);
    if (status == SWP_OK) {
        shm->theirs = map_twice(shm, fd, PROT_READ);
        status = shm->theirs != NULL
                     ? check_header(shm, error)
                     : swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "shared memory: cannot be mapped: %s", strerror(errno));
    }
    close(fd);
    return status;
}

/* ---- the socket beside it ---- */

static ssize_t send_wake(const swp__stream *stream, const int *fd)
{
    swp__stream socket = swp__stream_from_socket(stream->out);
    struct iovec piece = {(void *)(uintptr_t)wake_bytes, WAKE_SIZE};
    return swp__stream_send(&socket, &piece, 1, fd);
}

static bool is_wake(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

/* What one read of the socket brought. */
static int take_socket(swp__shm *shm, const uint8_t *bytes, ssize_t got)
{
    if (got < 0) {
        return got == -EAGAIN || got == -EINTR ? 0 : (int)got;
    }
    shm->ended = shm->ended || got == 0;
    shm->was_woken = true;
    return is_wake(bytes, (size_t)got) ? 0 : -EPROTO;
}

/* Stops where there is no room for one more descriptor: the frame that asks for one makes it. */
int swp__shm_read_socket(swp__stream *stream)
{
    swp__shm *shm = stream->context;
    uint8_t bytes[256];
    struct iovec piece = {bytes, sizeof bytes};
    bool has_more = !shm->ended;
    while (has_more && stream->fds_count < SWP__FDS_MAX) {
        uint8_t fds_before = stream->fds_count;
        ssize_t got = swp__socket_stream_ops.recv(stream, &piece, 1);
        int failure = take_socket(shm, bytes, got);
        if (failure != 0) {
            return failure;
        }
        has_more = got == (ssize_t)sizeof bytes || stream->fds_count > fds_before; /* a descriptor ends a read early */
    }
    shm->socket_is_ready = has_more;
    return 0;
}

/* ---- the stream ---- */

static void tell_room(const swp__stream *stream, swp__ring *ring)
{
    uint64_t waits = swp__ring_waiter(ring);
    if (waits != 0 && send_wake(stream, NULL) > 0) {
        swp__ring_room_was_told(ring, waits);
    }
}

static ssize_t take(const swp__stream *stream, const struct iovec *iovecs, int count)
{
    swp__shm *shm = stream->context;
    bool told;
    int64_t got = swp__ring_take(&shm->ring, iovecs, count, &told);
    if (told) {
        tell_room(stream, &shm->ring);
    }
    return (ssize_t)got;
}

static ssize_t shm_recv(swp__stream *stream, const struct iovec *iovecs, int count)
{
    swp__shm *shm = stream->context;
    int failure = 0;
    /* what was told of is read before we sleep again: a full socket takes no wake */
    if (shm->socket_is_ready || shm->looks == LOOKS) {
        shm->looks = 0;
        failure = swp__shm_read_socket(stream);
    }
    ssize_t got = failure != 0 ? failure : take(stream, iovecs, count);
    shm->looks = got == 0 ? shm->looks + 1 : 0;
    return got != 0 ? got : shm->ended ? 0 : -EAGAIN;
}

static ssize_t shm_recv_wait(swp__stream *stream, const struct iovec *iovecs, int count, uint32_t wait_ms)
{
    swp__shm *shm = stream->context;
    uint8_t bytes[256];
    struct iovec piece = {bytes, sizeof bytes};
    int failure = 0;
    bool interrupted = false;
    if (!shm->ended && swp__shm_sleep(shm)) {
        ssize_t woken = swp__socket_stream_ops.recv_wait(stream, &piece, 1, wait_ms);
        interrupted = woken == -EINTR;
        failure = take_socket(shm, bytes, woken);
    }
    swp__shm_awake(shm);
    ssize_t got = failure != 0 ? failure : take(stream, iovecs, count);
    return got != 0 ? got : shm->ended ? 0 : interrupted ? -EINTR : -EAGAIN;
}

/* From `sent` on all that there is room for, record by record; a sleeper is woken by the first. What is sent then; -EPROTO, or
 * why it cannot be woken. */
static ssize_t put_all(const swp__stream *stream, const struct iovec *iovecs, uint64_t sent, uint64_t size)
{
    swp__ring *ring = &((swp__shm *)stream->context)->ring;
    while (sent < size) {
        int64_t put = swp__ring_put(ring, iovecs, sent, size - sent);
        if (put <= 0) {
            return put < 0 ? (ssize_t)put : (ssize_t)sent;
        }
        sent += (uint64_t)put;
        uint64_t sleeping = swp__ring_sleeper(ring);
        ssize_t rung = sleeping != 0 ? send_wake(stream, NULL) : 0;
        if (rung > 0) {
            swp__ring_was_rung(ring, sleeping);
        } else if (rung < 0 && rung != -EAGAIN) { /* -EAGAIN: it has enough to wake up to */
            return rung;
        }
    }
    return (ssize_t)sent;
}

/* 1: there is room for any record; -EAGAIN: we shall be told. */
static int wait_for_room(swp__ring *ring)
{
    int room = swp__ring_has_room(ring);
    room = room == 0 ? swp__ring_wait_room(ring) : room;
    return room == 0 ? -EAGAIN : room;
}

static ssize_t shm_send(swp__stream *stream, const struct iovec *iovecs, int count, const int *fd)
{
    swp__ring *ring = &((swp__shm *)stream->context)->ring;
    uint64_t size = 0;
    for (int i = 0; i < count; i++) {
        size += iovecs[i].iov_len;
    }
    if (fd != NULL) { /* before its frame, and only when that goes at once */
        int room = wait_for_room(ring);
        ssize_t sent = room > 0 ? send_wake(stream, fd) : room;
        if (sent < 0) {
            return sent;
        }
    }
    ssize_t sent = put_all(stream, iovecs, 0, size);
    while (sent >= 0 && (uint64_t)sent < size) { /* who sends less than it was asked to waits to be told */
        int room = wait_for_room(ring);
        if (room <= 0) {
            return room != -EAGAIN || sent == 0 ? room : sent;
        }
        sent = put_all(stream, iovecs, (uint64_t)sent, size);
    }
    swp__ring_end_wait(ring);
    return sent;
}

static int ready_now(const swp__stream *stream, bool in, bool out)
{
    swp__shm *shm = stream->context;
    int room = out ? swp__ring_has_room(&shm->ring) : 0;
    return (in && (shm->ended || swp__ring_has_input(&shm->ring)) ? 1 : 0) + (room != 0 ? 2 : 0);
}

/* For room, beside another thread that reads and so hears of it. */
static int nap_for_room(const swp__stream *stream, uint64_t deadline_ns)
{
    for (;;) {
        int ready = ready_now(stream, false, true);
        if (ready != 0 || swp__now_ns(&swp__system_clock) >= deadline_ns) {
            return ready;
        }
        struct timespec nap = {.tv_nsec = NAP_NS};
        nanosleep(&nap, NULL);
    }
}

static int shm_wait(const swp__stream *stream, bool in, bool out, uint64_t deadline_ns)
{
    swp__shm *shm = stream->context;
    swp__stream socket = swp__stream_from_socket(stream->in);
    int ready = ready_now(stream, in, out);
    if (ready != 0 || !in) {
        return ready != 0 ? ready : nap_for_room(stream, deadline_ns);
    }
    bool may_sleep = swp__shm_sleep(shm) && (!out || swp__ring_wait_room(&shm->ring) == 0);
    int woken = may_sleep ? swp__stream_wait(&socket, true, false, deadline_ns) : 1;
    swp__shm_awake(shm);
    if (woken <= 0) {
        return woken;
    }
    shm->socket_is_ready = true;
    ready = ready_now(stream, in, out);
    return ready != 0 ? ready : 1; /* what the socket has to say is for the next read */
}

static void shm_shut_output(swp__stream *stream)
{
    shutdown(stream->out, SHUT_WR);
}

static void shm_close(swp__stream *stream)
{
    close(stream->in);
    swp__shm_free(stream->context);
}

static const swp__stream_ops shm_ops = {shm_recv, shm_recv_wait, shm_send, shm_shut_output, shm_close, shm_wait};

void swp__shm_attach(swp__shm *shm, swp__stream *stream)
{
    shm->ring.ours = shm->ours;
    shm->ring.theirs = shm->theirs;
    shm->ring.out = (uint8_t *)shm->ours + shm->header_bytes;
    shm->ring.in = (const uint8_t *)shm->theirs + shm->header_bytes;
    close(shm->fd); /* mapped; the other side has its own */
    shm->fd = -1;
    stream->ops = &shm_ops;
    stream->context = shm;
}

bool swp__shm_is_possible(const swp__stream *stream)
{
    int domain = 0;
    socklen_t size = sizeof domain;
    return stream->ops == &swp__socket_stream_ops && getsockopt(stream->in, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
           domain == AF_UNIX;
}

bool swp__shm_has_input(const swp__shm *shm)
{
    return swp__ring_has_input(&shm->ring);
}

bool swp__shm_sleep(swp__shm *shm)
{
    if (shm->is_asleep) {
        return !swp__ring_has_input(&shm->ring);
    }
    bool has_input = swp__ring_sleep(&shm->ring);
    shm->is_asleep = !has_input;
    if (has_input) {
        swp__ring_awake(&shm->ring);
    }
    return !has_input;
}

void swp__shm_awake(swp__shm *shm)
{
    if (shm->is_asleep) {
        shm->is_asleep = false;
        swp__ring_awake(&shm->ring);
    }
}

int swp__shm_catch_up(swp__stream *stream)
{
    return ((swp__shm *)stream->context)->socket_is_ready ? swp__shm_read_socket(stream) : 0;
}

bool swp__shm_was_woken(swp__shm *shm)
{
    bool was = shm->was_woken;
    shm->was_woken = false;
    return was;
}

void swp__shm_socket_is_ready(swp__shm *shm)
{
    shm->socket_is_ready = true;
}
