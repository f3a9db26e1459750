/* The ring in every order that weak memory allows, by exhaustive search.
 *
 * The lines of ring.h themselves run here, over a model of memory: each word has the list of all values it ever had; a thread
 * sees of each word some value that is not older than what it has seen already, whichever it likes; a release store carries
 * what its thread has seen, an acquire load takes that over; full fences see each other in one order (the views of RC11, less
 * cycles of load and store). A copy out of the ring may happen later than where it stands, up to the next release or fence.
 * A sender and a taker send a few records through a ring of eight lines: every interleaving of their memory operations, with
 * every value that each load may see, is gone through, equal states once. What must hold: each record arrives, whole and in
 * order; what is no record is never taken for one; and they never both sleep while there is something to do.
 *
 * That the search can fail is shown by taking away each fence and each ordering in turn.
 *
 * A thread's step is one operation. Its function runs again from the top of its loop with the answers it has had so far, does
 * the one operation that is new, and is left. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/fingerprint.h"
#include "support/test.h"

static uint64_t model_load(const void *at, const char *function);
static void model_store(void *at, uint64_t value, const char *function);
static void model_clear(void *at);
static void model_fence(const char *function);
static void model_copy_in(uint8_t *to, const char *from, size_t size);
static void model_copy_out(char *to, const uint8_t *from, size_t size);

#define SWP__RING_MODEL
#define SWP__RING_LOAD(word) model_load(word, __func__)
#define SWP__RING_STORE(word, value) model_store(word, value, __func__)
#define SWP__RING_CLEAR(word) model_clear(word)
#define SWP__RING_FENCE() model_fence(__func__)
#define SWP__RING_COPY_IN(to, from, size) model_copy_in(to, from, size)
#define SWP__RING_COPY_OUT(to, from, size) model_copy_out(to, from, size)
#define SWP__RING_PREFETCH(at) ((void)(at))
#include "transport/ring.h"

enum {
    LINES = 8,          /* of the longest ring: then records have up to two */
    WORD_CELLS = LINES, /* cells: the first word of each line; then the second, where a record's bytes begin; then ... */
    TAIL = 2 * LINES,
    SLEEPING,
    WAITS,
    CELLS,
    MESSAGES = 12, /* values of a word that its reader has not passed */
    LOG = 16,      /* operations from the top of a loop to its end */
    PENDING = 2,   /* copies that may still be under way */
    SENDER = 0,
    TAKER = 1,
};

/* ---- the state ---- */

typedef struct message {
    uint64_t value;
    uint8_t view[CELLS]; /* what who loads it with acquire has seen then */
} message;

typedef struct cell {
    uint8_t count;  /* values it has had */
    uint8_t passed; /* of them by its reader: gone */
    message messages[MESSAGES];
} cell;

typedef struct copy {
    uint8_t cell, record;
} copy;

typedef struct thread {
    swp__ring ring;  /* at the top of the loop */
    uint8_t records; /* sent, or taken */
    uint8_t log_count, pending_count, wakes, is_done;
    uint8_t view[CELLS];
    uint64_t log[LOG];
    copy pending[PENDING];
} thread;

typedef struct model {
    cell cells[CELLS];
    thread threads[2];
    uint8_t fences[CELLS]; /* what the last full fence had seen */
} model;

/* ---- what is searched ---- */

typedef struct scenario {
    const char *sizes;                                       /* of the records: '1' 8 bytes, a line; '2' 64 bytes, two lines */
    uint64_t ring_lines;                                     /* 4, or 8 */
    uint64_t begin;                                          /* lines sent and taken before */
    const char *no_fence_in, *no_release_in, *no_acquire_in; /* functions of ring.h that lack one */
    bool no_clear;
} scenario;

static const scenario *searched;
static const char *found_fault;
static uint64_t states_count;

static uint8_t ring_memory[2 * LINES * SWP__RING_LINE];
static swp__ring_words sender_words, taker_words;

static model *now;
static int running, operation, choice, choices;
static bool did_one;
static jmp_buf left;

static void fault(const char *what)
{
    found_fault = found_fault != NULL ? found_fault : what;
}

static bool is(const char *name, const char *function)
{
    return name != NULL && strcmp(name, function) == 0;
}

static uint64_t ring_bytes(void)
{
    return searched->ring_lines * SWP__RING_LINE;
}

/* What looks like the first word of a record when the place comes next. */
static uint64_t old_bytes(uint64_t position)
{
    return 8 | (position / ring_bytes() + 1) << 32;
}

/* The bytes of a record, by cells: the second word of its first line, and of a long one the first word of its second: which
 * is what the first word of a record there would be a round later. */
static uint64_t payload(uint8_t record, bool second_line, uint64_t position)
{
    return second_line ? old_bytes(position) : 1000 + (uint64_t)record;
}

static int cell_of(const void *at)
{
    const uint8_t *byte = at;
    if (byte >= ring_memory && byte < ring_memory + sizeof ring_memory) {
        size_t offset = (size_t)(byte - ring_memory) % ring_bytes();
        size_t word = offset % SWP__RING_LINE / 8;
        return word > 1 ? -1 : (int)(offset / SWP__RING_LINE + word * WORD_CELLS);
    }
    return at == &taker_words.tail ? TAIL : at == &taker_words.sleeping ? SLEEPING : at == &sender_words.waits ? WAITS : -1;
}

static void join(uint8_t *view, const uint8_t *other)
{
    for (int i = 0; i < CELLS; i++) {
        view[i] = other[i] > view[i] ? other[i] : view[i];
    }
}

/* ---- operations ---- */

/* Is this one new? Else it was done before, and *answer is what it gave. Leaves the thread at the second new one; but a store
 * comes along with what was before it: who wants to load as if it had not been made may see an older value. */
static bool is_new(uint64_t *answer, bool is_store)
{
    thread *t = &now->threads[running];
    if (operation < t->log_count) {
        *answer = t->log[operation++];
        return false;
    }
    if (did_one && !is_store) {
        longjmp(left, 1);
    }
    did_one = true;
    return true;
}

static uint64_t log_answer(uint64_t answer)
{
    thread *t = &now->threads[running];
    if (t->log_count == LOG) {
        fail_msg("a loop has more operations than the model holds");
    }
    t->log[t->log_count++] = answer;
    operation++;
    return answer;
}

/* Some value that is not older than what was seen; `choice` says which. */
static const message *see(int at)
{
    thread *t = &now->threads[running];
    const cell *c = &now->cells[at];
    int oldest = t->view[at];
    choices = c->count - oldest;
    int picked = oldest + (choices > choice ? choice : 0);
    t->view[at] = (uint8_t)picked;
    return &c->messages[picked - c->passed];
}

/* A copy out that was under way is made now. */
static void end_copy(thread *t, int i)
{
    copy p = t->pending[i];
    const cell *c = &now->cells[p.cell];
    const message *m = &c->messages[c->count - 1 - c->passed]; /* the newest: it was put off to see what has come since */
    bool second = p.cell < LINES;
    uint64_t position = t->ring.position;
    if (m->value != payload(p.record, second, position)) {
        fault("a record's bytes were overwritten before they were taken");
    }
    t->pending[i] = t->pending[--t->pending_count];
}

static void end_copies(thread *t)
{
    while (t->pending_count > 0) {
        end_copy(t, 0);
    }
}

static uint64_t model_load(const void *at, const char *function)
{
    uint64_t answer;
    if (!is_new(&answer, false)) {
        return answer;
    }
    const message *m = see(cell_of(at));
    if (!is(searched->no_acquire_in, function)) {
        join(now->threads[running].view, m->view);
    }
    return log_answer(m->value);
}

static void add_message(int at, uint64_t value, bool is_release)
{
    thread *t = &now->threads[running];
    cell *c = &now->cells[at];
    if (c->count - c->passed == MESSAGES || c->count == UINT8_MAX) {
        fail_msg("a word has more values than the model holds");
    }
    message *m = &c->messages[c->count - c->passed];
    *m = (message){.value = value};
    t->view[at] = c->count;
    m->view[at] = c->count++;
    if (is_release) {
        memcpy(m->view, t->view, sizeof m->view);
    }
}

static void model_store(void *at, uint64_t value, const char *function)
{
    uint64_t ignored;
    if (!is_new(&ignored, true)) {
        return;
    }
    bool is_release = !is(searched->no_release_in, function);
    if (is_release) {
        end_copies(&now->threads[running]);
    }
    add_message(cell_of(at), value, is_release);
    log_answer(0);
}

static void model_clear(void *at)
{
    uint64_t ignored;
    if (searched->no_clear || !is_new(&ignored, true)) {
        return;
    }
    add_message(cell_of(at), 0, false);
    log_answer(0);
}

static void model_fence(const char *function)
{
    uint64_t ignored;
    if (is(searched->no_fence_in, function) || !is_new(&ignored, false)) {
        return;
    }
    thread *t = &now->threads[running];
    end_copies(t);
    join(t->view, now->fences);
    memcpy(now->fences, t->view, sizeof now->fences);
    log_answer(0);
}

static void model_copy_in(uint8_t *to, const char *from, size_t size)
{
    uint64_t ignored;
    thread *t = &now->threads[running];
    if (!is_new(&ignored, true)) {
        return;
    }
    (void)from;
    add_message(cell_of(to), payload(t->records, false, t->ring.head), false);
    if (size > SWP__RING_LINE - SWP__RING_WORD) {
        add_message(cell_of(to + SWP__RING_LINE - SWP__RING_WORD), payload(t->records, true, t->ring.head), false);
    }
    log_answer(0);
}

/* Sees it now, or leaves it for later. */
static void copy_cell(int at)
{
    uint64_t ignored;
    if (!is_new(&ignored, false)) {
        return;
    }
    thread *t = &now->threads[running];
    bool is_second = at < LINES;
    const message *m = see(at);
    if (choice == choices) {
        t->pending[t->pending_count++] = (copy){(uint8_t)at, t->records};
    } else if (m->value != payload(t->records, is_second, t->ring.position)) {
        fault("a record was taken before its bytes were there");
    }
    choices++;
    log_answer(0);
}

static void model_copy_out(char *to, const uint8_t *from, size_t size)
{
    (void)to;
    copy_cell(cell_of(from));
    if (size > SWP__RING_LINE - SWP__RING_WORD) {
        copy_cell(cell_of(from + SWP__RING_LINE - SWP__RING_WORD));
    }
}

/* The socket beside the ring. */
static void wake(int other)
{
    uint64_t ignored;
    if (is_new(&ignored, false)) {
        now->threads[other].wakes = 1;
        log_answer(0);
    }
}

static void sleep_until_woken(void)
{
    uint64_t ignored;
    thread *t = &now->threads[running];
    if (!is_new(&ignored, false)) {
        return;
    }
    end_copies(t);
    choices = t->wakes > 0 ? 1 : 0;
    t->wakes = 0;
    log_answer(0);
}

/* ---- the two, as shm.c has them ---- */

static uint64_t size_of(uint8_t record)
{
    return searched->sizes[record] == '2' ? 64 : 8;
}

static void sender_loop(swp__ring *r, uint8_t *records)
{
    static char bytes[64];
    struct iovec piece = {bytes, size_of(*records)};
    int64_t put = swp__ring_put(r, &piece, 0, piece.iov_len);
    if (put > 0) {
        uint64_t sleeping = swp__ring_sleeper(r);
        if (sleeping != 0) {
            wake(TAKER);
            swp__ring_was_rung(r, sleeping);
        }
        swp__ring_end_wait(r);
        *records += 1;
        return;
    }
    int room = put == 0 ? swp__ring_wait_room(r) : (int)put;
    if (room == 0) {
        sleep_until_woken();
    } else if (room < 0) {
        fault("the sender was told of a tail that cannot be");
    }
}

static void taker_loop(swp__ring *r, uint8_t *records)
{
    static char bytes[64];
    struct iovec piece = {bytes, size_of(*records)};
    bool told;
    int64_t got = swp__ring_take(r, &piece, 1, &told);
    uint64_t waits = told ? swp__ring_waiter(r) : 0;
    if (waits != 0) {
        wake(SENDER);
        swp__ring_room_was_told(r, waits);
    }
    if (got > 0) {
        *records += 1;
        if ((uint64_t)got != piece.iov_len || r->record_size != 0) {
            fault("a record of another size came");
        }
        return;
    }
    if (got < 0) {
        fault("what is no record was taken for one");
        return;
    }
    if (!swp__ring_sleep(r)) {
        sleep_until_woken();
    }
    swp__ring_awake(r);
}

/* One operation of a thread, with the `choice`-th of its outcomes; how many there are. */
static int step(model *s, int who, int which)
{
    thread *t = &s->threads[who];
    static swp__ring ring;
    static uint8_t records;
    now = s;
    running = who;
    operation = 0;
    choice = which;
    choices = 1;
    did_one = false;
    ring = t->ring;
    records = t->records;
    if (setjmp(left) == 0) {
        (who == SENDER ? sender_loop : taker_loop)(&ring, &records);
        end_copies(t);
        t->ring = ring;
        t->records = records;
        t->log_count = 0;
        memset(t->log, 0, sizeof t->log);
        t->is_done = searched->sizes[records] == '\0';
    }
    return choices;
}

/* ---- the search ---- */

static int reader_of(int at)
{
    return at == TAIL || at == SLEEPING ? SENDER : TAKER;
}

static void raise_to(uint8_t *view, const model *s)
{
    for (int i = 0; i < CELLS; i++) {
        uint8_t least = s->threads[reader_of(i)].view[i];
        view[i] = view[i] > least ? view[i] : least;
    }
}

/* What makes no difference any more is made equal: values that their reader has passed, and what a view says of words that it
 * has seen newer ones of. */
static void forget(model *s)
{
    raise_to(s->fences, s);
    for (int i = 0; i < CELLS; i++) {
        cell *c = &s->cells[i];
        int passed = s->threads[reader_of(i)].view[i], more = passed - c->passed, left_count = c->count - passed;
        if (more > 0) {
            memmove(c->messages, c->messages + more, (size_t)left_count * sizeof c->messages[0]);
            memset(c->messages + left_count, 0, (size_t)more * sizeof c->messages[0]);
            c->passed = (uint8_t)passed;
        }
        for (int m = 0; m < left_count; m++) {
            raise_to(c->messages[m].view, s);
        }
    }
}

static uint64_t *seen;
static size_t seen_room, seen_count;

static uint64_t hash_of(const model *s)
{
    return swp__fingerprint_of(s, sizeof *s).low | 1; /* 0 marks a free place */
}

static void grow(void)
{
    uint64_t *old = seen;
    size_t old_room = seen_room;
    seen_room = old_room > 0 ? 2 * old_room : 1 << 16;
    seen = calloc(seen_room, sizeof *seen);
    assert_non_null(seen);
    for (size_t i = 0; i < old_room; i++) {
        size_t at = old[i] & (seen_room - 1);
        while (old[i] != 0 && seen[at] != 0) {
            at = (at + 1) & (seen_room - 1);
        }
        seen[at] = old[i] != 0 ? old[i] : seen[at];
    }
    free(old);
}

static bool is_first_visit(const model *s)
{
    if (seen_count * 2 >= seen_room) {
        grow();
    }
    uint64_t hash = hash_of(s);
    size_t at = (hash >> 1) & (seen_room - 1);
    while (seen[at] != 0 && seen[at] != hash) {
        at = (at + 1) & (seen_room - 1);
    }
    bool is_first = seen[at] == 0;
    seen[at] = hash;
    seen_count += is_first ? 1 : 0;
    return is_first;
}

static void search(const model *s)
{
    bool moved = false;
    if (found_fault != NULL || !is_first_visit(s)) {
        return;
    }
    states_count++;
    for (int who = 0; who < 2; who++) {
        int outcomes = 1;
        for (int which = 0; !s->threads[who].is_done && which < outcomes; which++) {
            static model spare[4096];
            static int depth;
            assert_true(depth < 4096);
            model *next = &spare[depth];
            memcpy(next, s, sizeof *next);
            outcomes = step(next, who, which);
            forget(next);
            if (outcomes > which) {
                moved = true;
                depth++;
                search(next);
                depth--;
            }
        }
    }
    if (!moved && !(s->threads[SENDER].is_done && s->threads[TAKER].is_done)) {
        fault("both sleep, and nobody will wake them");
    }
}

/* NULL: everything holds; else what does not. */
static const char *fault_of(const scenario *what)
{
    static model start;
    uint64_t begin = what->begin * SWP__RING_LINE;
    searched = what;
    memset(&start, 0, sizeof start);
    for (int i = 0; i < CELLS; i++) {
        start.cells[i].count = 1;
    }
    for (uint64_t i = 0; i < what->ring_lines; i++) { /* all but the next one, which was cleared, hold the worst there can be */
        uint64_t position = begin + i * SWP__RING_LINE;
        start.cells[position % ring_bytes() / SWP__RING_LINE].messages[0].value =
            i > 0 ? old_bytes(position - ring_bytes()) : 0;
    }
    start.cells[TAIL].messages[0].value = begin;
    swp__ring ring = {.size = ring_bytes(),
                      .out = ring_memory,
                      .in = ring_memory,
                      .head = begin,
                      .their_tail = begin,
                      .position = begin,
                      .told = begin};
    ring.ours = &sender_words;
    ring.theirs = &taker_words;
    start.threads[SENDER].ring = ring;
    ring.ours = &taker_words;
    ring.theirs = &sender_words;
    start.threads[TAKER].ring = ring;
    found_fault = NULL;
    states_count = 0;
    free(seen);
    seen = NULL;
    seen_room = seen_count = 0;
    search(&start);
    free(seen);
    seen = NULL;
    seen_room = 0;
    if (getenv("SWP_MODEL_STATES") != NULL) {
        fprintf(stderr, "# %s: %llu states, %s\n", what->sizes, (unsigned long long)states_count,
                found_fault != NULL ? found_fault : "holds");
    }
    return found_fault;
}

/* Rings that are full before the taker has looked; long records; the end of the ring and the round after. */
static const scenario scenarios[] = {
    {.sizes = "1111", .ring_lines = 4, .begin = 6},
    {.sizes = "211", .ring_lines = 8, .begin = 14},
    {.sizes = "12", .ring_lines = 8, .begin = 15},
    {.sizes = "222", .ring_lines = 8, .begin = 13},
};

TEST(ring_model_every_order_of_memory_delivers_every_record)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        assert_null(fault_of(&scenarios[i]));
    }
}

/* Each fence and each ordering, taken away alone, is missed: what the search finds then. */
static const struct {
    const char *name;
    scenario without;
    const char *found;
} mutants[] = {
    {"the sender's fence before it looks for a sleeper", {.no_fence_in = "swp__ring_sleeper"}, "both sleep"},
    {"the taker's fence before it looks once more", {.no_fence_in = "swp__ring_sleep"}, "both sleep"},
    {"the sender's fence before it looks for room once more", {.no_fence_in = "swp__ring_wait_room"}, "both sleep"},
    {"the taker's fence before it looks for who waits", {.no_fence_in = "swp__ring_waiter"}, "both sleep"},
    {"the release of a record", {.no_release_in = "swp__ring_put"}, "before its bytes"},
    {"the acquire of a record", {.no_acquire_in = "swp__ring_look"}, "before its bytes"},
    {"the release of the tail", {.no_release_in = "swp__ring_pass_record", .sizes = "22212", .ring_lines = 8}, "overwritten"},
    {"the clearing of the next word", {.no_clear = true}, "before its bytes"},
};

static void assert_is_found(const char *name, const scenario *without, const char *found)
{
    const char *fault_found = NULL;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0] && fault_found == NULL; i++) {
        scenario s = *without;
        if (without->sizes == NULL) {
            s.sizes = scenarios[i].sizes;
            s.ring_lines = scenarios[i].ring_lines;
            s.begin = scenarios[i].begin;
        }
        fault_found = fault_of(&s);
    }
    if (fault_found == NULL || strstr(fault_found, found) == NULL) {
        fail_msg("without %s: found %s", name, fault_found != NULL ? fault_found : "nothing");
    }
}

TEST(ring_model_finds_every_fence_and_ordering_that_is_taken_away)
{
    for (size_t i = 0; i < sizeof mutants / sizeof mutants[0]; i++) {
        assert_is_found(mutants[i].name, &mutants[i].without, mutants[i].found);
    }
}
