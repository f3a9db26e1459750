#include "support/test.h"
#include <string.h>
#include "wire/wire.h"

TEST(load_is_laid_out_as_specified)
{
    swp__wire_request request = {.opcode = SWP__OP_LOAD, .id = 7, .shape = {2, SWP__COLUMN_CLOSE, 0}};
    const double close[] = {1.5, 2.5};
    swp__wire_out out;
    swp__wire_encode_request(&request, &out);
    swp__wire_append(&out, close, sizeof close);
    assert_int_equal(swp__wire_finish(&out, SWP__BODY_MAX, NULL), SWP_OK);
    uint8_t bytes[64];
    assert_int_equal(out.size, 4 + 8 + 16 + 16);
    swp__wire_copy(&out, bytes);
    const uint8_t expected[] = {40, 0, 0, 0, 0x12, 0, 0, 0, 7, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    assert_memory_equal(bytes, expected, sizeof expected);
}
