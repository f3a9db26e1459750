/* The protocol: bytes <-> messages. Pure functions over spans: no I/O, no allocation, no state. protocol/protocol.md is
 * the specification; protocol/messages.json is the list its numbers and layouts are generated from.
 *
 * A frame is read in steps, so that large arrays go straight to where they will live:
 *
 *     4 bytes     swp__wire_decode_length           body_size; refused: answer (version 2), then close the connection
 *     8 bytes     swp__wire_decode_request_header   the opcode; frame.fixed_size bytes come next
 *     fixed part  swp__wire_decode_request          the fields; request.tail_size bytes of arrays are the rest
 *     tail        into the reader's own memory      SWEEP, TRADES, LIVE_OPEN: swp__wire_decode_sweep makes sense of it
 *
 * Only a refused length breaks the stream: after any other refusal the reader skips the rest of the body and goes on. A
 * client reads replies the same way, with the _reply_ functions.
 *
 * A frame is written as a short start and borrowed arrays behind it: encode, append, finish; then out.parts is what
 * sendmsg takes.
 *
 * Refusals: the status for the peer; error->at is the byte offset in the frame, its length counted, of the first byte
 * that is wrong: of the field, of the first missing byte, or of the first surplus one. LIMIT has the limit and the
 * request instead. Order of checks: length, opcode, flags and reserved bytes, fixed part (reserved fields, then the
 * others in order), size of the tail, tail. Out-parameters are set only on success unless said otherwise; `error` may
 * be NULL. */
#ifndef SWP_WIRE_WIRE_H
#define SWP_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h> /* struct iovec: a span as sendmsg wants it */
#include "base/fingerprint.h"
#include "swp/engine.h"
#include "wire/numbers.h" /* SWP__OP_*, SWP__FLAG_*, SWP__COLUMN_*, SWP__RESULT_*, SWP__BODY_* ..., generated */

enum {
    SWP__WIRE_LENGTH_SIZE = 4,   /* before every body */
    SWP__WIRE_HEADER_SIZE = 8,   /* first bytes of a version 2 body */
    SWP__WIRE_PAYLOAD_AT = 12,   /* where a version 2 payload begins in its frame */
    SWP__WIRE_V1_FIXED_SIZE = 9, /* first bytes of a version 1 request body */
    SWP__WIRE_FIXED_MAX = 64,    /* no fixed part is longer */
    SWP__WIRE_START_MAX = 128,   /* header, fixed part and execution options fit */
    SWP__WIRE_PARTS_MAX = 24,    /* start, windows, and six axes with their counts fit */
};

/* ---- The fields of each message, laid out in memory as on the wire (asserted field by field in layout.c) ---- */

typedef struct swp__wire_hello {
    uint16_t major, minor; /* the highest version the client speaks; decoding refuses a major below 2 as UNKNOWN */
    uint32_t token_bytes;  /* the tail: token, then name */
    uint32_t name_bytes;
} swp__wire_hello;

typedef struct swp__wire_hello_reply {
    uint16_t major, minor; /* the lower of both */
    uint32_t features;     /* SWP__FEATURE_* */
    uint64_t max_body;     /* bytes of a body, either way */
    uint64_t max_memory;   /* bytes */
    uint64_t max_combos;   /* combos x windows of one SWEEP */
    uint32_t threads;
    uint32_t max_in_flight;      /* requests of one connection */
    swp__fingerprint numbers_id; /* swp__numbers_id */
} swp__wire_hello_reply;

/* LOAD, LOAD_FD, LOAD_BEGIN. Tail of LOAD: the columns, each n_bars x 8 bytes, lowest bit first. */
typedef struct swp__wire_shape {
    uint64_t n_bars;  /* at least 1 */
    uint32_t columns; /* SWP__COLUMN_*, close among them */
    uint32_t policy;  /* SWP_ALLOW_* */
} swp__wire_shape;

typedef struct swp__wire_find {
    swp__fingerprint fingerprint;
    uint64_t n_bars;  /* at least 1 */
    uint32_t columns; /* SWP__COLUMN_*, close among them */
    uint32_t policy;  /* SWP_ALLOW_* */
} swp__wire_find;

/* Reply to LOAD, FIND, LOAD_FD, LOAD_COMMIT, OPEN and HASH. */
typedef struct swp__wire_series {
    uint64_t handle;
    swp__fingerprint fingerprint;
    uint64_t known; /* SWP__KNOWN_*: which of fingerprint and n_nan are; the others are 0 */
    uint64_t n_bars;
    uint64_t n_nan;     /* closes that are NaN */
    double first, last; /* closes */
} swp__wire_series;

/* DROP, HASH; NAME with the name as its tail. */
typedef struct swp__wire_handle {
    uint64_t handle;
} swp__wire_handle;

/* LOAD_COMMIT, and the reply to LOAD_BEGIN. */
typedef struct swp__wire_upload {
    uint64_t upload;
} swp__wire_upload;

/* Tail: n_bars x 8 bytes. Decoding guarantees that first_bar + n_bars does not wrap. */
typedef struct swp__wire_load_part {
    uint64_t upload;
    uint32_t column; /* one of SWP__COLUMN_* */
    uint32_t reserved;
    uint64_t first_bar;
    uint64_t n_bars; /* at least 1 */
} swp__wire_load_part;

/* SWEEP and TRADES. Tail: execution options, windows, parameters (swp__wire_decode_sweep). */
typedef struct swp__wire_sweep {
    uint64_t handle;
    uint32_t strategy;   /* SWP_STRATEGY_HMA_CROSS */
    uint32_t param_form; /* swp_grid_form */
    uint64_t n_combos;   /* at least 1; TRADES: 1 */
    uint64_t columns;    /* SWP__RESULT_*, at least one; TRADES: 0 */
    uint32_t n_windows;  /* 0: the whole series; TRADES: at most 1 */
    uint32_t exec_bytes; /* multiple of 8, at most SWP__EXEC_BYTES */
} swp__wire_sweep;

/* A MORE frame of SWEEP. Tail of a block: its result columns, each windows x count x 8 bytes. */
typedef struct swp__wire_more {
    uint64_t kind;  /* SWP__MORE_PROGRESS or SWP__MORE_BLOCK */
    uint64_t first; /* progress: combos done; block: first combo */
    uint64_t count; /* progress: combos in all; block: combos in it, at least 1 */
} swp__wire_more;

enum { SWP__MORE_PROGRESS = 0, SWP__MORE_BLOCK = 1 };

/* Reply to TRADES. Tail, n_trades x 8 bytes each: entry_bar i64, exit_bar i64, side i64, entry f64, exit f64, pnl
 * f64. */
typedef struct swp__wire_trades {
    uint64_t n_trades;
} swp__wire_trades;

typedef struct swp__wire_cancel {
    uint32_t request_id;
    uint32_t reserved;
} swp__wire_cancel;

/* Tail: execution options, then n_combos rows of parameters (swp__wire_decode_sweep). */
typedef struct swp__wire_live_open {
    uint32_t strategy; /* SWP_STRATEGY_HMA_CROSS */
    uint32_t n_combos; /* at least 1 */
    uint64_t handle;   /* the warm-up's series; 0: none */
    uint32_t policy;   /* SWP_ALLOW_* */
    uint32_t exec_bytes;
} swp__wire_live_open;

/* Tail: the columns, each n_bars x 8 bytes, lowest bit first. */
typedef struct swp__wire_live_push {
    uint32_t session;
    uint32_t n_bars;  /* 0 asks for the state */
    uint32_t columns; /* SWP__COLUMN_*, close among them */
    uint32_t reserved;
    uint64_t expected_bars; /* UINT64_MAX: do not check */
} swp__wire_live_push;

/* LIVE_CLOSE, SNAPSHOT, and the reply to LIVE_OPEN and RESTORE. */
typedef struct swp__wire_session {
    uint32_t session;
    uint32_t reserved;
} swp__wire_session;

/* What one combo of a live session has done; in the tails of the LIVE_ replies and of RESTORE's. */
typedef struct swp__wire_state {
    int64_t bars_seen; /* warm-up included */
    int64_t position;  /* -1 short, 0 flat, +1 long */
    double entry;      /* price; 0 when flat */
    double pnl;        /* percentage points, closed trades, fees taken */
    int64_t trades;    /* closed trades */
} swp__wire_state;

typedef struct swp__wire_shm_open {
    uint64_t ring_bytes; /* of one ring */
} swp__wire_shm_open;

typedef struct swp__wire_shm_granted {
    uint64_t ring_bytes;
} swp__wire_shm_granted;

/* Any reply that failed. Tail: the text, UTF-8. */
typedef struct swp__wire_error {
    uint64_t at;   /* argument number, index or byte offset; SWP_AT_NONE */
    uint64_t a, b; /* LIMIT: the limit and the request; STALE: expected and actual count */
} swp__wire_error;

typedef struct swp__wire_request {
    uint8_t opcode; /* SWP__OP_*: which member of the union; ECHO, STATS, STRATEGIES, RESTORE, OPEN, LIST have none */
    uint8_t flags;  /* SWP__FLAG_* */
    uint32_t id;
    uint64_t tail_size; /* bytes behind the fixed part; found by decoding, not read by encoding */
    union {
        swp__wire_hello hello;
        swp__wire_shape shape;
        swp__wire_find find;
        swp__wire_handle handle;
        swp__wire_upload upload;
        swp__wire_load_part load_part;
        swp__wire_sweep sweep;
        swp__wire_cancel cancel;
        swp__wire_live_open live_open;
        swp__wire_live_push live_push;
        swp__wire_session session;
        swp__wire_shm_open shm_open;
        uint8_t fixed[SWP__WIRE_FIXED_MAX]; /* whichever it is, as bytes */
    };
} swp__wire_request;

typedef struct swp__wire_reply {
    uint8_t opcode; /* SWP__OP_* of the request (no bit 7); 0: to a frame without one */
    uint8_t status; /* SWP_OK, SWP_MORE, or an error: then `error`, whatever the opcode */
    uint32_t id;
    uint64_t tail_size; /* as in a request */
    union {
        swp__wire_hello_reply hello;
        swp__wire_series series;
        swp__wire_upload upload;
        swp__wire_more more;
        swp__wire_trades trades;
        swp__wire_session session;
        swp__wire_shm_granted shm_granted;
        swp__wire_error error;
        uint8_t fixed[SWP__WIRE_FIXED_MAX];
    };
} swp__wire_reply;

/* ---- Reading: both versions ---- */

/* What a connection speaks, by the opcode (fifth byte) of its first frame: 1, 2, or 0 for neither: close. */
int swp__wire_version_of(uint8_t opcode);

/* The length of a body in `version` 1 or 2. BAD_FRAME: too short to hold its header; LIMIT: above max_body. Both end
 * the connection; version 2 answers with opcode 0 and id 0 first. *body_size is set in any case. */
swp_status swp__wire_decode_length(int version, const uint8_t bytes[SWP__WIRE_LENGTH_SIZE], uint64_t max_body,
                                   uint32_t *body_size, swp_error *error);

/* ---- Reading: version 2 ---- */

/* The header of a body, and what to read next. */
typedef struct swp__wire_frame {
    uint32_t body_size;
    uint32_t id;
    uint8_t opcode;      /* SWP__OP_*; of a reply without its bit 7 */
    uint8_t flags;       /* of a request */
    uint8_t status;      /* of a reply */
    uint32_t fixed_size; /* bytes of the fixed part, at most SWP__WIRE_FIXED_MAX */
} swp__wire_frame;

/* The first 8 bytes of a body whose length was accepted. UNKNOWN: the opcode is not in the table (whether this
 * server serves it is the dispatcher's to say); BAD_FRAME: reserved bytes, unknown flags, no room for the fixed
 * part. *frame is set in any case, for the answer. */
swp_status swp__wire_decode_request_header(uint32_t body_size, const uint8_t header[SWP__WIRE_HEADER_SIZE],
                                           swp__wire_frame *frame, swp_error *error);

/* The fixed part of a frame that was accepted. Checks everything that can be known before the tail is there, its size
 * included: a reader may size its memory by n_bars, n_combos ... and then read the tail into it. Values that need the
 * engine's knowledge (handles, windows, parameters, closes) are the engine's to judge. */
swp_status swp__wire_decode_request(const swp__wire_frame *frame, const uint8_t *fixed, swp__wire_request *request,
                                    swp_error *error);

/* Execution options, windows and parameters of a SWEEP, TRADES or LIVE_OPEN. `tail` is request->tail_size bytes,
 * 8-byte aligned; *sweep points into it. Judges sizes, and option values that would not fit *sweep; swp_sweep judges
 * the others. sweep->grid of LIVE_OPEN has the form SWP_GRID_ROWS. */
swp_status swp__wire_decode_sweep(const swp__wire_request *request, const void *tail, swp_sweep_request *sweep,
                                  swp_error *error);

/* A text a peer sent that will be shown or stored: UTF-8 without control characters, or BAD_PARAM. `offset` is that of
 * text[0] in its frame. */
swp_status swp__wire_check_text(const uint8_t *text, size_t size, uint64_t offset, swp_error *error);

/* Before an OK reply is sent: is its tail, reply->tail_size, as long as whoever asked must expect? BAD_FRAME.
 * session_combos as for swp__wire_decode_reply. */
swp_status swp__wire_check_reply(const swp__wire_reply *reply, const swp__wire_request *asked, uint64_t session_combos,
                                 swp_error *error);

/* As swp__wire_decode_request_header; BAD_FRAME for anything wrong. An error status that this side does not know is let
 * through, and so is an unknown opcode in an error. */
swp_status swp__wire_decode_reply_header(uint32_t body_size, const uint8_t header[SWP__WIRE_HEADER_SIZE],
                                         swp__wire_frame *frame, swp_error *error);

/* As swp__wire_decode_request. `asked` is the request that frame->id belongs to, as it was sent, its tail_size
 * included: a reply of another opcode, or whose size is not what was asked for, is BAD_FRAME. NULL: the reply is an
 * error of opcode 0, about the connection. session_combos: combos of the session a LIVE_PUSH or LIVE_CLOSE named
 * (else ignored). */
swp_status swp__wire_decode_reply(const swp__wire_frame *frame, const swp__wire_request *asked, uint64_t session_combos,
                                  const uint8_t *fixed, swp__wire_reply *reply, swp_error *error);

/* Bytes of a SWEEP's result: columns x windows (at least 1) x combos x 8. False when beyond 64 bits. */
bool swp__wire_result_size(const swp__wire_sweep *sweep, uint64_t n_combos, uint64_t *bytes);

/* Bytes of LIVE_PUSH's reply: n_combos states, and positions padded to 8 when `positions`. False when beyond 64
 * bits. */
bool swp__wire_live_reply_size(uint64_t n_combos, uint64_t n_bars, bool positions, uint64_t *bytes);

/* ---- Writing ---- */

/* A frame on its way out. Holds pointers into itself: never copy one. */
typedef struct swp__wire_out {
    struct iovec parts[SWP__WIRE_PARTS_MAX]; /* parts[0] is `start` */
    size_t parts_count;
    uint64_t size; /* bytes of all parts */
    uint8_t start[SWP__WIRE_START_MAX];
} swp__wire_out;

/* Header and fixed part. Reserved fields are written as 0 whatever the struct says. */
void swp__wire_encode_request(const swp__wire_request *request, swp__wire_out *out);
void swp__wire_encode_reply(const swp__wire_reply *reply, swp__wire_out *out);

/* An error reply. The text is borrowed from *error until the frame is sent. */
void swp__wire_encode_error(uint8_t opcode, uint32_t id, const swp_error *error, swp__wire_out *out);

/* A whole SWEEP, TRADES or LIVE_OPEN but for swp__wire_finish: `request` brings opcode, flags, id, handle, columns,
 * policy; the rest comes from *sweep and is also filled into *request, which is then what swp__wire_decode_reply
 * wants as `asked`. Arrays of *sweep are borrowed until the frame is sent. LIVE_OPEN takes a grid of rows only. */
void swp__wire_encode_sweep(swp__wire_request *request, const swp_sweep_request *sweep, swp__wire_out *out);

/* One more array, borrowed until the frame is sent. Size 0 is a no-op. */
void swp__wire_append(swp__wire_out *out, const void *bytes, uint64_t size);

/* Writes the length, once everything is appended. LIMIT when the body is longer than max_body or a length can say. */
swp_status swp__wire_finish(swp__wire_out *out, uint64_t max_body, swp_error *error);

/* All parts in a row, out->size bytes. */
void swp__wire_copy(const swp__wire_out *out, uint8_t *bytes);

/* ---- Version 1: the body is [u8 opcode][u32 n_bars][u32 n_combos][closes][parameters] ---- */

typedef struct swp__wire_v1 {
    uint8_t opcode; /* SWP__OP_V1_SWEEP or SWP__OP_V1_ECHO */
    uint32_t n_bars;
    uint32_t n_combos;
} swp__wire_v1;

enum { SWP__OP_V1_SWEEP = 0, SWP__OP_V1_ECHO = 1 };

/* The first 9 bytes of a body: n_bars x 8 bytes of closes come next, then n_combos x 48 bytes of parameters. BAD_FRAME
 * (unknown opcode, sizes that do not add up) closes the connection without an answer: version 1 has no errors. */
swp_status swp__wire_decode_v1(uint32_t body_size, const uint8_t fixed[SWP__WIRE_V1_FIXED_SIZE], swp__wire_v1 *v1,
                               swp_error *error);

/* The parameters of a version 1 sweep, in place: values above SWP_PARAM_MAX become SWP_PARAM_MAX, which means the
 * same in any series a frame can hold. BAD_PARAM (at: index) for one below 1; closes the connection too. */
swp_status swp__wire_check_v1_params(int64_t *params, uint64_t params_count, swp_error *error);

/* The start of a request; append closes and parameters, then finish. */
void swp__wire_encode_v1(const swp__wire_v1 *v1, swp__wire_out *out);

/* The start of a reply: no more than a length; append pnl and trades, or the closes, then finish. */
void swp__wire_encode_v1_reply(swp__wire_out *out);

#endif
