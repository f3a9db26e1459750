/* The tables that tools/gen_messages.py writes from protocol/messages.json: what every message is made of. The
 * structs of wire.h are laid out in memory as on the wire, so the tables serve for checks and for names, not for
 * conversion. */
#ifndef SWP_WIRE_LAYOUT_H
#define SWP_WIRE_LAYOUT_H

#include "wire/wire.h"

typedef enum swp__wire_kind {
    SWP__WIRE_U16,
    SWP__WIRE_U32,
    SWP__WIRE_U64,
    SWP__WIRE_I64,
    SWP__WIRE_F64,
    SWP__WIRE_B16, /* 16 bytes */
    SWP__WIRE_Z32, /* reserved: u32 0 */
} swp__wire_kind;

typedef struct swp__wire_field {
    const char *name;
    swp__wire_kind kind;
    uint32_t offset;
} swp__wire_field;

typedef struct swp__wire_layout {
    const char *name;
    const swp__wire_field *fields;
    uint32_t fields_count;
    uint32_t size;
} swp__wire_layout;

typedef struct swp__wire_message {
    const char *name;
    uint8_t opcode;
    uint8_t flags;                                  /* all that are known */
    const swp__wire_layout *request, *reply, *more; /* fixed parts; NULL: none */
} swp__wire_message;

extern const swp__wire_message swp__wire_messages[]; /* opcodes rise by one */
extern const size_t swp__wire_messages_count;

extern const swp__wire_layout swp__wire_state_layout;
extern const swp__wire_layout swp__wire_error_layout;

/* NULL for an opcode outside the table. */
const swp__wire_message *swp__wire_message_of(uint8_t opcode);

/* Bytes of a fixed part; 0 for NULL. */
static inline uint32_t swp__wire_fixed_size(const swp__wire_layout *layout)
{
    return layout != NULL ? layout->size : 0;
}

/* BAD_FRAME for a reserved field that is not 0. `name` is the message's, for the text. */
swp_status swp__wire_check_reserved(const char *name, const swp__wire_layout *layout, const uint8_t *fixed, swp_error *error);

/* BAD_FRAME unless `got` tail bytes behind `fixed_size` are `expected`; at: the first missing or first surplus byte. */
swp_status swp__wire_check_tail(const char *name, uint32_t fixed_size, uint64_t got, uint64_t expected, swp_error *error);

/* The fixed part of a reply with this status to `message` (NULL: an opcode outside the table). False: no such reply. */
bool swp__wire_reply_layout(const swp__wire_message *message, uint8_t status, const swp__wire_layout **layout);

/* Bytes behind the fixed part of a SWEEP, TRADES or LIVE_OPEN: what the counts say; where they do not say all (axes,
 * pairs), what there is unless that is too short. */
uint64_t swp__wire_sweep_tail_size(const swp__wire_request *request);

/* columns x n_bars x 8; UINT64_MAX, which is no frame's size, when beyond 64 bits. */
uint64_t swp__wire_columns_size(uint64_t n_bars, uint32_t columns);

/* An empty frame: its length, still to be written. */
void swp__wire_begin(swp__wire_out *out);

/* More bytes of the start itself, while nothing is appended. */
void swp__wire_extend_start(swp__wire_out *out, const void *bytes, size_t size);

#endif
