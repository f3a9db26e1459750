/* Shared memory with a peer that writes whatever it likes into its own: the first line of its memory, its words, its ring, and the
 * socket beside it. Nothing is read or written outside, no call takes or gives more than it was asked to, and what an honest peer
 * sent before it went wrong arrives as it was.
 *
 * Input: u8 (bit 0: the first line comes from the input, 24 bytes), then steps of u8 what and its operands. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/host.h"
#include "fuzz/fuzz.h"
#include "transport/ring.h"
#include "transport/shm.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

enum { RING = SWP__SHM_RING_MIN, STEPS_MAX = 400, SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE };

typedef struct world {
    size_t page;
    int sockets[2]; /* ours, theirs */
    int fd;         /* their memory */
    uint8_t *theirs;
    const uint8_t *ours; /* as they see it */
    swp__ring ring;      /* theirs, while they are honest */
    bool honest;
    uint64_t sent, taken; /* bytes, of a stream whose byte i is byte_of(i) */
    swp__stream stream;
} world;

static uint8_t byte_of(uint64_t i)
{
    return (uint8_t)(i * 167 + (i >> 8));
}

/* The memory at `fd` as a side maps it: the ring twice in a row. */
static void *map_twice(const world *w, int fd, int protection)
{
    size_t size = w->page + 2 * (size_t)RING;
    char *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    PROMISE(at != MAP_FAILED);
    PROMISE(mmap(at, w->page + RING, protection, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
    PROMISE(mmap(at + w->page + RING, RING, protection, MAP_SHARED | MAP_FIXED, fd, (off_t)w->page) != MAP_FAILED);
    return at;
}

static void make_their_memory(world *w)
{
    w->page = (size_t)sysconf(_SC_PAGESIZE);
    w->fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    PROMISE(w->fd >= 0 && fallocate(w->fd, 0, 0, (off_t)(w->page + RING)) == 0);
    w->theirs = map_twice(w, w->fd, PROT_READ | PROT_WRITE);
    PROMISE(fcntl(w->fd, F_ADD_SEALS, SEALS) == 0);
    swp__ring_words words = {.version = 1, .header_bytes = (uint32_t)w->page, .ring_bytes = RING};
    memcpy(words.magic, "swp-ring", sizeof words.magic);
    memcpy(w->theirs, &words, sizeof words);
}

/* False: our side refused theirs, as it must unless the first line is right. */
static bool join(world *w)
{
    swp__shm *shm;
    PROMISE(swp__shm_new(RING, &swp__system_allocator, &shm, NULL) == SWP_OK);
    int ours = dup(swp__shm_fd(shm));
    w->ours = map_twice(w, ours, PROT_READ);
    close(ours);
    swp_error error;
    swp_status status = swp__shm_join(shm, dup(w->fd), &error);
    if (status != SWP_OK) {
        PROMISE(status == SWP_BAD_FRAME);
        swp__shm_free(shm);
        return false;
    }
    PROMISE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, w->sockets) == 0);
    w->stream = swp__stream_from_socket(w->sockets[0]);
    swp__shm_attach(shm, &w->stream);
    w->ring = (swp__ring){.size = RING,
                          .ours = (swp__ring_words *)(void *)w->theirs,
                          .theirs = (const swp__ring_words *)(const void *)w->ours,
                          .out = w->theirs + w->page,
                          .in = w->ours + w->page};
    w->honest = true;
    return true;
}

static void recv_some(world *w, size_t most)
{
    static uint8_t to[1 << 16];
    struct iovec pieces[2] = {{to, most / 3}, {to + most / 3, most - most / 3}};
    ssize_t got = swp__stream_recv(&w->stream, pieces, 2);
    PROMISE(got <= (ssize_t)most);
    PROMISE(!w->honest || got >= 0 || got == -EAGAIN);
    for (ssize_t i = 0; w->honest && i < got; i++) {
        PROMISE(to[i] == byte_of(w->taken + (uint64_t)i));
    }
    w->taken += got > 0 ? (uint64_t)got : 0;
    PROMISE(!w->honest || w->taken <= w->sent);
}

static void send_some(world *w, size_t size)
{
    static const uint8_t from[1 << 16];
    struct iovec pieces[2] = {{(void *)(uintptr_t)from, size / 2}, {(void *)(uintptr_t)from, size - size / 2}};
    ssize_t sent = swp__stream_send(&w->stream, pieces, 2, NULL);
    PROMISE(sent <= (ssize_t)size);
}

/* They send as they should, while they can. */
static void put_some(world *w, size_t size)
{
    static uint8_t from[1 << 16];
    size = size > 0 ? size : 1;
    for (size_t i = 0; i < size; i++) {
        from[i] = byte_of(w->sent + i);
    }
    int64_t put = swp__ring_put(&w->ring, &(struct iovec){from, size}, 0, size);
    PROMISE(!w->honest || put >= 0);
    w->sent += put > 0 ? (uint64_t)put : 0;
}

static void write_theirs(world *w, input *in, bool in_ring)
{
    size_t at = input_number(in, 2), size, most = 1 + input_number(in, 1) % 64;
    const uint8_t *bytes = input_bytes(in, most, &size);
    at = in_ring ? w->page + at % (RING - 64) : 24 + at % 232;
    memcpy(w->theirs + at, bytes, size);
    w->honest = false;
}

/* A record's first word where the next one is looked for: any size, the right lap or another. */
static void write_word(world *w, input *in)
{
    uint64_t size = input_number(in, 4),
             lap = input_number(in, 1) == 0 ? swp__ring_lap(&w->ring, w->ring.head) : input_number(in, 4);
    uint64_t word = size | lap << 32;
    memcpy(w->theirs + w->page + (w->ring.head & (RING - 1)), &word, sizeof word);
    w->honest = false;
}

static void wait_some(world *w, uint64_t what)
{
    swp__shm *shm = w->stream.context;
    switch (what % 5) {
    case 0:
        (void)swp__shm_sleep(shm);
        break;
    case 1:
        swp__shm_awake(shm);
        break;
    case 2:
        swp__shm_socket_is_ready(shm);
        (void)swp__shm_catch_up(&w->stream);
        swp__stream_drop_fds(&w->stream);
        break;
    case 3:
        (void)swp__shm_has_input(shm);
        break;
    case 4:
        (void)swp__stream_wait(&w->stream, true, true, 1); /* a deadline that has passed */
        break;
    }
}

static void write_socket(world *w, input *in)
{
    size_t size;
    const uint8_t *bytes = input_bytes(in, input_number(in, 1) % 16, &size);
    (void)!send(w->sockets[1], bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    w->honest = false;
}

static void do_step(world *w, input *in)
{
    uint64_t what = input_number(in, 1);
    switch (what & 7) {
    case 0:
        recv_some(w, input_number(in, 2));
        break;
    case 1:
        send_some(w, input_number(in, 2));
        break;
    case 2:
        put_some(w, input_number(in, 2));
        break;
    case 3:
        write_theirs(w, in, false);
        break;
    case 4:
        write_theirs(w, in, true);
        break;
    case 5:
        write_word(w, in);
        break;
    case 6:
        wait_some(w, what >> 3);
        break;
    case 7:
        if ((what >> 3) == 31) {
            shutdown(w->sockets[1], SHUT_WR);
            w->honest = false;
        } else {
            write_socket(w, in);
        }
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, size};
    world w = {.sockets = {-1, -1}};
    make_their_memory(&w);
    bool is_right = (input_number(&in, 1) & 1) == 0;
    if (!is_right) {
        uint8_t line[24];
        size_t got;
        memcpy(line, w.theirs, sizeof line);
        const uint8_t *bytes = input_bytes(&in, sizeof line, &got);
        is_right = memcmp(line, bytes, got) == 0;
        memcpy(w.theirs, bytes, got);
    }
    bool joined = join(&w);
    PROMISE(joined == is_right);
    for (int i = 0; joined && i < STEPS_MAX && in.left > 0; i++) {
        do_step(&w, &in);
    }
    if (joined) {
        swp__stream_close(&w.stream);
        close(w.sockets[1]);
    }
    munmap(w.theirs, w.page + 2 * (size_t)RING);
    munmap((void *)(uintptr_t)w.ours, w.page + 2 * (size_t)RING);
    close(w.fd);
    return 0;
}
