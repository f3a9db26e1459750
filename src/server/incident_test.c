/* INTERNAL: what a request is answered when a check of the server's own fails for it. No request makes that happen, so the
 * tests reach in and break what is checked, in a server that stands still between two steps. */
#include "support/test.h"

#include <string.h>
#include <unistd.h>
#include "base/error.h"
#include "server/internal.h"
#include "simulation/net.h"
#include "support/host.h"

enum { BARS = 500, COMBOS = 3, REPLY_MAX = 4096 };

typedef struct fixture {
    swp__test_memory memory;
    swp__test_clock clock;
    swp__random random;
    swp__net net;
    swp_engine *engine;
    swp__store *store;
    swp__server *server;
    swp__log log;
    swp__line *line;
    double close[BARS];
    int64_t rows[COMBOS * SWP_PARAMS_COUNT];
    uint8_t reply[REPLY_MAX];
    size_t reply_size;
} fixture;

static void steps(fixture *f)
{
    for (int i = 0; i < 200; i++) {
        swp__net_deliver(&f->net);
        (void)swp__server_step(f->server, 0);
    }
}

/* Opened, connected, and nothing asked yet. */
static void begin(fixture *f)
{
    memset(f, 0, sizeof *f);
    f->random.state = 1;
    f->clock.now_ns = 1000000000;
    FILE *log = tmpfile();
    assert_non_null(log);
    f->log = (swp__log){.fd = dup(fileno(log)), .format = SWP__LOG_TEXT};
    fclose(log);
    swp__net_init(&f->net, &f->random);
    swp_allocator allocator = swp__test_allocator(&f->memory);
    swp_clock clock = swp__test_clock_of(&f->clock);
    swp__limits limits = swp__limits_standard();
    const swp_engine_options engine = {.threads = 1, .allocator = &allocator, .clock = &clock};
    assert_int_equal(swp__engine_new(&engine, &limits, true, &f->engine, NULL), SWP_OK);
    assert_int_equal(swp__store_new(f->engine, 7, &f->store, NULL), SWP_OK);
    swp__server_options options = {.engine = f->engine,
                                   .store = f->store,
                                   .poller = &f->net.poller,
                                   .log = &f->log,
                                   .limits = swp__server_limits_standard()};
    options.limits.spin_us = 0;
    assert_int_equal(swp__server_new(&options, &f->server, NULL), SWP_OK);
    swp__acceptor acceptor = swp__net_acceptor(&f->net);
    assert_int_equal(swp__server_add_acceptor(f->server, &acceptor, NULL), SWP_OK);
    f->line = swp__net_connect(&f->net);
    assert_non_null(f->line);
    swp__test_walk(f->close, BARS, 1);
    for (size_t i = 0; i < COMBOS * SWP_PARAMS_COUNT; i++) {
        f->rows[i] = (int64_t)(3 + i % 5);
    }
}

static void end(fixture *f)
{
    swp__net_close(f->line);
    steps(f);
    swp__server_free(f->server);
    swp__store_free(f->store);
    swp_engine_free(f->engine);
    swp__net_fini(&f->net);
    assert_int_equal(f->memory.live_count, 0);
    close(f->log.fd);
}

static void send_frame(fixture *f, swp__wire_out *out)
{
    uint8_t bytes[BARS * 8 + 1024];
    assert_int_equal(swp__wire_finish(out, UINT32_MAX, NULL), SWP_OK);
    assert_true(out->size <= sizeof bytes);
    swp__wire_copy(out, bytes);
    for (size_t sent = 0; sent < out->size;) {
        sent += swp__net_send(f->line, bytes + sent, (size_t)out->size - sent);
        steps(f);
    }
}

/* Adds what has come; false: the connection has ended. */
static bool hear(fixture *f)
{
    steps(f);
    int64_t got;
    while ((got = swp__net_recv(f->line, f->reply + f->reply_size, REPLY_MAX - f->reply_size)) > 0) {
        f->reply_size += (size_t)got;
        steps(f);
    }
    return got == 0;
}

static uint8_t status_heard(fixture *f)
{
    f->reply_size = 0;
    assert_true(hear(f));
    assert_true(f->reply_size >= 12);
    return f->reply[5];
}

static bool is_logged(const fixture *f, const char *text)
{
    char log[4096] = {0};
    assert_true(pread(f->log.fd, log, sizeof log - 1, 0) >= 0);
    return strstr(log, text) != NULL;
}

static uint64_t load(fixture *f)
{
    swp__wire_out out;
    swp__wire_request request = {.opcode = SWP__OP_LOAD, .id = 1, .shape = {.n_bars = BARS, .columns = SWP__COLUMN_CLOSE}};
    swp__wire_encode_request(&request, &out);
    swp__wire_append(&out, f->close, sizeof f->close);
    send_frame(f, &out);
    assert_int_equal(status_heard(f), SWP_OK);
    uint64_t handle;
    memcpy(&handle, f->reply + SWP__WIRE_PAYLOAD_AT, sizeof handle);
    return handle;
}

/* Its call, while the engine has it. */
static swp__call *start_sweep(fixture *f, uint64_t handle)
{
    swp__wire_out out;
    swp_sweep_request sweep = {.grid = {.form = SWP_GRID_ROWS, .combos_count = COMBOS, .rows = f->rows}, .fee = 0.09};
    swp__wire_request request = {
        .opcode = SWP__OP_SWEEP, .id = 2, .sweep = {.handle = handle, .columns = SWP__RESULT_PNL | SWP__RESULT_TRADES}};
    swp__wire_encode_sweep(&request, &sweep, &out);
    send_frame(f, &out);
    swp__call *call = f->server->connections->calls;
    assert_non_null(call);
    assert_true(call->running);
    return call;
}

static void finish_sweep(fixture *f)
{
    while (swp__engine_step(f->engine)) {
    }
}

static void assert_still_serves(fixture *f)
{
    swp__wire_out out;
    swp__wire_request request = {.opcode = SWP__OP_ECHO, .id = 3};
    swp__wire_encode_request(&request, &out);
    swp__wire_append(&out, "abc", 3);
    send_frame(f, &out);
    assert_int_equal(status_heard(f), SWP_OK);
    assert_memory_equal(f->reply + SWP__WIRE_PAYLOAD_AT, "abc", 3);
}

static void assert_internal(fixture *f, const char *number)
{
    assert_int_equal(status_heard(f), SWP_INTERNAL);
    assert_int_equal(f->reply[4], 0x80 | SWP__OP_SWEEP);
    f->reply[f->reply_size] = 0;
    assert_non_null(strstr((char *)f->reply + SWP__WIRE_PAYLOAD_AT + 24, number));
    assert_true(is_logged(f, number));
}

TEST(a_reply_longer_than_its_request_says_is_internal_and_logged_with_its_number)
{
    fixture f;
    begin(&f);
    uint64_t handle = load(&f);
    start_sweep(&f, handle)->request.sweep.columns = SWP__RESULT_PNL;
    finish_sweep(&f);
    assert_internal(&f, "internal error 1:");
    assert_true(is_logged(&f, "connection 1, request 2: its answer is not as long as it must be"));
    start_sweep(&f, handle)->request.sweep.n_combos++;
    finish_sweep(&f);
    assert_internal(&f, "internal error 2:");
    assert_still_serves(&f);
    end(&f);
}

TEST(a_sweep_that_ends_as_no_sweep_can_is_internal)
{
    fixture f;
    begin(&f);
    swp__call *call = start_sweep(&f, load(&f));
    finish_sweep(&f);
    call->status = SWP_STALE;
    assert_internal(&f, "internal error 1:");
    assert_true(is_logged(&f, "its sweep ended as STALE"));
    assert_still_serves(&f);
    end(&f);
}

TEST(a_status_that_never_travels_is_internal)
{
    fixture f;
    begin(&f);
    (void)load(&f);
    swp_error error;
    swp__call *call = swp__call_new(f.server->connections);
    assert_non_null(call);
    call->frame = (swp__wire_frame){.opcode = SWP__OP_SWEEP, .id = 9};
    (void)swp__fail(&error, SWP_FILE, SWP_AT_NONE, "no such file");
    swp__call_fail(call, &error);
    assert_internal(&f, "internal error 1:");
    assert_true(is_logged(&f, "request 9: it would be answered FILE: no such file"));
    assert_still_serves(&f);
    end(&f);
}

TEST(version_1_which_has_no_errors_is_closed_and_the_log_has_the_number)
{
    fixture f;
    begin(&f);
    swp__wire_out out;
    swp__wire_v1 v1 = {.opcode = SWP__OP_V1_SWEEP, .n_bars = BARS, .n_combos = COMBOS};
    swp__wire_encode_v1(&v1, &out);
    swp__wire_append(&out, f.close, sizeof f.close);
    swp__wire_append(&out, f.rows, sizeof f.rows);
    send_frame(&f, &out);
    finish_sweep(&f);
    f.server->connections->calls->status = SWP_STALE;
    assert_false(hear(&f));
    assert_int_equal(f.reply_size, 0);
    assert_true(is_logged(&f, "internal error 1: connection 1, request 0: its sweep ended as STALE"));
    end(&f);
}
