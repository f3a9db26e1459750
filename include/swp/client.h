/* An engine behind a boundary. Whatever the door, the same calls give the same statuses, and the same numbers bit for bit:
 *
 *   unix:PATH          a daemon's socket; without PATH the default one ($XDG_RUNTIME_DIR/sweepd.sock, else
 *                      sweepd-UID/sweepd.sock in the directory for temporary files)
 *   shm:PATH           the same socket, then memory that both sides share (Linux 5.1): the quickest crossing
 *   tcp:HOST:PORT      a daemon's port; loopback only
 *   spawn:PROGRAM      a process of our own, PROGRAM serve --listen stdio:; without PROGRAM "sweepd", looked for on PATH
 *   inproc:            this process: an engine and its store
 *
 * A client may be used by any number of threads at once, each gets its own answers; a series likewise. It has no thread of
 * its own: who waits reads. In a forked child every call answers WRONG_PROCESS, and swp_client_close gives back what is the
 * child's without a word to the server.
 *
 * Time-outs. Each call ends within `timeout_ms` of its beginning, whatever the other side does: 0 is the client's own
 * (options), SWP_NO_TIMEOUT is none. A call that timed out is given up: a late answer is thrown away, a sweep is cancelled.
 * A sweep that was cancelled ends within 10 s even without a time-out.
 *
 * Three ways a door fails, and they are three statuses: REFUSED, nobody listens or we may not; CLOSED, the connection ended
 * before the answer; TIMED_OUT. After CLOSED the next call connects again, says HELLO again and finds its series again, by
 * fingerprint; only what the server has lost is sent again, if it was kept (swp_keep), else the call answers NOT_FOUND.
 *
 * Every call checks its arguments in order, before anything is sent: BAD_PARAM, a pointer is NULL (at: the argument, from 1);
 * WRONG_PROCESS; then what the call itself says. Then come the three above, and what the protocol says of the message
 * (protocol/protocol.md): places (`error->at`) of bars, windows and parameters are indices, from 0. NO_MEMORY and INTERNAL may
 * come at any time. Out-pointers are set only on success. */
#ifndef SWP_CLIENT_H
#define SWP_CLIENT_H

#include "swp/engine.h"
#include "swp/live.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct swp_client swp_client;               /* opaque */
typedef struct swp_client_series swp_client_series; /* opaque: a series that the engine holds for us */
typedef struct swp_client_live swp_client_live;     /* opaque: a live session on the other side */
typedef struct swp_pending swp_pending;             /* opaque: a call that was submitted */
typedef struct swp_series_buffer swp_series_buffer; /* opaque: memory whose closes a server takes over without a copy */

#define SWP_NO_TIMEOUT UINT32_MAX
#define SWP_NO_SPIN UINT32_MAX
enum {
    SWP_TIMEOUT_STANDARD_MS = 60000,
    SWP_SPIN_STANDARD_US = 20,
};

/* Zero-initialise, then set what differs from the default. Everything is copied. */
typedef struct swp_client_options {
    uint32_t timeout_ms; /* of calls that name none, and of reconnecting; 0: SWP_TIMEOUT_STANDARD_MS */
    uint32_t spin_us;    /* how long to look for an answer before sleeping, while that pays and only where the process may use
                          * two CPUs; 0: SWP_SPIN_STANDARD_US; SWP_NO_SPIN: never */
    const void *token;   /* for servers that ask for one; NULL: none */
    size_t token_size;   /* bytes; at most 1024 */
    const char *name;    /* for the server's log: UTF-8, at most 255 bytes; NULL: none */
    uint32_t threads;    /* of the engine of inproc: and spawn:; 0: the CPUs the process may use */
    const swp_allocator *allocator; /* NULL: the system's */
    const swp_clock *clock;         /* for time-outs; NULL: the system's monotonic clock */
} swp_client_options;

/* Connects and says HELLO, within options->timeout_ms. `options` may be NULL. BAD_PARAM the address (at: 1), the options (at:
 * 2); then REFUSED, TIMED_OUT, CLOSED; DENIED (the token), BUSY (too many connections), UNKNOWN (no common version). */
SWP_API SWP_MUST_CHECK swp_status swp_client_open(const char *url, const swp_client_options *options, swp_client **client,
                                                  swp_error *error);

/* Ends the connection, and the process of spawn:. No call may be running and no swp_pending left; the client's series are gone
 * with it. NULL is a no-op. */
SWP_API void swp_client_close(swp_client *client);

/* What the server said when it was last connected to. */
typedef struct swp_server_info {
    uint64_t max_body;      /* bytes of a frame's body, either way */
    uint64_t max_memory;    /* bytes of series */
    uint64_t max_combos;    /* windows x combos of a sweep */
    uint32_t threads;       /* of its engine */
    uint32_t max_in_flight; /* calls at once; more wait in the client */
    uint8_t numbers_id[16]; /* servers with the same one compute the same numbers */
    char version[32];       /* "0.1.0" */
} swp_server_info;

SWP_API swp_server_info swp_client_server(swp_client *client);

/* ---- Series ---- */

/* Columns of a series, each bars_count values, oldest first; the close is required, NULL means that there is none. */
typedef struct swp_columns {
    uint64_t bars_count;
    const double *close, *open, *high, *low, *volume;
    const int64_t *time_ns; /* since 1970 UTC, strictly rising */
} swp_columns;

typedef enum swp_keep {
    SWP_KEEP_NOTHING = 0, /* the columns are free after the call; what a server has lost is NOT_FOUND */
    SWP_KEEP_BORROWED,    /* the columns stay as they are until swp_client_drop: they are sent again when they must be */
} swp_keep;

typedef struct swp_series_info {
    uint8_t fingerprint[16]; /* XXH3-128 of the columns, as on the wire; zeros: not known */
    bool fingerprint_known;
    uint64_t bars_count;
    uint64_t nan_count;
    double first, last; /* closes */
} swp_series_info;

SWP_API swp_series_info swp_client_series_info(swp_client_series *series);

/* Sends a series: in one frame, or in parts where it is longer than a frame may be. `allow`: a sum of SWP_ALLOW_*. BAD_PARAM
 * bars_count is 0, no close, an unknown bit of allow (at: none); LIMIT max_memory; BAD_PARAM (at: bar) a close that is not
 * allowed, a time that does not rise. */
SWP_API SWP_MUST_CHECK swp_status swp_client_load(swp_client *client, const swp_columns *columns, uint32_t allow, swp_keep keep,
                                                  uint32_t timeout_ms, swp_client_series **series, swp_error *error);

/* Memory for so many closes, all 0.0, that a server on this machine can take over as it is. At least 1: BAD_PARAM (at: 1);
 * NO_MEMORY. */
SWP_API SWP_MUST_CHECK swp_status swp_series_buffer_new(uint64_t bars_count, swp_series_buffer **buffer, swp_error *error);

/* [bars_count], to be filled before it is loaded. It stays where it is, to be read and written, until the buffer is freed; what is
 * written after it was loaded is seen here only. */
SWP_API double *swp_series_buffer_close(swp_series_buffer *buffer);

/* The series that were loaded from it stay. NULL is a no-op. */
SWP_API void swp_series_buffer_free(swp_series_buffer *buffer);

/* Loads a buffer's closes. Over unix: and shm: its memory is sealed and handed over: no byte is copied or looked at, and what that
 * costs does not depend on the size. So a close that is not allowed is told by the first call that uses the series, or by
 * swp_client_hash, before which the fingerprint is not known and a lost connection loses the series. Where that cannot be - other
 * doors, a buffer that was loaded before, memory that a forked child or a device still has its hands on - it is as
 * swp_client_load. No other call may use the buffer meanwhile. */
SWP_API SWP_MUST_CHECK swp_status swp_client_load_buffer(swp_client *client, swp_series_buffer *buffer, uint32_t allow,
                                                         uint32_t timeout_ms, swp_client_series **series, swp_error *error);

/* The same series if the server holds it already: only its fingerprint is sent. NOT_FOUND: it does not; then load it. */
SWP_API SWP_MUST_CHECK swp_status swp_client_find(swp_client *client, const swp_columns *columns, uint32_t allow, swp_keep keep,
                                                  uint32_t timeout_ms, swp_client_series **series, swp_error *error);

/* By a name that swp_client_name or the daemon gave it. */
SWP_API SWP_MUST_CHECK swp_status swp_client_open_series(swp_client *client, const char *name, uint32_t timeout_ms,
                                                         swp_client_series **series, swp_error *error);

/* Names a series, for everybody of our identity. BAD_PARAM: not 1..255 bytes of text, or another series has that name. */
SWP_API SWP_MUST_CHECK swp_status swp_client_name_series(swp_client *client, swp_client_series *series, const char *name,
                                                         uint32_t timeout_ms, swp_error *error);

/* Has the server compute what is not known of the series yet. */
SWP_API SWP_MUST_CHECK swp_status swp_client_hash(swp_client *client, swp_client_series *series, uint32_t timeout_ms,
                                                  swp_error *error);

/* Gives the series back. `series` is gone whatever the status, which says how the server took it; no call may use it. */
SWP_API swp_status swp_client_drop(swp_client *client, swp_client_series *series, uint32_t timeout_ms, swp_error *error);

/* ---- Sweeps ---- */

/* As swp_sweep, on the other side: request and arrays mean the same and are checked alike, but BAD_PARAM when `result` has no
 * array at all (at: 4). result->finished is cleared before anything is sent. A request with a `cancel` gets its results in
 * blocks, and after CANCELLED the rows with finished = 1 are whole and the others zero; so does one whose results do not fit a
 * frame. After TIMED_OUT and CLOSED nothing but rows with finished = 1 means anything; after any other failure the arrays are
 * as they were. request->progress is called on the calling thread. */
SWP_API SWP_MUST_CHECK swp_status swp_client_sweep(swp_client *client, swp_client_series *series,
                                                   const swp_sweep_request *request, const swp_sweep_result *result,
                                                   uint32_t timeout_ms, swp_error *error);

/* Every trade of one combo, an open one last; arrays of `count` values that swp_trades_free gives back. */
typedef struct swp_trades {
    uint64_t count;
    const int64_t *entry_bar;
    const int64_t *exit_bar; /* -1: open */
    const int64_t *side;     /* +1 long, -1 short */
    const double *entry;     /* price */
    const double *exit;      /* price; of an open trade the last close that is not NaN */
    const double *pnl;       /* percentage points, fee taken; of an open trade without fee */
} swp_trades;

/* request->grid is one combo, with at most one window, else BAD_PARAM; progress and cancel are not looked at. */
SWP_API SWP_MUST_CHECK swp_status swp_client_trades(swp_client *client, swp_client_series *series,
                                                    const swp_sweep_request *request, uint32_t timeout_ms, swp_trades *trades,
                                                    swp_error *error);

/* Before swp_client_close; an empty one is a no-op. */
SWP_API void swp_trades_free(swp_client *client, swp_trades *trades);

/* ---- Submit now, wait later ---- */

/* As swp_client_sweep, but returns when the request has left. What request and result point to stays the caller's to keep
 * until swp_pending_wait; the structs themselves are copied. Waits for room while max_in_flight calls are on their way. */
SWP_API SWP_MUST_CHECK swp_status swp_client_submit_sweep(swp_client *client, swp_client_series *series,
                                                          const swp_sweep_request *request, const swp_sweep_result *result,
                                                          uint32_t timeout_ms, swp_pending **pending, swp_error *error);

/* Waits for the end of the call, which is within the time-out it was submitted with, and frees `pending`. Once, by one
 * thread. */
SWP_API SWP_MUST_CHECK swp_status swp_pending_wait(swp_pending *pending, swp_error *error);

/* Whether swp_pending_wait would return at once; reads what has come, but does not wait. */
SWP_API bool swp_pending_is_done(swp_pending *pending);

/* Asks for an early end of a sweep; swp_pending_wait still follows and says whether it was CANCELLED. Any thread. */
SWP_API void swp_pending_cancel(swp_pending *pending);

/* ---- Live sessions (swp/live.h says what one is) ----
 *
 * A session ends with the connection it was opened on. Its next call then answers CLOSED, once for all, and says so; the client
 * itself connects again. A snapshot, or the bars so far as a warm-up, makes it anew. A session belongs to one thread at a time. */

/* As swp_live_new; `warm_up` may be NULL. states[request->combos_count]: after the warm-up. Checked in this order: BAD_PARAM a
 * pointer is NULL (at: argument); WRONG_PROCESS; then as swp_live_new says. */
SWP_API SWP_MUST_CHECK swp_status swp_client_live_open(swp_client *client, swp_client_series *warm_up,
                                                       const swp_live_request *request, uint32_t timeout_ms,
                                                       swp_client_live **live, swp_live_state *states, swp_error *error);

SWP_API uint64_t swp_client_live_combos_count(const swp_client_live *live);

/* Bars after the last push that was answered. */
SWP_API uint64_t swp_client_live_bars_count(const swp_client_live *live);

/* As swp_live_push. After TIMED_OUT the same push, with the same expected_bars, may be sent again: if it had been applied it is
 * answered and changes nothing. After TIMED_OUT and CLOSED states and positions mean nothing. */
SWP_API SWP_MUST_CHECK swp_status swp_client_live_push(swp_client_live *live, uint64_t expected_bars, const double *close,
                                                       uint64_t bars_count, uint32_t timeout_ms, swp_live_state *states,
                                                       int8_t *positions, swp_error *error);

/* As swp_live_peek. */
SWP_API SWP_MUST_CHECK swp_status swp_client_live_peek(swp_client_live *live, const double *close, uint64_t bars_count,
                                                       uint32_t timeout_ms, swp_live_state *states, int8_t *positions,
                                                       swp_error *error);

/* The session as bytes, for swp_client_live_restore on any door; swp_client_snapshot_free gives them back. */
SWP_API SWP_MUST_CHECK swp_status swp_client_live_snapshot(swp_client_live *live, uint32_t timeout_ms, void **bytes,
                                                           size_t *size, swp_error *error);

/* Before swp_client_close. NULL is a no-op. */
SWP_API void swp_client_snapshot_free(swp_client *client, void *bytes);

/* As swp_live_restore. */
SWP_API SWP_MUST_CHECK swp_status swp_client_live_restore(swp_client *client, const void *bytes, size_t size,
                                                          uint32_t timeout_ms, swp_client_live **live, swp_error *error);

/* Ends the session. `live` is gone whatever the status, which says how the server took it. */
SWP_API swp_status swp_client_live_close(swp_client_live *live, uint32_t timeout_ms, swp_error *error);

/* ---- The rest ---- */

/* Sends `size` bytes there and back into `reply`, which may be the same array. */
SWP_API SWP_MUST_CHECK swp_status swp_client_echo(swp_client *client, const void *bytes, size_t size, void *reply,
                                                  uint32_t timeout_ms, swp_error *error);

/* Texts, NUL-terminated, that swp_client_text_free gives back: what the engine counts (Prometheus), the series one may use
 * (JSON), the strategies (JSON). */
SWP_API SWP_MUST_CHECK swp_status swp_client_stats(swp_client *client, uint32_t timeout_ms, char **text, swp_error *error);
SWP_API SWP_MUST_CHECK swp_status swp_client_list(swp_client *client, uint32_t timeout_ms, char **text, swp_error *error);
SWP_API SWP_MUST_CHECK swp_status swp_client_strategies(swp_client *client, uint32_t timeout_ms, char **text, swp_error *error);

/* Before swp_client_close. NULL is a no-op. */
SWP_API void swp_client_text_free(swp_client *client, char *text);

#ifdef __cplusplus
}
#endif
#endif
