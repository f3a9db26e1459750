/* The series a server holds: content-addressed, shared by those who may see it, kept within a bound of memory.
 *
 *     client ──> scope (a connection) ──> uses ──> held series <── names (of an identity)
 *                   └──> loads and uploads in progress
 *
 * Content is one or more columns of one length. The same content loaded twice by one identity is held once; its
 * fingerprint finds it, and its bytes are compared before two are taken for one. A handle is that of a held series:
 * it carries the store's epoch, is never reused, and is good in the scopes that loaded, found or opened the series.
 * A series that nobody uses stays, least recently used goes first, until its memory is wanted; pinned ones stay for
 * good.
 *
 * An identity sees its own series and everybody's: those that a scope of identity zero, the daemon's own, has loaded
 * or named.
 *
 * Calls on one scope, and on its loads, are made by one thread at a time; all else may be called from any thread. No
 * call waits for another's hashing, comparing or reading. */
#ifndef SWP_ENGINE_STORE_H
#define SWP_ENGINE_STORE_H

#include "base/fingerprint.h"
#include "engine/engine.h"

typedef struct swp__store swp__store;
typedef struct swp__scope swp__scope;
typedef struct swp__load swp__load;

/* Whom a scope acts for: a user, a token; opaque here. */
typedef struct swp__identity {
    uint64_t low, high;
} swp__identity;

/* Columns of a series; the numbers are the wire's. 8 bytes a bar: f64, the time i64 (ns since 1970 UTC). */
enum {
    SWP__SERIES_CLOSE = 1,
    SWP__SERIES_OPEN = 2,
    SWP__SERIES_HIGH = 4,
    SWP__SERIES_LOW = 8,
    SWP__SERIES_VOLUME = 16,
    SWP__SERIES_TIME = 32,
    SWP__SERIES_ALL = 63,
};

enum { SWP__SERIES_NAME_MAX = 255 }; /* bytes */

/* bars_count >= 1; columns hold the close; policy is a sum of SWP_ALLOW_* and covers the closes. Anything else is
 * BAD_PARAM. */
typedef struct swp__shape {
    uint64_t bars_count;
    uint32_t columns;
    uint32_t policy;
} swp__shape;

typedef struct swp__series_info {
    uint64_t handle;
    swp__fingerprint fingerprint;      /* of the columns in the order of their bits; zero: not known */
    bool is_fingerprinted, is_counted; /* fingerprint, nan_count known: not at first for adopted memory */
    uint64_t bars_count, nan_count;
    double first, last; /* closes */
} swp__series_info;

typedef struct swp__store_counters {
    uint64_t loads, merges, finds, misses, evictions; /* since the store was made */
    uint64_t series, series_unused, scopes;           /* as it is now */
    uint64_t bytes, bytes_unused, bytes_limit;
} swp__store_counters;

/* `epoch` is a number no other run has had: random. The engine gives memory and limits and must outlive the store.
 * NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__store_new(swp_engine *engine, uint32_t epoch, swp__store **store, swp_error *error);

/* All scopes must be gone and all series given back. NULL is a no-op. */
void swp__store_free(swp__store *store);

swp__store_counters swp__store_count(swp__store *store);

/* Evicts what was used longest ago until series that nobody uses hold at most `bytes`. */
void swp__store_trim(swp__store *store, uint64_t bytes);

/* ---- scopes ---- */

/* NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__scope_new(swp__store *store, swp__identity identity, swp__scope **scope, swp_error *error);

/* Ends the scope's uses and uploads. Its loads must have ended. NULL is a no-op. */
void swp__scope_free(swp__scope *scope);

/* Content of that fingerprint, length and columns that the policy lets in, whatever it was loaded with. NOT_FOUND;
 * LIMIT (max_handles); NO_MEMORY. Counts one use, as does each success of OPEN and of a load. */
SWP_MUST_CHECK swp_status swp__scope_find(swp__scope *scope, swp__fingerprint fingerprint, const swp__shape *shape,
                                          swp__series_info *info, swp_error *error);

/* By name. BAD_PARAM (not 1..255 bytes), NOT_FOUND, LIMIT (max_handles), NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__scope_open(swp__scope *scope, const char *name, size_t name_size, swp__series_info *info,
                                          swp_error *error);

/* Undoes one use; or ends an upload, whose number is given likewise. NOT_FOUND. */
SWP_MUST_CHECK swp_status swp__scope_drop(swp__scope *scope, uint64_t handle, swp_error *error);

/* Names a series for the scope's identity, until it is evicted. `name` is UTF-8 without control characters.
 * BAD_PARAM (not 1..255 bytes); NOT_FOUND, the handle; BAD_PARAM, the name is another series', of this identity or
 * everybody's; LIMIT (max_names); NO_MEMORY. The same name for the same series again is no error. */
SWP_MUST_CHECK swp_status swp__scope_name(swp__scope *scope, uint64_t handle, const char *name, size_t name_size,
                                          swp_error *error);

/* Keeps a series for good. NOT_FOUND. */
SWP_MUST_CHECK swp_status swp__scope_pin(swp__scope *scope, uint64_t handle, swp_error *error);

/* What there is to say of a series, its fingerprint included: adopted memory is judged and hashed now. NOT_FOUND;
 * BAD_PARAM, as swp__load_commit. */
SWP_MUST_CHECK swp_status swp__scope_hash(swp__scope *scope, uint64_t handle, swp__series_info *info, swp_error *error);

/* JSON: [{"name": "spy" or null, "handle": "0x...", "bars": 5000, "columns": ["close", "time"], "bytes": 80000,
 * "fingerprint": "32 hex digits" or null, "pinned": false}, ...], what the identity may open or find, a line a name.
 * Writes at most `size` bytes, no NUL, and returns what the whole text needs. */
size_t swp__scope_list(swp__scope *scope, char *text, size_t size);

/* ---- series in use ---- */

/* The series of a handle, for a sweep: it stays until given back, whatever the scope does meanwhile. NOT_FOUND;
 * BAD_PARAM, as swp__load_commit (adopted memory, at its first use). */
SWP_MUST_CHECK swp_status swp__store_take(swp__scope *scope, uint64_t handle, const swp_series **series, swp_error *error);

void swp__store_give(swp__store *store, const swp_series *series);

/* ---- loads ---- */

/* Memory for a series. Checked in this order: BAD_PARAM the shape; LIMIT (max_handles); LIMIT (max_memory: a the
 * limit, b the bytes there would be) when it does not fit after all that nobody uses is gone, which is not touched
 * then; NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__load_new(swp__scope *scope, const swp__shape *shape, swp__load **load, swp_error *error);

/* Where a column (its bit) is to be written: 64-byte aligned, bars_count x 8 bytes, until the commit. */
void *swp__load_column(swp__load *load, uint32_t column);

/* The first `bytes` of the content, columns in the order of their bits without gaps, are there and will not change. */
void swp__load_ready(swp__load *load, uint64_t bytes);

/* Judges, hashes and then compares up to about `bytes` of what is ready, so that nobody else waits long. True:
 * nothing is left to do, or the content was refused (swp__load_commit says why). */
bool swp__load_work(swp__load *load, uint64_t bytes);

/* All is there: does what work is left, holds the series or finds it held already, and counts a use. Ends the load
 * whatever the answer. BAD_PARAM (at: bar): the first close in order that the policy refuses, else the first time
 * that does not rise; LIMIT (max_handles, handles of the epoch); NO_MEMORY. */
SWP_MUST_CHECK swp_status swp__load_commit(swp__load *load, swp__series_info *info, swp_error *error);

/* Gives up. NULL is a no-op. */
void swp__load_free(swp__load *load);

/* Memory that somebody else filled and nobody will change (a sealed file): the columns, in the order of their bits
 * without gaps. Neither hashed nor judged until first used. `release` is called when the series goes; not on
 * failure. Errors as swp__load_new. */
SWP_MUST_CHECK swp_status swp__store_adopt(swp__scope *scope, const swp__shape *shape, const void *memory,
                                           void (*release)(void *context, const void *memory, uint64_t size), void *context,
                                           swp__series_info *info, swp_error *error);

/* ---- uploads: a load in parts ---- */

/* Errors as swp__load_new; LIMIT (max_uploads) after the shape. */
SWP_MUST_CHECK swp_status swp__upload_new(swp__scope *scope, const swp__shape *shape, uint64_t *upload, swp_error *error);

/* Where bars [first_bar, first_bar + bars_count) of a column go, which the caller writes before the next call on
 * this upload. In any order; bars that come again replace what was there: a part may be repeated after a doubt.
 * NOT_FOUND, the upload; BAD_PARAM, no such column, bars beyond the end. */
SWP_MUST_CHECK swp_status swp__upload_part(swp__scope *scope, uint64_t upload, uint32_t column, uint64_t first_bar,
                                           uint64_t bars_count, void **memory, swp_error *error);

/* All parts are there: the load, to work at and commit; the upload is gone. NOT_FOUND; BAD_PARAM (at: the first bar
 * missing, of the lowest column that misses one): the upload stays. */
SWP_MUST_CHECK swp_status swp__upload_end(swp__scope *scope, uint64_t upload, swp__load **load, swp_error *error);

#endif
