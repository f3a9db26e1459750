/* The model client's parts and what they share.
 *
 *   client.c     the connection: bytes out and in, which request a reply belongs to, what any request may be refused for
 *   requests.c   series, sweeps, and the small calls; version 1
 *   uploads.c    LOAD_BEGIN, LOAD_PART, LOAD_COMMIT
 *   sessions.c   LIVE_OPEN, LIVE_PUSH, LIVE_CLOSE, SNAPSHOT, RESTORE */
#ifndef SWP_TESTS_SIMULATION_CLIENT_INSIDE_H
#define SWP_TESTS_SIMULATION_CLIENT_INSIDE_H

#include "simulation/client.h"

enum {
    SWP__CLIENT_HANDLES = 8,
    SWP__CLIENT_UPLOADS = 4,
    SWP__CLIENT_SESSIONS = 4,
    SWP__CLIENT_SAVED = 2,
    SWP__CLIENT_NO_HANDLE = 12345,
};

typedef struct swp__asked swp__asked;

/* One sort of request, and what may come back. */
typedef struct swp__kind {
    const char *name;
    bool is_new_work; /* refused while draining */
    bool may_be_cancelled;
    bool holds_cancel; /* a CANCEL of it is answered after it */
    bool is_bad;       /* refused whatever is in it */
    void (*hear)(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail); /* OK */
    void (*hear_more)(swp__client *c, swp__asked *a, const swp__wire_reply *reply, const uint8_t *tail);
    /* a refusal that not every request may meet; NULL: there is none */
    bool (*is_fair)(const swp__client *c, const swp__asked *a, const swp__wire_reply *reply);
    void (*refused)(swp__client *c, swp__asked *a, const swp__wire_reply *reply); /* NULL: it changes nothing */
} swp__kind;

struct swp__asked {
    swp__asked *next;
    const swp__kind *kind;
    uint32_t id;
    uint64_t ends_at; /* bytes of the stream, when it is sent whole */
    swp__wire_request request;
    uint64_t session_combos; /* LIVE_PUSH, LIVE_CLOSE */
    bool not_due;            /* never sent whole: an early refusal may come, an answer not */
    bool cancelled;

    uint8_t *bytes; /* ECHO: what comes back */
    size_t size;
    size_t series, grid;
    bool whole_handle; /* the handle was good when it was asked */
    bool must_find;    /* FIND of what is in use here */
    uint32_t target;   /* CANCEL */
    bool target_known; /* and outstanding when it was asked */
    bool wants_blocks, wants_progress;
    uint8_t *seen; /* blocks: combos that have come */
    uint64_t seen_count, progress_done;

    size_t slot;             /* of an upload or a session */
    uint64_t uploads_count;  /* that there may have been with this one when it was asked */
    uint64_t sessions_count; /* that there may have been with this one before it was answered */
    swp_status expected;     /* what alone it may be answered, refusals for any reason apart; OK: see is_fair */
    uint64_t expected_at;    /* with BAD_PARAM */
    uint64_t first, count;   /* bars: of a part; of a push */
    size_t column;           /* of a part */
    bool is_wrong;           /* a part of other closes */
    bool repeats, peeks;     /* a push */
    bool wants_positions;
    bool is_damaged;                 /* RESTORE */
    uint64_t last_first, last_count; /* RESTORE: the push that the session must know again */
};

typedef enum swp__part_state { SWP__PART_MISSING, SWP__PART_RIGHT, SWP__PART_WRONG } swp__part_state;

typedef struct swp__upload {
    enum { SWP__UPLOAD_NONE, SWP__UPLOAD_BEGINS, SWP__UPLOAD_OPEN, SWP__UPLOAD_ENDS } state;
    uint64_t number;
    size_t series;
    uint32_t columns;
    uint32_t parts; /* not answered yet */
    uint8_t *bars;  /* [2][bars_count]: swp__part_state of the closes, then of the volumes */
} swp__upload;

typedef struct swp__session_model {
    enum { SWP__SESSION_NONE, SWP__SESSION_OPENS, SWP__SESSION_OPEN, SWP__SESSION_CLOSES } state;
    uint32_t id;
    size_t grid;
    uint32_t outstanding;            /* requests that name it */
    uint64_t bars;                   /* as the last answer said */
    uint64_t hoped;                  /* once all that is asked is answered well */
    uint64_t last_first, last_count; /* the last push that was asked for: may be repeated; count 0: none */
} swp__session_model;

typedef struct swp__saved {
    uint8_t *bytes; /* NULL: none */
    size_t size, grid;
    uint64_t bars, last_first, last_count;
} swp__saved;

struct swp__client {
    swp__world *world;
    swp__line *line;
    int version;
    uint32_t life; /* of the server it is connected to */
    uint32_t next_id;
    uint8_t *out;
    size_t out_size, out_capacity;
    uint64_t queued_bytes, sent_bytes;
    uint8_t *in;
    size_t in_size, in_capacity;
    swp__asked *first, *last;
    uint32_t outstanding;
    bool shut, closed;
    bool lazy;      /* does not read for long: may be closed for it */
    bool greeted;   /* version 1: something was answered */
    bool garbage;   /* sent what ends the connection */
    unsigned taste; /* what it asks for most */

    uint64_t handles[SWP__CLIENT_HANDLES]; /* 0: free */
    size_t handle_series[SWP__CLIENT_HANDLES];
    uint32_t handle_columns[SWP__CLIENT_HANDLES];
    uint32_t drops;      /* DROPs not answered yet */
    uint32_t loaded;     /* of a connection that is on its own: bits of series */
    uint64_t old_handle; /* of an earlier connection; 0: none */
    uint32_t old_life;   /* of the server, to which it was */
    swp__upload uploads[SWP__CLIENT_UPLOADS];
    swp__session_model sessions[SWP__CLIENT_SESSIONS];
    swp__saved saved[SWP__CLIENT_SAVED];
};

/* ---- client.c ---- */

swp__asked *swp__client_ask(swp__client *c, const swp__kind *kind);
swp__asked *swp__client_find(const swp__client *c, uint32_t id);

/* Encodes the head of a->request; then what is appended to `out`; then the frame is queued. */
void swp__client_start(swp__asked *a, uint8_t opcode, swp__wire_out *out);
void swp__client_finish_request(swp__client *c, swp__asked *a, swp__wire_out *out);
void swp__client_queue_bytes(swp__client *c, const void *bytes, size_t size);

void swp__client_check(bool condition, const swp__asked *a, const char *what);

static inline uint64_t swp__client_draw(const swp__client *c, uint64_t below)
{
    return swp__random_below(c->world->random, below);
}

static inline bool swp__client_once_in(const swp__client *c, uint64_t times)
{
    return swp__random_once_in(c->world->random, times);
}

/* ---- requests.c ---- */

/* Each asks for one thing, at random. */
void swp__ask_request(swp__client *c);
void swp__ask_sweep(swp__client *c);
void swp__ask_v1(swp__client *c);
void swp__hear_v1(swp__client *c, swp__asked *a, const uint8_t *body, uint32_t body_size);

/* Mostly a slot with a good handle. */
size_t swp__client_random_handle(swp__client *c);

/* The handle of a slot; of an empty one a handle that is none, or one of an earlier life's of the server. Fills in whole_handle and
 * series; NOT_FOUND is fair for the others. */
uint64_t swp__client_use_handle(swp__client *c, swp__asked *a, size_t slot);
bool swp__client_is_bad_handle(const swp__client *c, const swp__asked *a, const swp__wire_reply *reply);

/* A series in a reply, now in use here. */
void swp__client_hear_series(swp__client *c, swp__asked *a, const swp__wire_reply *reply, uint32_t columns);

/* Whoever it is has sent this series, or will have when this request is answered. */
void swp__client_note_loaded(swp__client *c, size_t series);

/* ---- uploads.c ---- */

void swp__ask_upload(swp__client *c);
void swp__uploads_forget(swp__client *c);

/* ---- sessions.c ---- */

void swp__ask_session(swp__client *c);
/* With the connection. What is saved stays. */
void swp__sessions_forget(swp__client *c);
void swp__saved_free(swp__client *c);

#endif
