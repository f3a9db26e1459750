#include "bars/unpack.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "bars/refuse.h"
#include "base/error.h"
#ifdef SWP_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef SWP_HAVE_ZSTD
#include <zstd.h>
#endif

enum { BLOCK_SIZE = 1 << 16 };

struct swp__unpack {
    const char *path, *name; /* of the compression */
    bool is_zstd;
    bool between; /* at the end of a member or frame: the file may end here */
    bool ended;
    size_t at, size; /* what is left of the block */
    uint64_t bytes_in, bytes_out;
#ifdef SWP_HAVE_ZLIB
    z_stream gzip;
#endif
#ifdef SWP_HAVE_ZSTD
    ZSTD_DStream *zstd;
#endif
    unsigned char block[BLOCK_SIZE];
};

static bool begin(swp__unpack *u)
{
#ifdef SWP_HAVE_ZSTD
    if (u->is_zstd) {
        u->zstd = ZSTD_createDStream();
        return u->zstd != NULL;
    }
#endif
#ifdef SWP_HAVE_ZLIB
    if (!u->is_zstd) {
        return inflateInit2(&u->gzip, 15 + 16) == Z_OK; /* with gzip's own head and check sum */
    }
#endif
    return false;
}

static bool is_built_in(bool is_zstd)
{
#ifndef SWP_HAVE_ZSTD
    if (is_zstd) {
        return false;
    }
#endif
#ifndef SWP_HAVE_ZLIB
    if (!is_zstd) {
        return false;
    }
#endif
    (void)is_zstd;
    return true;
}

swp_status swp__unpack_new(const unsigned char *magic, size_t size, const char *path, swp__unpack **unpack, swp_error *error)
{
    bool is_gzip = size >= 3 && memcmp(magic, "\x1F\x8B\x08", 3) == 0;
    bool is_zstd = size >= 4 && memcmp(magic, "\x28\xB5\x2F\xFD", 4) == 0;
    *unpack = NULL;
    if (!is_gzip && !is_zstd) {
        return SWP_OK;
    }
    const char *name = is_zstd ? "zstd" : "gzip";
    if (!is_built_in(is_zstd)) {
        return swp__refuse_file(error, path, 0,
                                "the file is compressed by %s, which this build was made without; unpack it first", name);
    }
    swp__unpack *u = calloc(1, sizeof *u);
    if (u == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory to unpack %s", name);
    }
    u->path = path;
    u->name = name;
    u->is_zstd = is_zstd;
    if (!begin(u)) {
        free(u);
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory to unpack %s", name);
    }
    *unpack = u;
    return SWP_OK;
}

/* Takes from the block, writes to bytes[*done..size). False: damaged. */
static bool step_zstd(swp__unpack *u, unsigned char *bytes, size_t size, size_t *done)
{
#ifdef SWP_HAVE_ZSTD
    ZSTD_inBuffer in = {u->block, u->size, u->at};
    ZSTD_outBuffer out = {bytes, size, *done};
    size_t left = ZSTD_decompressStream(u->zstd, &out, &in);
    if (ZSTD_isError(left)) {
        return false;
    }
    if (in.pos > u->at || out.pos > *done) { /* a call that did nothing tells nothing */
        u->between = left == 0;
    }
    u->at = in.pos;
    *done = out.pos;
    return true;
#else
    (void)u, (void)bytes, (void)size, (void)done;
    return false;
#endif
}

static bool step_gzip(swp__unpack *u, unsigned char *bytes, size_t size, size_t *done)
{
#ifdef SWP_HAVE_ZLIB
    if (u->between && u->at < u->size) { /* one more member */
        u->between = false;
        if (inflateReset(&u->gzip) != Z_OK) {
            return false;
        }
    }
    if (u->between) {
        return true;
    }
    size_t room = size - *done;
    u->gzip.next_in = u->block + u->at;
    u->gzip.avail_in = (uInt)(u->size - u->at);
    u->gzip.next_out = bytes + *done;
    u->gzip.avail_out = room > BLOCK_SIZE ? BLOCK_SIZE : (uInt)room;
    uInt offered = u->gzip.avail_out;
    int result = inflate(&u->gzip, Z_NO_FLUSH);
    u->at = u->size - u->gzip.avail_in;
    *done += offered - u->gzip.avail_out;
    u->between = result == Z_STREAM_END;
    return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR;
#else
    (void)u, (void)bytes, (void)size, (void)done;
    return false;
#endif
}

static swp_status refill(swp__unpack *u, swp__unpack_more more, void *context, swp_error *error)
{
    u->at = 0;
    u->size = 0;
    swp_status status = more(context, u->block, BLOCK_SIZE, &u->size, error);
    u->ended = status == SWP_OK && u->size == 0;
    u->bytes_in += u->size;
    if (u->ended && !u->between) {
        return swp__refuse_file(error, u->path, u->bytes_in, "the %s data is cut short", u->name);
    }
    return status;
}

swp_status swp__unpack_read(swp__unpack *u, swp__unpack_more more, void *context, void *bytes, size_t size, size_t *got,
                            swp_error *error)
{
    swp_status status = SWP_OK;
    *got = 0;
    while (*got < size && !u->ended && status == SWP_OK) {
        size_t at = u->at, before = *got;
        if (!(u->is_zstd ? step_zstd : step_gzip)(u, bytes, size, got)) {
            return swp__refuse_file(error, u->path, u->bytes_in, "the %s data is damaged", u->name);
        }
        u->bytes_out += *got - before;
        if (u->bytes_out > SWP__UNPACK_FREE_SIZE && u->bytes_out / SWP__UNPACK_RATIO_MAX > u->bytes_in) {
            return swp__refuse_file(error, u->path, u->bytes_in,
                                    "the %s data unpacks to more than %d times its size; unpack it yourself if that is meant",
                                    u->name, SWP__UNPACK_RATIO_MAX);
        }
        if (u->at == at && *got == before) {
            if (u->at < u->size) {
                return swp__refuse_file(error, u->path, u->bytes_in, "the %s data is damaged", u->name);
            }
            status = refill(u, more, context, error);
        }
    }
    return status;
}

const char *swp__unpack_name(const swp__unpack *u)
{
    return u != NULL ? u->name : NULL;
}

void swp__unpack_free(swp__unpack *u)
{
    if (u == NULL) {
        return;
    }
#ifdef SWP_HAVE_ZSTD
    ZSTD_freeDStream(u->zstd);
#endif
#ifdef SWP_HAVE_ZLIB
    if (!u->is_zstd) {
        inflateEnd(&u->gzip);
    }
#endif
    free(u);
}
