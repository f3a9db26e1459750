/* Snapshots of live sessions that somebody else made: as they are, or with size and checksum put right, so that what is behind
 * them is reached. One that is taken gives a session that can be looked at, pushed to, peeked at and snapshot again; restored from
 * that again it says the same.
 *
 * Input: u8 (bit 0: put right; bits 1-3: bars to push), then the snapshot. */
#include <math.h>
#include "base/fingerprint.h"
#include "engine/engine.h"
#include "fuzz/fuzz.h"
#include "support/host.h"
#include "swp/live.h"

enum { SIZE_AT = 32, SUM_SIZE = 16, HEAD_SIZE = 96, COMBOS_MAX = 1 << 12 };

static void put_right(uint8_t *bytes, size_t size)
{
    if (size >= HEAD_SIZE + SUM_SIZE) {
        uint64_t said = size;
        memcpy(bytes + SIZE_AT, &said, sizeof said);
        swp__fingerprint sum = swp__fingerprint_of(bytes, size - SUM_SIZE);
        memcpy(bytes + size - SUM_SIZE, &sum, sizeof sum);
    }
}

/* Equal to the bit: what is not a number is one NaN in both. */
static void check_same(const swp_live *a, const swp_live *b)
{
    static swp_live_state of_a[COMBOS_MAX], of_b[COMBOS_MAX];
    uint64_t count = swp_live_combos_count(a);
    PROMISE(count == swp_live_combos_count(b) && swp_live_bars_count(a) == swp_live_bars_count(b));
    if (count <= COMBOS_MAX) {
        swp_live_states(a, of_a);
        swp_live_states(b, of_b);
        PROMISE(memcmp(of_a, of_b, count * sizeof *of_a) == 0);
    }
}

static swp_live *again(swp_engine *engine, const swp_live *live)
{
    swp_live *copy;
    size_t size = swp_live_snapshot(live, NULL, 0);
    uint8_t *bytes = malloc(size);
    PROMISE(bytes != NULL && swp_live_snapshot(live, bytes, size) == size);
    swp_error error;
    swp_status status = swp_live_restore(engine, bytes, size, &copy, &error);
    PROMISE(status == SWP_OK || status == SWP_LIMIT);
    free(bytes);
    return status == SWP_OK ? copy : NULL;
}

static void push(swp_live *live, size_t bars_count)
{
    static swp_live_state states[COMBOS_MAX], peeked[COMBOS_MAX];
    static const double close[] = {100, 101.5, 99, 98, 104, 107, 50, 51};
    if (swp_live_combos_count(live) > COMBOS_MAX) {
        return;
    }
    uint64_t before = swp_live_bars_count(live), count = swp_live_combos_count(live);
    swp_error error;
    swp_status status = swp_live_peek(live, close, bars_count, peeked, NULL, &error);
    if (status == SWP_OK && swp_live_push(live, SWP_LIVE_ANY, close, bars_count, states, NULL, &error) == SWP_OK) {
        PROMISE(swp_live_bars_count(live) == before + bars_count);
        PROMISE(memcmp(states, peeked, count * sizeof *states) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    swp__test_memory memory = {0};
    swp_allocator allocator = swp__test_allocator(&memory);
    swp__limits limits = swp__limits_standard();
    limits.max_live_memory = 1 << 20;
    const swp_engine_options options = {.threads = 1, .allocator = &allocator};
    input in = {data, size};
    uint64_t how = input_number(&in, 1);
    swp_engine *engine;
    swp_live *live = NULL, *copy;
    swp_error error;
    PROMISE(swp__engine_new(&options, &limits, true, &engine, NULL) == SWP_OK);
    uint8_t *bytes = exact_copy(in.at, in.left);
    if ((how & 1) != 0) {
        put_right(bytes, in.left);
    }
    swp_status status = swp_live_restore(engine, bytes, in.left, &live, &error);
    if (status == SWP_OK) {
        push(live, 0);
        copy = again(engine, live);
        if (copy != NULL) {
            check_same(live, copy);
            push(live, how >> 1 & 7);
            push(copy, how >> 1 & 7);
            check_same(live, copy);
            swp_live_free(copy);
        }
        swp_live_free(live);
    } else {
        PROMISE(error.status == status && error.message[0] != '\0' && live == NULL);
    }
    free(bytes);
    swp_engine_free(engine);
    PROMISE(memory.live_count == 0);
    return 0;
}
