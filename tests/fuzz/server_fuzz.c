/* The whole server on the real engine, its peers' bytes from the input, over the simulation's network and in virtual time.
 * Whatever they send: replies are frames of the protocol, none comes that was not asked for; when they have gone nothing of
 * theirs is held but series, an honest client is answered with the right numbers, and no memory is left behind.
 *
 * Input: u16 what the network draws its chances from, then steps of u8 what (bits 0-2: the step, 3-4: which connection, 5: let
 * the world go on after it) and its operands. */
#include "fuzz/fuzz.h"
#include "server/server.h"
#include "simulation/net.h"
#include "support/host.h"
#include "swp/engine.h"
#include "wire/wire.h"

enum {
    PEERS = 4,
    STEPS_MAX = 64,
    EPOCH = 7, /* handles are known to the seeds */
    ROUNDS_MAX = 20000,
    HONEST_BARS = 80,
    HONEST_COMBOS = 2,
};

typedef struct peer {
    swp__line *line;
    uint64_t sent;         /* bytes */
    uint8_t first_opcode;  /* the fifth of them */
    uint64_t finals;       /* replies that end a request, of version 2 */
    uint8_t held[1 << 16]; /* the beginning of a reply */
    size_t held_size;
    uint64_t skip; /* bytes of a longer one */
} peer;

typedef struct world {
    swp__random random;
    swp__test_memory memory;
    swp__test_clock clock;
    swp__net net;
    swp_engine *engine;
    swp__store *store;
    swp__server *server;
    swp__log log;
    peer peers[PEERS];
    bool ended;
} world;

static world w;

/* ---- the honest client's request, and the right answer ---- */

static uint8_t honest_frame[4 + 9 + 8 * HONEST_BARS + 48 * HONEST_COMBOS];
static uint8_t honest_answer[4 + 16 * HONEST_COMBOS];

static void make_honest(void)
{
    static const int64_t rows[HONEST_COMBOS * SWP_PARAMS_COUNT] = {3, 6, 2, 1, 2, 3, 4, 8, 3, 2, 3, 5};
    double close[HONEST_BARS], pnl[HONEST_COMBOS];
    int64_t trades[HONEST_COMBOS];
    swp_engine *engine;
    swp_series *series;
    swp__test_walk(close, HONEST_BARS, 1);
    const swp_engine_options options = {.threads = 1};
    PROMISE(swp_engine_new(&options, &engine, NULL) == SWP_OK);
    PROMISE(swp_series_new(engine, close, HONEST_BARS, SWP_ALLOW_ALL, SWP_COPY, &series, NULL) == SWP_OK);
    const swp_sweep_request request = {
        .grid = {.form = SWP_GRID_ROWS, .combos_count = HONEST_COMBOS, .rows = rows}, .fee = 0.09, .kernel = SWP_KERNEL_STRICT};
    const swp_sweep_result result = {.pnl = pnl, .trades = trades};
    PROMISE(swp_sweep(engine, series, &request, &result, NULL) == SWP_OK);
    swp_series_free(series);
    swp_engine_free(engine);

    swp__wire_v1 v1 = {.opcode = 0, .n_bars = HONEST_BARS, .n_combos = HONEST_COMBOS};
    swp__wire_out out;
    swp__wire_encode_v1(&v1, &out);
    swp__wire_append(&out, close, sizeof close);
    swp__wire_append(&out, rows, sizeof rows);
    PROMISE(swp__wire_finish(&out, UINT64_MAX, NULL) == SWP_OK && out.size == sizeof honest_frame);
    swp__wire_copy(&out, honest_frame);
    swp__wire_encode_v1_reply(&out);
    swp__wire_append(&out, pnl, sizeof pnl);
    swp__wire_append(&out, trades, sizeof trades);
    PROMISE(swp__wire_finish(&out, UINT64_MAX, NULL) == SWP_OK && out.size == sizeof honest_answer);
    swp__wire_copy(&out, honest_answer);
}

/* ---- the world ---- */

static swp__limits engine_limits(void)
{
    swp__limits limits = swp__limits_standard();
    limits.max_memory = 1 << 19;
    limits.max_sweep_memory = 1 << 20;
    limits.max_live_memory = 1 << 18;
    limits.max_sweeps = 4;
    limits.max_combos = 256;
    limits.max_blocks = 2;
    limits.max_block_bytes = 256;
    limits.max_handles = 4;
    limits.max_uploads = 2;
    limits.max_names = 3;
    return limits;
}

static swp__server_limits server_limits(void)
{
    swp__server_limits limits = swp__server_limits_standard();
    limits.max_frame = 1 << 16;
    limits.max_in_flight = 4;
    limits.max_sessions = 3;
    limits.max_waiting = 4096;
    limits.max_buffers = 1 << 20;
    limits.spin_us = 0;
    return limits;
}

static void open_world(uint64_t seed)
{
    memset(&w, 0, sizeof w);
    w.random.state = seed;
    w.clock.now_ns = UINT64_C(1000000000);
    w.clock.step_ns = 1000;
    w.log.fd = -1;
    swp__net_init(&w.net, &w.random);
    swp_allocator allocator = swp__test_allocator(&w.memory);
    swp_clock clock = swp__test_clock_of(&w.clock);
    swp__limits limits = engine_limits();
    swp_engine_options engine_options = {.threads = 2, .allocator = &allocator, .clock = &clock};
    PROMISE(swp__engine_new(&engine_options, &limits, true, &w.engine, NULL) == SWP_OK);
    PROMISE(swp__store_new(w.engine, EPOCH, &w.store, NULL) == SWP_OK);
    swp__server_options options = {.engine = w.engine,
                                   .store = w.store,
                                   .poller = &w.net.poller,
                                   .log = &w.log,
                                   .limits = server_limits(),
                                   .may_run_inline = (seed & 1) != 0};
    PROMISE(swp__server_new(&options, &w.server, NULL) == SWP_OK);
    swp__acceptor acceptor = swp__net_acceptor(&w.net);
    PROMISE(swp__server_add_acceptor(w.server, &acceptor, NULL) == SWP_OK);
}

static void step_server(void)
{
    w.ended = w.ended || !swp__server_step(w.server, 0);
}

/* ---- what comes back ---- */

static bool speaks_v2(const peer *p)
{
    return p->first_opcode >= 0x10 && p->first_opcode < 0x80;
}

/* The whole of a reply is in p->held, or its first 64 KiB. */
static void check_reply(peer *p, uint32_t body_size)
{
    swp__wire_frame frame;
    PROMISE(swp__wire_decode_reply_header(body_size, p->held + SWP__WIRE_LENGTH_SIZE, &frame, NULL) == SWP_OK);
    PROMISE(frame.status != SWP_INTERNAL);
    p->finals += frame.status != SWP_MORE && frame.opcode != 0;
    PROMISE(p->finals * SWP__WIRE_PAYLOAD_AT <= p->sent); /* no frame is shorter */
}

static void take_replies(peer *p)
{
    for (;;) {
        uint32_t body_size;
        if (p->held_size < SWP__WIRE_LENGTH_SIZE) {
            return;
        }
        memcpy(&body_size, p->held, sizeof body_size);
        PROMISE(body_size >= SWP__WIRE_HEADER_SIZE && body_size <= (1u << 16));
        size_t size = SWP__WIRE_LENGTH_SIZE + (size_t)body_size;
        if (p->held_size < size && p->held_size < sizeof p->held) {
            return;
        }
        check_reply(p, body_size);
        size_t there = size < p->held_size ? size : p->held_size;
        p->skip = size - there;
        p->held_size -= there;
        memmove(p->held, p->held + there, p->held_size);
    }
}

static void receive(peer *p)
{
    int64_t got;
    while (p->line != NULL && (got = swp__net_recv(p->line, p->held + p->held_size, sizeof p->held - p->held_size)) > 0) {
        if (!speaks_v2(p)) { /* version 1's are looked at by the honest client; anything else is told BUSY at most */
            continue;
        }
        size_t skipped = p->skip < (uint64_t)got ? (size_t)p->skip : (size_t)got;
        memmove(p->held + p->held_size, p->held + p->held_size + skipped, (size_t)got - skipped);
        p->held_size += (size_t)got - skipped;
        p->skip -= skipped;
        take_replies(p);
    }
}

static void go_on(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        swp__net_deliver(&w.net);
        step_server();
        swp__engine_step(w.engine);
        for (size_t p = 0; p < PEERS; p++) {
            receive(&w.peers[p]);
        }
    }
}

/* ---- what is sent ---- */

static void send(peer *p, const uint8_t *bytes, size_t size)
{
    if (p->line == NULL) {
        memset(p, 0, sizeof *p);
        p->line = swp__net_connect(&w.net);
    }
    if (p->line == NULL || p->line->to_server.ended) {
        return;
    }
    if (p->sent <= SWP__WIRE_LENGTH_SIZE && p->sent + size > SWP__WIRE_LENGTH_SIZE) {
        p->first_opcode = bytes[SWP__WIRE_LENGTH_SIZE - p->sent];
    }
    p->sent += size;
    for (int vain = 0; size > 0 && vain < 50;) {
        size_t sent = swp__net_send(p->line, bytes, size);
        bytes += sent;
        size -= sent;
        if (size > 0) {
            go_on(1);
        }
        vain = sent > 0 ? 0 : vain + 1;
    }
}

static void send_frame(peer *p, input *in, bool with_length)
{
    uint8_t frame[4096];
    size_t size, start = with_length ? SWP__WIRE_LENGTH_SIZE : 0;
    size_t wanted = input_number(in, 2) % (sizeof frame - SWP__WIRE_LENGTH_SIZE);
    const uint8_t *bytes = input_bytes(in, wanted, &size);
    uint32_t body_size = (uint32_t)size;
    memcpy(frame, &body_size, start);
    memcpy(frame + start, bytes, size);
    send(p, frame, start + size);
}

static void leave(peer *p)
{
    if (p->line != NULL) {
        swp__net_close(p->line);
        p->line = NULL;
    }
}

static void do_step(input *in)
{
    uint64_t what = input_number(in, 1);
    peer *p = &w.peers[what >> 3 & (PEERS - 1)];
    switch (what & 7) {
    case 0:
    case 1:
        send_frame(p, in, true);
        break;
    case 2:
        send_frame(p, in, false);
        break;
    case 3:
        go_on(1);
        break;
    case 4:
        w.clock.now_ns += input_number(in, 2) * UINT64_C(1000000);
        break;
    case 5:
        if (p->line != NULL) {
            swp__net_shut(p->line);
        }
        break;
    case 6:
        leave(p);
        break;
    case 7: /* an allocation of the next ones is refused */
        w.memory.fail_at = w.memory.allocs_count + input_number(in, 1);
        break;
    }
    if ((what & 0x20) != 0) {
        go_on(12);
    }
}

/* ---- afterwards ---- */

static void check_honest(void)
{
    swp__line *line = swp__net_connect(&w.net);
    PROMISE(line != NULL);
    uint8_t answer[sizeof honest_answer + 1];
    size_t sent = 0, got = 0;
    for (int round = 0; got < sizeof honest_answer; round++) {
        sent += swp__net_send(line, honest_frame + sent, sizeof honest_frame - sent);
        go_on(1);
        int64_t n = swp__net_recv(line, answer + got, sizeof answer - got);
        PROMISE(n >= 0 && round < ROUNDS_MAX);
        got += (size_t)n;
    }
    PROMISE(got == sizeof honest_answer && memcmp(answer, honest_answer, got) == 0);
    swp__net_close(line);
}

static void close_world(void)
{
    w.memory.fail_at = 0;
    for (size_t i = 0; i < PEERS; i++) {
        leave(&w.peers[i]);
    }
    for (int round = 0; swp__net_is_busy(&w.net); round++) {
        go_on(1);
        PROMISE(round < ROUNDS_MAX);
    }
    check_honest();
    swp__server_stop(w.server);
    for (int round = 0; !w.ended; round++) {
        go_on(1);
        w.clock.now_ns += UINT64_C(1000000);
        PROMISE(round < ROUNDS_MAX);
    }
    swp__server_free(w.server);
    swp__store_free(w.store);
    swp_engine_free(w.engine);
    swp__net_fini(&w.net);
    PROMISE(w.memory.live_count == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    input in = {data, size};
    if (!made) {
        make_honest();
        made = true;
    }
    open_world(input_number(&in, 2));
    for (int i = 0; i < STEPS_MAX && in.left > 0; i++) {
        do_step(&in);
    }
    close_world();
    return 0;
}
