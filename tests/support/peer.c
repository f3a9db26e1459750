#include "support/peer.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/fingerprint.h"
#include "support/temp.h"
#include "support/test.h"

static void fail_script(peer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail_script(peer *p, const char *format, ...)
{
    if (p->failure[0] == '\0') {
        va_list args;
        va_start(args, format);
        vsnprintf(p->failure, sizeof p->failure, format, args);
        va_end(args);
    }
}

static bool read_all(int fd, void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = recv(fd, (char *)bytes + done, size - done, 0);
        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

bool peer_next(peer *p)
{
    uint32_t size;
    swp__wire_frame frame;
    swp_error error;
    if (!read_all(p->fd, &size, sizeof size)) {
        return false;
    }
    memcpy(p->body - sizeof size, &size, sizeof size);
    if (size < SWP__WIRE_HEADER_SIZE || size > PEER_BODY_MAX || !read_all(p->fd, p->body, size)) {
        fail_script(p, "a body of %u bytes", size);
        return false;
    }
    if (swp__wire_decode_request_header(size, p->body, &frame, &error) != SWP_OK ||
        swp__wire_decode_request(&frame, p->body + SWP__WIRE_HEADER_SIZE, &p->request, &error) != SWP_OK) {
        fail_script(p, "a frame that is not allowed: %s", error.message);
        return false;
    }
    p->opcode = frame.opcode;
    p->flags = frame.flags;
    p->id = frame.id;
    p->tail_size = (uint32_t)p->request.tail_size;
    return true;
}

bool peer_expect(peer *p, uint8_t opcode)
{
    if (!peer_next(p)) {
        fail_script(p, "the stream ended, expected opcode 0x%02x", opcode);
        return false;
    }
    if (p->opcode != opcode) {
        fail_script(p, "opcode 0x%02x, expected 0x%02x", p->opcode, opcode);
    }
    return p->opcode == opcode;
}

const void *peer_tail(const peer *p)
{
    uint32_t size;
    memcpy(&size, p->body - sizeof size, sizeof size);
    return p->body + size - p->tail_size;
}

void peer_send(peer *p, const void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t sent = send(p->fd, (const char *)bytes + done, size - done, MSG_NOSIGNAL);
        if (sent <= 0) {
            return; /* it is gone, which its script may want */
        }
        done += (size_t)sent;
    }
}

void peer_reply(peer *p, uint8_t opcode, uint8_t status, uint32_t id, const void *fixed, size_t fixed_size, const void *tail,
                size_t tail_size)
{
    uint8_t head[SWP__WIRE_PAYLOAD_AT] = {[4] = (uint8_t)(opcode | 0x80), [5] = status};
    uint32_t size = (uint32_t)(SWP__WIRE_HEADER_SIZE + fixed_size + tail_size);
    memcpy(head, &size, sizeof size);
    memcpy(head + 8, &id, sizeof id);
    uint8_t *frame = malloc(sizeof head + fixed_size + tail_size);
    memcpy(frame, head, sizeof head);
    if (fixed_size > 0) {
        memcpy(frame + sizeof head, fixed, fixed_size);
    }
    if (tail_size > 0) {
        memcpy(frame + sizeof head + fixed_size, tail, tail_size);
    }
    peer_send(p, frame, sizeof head + fixed_size + tail_size);
    free(frame);
}

void peer_fail(peer *p, uint8_t opcode, uint32_t id, swp_status status, uint64_t at, const char *text)
{
    swp__wire_error fixed = {.at = at, .a = 7, .b = 8};
    peer_reply(p, opcode, (uint8_t)status, id, &fixed, sizeof fixed, text, strlen(text));
}

void peer_echo(peer *p)
{
    peer_reply(p, SWP__OP_ECHO, SWP_OK, p->id, NULL, 0, peer_tail(p), p->tail_size);
}

void peer_tell_series(peer *p, uint64_t handle, const void *close, uint64_t bars_count)
{
    double first, last;
    memcpy(&first, close, sizeof first);
    memcpy(&last, (const char *)close + (bars_count - 1) * sizeof last, sizeof last);
    swp__wire_series series = {.handle = handle,
                               .fingerprint = swp__fingerprint_of(close, bars_count * sizeof first),
                               .known = SWP__KNOWN_FINGERPRINT | SWP__KNOWN_N_NAN,
                               .n_bars = bars_count,
                               .first = first,
                               .last = last};
    peer_reply(p, p->opcode, SWP_OK, p->id, &series, sizeof series, NULL, 0);
}

static bool greet(peer *p)
{
    if (p->silent) {
        return true;
    }
    if (!peer_expect(p, SWP__OP_HELLO)) {
        return false;
    }
    swp__wire_hello_reply hello = {.major = 2,
                                   .max_body = p->max_body != 0 ? p->max_body : PEER_MAX_BODY,
                                   .max_combos = 1000,
                                   .threads = 1,
                                   .max_in_flight = p->max_in_flight != 0 ? p->max_in_flight : PEER_MAX_IN_FLIGHT};
    peer_reply(p, SWP__OP_HELLO, SWP_OK, p->id, &hello, sizeof hello, "test", 4);
    return true;
}

static void *serve(void *context)
{
    peer *p = context;
    while (p->failure[0] == '\0') {
        p->fd = accept(p->listening_fd, NULL, NULL);
        if (p->fd < 0) {
            break;
        }
        p->connections++;
        if (greet(p)) {
            p->script(p);
        }
        close(p->fd);
    }
    return NULL;
}

const char *peer_start(peer *p, void (*script)(peer *p), void *context)
{
    static int count;
    char name[32];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(name, sizeof name, "peer%d", count++);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", temp_path(name));
    snprintf(p->url, sizeof p->url, "unix:%s", address.sun_path);
    p->script = script;
    p->context = context;
    p->body = (uint8_t *)malloc(PEER_BODY_MAX + 4) + 4; /* the length before it */
    p->listening_fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(p->listening_fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(p->listening_fd, 8), 0);
    assert_int_equal(pthread_create(&p->thread, NULL, serve, p), 0);
    return p->url;
}

void peer_stop(peer *p)
{
    shutdown(p->listening_fd, SHUT_RDWR);
    pthread_join(p->thread, NULL);
    close(p->listening_fd);
    free(p->body - 4);
    if (p->failure[0] != '\0') {
        print_error("the peer of the test: %s\n", p->failure);
        fail();
    }
}
