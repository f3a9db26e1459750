#include "server/requests.h"

static const swp__op ops[] = {
    {.opcode = SWP__OP_HELLO, .run = swp__run_hello},
    {.opcode = SWP__OP_ECHO, .run = swp__run_echo},
    {.opcode = SWP__OP_LOAD, .is_new_work = true, .begin = swp__begin_load, .run = swp__run_load},
    {.opcode = SWP__OP_FIND, .run = swp__run_find},
    {.opcode = SWP__OP_DROP, .run = swp__run_drop},
    {.opcode = SWP__OP_SWEEP, .is_new_work = true, .run = swp__run_sweep},
    {.opcode = SWP__OP_TRADES, .is_new_work = true, .run = swp__run_trades},
    {.opcode = SWP__OP_CANCEL, .is_cancel = true, .run = swp__run_cancel},
    {.opcode = SWP__OP_LIVE_OPEN, .is_new_work = true, .run = swp__run_live_open},
    {.opcode = SWP__OP_LIVE_PUSH, .run = swp__run_in_session},
    {.opcode = SWP__OP_LIVE_CLOSE, .run = swp__run_in_session},
    {.opcode = SWP__OP_SNAPSHOT, .run = swp__run_in_session},
    {.opcode = SWP__OP_RESTORE, .is_new_work = true, .run = swp__run_restore},
    {.opcode = SWP__OP_STATS, .run = swp__run_stats},
    {.opcode = SWP__OP_SHM_OPEN, .run = swp__run_shm_open},
    {.opcode = SWP__OP_LOAD_FD, .is_new_work = true, .run = swp__run_load_fd},
    {.opcode = SWP__OP_STRATEGIES, .run = swp__run_strategies},
    {.opcode = SWP__OP_LOAD_BEGIN, .is_new_work = true, .run = swp__run_load_begin},
    {.opcode = SWP__OP_LOAD_PART, .begin = swp__begin_load_part, .run = swp__run_load_part},
    {.opcode = SWP__OP_LOAD_COMMIT, .run = swp__run_load_commit},
    {.opcode = SWP__OP_NAME, .run = swp__run_name},
    {.opcode = SWP__OP_OPEN, .run = swp__run_open},
    {.opcode = SWP__OP_LIST, .run = swp__run_list},
    {.opcode = SWP__OP_HASH, .run = swp__run_hash},
};

const swp__op *swp__op_find(uint8_t opcode)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (ops[i].opcode == opcode) {
            return &ops[i];
        }
    }
    return NULL;
}
