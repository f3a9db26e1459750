#include "simulation/net.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- lanes ---- */

static void lane_open(swp__lane *lane, size_t capacity)
{
    *lane = (swp__lane){.bytes = malloc(capacity), .capacity = capacity};
    assert(lane->bytes != NULL);
}

static size_t lane_space(const swp__lane *lane)
{
    return lane->capacity - (size_t)(lane->sent - lane->taken);
}

static size_t lane_put(swp__lane *lane, const uint8_t *bytes, size_t size)
{
    size = size < lane_space(lane) ? size : lane_space(lane);
    for (size_t i = 0; i < size; i++) {
        lane->bytes[(lane->sent + i) % lane->capacity] = bytes[i];
    }
    lane->sent += size;
    return size;
}

static size_t lane_get(swp__lane *lane, uint8_t *bytes, size_t size)
{
    size_t there = (size_t)(lane->arrived - lane->taken);
    size = size < there ? size : there;
    for (size_t i = 0; i < size; i++) {
        bytes[i] = lane->bytes[(lane->taken + i) % lane->capacity];
    }
    lane->taken += size;
    return size;
}

static bool lane_is_busy(const swp__lane *lane)
{
    return lane->arrived < lane->sent || (lane->ended && !lane->end_arrived);
}

/* Mostly little pieces, so that frames are cut everywhere. */
static void lane_deliver(swp__lane *lane, swp__random *random)
{
    uint64_t on_the_way = lane->sent - lane->arrived;
    if (on_the_way > 0) {
        uint64_t most = swp__random_once_in(random, 2) ? on_the_way : 1 + swp__random_below(random, 64);
        most = most < on_the_way ? most : on_the_way;
        lane->arrived += 1 + swp__random_below(random, most);
    }
    if (lane->arrived == lane->sent && lane->ended) {
        lane->end_arrived = true;
    }
}

/* ---- the server's end ---- */

static ssize_t server_recv(swp__stream *stream, const struct iovec *iovecs, int count)
{
    swp__line *line = stream->context;
    size_t got = 0;
    for (int i = 0; i < count; i++) {
        size_t n = lane_get(&line->to_server, iovecs[i].iov_base, iovecs[i].iov_len);
        got += n;
        if (n < iovecs[i].iov_len) {
            break;
        }
    }
    if (got > 0) {
        return (ssize_t)got;
    }
    return line->to_server.end_arrived ? 0 : -EAGAIN;
}

static ssize_t server_send(swp__stream *stream, const struct iovec *iovecs, int count, const int *fd)
{
    swp__line *line = stream->context;
    size_t sent = 0;
    assert(fd == NULL);
    if (line->client_gone_arrived || line->crashed) {
        return -EPIPE;
    }
    for (int i = 0; i < count; i++) {
        size_t n = lane_put(&line->to_client, iovecs[i].iov_base, iovecs[i].iov_len);
        sent += n;
        if (n < iovecs[i].iov_len) {
            break;
        }
    }
    return sent > 0 ? (ssize_t)sent : -EAGAIN;
}

static void server_shut_output(swp__stream *stream)
{
    swp__line *line = stream->context;
    line->to_client.ended = true;
}

static void free_when_done(swp__line *line)
{
    if (!line->server_open && !line->client_open) {
        free(line->to_server.bytes);
        free(line->to_client.bytes);
        line->used = false;
    }
}

static void server_close(swp__stream *stream)
{
    swp__line *line = stream->context;
    assert(line->server_open && line->tag == NULL);
    line->server_open = false;
    line->to_client.ended = true;
    free_when_done(line);
}

static const swp__stream_ops stream_ops = {
    .recv = server_recv, .send = server_send, .shut_output = server_shut_output, .close = server_close};

static int server_accept(swp__acceptor *acceptor, swp__stream *stream, swp__peer *peer)
{
    swp__net *net = acceptor->context;
    if (net->refuse_accepts > 0) {
        net->refuse_accepts--;
        return -EMFILE;
    }
    for (size_t i = 0; i < SWP__NET_LINES_MAX; i++) {
        swp__line *line = &net->lines[i];
        if (line->used && !line->accepted) {
            line->accepted = true;
            *stream = (swp__stream){.ops = &stream_ops, .in = -1, .out = -1, .context = line};
            *peer = (swp__peer){.known = line->user != 0, .uid = line->user};
            return 0;
        }
    }
    return -EAGAIN;
}

/* Whoever waits to be accepted is turned away. */
static void acceptor_close(swp__acceptor *acceptor)
{
    swp__net *net = acceptor->context;
    for (size_t i = 0; i < SWP__NET_LINES_MAX; i++) {
        swp__line *line = &net->lines[i];
        if (line->used && !line->accepted) {
            line->accepted = true;
            line->server_open = false;
            line->to_client.ended = true;
            free_when_done(line);
        }
    }
    net->acceptor_tag = NULL;
}

static const swp__acceptor_ops acceptor_ops = {server_accept, acceptor_close};

swp__acceptor swp__net_acceptor(swp__net *net)
{
    return (swp__acceptor){
        .ops = &acceptor_ops, .fd = -1, .lock_fd = -1, .context = net, .address = {.scheme = SWP__SCHEME_INPROC}};
}

/* ---- the poller ---- */

static int poller_add(swp__poller *poller, int in, int out, void *context, void *tag)
{
    (void)poller;
    (void)in;
    (void)out;
    swp__line *line = context;
    if (line->is_acceptor) {
        ((swp__net *)context)->acceptor_tag = tag;
        ((swp__net *)context)->acceptor_raised = true;
        return 0;
    }
    line->tag = tag;
    line->wants_output = false;
    line->raised = line->to_server.arrived > line->to_server.taken ? SWP__READABLE : 0;
    line->raised |= line->to_server.end_arrived ? (uint32_t)(SWP__READABLE | SWP__ENDED) : 0;
    return 0;
}

static void poller_want_output(swp__poller *poller, int in, int out, void *context, void *tag, bool wanted)
{
    (void)poller;
    (void)in;
    (void)out;
    swp__line *line = context;
    assert(line->tag == tag);
    line->wants_output = wanted;
    if (wanted && lane_space(&line->to_client) > 0) {
        line->raised |= SWP__WRITABLE;
    }
}

static void poller_remove(swp__poller *poller, int in, int out, void *context, void *tag)
{
    (void)poller;
    (void)in;
    (void)out;
    (void)tag;
    swp__line *line = context;
    if (line->is_acceptor) {
        ((swp__net *)context)->acceptor_tag = NULL;
    } else {
        line->tag = NULL;
    }
}

/* Never waits: the simulation goes on elsewhere. */
static int poller_wait(swp__poller *poller, swp__event *events, int most, int64_t timeout_ns)
{
    (void)timeout_ns;
    swp__net *net = poller->context;
    int count = 0;
    if (net->acceptor_raised && net->acceptor_tag != NULL) {
        net->acceptor_raised = false;
        events[count++] = (swp__event){net->acceptor_tag, SWP__READABLE};
    }
    size_t begin = swp__random_below(net->random, SWP__NET_LINES_MAX);
    for (size_t i = 0; i < SWP__NET_LINES_MAX && count < most; i++) {
        swp__line *line = &net->lines[(begin + i) % SWP__NET_LINES_MAX];
        if (line->used && line->tag != NULL && line->raised != 0) {
            events[count++] = (swp__event){line->tag, line->raised};
            line->raised = 0;
        }
    }
    return count;
}

static void poller_wake(swp__poller *poller)
{
    ((swp__net *)poller->context)->wakes++;
}

static void poller_close(swp__poller *poller)
{
    (void)poller;
}

static const swp__poller_ops poller_ops = {poller_add,  poller_want_output, poller_remove,
                                           poller_wait, poller_wake,        poller_close};

/* ---- the net ---- */

void swp__net_init(swp__net *net, swp__random *random)
{
    memset(net, 0, sizeof *net);
    net->is_acceptor = true;
    net->random = random;
    net->poller = (swp__poller){.ops = &poller_ops, .context = net};
}

void swp__net_fini(swp__net *net)
{
    for (size_t i = 0; i < SWP__NET_LINES_MAX; i++) {
        assert(!net->lines[i].used);
    }
}

static bool line_is_busy(const swp__line *line)
{
    bool gone_untold = !line->client_open && line->server_open && !line->client_gone_arrived;
    return line->used && (lane_is_busy(&line->to_server) || lane_is_busy(&line->to_client) || line->raised != 0 || gone_untold);
}

bool swp__net_is_busy(const swp__net *net)
{
    for (size_t i = 0; i < SWP__NET_LINES_MAX; i++) {
        if (line_is_busy(&net->lines[i])) {
            return true;
        }
    }
    return net->acceptor_raised && net->acceptor_tag != NULL;
}

static void deliver_to_server(swp__line *line)
{
    if (!lane_is_busy(&line->to_server) && (line->client_open || line->client_gone_arrived)) {
        return;
    }
    lane_deliver(&line->to_server, line->net->random);
    line->raised |= SWP__READABLE;
    if (line->to_server.end_arrived) {
        line->raised |= SWP__ENDED;
        if (!line->client_open) {
            line->client_gone_arrived = true;
            line->raised |= line->tells_gone ? (uint32_t)SWP__GONE : 0;
        }
    }
}

void swp__net_deliver(swp__net *net)
{
    size_t begin = swp__random_below(net->random, SWP__NET_LINES_MAX);
    for (size_t i = 0; i < SWP__NET_LINES_MAX; i++) {
        swp__line *line = &net->lines[(begin + i) % SWP__NET_LINES_MAX];
        if (!line->used) {
            continue;
        }
        if (line->server_open) {
            deliver_to_server(line);
        }
        if (lane_is_busy(&line->to_client)) {
            lane_deliver(&line->to_client, net->random);
        }
        if (swp__random_once_in(net->random, 3)) {
            return;
        }
    }
}

void swp__net_crash(swp__net *net)
{
    for (size_t i = 0; i < SWP__NET_LINES_MAX; i++) {
        swp__line *line = &net->lines[i];
        swp__lane *lane = &line->to_client;
        if (line->used && line->server_open) {
            line->crashed = true;
            lane->sent = lane->arrived + swp__random_below(net->random, lane->sent - lane->arrived + 1);
        }
    }
}

/* ---- the client's end ---- */

swp__line *swp__net_connect(swp__net *net)
{
    if (net->acceptor_tag == NULL) {
        return NULL; /* nobody listens */
    }
    for (size_t i = 0; i < SWP__NET_LINES_MAX; i++) {
        swp__line *line = &net->lines[i];
        if (line->used) {
            continue;
        }
        *line = (swp__line){.net = net, .used = true, .server_open = true, .client_open = true};
        lane_open(&line->to_server, 256 + swp__random_below(net->random, 20000));
        lane_open(&line->to_client, 256 + swp__random_below(net->random, 20000));
        line->user = (uint32_t)swp__random_below(net->random, SWP__NET_USERS + 1);
        line->tells_gone = swp__random_once_in(net->random, 2);
        net->acceptor_raised = true;
        return line;
    }
    return NULL;
}

uint32_t swp__line_user(const swp__line *line)
{
    return line->user;
}

size_t swp__net_send(swp__line *line, const uint8_t *bytes, size_t size)
{
    assert(line->client_open && !line->to_server.ended);
    return line->server_open ? lane_put(&line->to_server, bytes, size) : size; /* into the void */
}

int64_t swp__net_recv(swp__line *line, uint8_t *bytes, size_t size)
{
    assert(line->client_open);
    size_t got = lane_get(&line->to_client, bytes, size);
    if (got > 0 && line->wants_output && line->tag != NULL) {
        line->raised |= SWP__WRITABLE;
    }
    return got > 0 ? (int64_t)got : line->to_client.end_arrived ? -1 : 0;
}

void swp__net_shut(swp__line *line)
{
    line->to_server.ended = true;
}

void swp__net_close(swp__line *line)
{
    assert(line->client_open);
    line->to_server.ended = true;
    line->client_open = false;
    free_when_done(line);
}
