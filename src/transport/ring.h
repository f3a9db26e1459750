/* Two rings of records in memory that two processes share: bytes from one to the other, without a system call.
 *
 * Each side has memory of its own, which it alone can write (transport/shm.h): the ring it sends by, and three words that the
 * other side reads. So nobody can change what is ours but ourselves, and no word has two writers:
 *
 *     our memory     tail, sleeping, waits │ ring: what we send      ──>  the other side takes
 *     their memory   tail, sleeping, waits │ ring: what they send    ──>  we take
 *
 * A record is a first word, `u32 size | u16 lap | u16 0`, and size bytes behind it; records begin at multiples of 64 and follow
 * each other. The ring is mapped twice in a row, so that none is ever in two pieces. The first word is stored last, and is what
 * the other side looks at: a small record moves one line of the cache and nothing else. Before it, the first word of the record
 * that will follow is cleared, so that old bytes never look like one; `lap` counts the ring's rounds, as a check.
 *
 * `tail` says how far the other side's ring was taken; it is told when an eighth of the ring has been, not for each record.
 *
 * Sleeping. Who has found nothing sets `sleeping`, to another number each time, then looks once more, and only then sleeps. Who
 * sends stores the record, then looks at `sleeping`. Between store and load there is a full fence on both sides: with anything
 * less each may miss the other's store, and a record waits for ever. The same holds for `waits`, set by who waits for room, and
 * `tail`. How a sleeper is woken is the caller's business; once a number is enough.
 *
 * The peer is not trusted: each of its words is read once, and checked before it is used; positions are our own; its bytes are
 * copied out once, and whoever makes sense of them works on the copy.
 *
 * Sending and taking may be done by two threads. Everything is inline and goes through the macros below, so that
 * ring_model_test.c can run these very lines in every order that weak memory allows. */
#ifndef SWP_TRANSPORT_RING_H
#define SWP_TRANSPORT_RING_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#ifndef SWP__RING_MODEL
#define SWP__RING_LOAD(word) __atomic_load_n(word, __ATOMIC_ACQUIRE)
#define SWP__RING_STORE(word, value) __atomic_store_n(word, value, __ATOMIC_RELEASE)
#define SWP__RING_CLEAR(word) __atomic_store_n(word, 0, __ATOMIC_RELAXED)
#define SWP__RING_FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define SWP__RING_COPY_IN(to, from, size) memcpy(to, from, size)
#define SWP__RING_COPY_OUT(to, from, size) memcpy(to, from, size)
#define SWP__RING_PREFETCH(at) __builtin_prefetch(at, 1)
#endif

enum {
    SWP__RING_LINE = 64,
    SWP__RING_WORD = 8, /* bytes of a record's first word */
};

/* The first page of a side's memory, as protocol.md says. Its first line is looked at once, when the memory is taken over. */
typedef struct swp__ring_words {
    char magic[8]; /* "swp-ring" */
    uint32_t version;
    uint32_t header_bytes; /* where the ring begins: a page */
    uint64_t ring_bytes;
    _Alignas(SWP__RING_LINE) uint64_t tail;     /* bytes of the other side's ring that this side has taken */
    _Alignas(SWP__RING_LINE) uint64_t sleeping; /* 0: this side looks at the other's ring; else another number each time */
    _Alignas(SWP__RING_LINE) uint64_t waits;    /* 0, or this side waits for room in its own ring; likewise */
} swp__ring_words;

_Static_assert(offsetof(swp__ring_words, version) == 8 && offsetof(swp__ring_words, header_bytes) == 12 &&
                   offsetof(swp__ring_words, ring_bytes) == 16 && offsetof(swp__ring_words, tail) == 64 &&
                   offsetof(swp__ring_words, sleeping) == 128 && offsetof(swp__ring_words, waits) == 192,
               "the words stand where the protocol says");

typedef struct swp__ring {
    uint64_t size; /* of each ring: a power of two */
    swp__ring_words *ours;
    const swp__ring_words *theirs;
    uint8_t *out;      /* [2 * size] */
    const uint8_t *in; /* [2 * size] */

    /* who sends */
    _Alignas(SWP__RING_LINE) uint64_t head; /* bytes sent */
    uint64_t their_tail;                    /* as last read */
    uint64_t rung;                          /* their `sleeping` that was answered with a wake */
    uint64_t waits_count;
    bool is_waiting;

    /* who takes */
    _Alignas(SWP__RING_LINE) uint64_t position; /* bytes taken, whole records */
    uint64_t told;                              /* of them by `tail` */
    uint64_t told_room;                         /* their `waits` that was answered with a wake */
    uint64_t sleeps_count;
    uint32_t record_size, record_done; /* of the record that is being taken; 0: none */
} swp__ring;

static inline uint64_t swp__ring_record_bytes(uint64_t size)
{
    return (SWP__RING_WORD + size + SWP__RING_LINE - 1) / SWP__RING_LINE * SWP__RING_LINE;
}

/* Bytes of the longest record. */
static inline uint64_t swp__ring_record_most(const swp__ring *r)
{
    return r->size / 4 - SWP__RING_WORD;
}

static inline uint64_t swp__ring_lap(const swp__ring *r, uint64_t position)
{
    return (position / r->size) & 0xffff;
}

/* ---- sending ---- */

/* Is there room for a record of `bytes` and the first word behind it? 1 or 0; -EPROTO: their tail cannot be. */
static inline int swp__ring_room_for(swp__ring *r, uint64_t bytes)
{
    uint64_t needed = bytes + SWP__RING_LINE;
    if (r->head - r->their_tail + needed <= r->size) {
        return 1;
    }
    uint64_t tail = SWP__RING_LOAD(&r->theirs->tail); /* acquire: what was taken is not overwritten before it was read */
    if (tail - r->their_tail > r->head - r->their_tail || tail % SWP__RING_LINE != 0) {
        return -EPROTO;
    }
    r->their_tail = tail;
    return r->head - tail + needed <= r->size ? 1 : 0;
}

/* Room for any record. */
static inline int swp__ring_has_room(swp__ring *r)
{
    return swp__ring_room_for(r, r->size / 4);
}

static inline void swp__ring_gather(uint8_t *to, const struct iovec *pieces, size_t skip, uint64_t size)
{
    for (; size > 0; pieces++) {
        if (skip >= pieces->iov_len) {
            skip -= pieces->iov_len;
            continue;
        }
        size_t part = pieces->iov_len - skip < size ? pieces->iov_len - skip : (size_t)size;
        SWP__RING_COPY_IN(to, (const char *)pieces->iov_base + skip, part);
        to += part;
        size -= part;
        skip = 0;
    }
}

/* Sends one record of the pieces' bytes from `skip` on, of which there are `left` > 0. Bytes sent; 0: no room; -EPROTO. */
static inline int64_t swp__ring_put(swp__ring *r, const struct iovec *pieces, size_t skip, uint64_t left)
{
    uint64_t most = swp__ring_record_most(r), size = left < most ? left : most, bytes = swp__ring_record_bytes(size);
    int room = swp__ring_room_for(r, bytes);
    if (room <= 0) {
        return room;
    }
    uint8_t *at = r->out + (r->head & (r->size - 1)), *next = r->out + ((r->head + bytes) & (r->size - 1));
    swp__ring_gather(at + SWP__RING_WORD, pieces, skip, size);
    SWP__RING_CLEAR((uint64_t *)(void *)next);
    /* release: the bytes and the cleared word come before it */
    SWP__RING_STORE((uint64_t *)(void *)at, size | swp__ring_lap(r, r->head) << 32);
    r->head += bytes;
    SWP__RING_PREFETCH(r->out + ((r->head + SWP__RING_LINE) & (r->size - 1))); /* the next one clears it */
    return (int64_t)size;
}

/* After a record was put: must the other side be woken? Say so with swp__ring_was_rung once it is. */
static inline uint64_t swp__ring_sleeper(const swp__ring *r)
{
    SWP__RING_FENCE(); /* the record's store before this load; see swp__ring_sleep */
    uint64_t sleeping = SWP__RING_LOAD(&r->theirs->sleeping);
    return sleeping != r->rung ? sleeping : 0;
}

static inline void swp__ring_was_rung(swp__ring *r, uint64_t sleeping)
{
    r->rung = sleeping;
}

/* Nothing could be put: from now on the other side tells of room. 1: there is some after all; 0; -EPROTO. */
static inline int swp__ring_wait_room(swp__ring *r)
{
    SWP__RING_STORE(&r->ours->waits, ++r->waits_count);
    r->is_waiting = true;
    SWP__RING_FENCE(); /* the store of `waits` before the load of their tail; see swp__ring_waiter */
    return swp__ring_has_room(r);
}

static inline void swp__ring_end_wait(swp__ring *r)
{
    if (r->is_waiting) {
        SWP__RING_STORE(&r->ours->waits, 0);
        r->is_waiting = false;
    }
}

/* ---- taking ---- */

/* Looks at the next record: 1 it is there; 0 it is not; -EPROTO what is there is no record. */
static inline int swp__ring_look(swp__ring *r)
{
    if (r->record_size > 0) {
        return 1;
    }
    /* acquire: the bytes behind the word are read after it */
    uint64_t word = SWP__RING_LOAD((const uint64_t *)(const void *)(r->in + (r->position & (r->size - 1))));
    if (word == 0) {
        return 0;
    }
    uint64_t size = word & UINT32_MAX;
    if (size == 0 || size > swp__ring_record_most(r) || word >> 32 != swp__ring_lap(r, r->position)) {
        return -EPROTO;
    }
    r->record_size = (uint32_t)size;
    r->record_done = 0;
    return 1;
}

/* Is there something to take, or something wrong? Changes nothing. */
static inline bool swp__ring_has_input(const swp__ring *r)
{
    return r->record_size > 0 || SWP__RING_LOAD((const uint64_t *)(const void *)(r->in + (r->position & (r->size - 1)))) != 0;
}

static inline void swp__ring_pass_record(swp__ring *r)
{
    r->position += swp__ring_record_bytes(r->record_size);
    r->record_size = 0;
    if (r->position - r->told >= r->size / 8) {
        r->told = r->position;
        SWP__RING_STORE(&r->ours->tail, r->told); /* release: the bytes were read before it */
    }
}

/* Fills the pieces, as far as there is something. Bytes; 0: nothing; -EPROTO. *told: the tail was. */
static inline int64_t swp__ring_take(swp__ring *r, const struct iovec *pieces, int count, bool *told)
{
    int64_t taken = 0;
    uint64_t told_before = r->told;
    int there = 0;
    for (int i = 0; i < count; i++) {
        char *to = pieces[i].iov_base;
        size_t left = pieces[i].iov_len;
        while (left > 0 && (there = swp__ring_look(r)) > 0) {
            size_t part = r->record_size - r->record_done;
            part = part < left ? part : left;
            SWP__RING_COPY_OUT(to, r->in + (r->position & (r->size - 1)) + SWP__RING_WORD + r->record_done, part);
            r->record_done += (uint32_t)part;
            to += part;
            left -= part;
            taken += (int64_t)part;
            if (r->record_done == r->record_size) {
                swp__ring_pass_record(r);
            }
        }
        if (left > 0) {
            break;
        }
    }
    *told = r->told != told_before;
    return taken > 0 ? taken : there;
}

/* After the tail was told: must the other side be woken for the room? As swp__ring_sleeper. */
static inline uint64_t swp__ring_waiter(const swp__ring *r)
{
    SWP__RING_FENCE(); /* the tail's store before this load */
    uint64_t waits = SWP__RING_LOAD(&r->theirs->waits);
    return waits != r->told_room ? waits : 0;
}

static inline void swp__ring_room_was_told(swp__ring *r, uint64_t waits)
{
    r->told_room = waits;
}

/* From now on the other side wakes us. True: there is something already; do not sleep. */
static inline bool swp__ring_sleep(swp__ring *r)
{
    SWP__RING_STORE(&r->ours->sleeping, ++r->sleeps_count);
    SWP__RING_FENCE(); /* the store of `sleeping` before the load of the record's word */
    return swp__ring_has_input(r);
}

static inline void swp__ring_awake(swp__ring *r)
{
    SWP__RING_STORE(&r->ours->sleeping, 0);
}

#endif
