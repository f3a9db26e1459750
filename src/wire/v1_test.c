#include "support/test.h"

#include "wire/wire.h"

TEST(v1_request_is_laid_out_as_the_study_did)
{
    const double close[] = {1.5};
    const int64_t params[] = {3, 6, 2, 1, 2, 3};
    const uint8_t expected[] = {65, 0, 0, 0, 0, 1, 0,    0,    0, 1, 0, 0, 0, /* length, opcode, counts */
                                0,  0, 0, 0, 0, 0, 0xf8, 0x3f, 3, 0, 0, 0, 0, 0, 0, 0, 6};
    uint8_t bytes[69];
    swp__wire_out out;
    swp__wire_encode_v1(&(swp__wire_v1){SWP__OP_V1_SWEEP, 1, 1}, &out);
    swp__wire_append(&out, close, sizeof close);
    swp__wire_append(&out, params, sizeof params);
    assert_int_equal(swp__wire_finish(&out, SWP__BODY_MAX, NULL), SWP_OK);
    assert_int_equal(out.size, sizeof bytes);
    swp__wire_copy(&out, bytes);
    assert_memory_equal(bytes, expected, sizeof expected);
}

TEST(v1_reply_may_be_empty)
{
    swp__wire_out out;
    uint8_t bytes[4] = {1, 1, 1, 1};
    swp__wire_encode_v1_reply(&out);
    assert_int_equal(swp__wire_finish(&out, SWP__BODY_MAX, NULL), SWP_OK);
    assert_int_equal(out.size, sizeof bytes);
    swp__wire_copy(&out, bytes);
    assert_int_equal(bytes[0] | bytes[1] | bytes[2] | bytes[3], 0);
}

TEST(v1_parameters_below_1_are_refused_and_larger_ones_than_any_series_cut)
{
    int64_t params[] = {1, SWP_PARAM_MAX, SWP_PARAM_MAX + 1, INT64_MAX, 5, 6};
    swp_error error;
    assert_int_equal(swp__wire_check_v1_params(params, 6, &error), SWP_OK);
    assert_int_equal(params[0], 1);
    for (size_t i = 1; i < 4; i++) {
        assert_int_equal(params[i], SWP_PARAM_MAX);
    }
    const int64_t refused[] = {0, -1, INT64_MIN};
    for (size_t i = 0; i < 3; i++) {
        params[4] = refused[i];
        assert_int_equal(swp__wire_check_v1_params(params, 6, &error), SWP_BAD_PARAM);
        assert_int_equal(error.at, 4);
    }
}
