/* The requests of version 2 that are served: one row an opcode. */
#ifndef SWP_SERVER_REQUESTS_H
#define SWP_SERVER_REQUESTS_H

#include "server/internal.h"

typedef struct swp__op {
    uint8_t opcode;
    bool is_new_work; /* refused while draining */
    bool is_cancel;   /* not one of the requests in flight */
    /* The fixed part is decoded: find a place for the tail (connection->targets). NULL: a block, call->tail. */
    swp_status (*begin)(swp__call *call, swp_error *error);
    /* All of it is there: answer, or start what will. */
    swp_status (*run)(swp__call *call, swp_error *error);
} swp__op;

/* NULL: not served here. */
const swp__op *swp__op_find(uint8_t opcode);

/* info_requests.c */
swp_status swp__run_hello(swp__call *call, swp_error *error);
swp_status swp__run_echo(swp__call *call, swp_error *error);
swp_status swp__run_cancel(swp__call *call, swp_error *error);
swp_status swp__run_stats(swp__call *call, swp_error *error);
swp_status swp__run_strategies(swp__call *call, swp_error *error);

/* shm_requests.c */
swp_status swp__run_shm_open(swp__call *call, swp_error *error);
swp_status swp__run_load_fd(swp__call *call, swp_error *error);

/* series_requests.c */
swp_status swp__begin_load(swp__call *call, swp_error *error);
swp_status swp__run_load(swp__call *call, swp_error *error);
swp_status swp__run_load_begin(swp__call *call, swp_error *error);
swp_status swp__begin_load_part(swp__call *call, swp_error *error);
swp_status swp__run_load_part(swp__call *call, swp_error *error);
swp_status swp__run_load_commit(swp__call *call, swp_error *error);
swp_status swp__run_find(swp__call *call, swp_error *error);
swp_status swp__run_open(swp__call *call, swp_error *error);
swp_status swp__run_name(swp__call *call, swp_error *error);
swp_status swp__run_drop(swp__call *call, swp_error *error);
swp_status swp__run_list(swp__call *call, swp_error *error);
swp_status swp__run_hash(swp__call *call, swp_error *error);

/* The final frame of what answers with a series. */
void swp__answer_series(swp__call *call, const swp__series_info *info);

/* The connection's scope in the store, made when first asked for. NO_MEMORY. */
swp_status swp__connection_scope(swp__connection *connection, swp__scope **scope, swp_error *error);

/* live_requests.c */
swp_status swp__run_live_open(swp__call *call, swp_error *error);
swp_status swp__run_restore(swp__call *call, swp_error *error);
swp_status swp__run_in_session(swp__call *call, swp_error *error); /* LIVE_PUSH, LIVE_CLOSE, SNAPSHOT */

/* sweep_requests.c */
swp_status swp__run_sweep(swp__call *call, swp_error *error);
swp_status swp__run_trades(swp__call *call, swp_error *error);

#endif
