#include "server/requests.h"

static const swp__op ops[] = {
    {.opcode = SWP__OP_HELLO, .run = swp__run_hello},
    {.opcode = SWP__OP_ECHO, .run = swp__run_echo},
    {.opcode = SWP__OP_CANCEL, .is_cancel = true, .run = swp__run_cancel},
    {.opcode = SWP__OP_STATS, .run = swp__run_stats},
    {.opcode = SWP__OP_STRATEGIES, .run = swp__run_strategies},
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
