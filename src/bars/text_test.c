/* Texts in every encoding that has a mark, and in those that have none. */
#include "bars/text.h"

#include <stdlib.h>
#include <string.h>
#include "support/temp.h"
#include "support/test.h"
#include "swp/bars.h"

/* ASCII as UTF-16 with its mark. */
static size_t widen(const char *text, bool is_big_endian, unsigned char *bytes)
{
    size_t size = 0;
    bytes[size++] = is_big_endian ? 0xFE : 0xFF;
    bytes[size++] = is_big_endian ? 0xFF : 0xFE;
    for (; *text != '\0'; text++) {
        bytes[size++] = is_big_endian ? 0 : (unsigned char)*text;
        bytes[size++] = is_big_endian ? (unsigned char)*text : 0;
    }
    return size;
}

static void assert_text(const void *bytes, size_t size, size_t block_size, const char *expected)
{
    swp__source source;
    swp__text *text = malloc(sizeof *text);
    char got_text[64] = "";
    size_t all = 0, got = block_size;
    assert_int_equal(swp__source_open(temp_write("in.txt", bytes, size), &source, NULL), SWP_OK);
    assert_int_equal(swp__text_begin(text, &source, NULL), SWP_OK);
    while (got == block_size) {
        assert_int_equal(swp__text_read(text, got_text + all, block_size, &got, NULL), SWP_OK);
        all += got;
    }
    assert_int_equal(all, strlen(expected));
    assert_memory_equal(got_text, expected, all);
    swp__source_close(&source);
    free(text);
}

static void assert_refused(const void *bytes, size_t size, const char *message)
{
    swp_bars bars;
    swp_error error;
    assert_int_equal(swp_bars_read(temp_write("in.csv", bytes, size), NULL, &bars, &error), SWP_BAD_PARAM);
    if (strstr(error.message, message) == NULL) {
        fail_msg("\"%s\", expected \"%s\"", error.message, message);
    }
}

TEST(text_m1_utf16_with_its_mark_is_read_in_either_byte_order)
{
    static unsigned char bytes[1 << 18];
    static char rows[1 << 16] = "time,close\n";
    size_t used = strlen(rows);
    for (int i = 0; i < 2000; i++) { /* more than a block */
        used += (size_t)sprintf(rows + used, "%d,%d.5\n", 1600000000 + 60 * i, i + 1);
    }
    for (int big = 0; big < 2; big++) {
        swp_bars bars;
        swp_error error;
        size_t size = widen(rows, big == 1, bytes);
        if (swp_bars_read(temp_write("in.csv", bytes, size), NULL, &bars, &error) != SWP_OK) {
            fail_msg("%s", error.message);
        }
        assert_int_equal(bars.bars_count, 2000);
        assert_bits_equal(bars.close[1999], 2000.5);
        swp_bars_free(&bars);
    }
}

TEST(text_every_character_is_converted_across_blocks_of_any_size)
{
    /* U+0061, U+00E9, U+20AC, U+1D11E */
    static const unsigned char little[] = {0xFF, 0xFE, 0x61, 0x00, 0xE9, 0x00, 0xAC, 0x20, 0x34, 0xD8, 0x1E, 0xDD};
    static const unsigned char big[] = {0xFE, 0xFF, 0x00, 0x61, 0x00, 0xE9, 0x20, 0xAC, 0xD8, 0x34, 0xDD, 0x1E};
    for (size_t block_size = 1; block_size < 12; block_size++) {
        assert_text(little, sizeof little, block_size, "a\xC3\xA9\xE2\x82\xAC\xF0\x9D\x84\x9E");
        assert_text(big, sizeof big, block_size, "a\xC3\xA9\xE2\x82\xAC\xF0\x9D\x84\x9E");
        assert_text("\xEF\xBB\xBFxyz", 6, block_size, "xyz");
        assert_text("xyz, abc", 8, block_size, "xyz, abc");
        assert_text("x", 1, block_size, "x");
        assert_text("", 0, block_size, "");
    }
}

TEST(text_half_a_character_is_refused)
{
    assert_refused("\xFF\xFE"
                   "c\0l",
                   5, "half a character of UTF-16 before byte 4");
    assert_refused("\xFF\xFE\x34\xD8"
                   "a\0",
                   6, "half a character of UTF-16 before byte 6");
    assert_refused("\xFF\xFE\x1E\xDD", 4, "half a character of UTF-16 before byte 4");
    assert_refused("\xFF\xFE\x34\xD8", 4, "half a character of UTF-16 before byte 4");
}

TEST(text_m1_what_has_no_mark_is_refused_with_the_command_that_converts_it)
{
    assert_refused("c\0l\0o\0s\0", 8, "in.csv:1: the text is UTF-16LE; this converts it: iconv -f UTF-16LE -t UTF-8 FILE");
    assert_refused("\0c\0l\0o\0s", 8, "iconv -f UTF-16BE -t UTF-8 FILE");
    assert_refused("\xFF\xFE\0\0c\0\0\0", 8, "iconv -f UTF-32 -t UTF-8 FILE");
    assert_refused("\0\0\xFE\xFF\0\0\0c", 8, "iconv -f UTF-32 -t UTF-8 FILE");
    assert_refused("\xFF\xFE", 2, "the file is empty");
}
