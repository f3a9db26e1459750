/* SHM_OPEN and LOAD_FD: memory instead of bytes. */
#include "server/requests.h"

#include <inttypes.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/error.h"
#include "base/host.h"

/* ---- descriptors ---- */

/* The descriptor of this request, ours from now on. LIMIT: more came than one a frame; BAD_FRAME: none did. */
static swp_status take_fd(swp__connection *c, int *fd, swp_error *error)
{
    if (c->shm != NULL && c->stream.fds_count == 0 && swp__shm_read_socket(&c->stream) != 0) {
        return swp__fail(error, SWP_BAD_FRAME, SWP__WIRE_LENGTH_SIZE, "what came on the socket is no wake and no descriptor");
    }
    *fd = swp__stream_take_fd(&c->stream);
    if (c->stream.fds_cut) {
        if (*fd >= 0) {
            close(*fd);
        }
        swp__stream_drop_fds(&c->stream);
        return swp__fail_limit(error, 1, 2, "more than one descriptor came with a frame");
    }
    if (*fd < 0) {
        return swp__fail(error, SWP_BAD_FRAME, SWP__WIRE_LENGTH_SIZE, "no descriptor came with the frame");
    }
    return SWP_OK;
}

/* ---- SHM_OPEN ---- */

static swp_status check_shm_open(const swp__call *call, swp_error *error)
{
    const swp__connection *c = call->connection;
    const swp__server *server = c->server;
    uint64_t bytes = call->request.shm_open.ring_bytes, most = server->options.limits.max_ring;
    if (c->shm != NULL || !swp__shm_is_possible(&c->stream)) {
        return swp__fail(error, SWP_UNKNOWN, SWP__WIRE_LENGTH_SIZE,
                         c->shm != NULL ? "this connection goes through shared memory already"
                                        : "shared memory is opened over a Unix socket");
    }
    if (bytes < SWP__SHM_RING_MIN || (bytes & (bytes - 1)) != 0) {
        return swp__fail(error, SWP_BAD_PARAM, SWP__WIRE_PAYLOAD_AT,
                         "ring_bytes is %" PRIu64 ", expected a power of two of at least %d", bytes, SWP__SHM_RING_MIN);
    }
    if (c->calls_count > 1) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "other requests of this connection are in the works");
    }
    if (bytes > most) {
        return swp__fail_limit(error, most, bytes, "rings of %" PRIu64 " bytes: max-ring is %" PRIu64, bytes, most);
    }
    uint64_t limit = server->options.limits.max_buffers;
    if (server->buffer_bytes > limit || bytes > limit - server->buffer_bytes) {
        return swp__fail_limit(error, limit, bytes,
                               "%" PRIu64 " bytes for a ring: max-buffers is %" PRIu64 ", of which %" PRIu64 " are in use",
                               bytes, limit, server->buffer_bytes);
    }
    return SWP_OK;
}

/* The last frame on the socket, with our descriptor. */
static bool send_granted(const swp__call *call, const swp__shm *shm)
{
    swp__wire_reply reply = {.opcode = call->frame.opcode,
                             .status = SWP_OK,
                             .id = call->frame.id,
                             .shm_granted = {.ring_bytes = call->request.shm_open.ring_bytes}};
    swp__wire_out out;
    int fd = swp__shm_fd(shm);
    swp__wire_encode_reply(&reply, &out);
    return swp__wire_finish(&out, UINT64_MAX, NULL) == SWP_OK &&
           swp__stream_send(&call->connection->stream, out.parts, (int)out.parts_count, &fd) == (ssize_t)out.size;
}

swp_status swp__run_shm_open(swp__call *call, swp_error *error)
{
    swp__connection *c = call->connection;
    swp__shm *shm = NULL;
    int fd = -1;
    swp_status status = check_shm_open(call, error);
    status = status == SWP_OK ? take_fd(c, &fd, error) : status;
    status = status == SWP_OK ? swp__shm_new(call->request.shm_open.ring_bytes, &c->server->allocator, &shm, error) : status;
    if (status != SWP_OK) {
        if (fd >= 0) {
            close(fd);
        }
        return status;
    }
    status = swp__shm_join(shm, fd, error);
    if (status != SWP_OK) {
        swp__shm_free(shm);
        return status;
    }
    if (!send_granted(call, shm)) {
        swp__shm_free(shm);
        swp__connection_drop(c, "it does not take the answer to SHM_OPEN");
        return SWP_OK;
    }
    c->shm_bytes = call->request.shm_open.ring_bytes;
    c->server->buffer_bytes += c->shm_bytes;
    swp__call_free(call);
    swp__connection_share(c, shm);
    return SWP_OK;
}

/* ---- LOAD_FD ---- */

static void unmap_series(void *context, const void *memory, uint64_t size)
{
    (void)context;
    munmap((void *)(uintptr_t)memory, (size_t)size);
}

/* The bytes of a shape; false: beyond 64 bits. */
static bool shape_bytes(const swp__wire_shape *shape, uint64_t *bytes)
{
    return !__builtin_mul_overflow(shape->n_bars, 8 * (uint64_t)__builtin_popcount(shape->columns), bytes);
}

static swp_status adopt(swp__call *call, int fd, swp__series_info *info, swp_error *error)
{
    const swp__wire_shape *wire = &call->request.shape;
    swp__shape shape = {.bars_count = wire->n_bars, .columns = wire->columns, .policy = wire->policy};
    swp__scope *scope;
    uint64_t size;
    if (!shape_bytes(wire, &size)) {
        return swp__fail_limit(error, call->connection->server->engine->limits.max_memory, UINT64_MAX,
                               "series: %" PRIu64 " bars are more than memory can hold", wire->n_bars);
    }
    swp_status status = swp__memfd_check(fd, SWP__SERIES_SEALS, "WRITE, SHRINK and GROW", size, error);
    status = status == SWP_OK ? swp__connection_scope(call->connection, &scope, error) : status;
    if (status != SWP_OK) {
        return status;
    }
    /* private: before Linux 6.7 a write-sealed file has no other mapping; its pages are the file's own all the same */
    void *memory = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "the descriptor cannot be mapped: %s", strerror(errno));
    }
    status = swp__store_adopt(scope, &shape, memory, unmap_series, NULL, info, error);
    if (status != SWP_OK) {
        munmap(memory, (size_t)size);
    }
    return status;
}

swp_status swp__run_load_fd(swp__call *call, swp_error *error)
{
    swp__connection *c = call->connection;
    swp__series_info info;
    int fd = -1;
    swp_status status = take_fd(c, &fd, error);
    if (status != SWP_OK) {
        return status;
    }
    status = adopt(call, fd, &info, error);
    close(fd);
    if (status == SWP_OK) {
        swp__answer_series(call, &info);
    }
    return status;
}
