/* The client against a peer that plays a script: what it sends, and what it makes of every kind of answer. */
#include "swp/client.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/host.h"
#include "client/internal.h"
#include "support/host.h"
#include "support/peer.h"
#include "support/test.h"

enum { PATIENCE_MS = 20000, SHORT_MS = 50 };

static swp_client *open_client(const char *url)
{
    swp_client *client;
    swp_error error;
    swp_client_options options = {.timeout_ms = PATIENCE_MS, .name = "client_test"};
    if (swp_client_open(url, &options, &client, &error) != SWP_OK) {
        fail_msg("%s", error.message);
    }
    return client;
}

static swp_status echo(swp_client *client, const char *text, char *reply, uint32_t timeout_ms)
{
    return swp_client_echo(client, text, strlen(text), reply, timeout_ms, NULL);
}

static void assert_echoes(swp_client *client, const char *text)
{
    char reply[64] = {0};
    assert_int_equal(echo(client, text, reply, 0), SWP_OK);
    assert_string_equal(reply, text);
}

static void play_echo(peer *p)
{
    while (peer_next(p)) {
        peer_echo(p);
    }
}

/* ---- opening ---- */

TEST(open_refuses_addresses_and_options_before_it_connects)
{
    swp_client *client;
    swp_error error;
    assert_int_equal(swp_client_open(NULL, NULL, &client, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 1);
    assert_int_equal(swp_client_open("unix:/x", NULL, NULL, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 3);
    assert_int_equal(swp_client_open("http://x", NULL, &client, &error), SWP_BAD_PARAM);
    assert_int_equal(swp_client_open("stdio:", NULL, &client, &error), SWP_BAD_PARAM);
    char name[257] = {0};
    memset(name, 'x', 256);
    assert_int_equal(swp_client_open("unix:/x", &(swp_client_options){.name = name}, &client, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 2);
    swp_client_options token = {.token = name, .token_size = 1025};
    assert_int_equal(swp_client_open("unix:/x", &token, &client, &error), SWP_BAD_PARAM);
}

TEST(open_is_refused_where_nobody_listens_and_where_nothing_starts)
{
    swp_client *client;
    assert_int_equal(swp_client_open("unix:/nonexistent/s", NULL, &client, NULL), SWP_REFUSED);
    assert_int_equal(swp_client_open("spawn:/nonexistent/sweepd", NULL, &client, NULL), SWP_REFUSED);
}

static void play_token(peer *p)
{
    static const char expected[] = "secretclient_test";
    bool right = peer_expect(p, SWP__OP_HELLO) && p->request.hello.token_bytes == 6 && p->tail_size == strlen(expected) &&
                 memcmp(peer_tail(p), expected, strlen(expected)) == 0;
    peer_fail(p, SWP__OP_HELLO, p->id, right ? SWP_DENIED : SWP_INTERNAL, SWP_AT_NONE, "not that one");
}

TEST(open_brings_token_and_name_and_tells_what_the_server_said)
{
    peer p = {.silent = true};
    swp_client *client;
    swp_error error;
    swp_client_options options = {.token = "secret", .token_size = 6, .name = "client_test"};
    assert_int_equal(swp_client_open(peer_start(&p, play_token, NULL), &options, &client, &error), SWP_DENIED);
    assert_string_equal(error.message, "not that one");
    peer_stop(&p);
}

static void play_busy(peer *p)
{
    peer_fail(p, 0, 0, SWP_BUSY, SWP_AT_NONE, "too many connections");
}

TEST(open_is_told_busy_by_a_server_that_does_not_even_read)
{
    for (int i = 0; i < 200; i++) { /* it may close before our greeting leaves, or after */
        peer p = {.silent = true};
        swp_client *client;
        swp_error error;
        assert_int_equal(swp_client_open(peer_start(&p, play_busy, NULL), NULL, &client, &error), SWP_BUSY);
        assert_string_equal(error.message, "too many connections");
        peer_stop(&p);
    }
}

TEST(open_takes_the_servers_limits)
{
    peer p = {.max_in_flight = 5};
    swp_client *client = open_client(peer_start(&p, play_echo, NULL));
    swp_server_info info = swp_client_server(client);
    assert_int_equal(info.max_in_flight, 5);
    assert_int_equal(info.max_body, PEER_MAX_BODY);
    assert_string_equal(info.version, "test");
    swp_client_close(client);
    peer_stop(&p);
}

TEST(open_gives_everything_back_at_each_allocation_that_fails)
{
    peer p = {0};
    const char *url = peer_start(&p, play_echo, NULL);
    swp_status status = SWP_NO_MEMORY;
    for (uint64_t nth = 1; status == SWP_NO_MEMORY; nth++) {
        swp__test_memory memory = {.fail_at = nth};
        swp_allocator allocator = swp__test_allocator(&memory);
        swp_client_options options = {.allocator = &allocator, .timeout_ms = PATIENCE_MS};
        swp_client *client = NULL;
        status = swp_client_open(url, &options, &client, NULL);
        swp_client_close(status == SWP_OK ? client : NULL);
        assert_int_equal(memory.live_count, 0);
        assert_true(nth < 100);
    }
    assert_int_equal(status, SWP_OK);
    peer_stop(&p);
}

/* ---- calls and replies ---- */

static void play_byte_by_byte(peer *p)
{
    while (peer_expect(p, SWP__OP_ECHO) && p->tail_size > 0) {
        uint8_t frame[SWP__WIRE_PAYLOAD_AT + 64] = {[4] = SWP__OP_ECHO | 0x80};
        uint32_t size = SWP__WIRE_HEADER_SIZE + p->tail_size;
        memcpy(frame, &size, sizeof size);
        memcpy(frame + 8, &p->id, sizeof p->id);
        memcpy(frame + SWP__WIRE_PAYLOAD_AT, peer_tail(p), p->tail_size);
        for (size_t i = 0; i < size + 4; i++) {
            peer_send(p, frame + i, 1);
        }
    }
}

TEST(echo_comes_whole_from_a_relay_that_passes_one_byte_at_a_time)
{
    peer p = {0};
    swp_client *client = open_client(peer_start(&p, play_byte_by_byte, NULL));
    for (int i = 0; i < 20; i++) {
        assert_echoes(client, "forty-two bytes or thereabouts, in pieces");
    }
    assert_int_equal(echo(client, "", NULL, SHORT_MS), SWP_CLOSED); /* the script ends with an empty one */
    swp_client_close(client);
    peer_stop(&p);
}

static void play_refusal(peer *p)
{
    while (peer_next(p)) {
        peer_fail(p, SWP__OP_ECHO, p->id, SWP_LIMIT, 12345, "no more of it");
    }
}

TEST(error_replies_keep_status_place_numbers_and_text)
{
    peer p = {0};
    swp_client *client = open_client(peer_start(&p, play_refusal, NULL));
    swp_error error;
    char reply[4] = "abc";
    assert_int_equal(swp_client_echo(client, "xyz", 3, reply, 0, &error), SWP_LIMIT);
    assert_int_equal(error.at, 12345);
    assert_int_equal(error.a, 7);
    assert_int_equal(error.b, 8);
    assert_string_equal(error.message, "no more of it");
    assert_string_equal(reply, "abc"); /* as it was */
    swp_client_close(client);
    peer_stop(&p);
}

static void play_wrong_reply(peer *p)
{
    if (!peer_next(p)) {
        return;
    }
    switch (*(int *)p->context) {
    case 0: /* another message's */
        peer_reply(p, SWP__OP_DROP, SWP_OK, p->id, NULL, 0, NULL, 0);
        break;
    case 1: /* too long */
        peer_reply(p, SWP__OP_ECHO, SWP_OK, p->id, NULL, 0, "abcd", 4);
        break;
    case 2: /* too short */
        peer_reply(p, SWP__OP_ECHO, SWP_OK, p->id, NULL, 0, "ab", 2);
        break;
    case 3: /* progress that nobody asked for */
        peer_reply(p, SWP__OP_ECHO, SWP_MORE, p->id, NULL, 0, NULL, 0);
        break;
    case 4: /* a length beyond what the server said */
        peer_send(p, "\xff\xff\xff\xff\x91\0\0\0\1\0\0\0", 12);
        break;
    default: /* no reply at all */
        peer_send(p, "\x0c\0\0\0\x11\0\0\0\1\0\0\0abcd", 16);
    }
    while (peer_next(p)) {
    }
}

TEST(a_reply_that_is_not_what_was_asked_ends_the_connection)
{
    for (int kind = 0; kind < 6; kind++) {
        peer p = {0};
        swp_client *client = open_client(peer_start(&p, play_wrong_reply, &kind));
        char reply[8] = "before";
        assert_int_equal(echo(client, "xyz", reply, 0), SWP_BAD_FRAME);
        assert_string_equal(reply, "before");
        swp_client_close(client);
        peer_stop(&p);
    }
}

static void play_late_reply(peer *p)
{
    if (!peer_expect(p, SWP__OP_ECHO)) {
        return;
    }
    uint32_t late = p->id;
    if (!peer_expect(p, SWP__OP_ECHO)) {
        return;
    }
    peer_reply(p, SWP__OP_ECHO, SWP_OK, late, NULL, 0, "late", 4);
    peer_echo(p);
    play_echo(p);
}

TEST(the_late_reply_of_a_call_that_timed_out_is_dropped)
{
    peer p = {0};
    swp_client *client = open_client(peer_start(&p, play_late_reply, NULL));
    char reply[8] = "before";
    swp_error error;
    assert_int_equal(swp_client_echo(client, "late", 4, reply, SHORT_MS, &error), SWP_TIMED_OUT);
    assert_echoes(client, "next");
    assert_echoes(client, "and the next");
    assert_string_equal(reply, "before");
    assert_int_equal(p.connections, 1);
    swp_client_close(client);
    peer_stop(&p);
}

static void play_nothing(peer *p)
{
    while (peer_next(p)) {
    }
}

TEST(time_outs_go_by_the_clock_that_was_handed_in)
{
    peer p = {0};
    swp_client *client;
    swp__test_clock hours = {.step_ns = UINT64_C(3600000000000)}; /* from one look at it to the next */
    swp_clock clock = swp__test_clock_of(&hours);
    swp_client_options options = {.timeout_ms = SWP_NO_TIMEOUT, .clock = &clock};
    assert_int_equal(swp_client_open(peer_start(&p, play_nothing, NULL), &options, &client, NULL), SWP_OK);
    char reply[8];
    assert_int_equal(echo(client, "abc", reply, 7200000), SWP_TIMED_OUT);
    swp_client_close(client);
    peer_stop(&p);
}

static void play_half_a_reply(peer *p)
{
    static const uint8_t head[] = {12, 0, 0, 0, SWP__OP_ECHO | 0x80, 0, 0, 0};
    if (peer_expect(p, SWP__OP_ECHO)) {
        peer_send(p, head, sizeof head);
        peer_send(p, &p->id, sizeof p->id);
        peer_send(p, "ab", 2);
        if (peer_expect(p, SWP__OP_ECHO)) { /* sent once the first had timed out */
            peer_send(p, "cd", 2);
            peer_echo(p);
        }
        play_echo(p);
    }
}

TEST(a_call_that_times_out_inside_its_reply_leaves_its_memory_alone_after)
{
    peer p = {0};
    swp_client *client = open_client(peer_start(&p, play_half_a_reply, NULL));
    char reply[4];
    assert_int_equal(echo(client, "abcd", reply, SHORT_MS), SWP_TIMED_OUT);
    memcpy(reply, "mine", 4);
    assert_echoes(client, "next");
    assert_memory_equal(reply, "mine", 4);
    swp_client_close(client);
    peer_stop(&p);
}

static void play_one_answer(peer *p)
{
    if (peer_next(p)) {
        peer_echo(p);
        (void)peer_next(p); /* and closes without one */
    }
}

TEST(closed_is_closed_and_the_next_call_connects_again)
{
    peer p = {0};
    swp_client *client = open_client(peer_start(&p, play_one_answer, NULL));
    for (int i = 0; i < 5; i++) {
        assert_echoes(client, "answered");
        char reply[8];
        assert_int_equal(echo(client, "not", reply, 0), SWP_CLOSED);
    }
    assert_int_equal(p.connections, 5);
    swp_client_close(client);
    peer_stop(&p);
}

static void play_one_answer_and_leave(peer *p)
{
    if (peer_next(p)) {
        peer_echo(p);
        shutdown(p->fd, SHUT_RDWR);
    }
}

TEST(a_connection_that_ended_while_idle_costs_no_call)
{
    peer p = {0};
    swp_client *client = open_client(peer_start(&p, play_one_answer_and_leave, NULL));
    for (int i = 0; i < 5; i++) {
        char reply[16] = {0};
        swp_status status = echo(client, "again", reply, 0);
        while (status == SWP_CLOSED) { /* the end may come after the request has left: then it is said, once */
            status = echo(client, "again", reply, 0);
        }
        assert_int_equal(status, SWP_OK);
    }
    swp_client_close(client);
    peer_stop(&p);
}

TEST(a_server_that_is_gone_for_good_is_refused_after_closed)
{
    peer p = {0};
    swp_client *client = open_client(peer_start(&p, play_one_answer_and_leave, NULL));
    assert_echoes(client, "last");
    peer_stop(&p);
    char reply[8];
    swp_status status = echo(client, "more", reply, 0);
    status = status == SWP_CLOSED ? echo(client, "more", reply, 0) : status;
    assert_int_equal(status, SWP_REFUSED);
    swp_client_close(client);
}

/* ---- large frames ---- */

enum { LARGE = PEER_MAX_BODY - 8 };

static void play_large(peer *p)
{
    while (peer_next(p)) {
        peer_echo(p);
    }
}

TEST(a_large_echo_comes_back_whole)
{
    static uint8_t bytes[LARGE], reply[LARGE];
    peer p = {0};
    swp_client *client = open_client(peer_start(&p, play_large, NULL));
    for (size_t i = 0; i < LARGE; i++) {
        bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    }
    assert_int_equal(swp_client_echo(client, bytes, LARGE, reply, 0, NULL), SWP_OK);
    assert_memory_equal(bytes, reply, LARGE);
    swp_error error;
    assert_int_equal(swp_client_echo(client, bytes, LARGE + 1, reply, 0, &error), SWP_LIMIT); /* nothing was sent */
    assert_int_equal(error.a, PEER_MAX_BODY);
    assert_int_equal(error.b, PEER_MAX_BODY + 1);
    swp_client_close(client);
    peer_stop(&p);
}

/* Answers the first before it reads the second, and more than any buffer holds. */
static void play_stubborn(peer *p)
{
    static uint64_t cells[LARGE / 8];
    int small = 4096;
    setsockopt(p->fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    if (peer_expect(p, SWP__OP_SWEEP)) {
        uint64_t n = p->request.sweep.n_combos;
        peer_reply(p, SWP__OP_SWEEP, SWP_OK, p->id, NULL, 0, cells, n * 8);
    }
    play_echo(p);
}

static swp_client_series *load_series(swp_client *client, const double *close, uint64_t bars_count, swp_keep keep);

static void play_load_then_stubborn(peer *p)
{
    if (peer_expect(p, SWP__OP_LOAD)) {
        peer_tell_series(p, 1, peer_tail(p), p->request.shape.n_bars);
        play_stubborn(p);
    }
}

TEST(large_frames_towards_each_other_stop_neither)
{
    enum { COMBOS = 20000 };
    static int64_t rows[COMBOS * 6];
    static double pnl[COMBOS];
    static uint8_t bytes[LARGE], reply[LARGE];
    peer p = {0};
    swp_client *client = open_client(peer_start(&p, play_load_then_stubborn, NULL));
    double close[] = {1, 2, 3};
    swp_client_series *series = load_series(client, close, 3, SWP_KEEP_NOTHING);
    for (size_t i = 0; i < COMBOS * 6; i++) {
        rows[i] = 1;
    }
    swp_sweep_request request = {.grid = {.combos_count = COMBOS, .rows = rows}};
    swp_sweep_result result = {.pnl = pnl};
    swp_pending *pending;
    assert_int_equal(swp_client_submit_sweep(client, series, &request, &result, 0, &pending, NULL), SWP_OK);
    assert_int_equal(swp_client_echo(client, bytes, LARGE, reply, 0, NULL), SWP_OK); /* its request waits for room */
    assert_int_equal(swp_pending_wait(pending, NULL), SWP_OK);
    swp_client_close(client);
    peer_stop(&p);
}

/* ---- many at once ---- */

static void play_backwards(peer *p)
{
    enum { BATCH = 4 };
    uint32_t ids[BATCH];
    uint64_t handles[BATCH];
    if (!peer_expect(p, SWP__OP_LOAD)) {
        return;
    }
    peer_tell_series(p, 1, peer_tail(p), p->request.shape.n_bars);
    for (int i = 0; i < BATCH; i++) {
        if (!peer_expect(p, SWP__OP_SWEEP)) {
            return;
        }
        ids[i] = p->id;
        memcpy(&handles[i], (const uint8_t *)peer_tail(p) + SWP__EXEC_BYTES, 8); /* the first parameter */
    }
    for (int i = BATCH; i-- > 0;) {
        peer_reply(p, SWP__OP_SWEEP, SWP_OK, ids[i], NULL, 0, &handles[i], 8);
    }
    play_echo(p);
}

static swp_client_series *load_series(swp_client *client, const double *close, uint64_t bars_count, swp_keep keep)
{
    swp_client_series *series;
    swp_error error;
    swp_columns columns = {.bars_count = bars_count, .close = close};
    if (swp_client_load(client, &columns, 0, keep, 0, &series, &error) != SWP_OK) {
        fail_msg("%s", error.message);
    }
    return series;
}

TEST(replies_out_of_order_go_to_those_who_asked)
{
    peer p = {0};
    swp_client *client = open_client(peer_start(&p, play_backwards, NULL));
    double close[] = {1, 2};
    int64_t rows[4][6], trades[4];
    swp_pending *pending[4];
    swp_client_series *series = load_series(client, close, 2, SWP_KEEP_NOTHING);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 6; j++) {
            rows[i][j] = 100 + i;
        }
        swp_sweep_request request = {.grid = {.combos_count = 1, .rows = rows[i]}};
        swp_sweep_result result = {.trades = &trades[i]};
        assert_int_equal(swp_client_submit_sweep(client, series, &request, &result, 0, &pending[i], NULL), SWP_OK);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(swp_pending_wait(pending[i], NULL), SWP_OK);
        assert_int_equal(trades[i], 100 + i);
    }
    swp_client_close(client);
    peer_stop(&p);
}

/* Answers only when nothing more comes, so that it sees how many are sent ahead. */
static bool comes_soon(const peer *p)
{
    struct timeval wait = {.tv_usec = 20000};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(p->fd, &set);
    return select(p->fd + 1, &set, NULL, NULL, &wait) > 0;
}

static void play_two_at_a_time(peer *p)
{
    uint32_t ids[2];
    while (peer_next(p)) {
        int count = 0;
        ids[count++] = p->id;
        while (comes_soon(p) && peer_next(p)) {
            if (count == 2) {
                snprintf(p->failure, sizeof p->failure, "a third request while two were in flight");
                return;
            }
            ids[count++] = p->id;
        }
        for (int i = 0; i < count; i++) {
            peer_reply(p, SWP__OP_ECHO, SWP_OK, ids[i], NULL, 0, "abc", 3);
        }
    }
}

static void *echo_ten_times(void *context)
{
    for (int i = 0; i < 10; i++) {
        char reply[4] = {0};
        if (echo(context, "abc", reply, 0) != SWP_OK || strcmp(reply, "abc") != 0) {
            return context;
        }
    }
    return NULL;
}

TEST(calls_beyond_max_in_flight_wait_in_the_client)
{
    enum { THREADS = 6 };
    peer p = {.max_in_flight = 2};
    swp_client *client = open_client(peer_start(&p, play_two_at_a_time, NULL));
    pthread_t threads[THREADS];
    int wrong = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, echo_ten_times, client), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        wrong += failed != NULL ? 1 : 0;
    }
    assert_int_equal(wrong, 0);
    swp_client_close(client);
    peer_stop(&p);
}

typedef struct caller {
    swp_client *client;
    int number, wrong;
} caller;

static void *echo_own_number(void *context)
{
    caller *me = context;
    for (int i = 0; i < 200; i++) {
        int sent[2] = {me->number, i}, got[2] = {0};
        bool right =
            swp_client_echo(me->client, sent, sizeof sent, got, 0, NULL) == SWP_OK && memcmp(sent, got, sizeof sent) == 0;
        me->wrong += right ? 0 : 1;
    }
    return NULL;
}

TEST(eight_threads_on_one_client_each_get_their_own_answers)
{
    enum { THREADS = 8 };
    peer p = {0};
    swp_client *client = open_client(peer_start(&p, play_echo, NULL));
    pthread_t threads[THREADS];
    caller callers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (caller){client, i + 1, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, echo_own_number, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(callers[i].wrong, 0);
    }
    assert_int_equal(p.connections, 1);
    swp_client_close(client);
    peer_stop(&p);
}

TEST(a_forked_child_is_told_so_and_the_parent_goes_on)
{
    peer p = {0};
    swp_client *client = open_client(peer_start(&p, play_echo, NULL));
    assert_echoes(client, "before");
    pid_t child = fork();
    if (child == 0) {
        char reply[8];
        bool right = echo(client, "child", reply, 0) == SWP_WRONG_PROCESS;
        swp_client_close(client);
        _exit(right ? 0 : 1);
    }
    int ended;
    waitpid(child, &ended, 0);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    assert_echoes(client, "after");
    assert_int_equal(p.connections, 1);
    swp_client_close(client);
    peer_stop(&p);
}

/* ---- series ---- */

typedef struct restart {
    const double *close;
    uint64_t bars_count;
    bool holds; /* the server that comes after still has it */
} restart;

static void play_restart(peer *p)
{
    const restart *r = p->context;
    if (p->connections == 1) {
        if (peer_expect(p, SWP__OP_LOAD)) {
            peer_tell_series(p, 11, r->close, r->bars_count);
        }
        return; /* and is gone */
    }
    if (!peer_expect(p, SWP__OP_FIND)) {
        return;
    }
    if (r->holds) {
        peer_tell_series(p, 22, r->close, r->bars_count);
    } else {
        peer_fail(p, SWP__OP_FIND, p->id, SWP_NOT_FOUND, SWP_AT_NONE, "not here");
    }
    while (peer_next(p)) {
        int64_t trades = (int64_t)p->request.sweep.handle;
        if (p->opcode == SWP__OP_LOAD) {
            peer_tell_series(p, 33, peer_tail(p), p->request.shape.n_bars);
        } else if (p->opcode == SWP__OP_SWEEP) {
            peer_reply(p, SWP__OP_SWEEP, SWP_OK, p->id, NULL, 0, &trades, 8);
        } else {
            peer_reply(p, p->opcode, SWP_OK, p->id, NULL, 0, NULL, 0);
        }
    }
}

/* One sweep after the server was restarted; its trades are the handle it went to. */
static swp_status sweep_after_restart(const restart *r, swp_keep keep, int64_t *handle, swp_error *error)
{
    peer p = {0};
    swp_client *client = open_client(peer_start(&p, play_restart, (void *)(uintptr_t)r));
    swp_client_series *series = load_series(client, r->close, r->bars_count, keep);
    int64_t row[6] = {1, 1, 1, 1, 1, 1};
    swp_sweep_request request = {.grid = {.combos_count = 1, .rows = row}};
    swp_sweep_result result = {.trades = handle};
    swp_status status = swp_client_sweep(client, series, &request, &result, 0, error);
    status = status == SWP_CLOSED ? swp_client_sweep(client, series, &request, &result, 0, error) : status;
    assert_int_equal(swp_client_drop(client, series, 0, NULL), SWP_OK);
    swp_client_close(client);
    peer_stop(&p);
    return status;
}

TEST(after_a_restart_a_series_is_found_by_fingerprint_and_sent_again_only_if_gone)
{
    static const double close[] = {1, 2, 3, 4};
    restart holds = {close, 4, true}, lost = {close, 4, false};
    int64_t handle = 0;
    swp_error error;
    assert_int_equal(sweep_after_restart(&holds, SWP_KEEP_NOTHING, &handle, &error), SWP_OK);
    assert_int_equal(handle, 22);
    assert_int_equal(sweep_after_restart(&lost, SWP_KEEP_BORROWED, &handle, &error), SWP_OK);
    assert_int_equal(handle, 33);
    assert_int_equal(sweep_after_restart(&lost, SWP_KEEP_NOTHING, &handle, &error), SWP_NOT_FOUND);
    assert_non_null(strstr(error.message, "SWP_KEEP_BORROWED"));
}

static void play_parts(peer *p)
{
    double *got = p->context;
    if (!peer_expect(p, SWP__OP_LOAD_BEGIN)) {
        return;
    }
    swp__wire_upload upload = {.upload = 5};
    uint64_t bars_count = p->request.shape.n_bars;
    peer_reply(p, SWP__OP_LOAD_BEGIN, SWP_OK, p->id, &upload, sizeof upload, NULL, 0);
    while (peer_next(p) && p->opcode == SWP__OP_LOAD_PART) {
        uint64_t column = p->request.load_part.column == SWP__COLUMN_CLOSE ? 0 : 1;
        memcpy(got + column * bars_count + p->request.load_part.first_bar, peer_tail(p), p->tail_size);
        peer_reply(p, SWP__OP_LOAD_PART, SWP_OK, p->id, NULL, 0, NULL, 0);
    }
    if (p->opcode == SWP__OP_LOAD_COMMIT && p->request.upload.upload == 5) {
        peer_tell_series(p, 1, got, bars_count);
    }
}

TEST(a_series_longer_than_a_frame_goes_in_parts)
{
    enum { BARS = 1001 };
    static double columns_got[2 * BARS], close[BARS], volume[BARS];
    peer p = {.max_body = 1024};
    swp_client *client = open_client(peer_start(&p, play_parts, columns_got));
    swp__test_walk(close, BARS, 1);
    swp__test_walk(volume, BARS, 2);
    swp_client_series *series;
    swp_columns columns = {.bars_count = BARS, .close = close, .volume = volume};
    assert_int_equal(swp_client_load(client, &columns, 0, SWP_KEEP_NOTHING, 0, &series, NULL), SWP_OK);
    assert_memory_equal(columns_got, close, sizeof close);
    assert_memory_equal(columns_got + BARS, volume, sizeof volume);
    swp_client_close(client);
    peer_stop(&p);
}

/* ---- sweeps in blocks ---- */

static void send_block(peer *p, uint32_t id, uint64_t first, uint64_t count, int64_t value)
{
    int64_t cells[16];
    swp__wire_more more = {.kind = SWP__MORE_BLOCK, .first = first, .count = count};
    for (uint64_t i = 0; i < count; i++) {
        cells[i] = value + (int64_t)i;
    }
    peer_reply(p, SWP__OP_SWEEP, SWP_MORE, id, &more, sizeof more, cells, count * 8);
}

static void play_cancel(peer *p)
{
    if (!peer_expect(p, SWP__OP_LOAD)) {
        return;
    }
    peer_tell_series(p, 1, peer_tail(p), p->request.shape.n_bars);
    if (!peer_expect(p, SWP__OP_SWEEP)) {
        return;
    }
    uint32_t id = p->id;
    if ((p->flags & SWP__FLAG_SWEEP_BLOCKS) == 0) {
        snprintf(p->failure, sizeof p->failure, "no blocks asked for");
    }
    swp__wire_more progress = {.kind = SWP__MORE_PROGRESS, .first = 3, .count = 10};
    peer_reply(p, SWP__OP_SWEEP, SWP_MORE, id, &progress, sizeof progress, NULL, 0);
    send_block(p, id, 7, 3, 700);
    if (peer_expect(p, SWP__OP_CANCEL)) {
        uint32_t cancel_id = p->id;
        if (p->request.cancel.request_id != id) {
            snprintf(p->failure, sizeof p->failure, "CANCEL of another request");
        }
        send_block(p, id, 0, 1, 50);
        peer_fail(p, SWP__OP_SWEEP, id, SWP_CANCELLED, SWP_AT_NONE, "cancelled");
        peer_reply(p, SWP__OP_CANCEL, SWP_OK, cancel_id, NULL, 0, NULL, 0);
    }
    play_echo(p);
}

static void cancel_at_first_progress(void *context, uint64_t combos_done, uint64_t combos_count)
{
    assert_int_equal(combos_done, 3);
    assert_int_equal(combos_count, 10);
    swp_cancel_request(context);
}

TEST(a_cancelled_sweep_keeps_the_blocks_that_came_and_zeroes_the_rest)
{
    static const int64_t expected[10] = {50, 0, 0, 0, 0, 0, 0, 700, 701, 702};
    peer p = {0};
    swp_client *client = open_client(peer_start(&p, play_cancel, NULL));
    double close[] = {1, 2};
    int64_t rows[60], trades[10];
    uint8_t finished[10];
    swp_client_series *series = load_series(client, close, 2, SWP_KEEP_NOTHING);
    for (int i = 0; i < 60; i++) {
        rows[i] = 1;
    }
    memset(trades, 0xee, sizeof trades);
    swp_cancel cancel = {0};
    swp_sweep_request request = {.grid = {.combos_count = 10, .rows = rows},
                                 .cancel = &cancel,
                                 .progress = cancel_at_first_progress,
                                 .progress_context = &cancel};
    swp_sweep_result result = {.trades = trades, .finished = finished};
    assert_int_equal(swp_client_sweep(client, series, &request, &result, 0, NULL), SWP_CANCELLED);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(trades[i], expected[i]);
        assert_int_equal(finished[i], expected[i] != 0);
    }
    assert_echoes(client, "goes on");
    swp_client_close(client);
    peer_stop(&p);
}

static void play_sweep_that_hangs(peer *p)
{
    if (!peer_expect(p, SWP__OP_LOAD)) {
        return;
    }
    peer_tell_series(p, 1, peer_tail(p), p->request.shape.n_bars);
    uint32_t id = peer_expect(p, SWP__OP_SWEEP) ? p->id : 0;
    if (peer_expect(p, SWP__OP_CANCEL) && p->request.cancel.request_id == id) {
        peer_fail(p, SWP__OP_SWEEP, id, SWP_CANCELLED, SWP_AT_NONE, "cancelled");
        peer_reply(p, SWP__OP_CANCEL, SWP_OK, p->id, NULL, 0, NULL, 0);
    }
    play_echo(p);
}

TEST(a_sweep_that_timed_out_is_cancelled_at_the_server)
{
    peer p = {0};
    swp_client *client = open_client(peer_start(&p, play_sweep_that_hangs, NULL));
    double close[] = {1, 2}, pnl = 4;
    int64_t row[6] = {1, 1, 1, 1, 1, 1};
    swp_client_series *series = load_series(client, close, 2, SWP_KEEP_NOTHING);
    swp_sweep_request request = {.grid = {.combos_count = 1, .rows = row}};
    swp_sweep_result result = {.pnl = &pnl};
    assert_int_equal(swp_client_sweep(client, series, &request, &result, SHORT_MS, NULL), SWP_TIMED_OUT);
    assert_echoes(client, "goes on");
    swp_client_close(client);
    peer_stop(&p);
}

static void play_load_only(peer *p)
{
    if (peer_expect(p, SWP__OP_LOAD)) {
        peer_tell_series(p, 1, peer_tail(p), p->request.shape.n_bars);
    }
    if (peer_next(p)) {
        snprintf(p->failure, sizeof p->failure, "opcode 0x%02x was sent", p->opcode);
    }
}

TEST(bad_arguments_are_refused_before_anything_is_sent)
{
    peer p = {0};
    swp_client *client = open_client(peer_start(&p, play_load_only, NULL));
    double close[] = {1, 2}, pnl = 4;
    int64_t row[6] = {1, 1, 1, 1, 0, 1};
    swp_client_series *series = load_series(client, close, 2, SWP_KEEP_NOTHING);
    swp_error error;
    swp_sweep_request request = {.grid = {.combos_count = 1, .rows = row}};
    swp_sweep_result result = {.pnl = &pnl}, none = {0};
    assert_int_equal(swp_client_sweep(client, series, &request, NULL, 0, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 4);
    assert_int_equal(swp_client_sweep(client, series, &request, &result, 0, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 4); /* the fifth parameter */
    row[4] = 1;
    assert_int_equal(swp_client_sweep(client, series, &request, &none, 0, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 4); /* no result at all */
    swp_window window = {0, 1, 3};
    request.windows = &window;
    request.windows_count = 1;
    assert_int_equal(swp_client_sweep(client, series, &request, &result, 0, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 0);
    swp_columns empty = {.close = close};
    assert_int_equal(swp_client_load(client, &empty, 0, SWP_KEEP_NOTHING, 0, &series, &error), SWP_BAD_PARAM);
    assert_int_equal(swp_client_open_series(client, "", 0, &series, &error), SWP_BAD_PARAM);
    swp_client_close(client);
    peer_stop(&p);
}
