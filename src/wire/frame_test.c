#include "support/test.h"

#include <string.h>
#include "wire/wire.h"

TEST(version_is_fixed_by_the_first_opcode)
{
    const uint8_t opcodes[] = {0x00, 0x01, 0x02, 0x0f, 0x10, 0x7f, 0x80, 0xff};
    const int versions[] = {1, 1, 0, 0, 2, 2, 0, 0};
    for (size_t i = 0; i < sizeof opcodes; i++) {
        assert_int_equal(swp__wire_version_of(opcodes[i]), versions[i]);
    }
}

TEST(header_is_known_for_the_answer_even_when_it_is_refused)
{
    const uint8_t header[] = {0x77, 0xff, 0xff, 0xff, 9, 0, 0, 0};
    swp__wire_frame frame;
    assert_int_equal(swp__wire_decode_request_header(8, header, &frame, NULL), SWP_UNKNOWN);
    assert_int_equal(frame.opcode, 0x77);
    assert_int_equal(frame.id, 9);
}

TEST(finish_takes_a_body_of_the_limit_and_refuses_one_byte_more)
{
    const uint8_t bytes[100] = {0};
    swp__wire_request request = {.opcode = SWP__OP_ECHO};
    swp__wire_out out;
    swp_error error;
    swp__wire_encode_request(&request, &out);
    swp__wire_append(&out, bytes, sizeof bytes);
    assert_int_equal(swp__wire_finish(&out, 108, NULL), SWP_OK);
    assert_int_equal(swp__wire_finish(&out, 107, &error), SWP_LIMIT);
    assert_true(error.a == 107 && error.b == 108);
}

/* The array is not read: only its size counts here. */
TEST(finish_refuses_what_a_length_cannot_say)
{
    const uint64_t sizes[] = {SWP__BODY_MAX - 8, SWP__BODY_MAX - 7, UINT64_MAX - 12, UINT64_MAX - 11, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        swp__wire_request request = {.opcode = SWP__OP_ECHO};
        swp__wire_out out;
        swp__wire_encode_request(&request, &out);
        swp__wire_append(&out, &request, sizes[i]);
        assert_int_equal(swp__wire_finish(&out, UINT64_MAX, NULL), i == 0 ? SWP_OK : SWP_LIMIT);
    }
}

TEST(reserved_fields_are_written_as_0)
{
    swp__wire_request request = {.opcode = SWP__OP_CANCEL, .cancel = {.request_id = 3, .reserved = 77}};
    swp__wire_out out;
    uint8_t bytes[20];
    const uint8_t expected[20] = {16, 0, 0, 0, SWP__OP_CANCEL, 0, 0, 0, 0, 0, 0, 0, 3};
    swp__wire_encode_request(&request, &out);
    assert_int_equal(swp__wire_finish(&out, SWP__BODY_MAX, NULL), SWP_OK);
    assert_int_equal(out.size, sizeof bytes);
    swp__wire_copy(&out, bytes);
    assert_memory_equal(bytes, expected, sizeof bytes);
}

TEST(error_reply_carries_all_of_the_error)
{
    swp_error error = {.status = SWP_LIMIT, .at = SWP_AT_NONE, .a = 10, .b = 11, .message = "11 above 10"};
    swp__wire_out out;
    swp__wire_frame frame;
    swp__wire_reply reply;
    uint8_t bytes[64];
    swp__wire_request asked = {.opcode = SWP__OP_LOAD, .id = 5};
    swp__wire_encode_error(SWP__OP_LOAD, 5, &error, &out);
    assert_int_equal(swp__wire_finish(&out, SWP__BODY_MAX, NULL), SWP_OK);
    assert_true(out.size <= sizeof bytes);
    swp__wire_copy(&out, bytes);
    uint32_t body_size = (uint32_t)out.size - SWP__WIRE_LENGTH_SIZE;
    assert_int_equal(swp__wire_decode_reply_header(body_size, bytes + 4, &frame, NULL), SWP_OK);
    assert_int_equal(swp__wire_decode_reply(&frame, &asked, 0, bytes + SWP__WIRE_PAYLOAD_AT, &reply, NULL), SWP_OK);
    assert_int_equal(reply.status, SWP_LIMIT);
    assert_int_equal(reply.id, 5);
    assert_true(reply.error.at == SWP_AT_NONE && reply.error.a == 10 && reply.error.b == 11);
    assert_int_equal(reply.tail_size, strlen(error.message));
}
