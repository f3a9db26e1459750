#include "support/test.h"

#include "wire/wire.h"

static swp_status encode(const swp_sweep_request *sweep)
{
    swp__wire_out out;
    swp__wire_request request = {.opcode = SWP__OP_SWEEP, .sweep = {.handle = 1, .columns = SWP__RESULT_PNL}};
    swp__wire_encode_sweep(&request, sweep, &out);
    return swp__wire_finish(&out, SWP__BODY_MAX, NULL);
}

/* The arrays are not read: their sizes alone must be refused. */
TEST(sweep_too_large_for_a_frame_is_refused_when_written)
{
    static const int64_t value = 1;
    static const swp_window window = {0, 0, 1};
    const uint64_t counts[] = {UINT64_C(1) << 28, UINT64_C(1) << 32, UINT64_C(1) << 61, UINT64_C(3) << 60, UINT64_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        swp_sweep_request rows = {.grid = {.form = SWP_GRID_ROWS, .combos_count = counts[i], .rows = &value}};
        assert_int_equal(encode(&rows), SWP_LIMIT);
        swp_sweep_request windows = {
            .grid = {.form = SWP_GRID_ROWS, .combos_count = 1, .rows = &value}, .windows = &window, .windows_count = counts[i]};
        assert_int_equal(encode(&windows), SWP_LIMIT);
        swp_sweep_request pairs = {.grid = {.form = SWP_GRID_PAIRS,
                                            .combos_count = 1,
                                            .hma = &value,
                                            .hma3 = &value,
                                            .hma_count = counts[i],
                                            .hma3_count = 1}};
        assert_int_equal(encode(&pairs), SWP_LIMIT);
    }
}

TEST(sweep_more_threads_than_fit_are_as_many_as_there_are)
{
    _Alignas(8) uint8_t tail[SWP__EXEC_BYTES + 48] = {0};
    swp_sweep_request sweep;
    swp__wire_request request = {.opcode = SWP__OP_SWEEP,
                                 .tail_size = sizeof tail,
                                 .sweep = {.strategy = 1, .n_combos = 1, .columns = 1, .exec_bytes = SWP__EXEC_BYTES}};
    tail[SWP__EXEC_MAX_THREADS_AT + 4] = 1; /* 2^32 */
    assert_int_equal(swp__wire_decode_sweep(&request, tail, &sweep, NULL), SWP_OK);
    assert_int_equal(sweep.max_threads, UINT32_MAX);
}
