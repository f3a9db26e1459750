#include "support/test.h"
#include "cli/params_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/params_file_test.XXXXXX";

static swp_status read_text(const char *text, size_t size, swp__params_rows *rows, swp_error *error)
{
    strcpy(path + strlen(path) - 6, "XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), size);
    close(fd);
    swp_status status = swp__params_file_read(path, rows, error);
    unlink(path);
    return status;
}

TEST(params_file_reads_rows_in_order_however_they_are_parted)
{
    const char *const texts[] = {
        "3,6,2,1,2,3\n4,8,3,1,2,4\n",
        "3,6,2,1,2,3\r\n4,8,3,1,2,4",
        "half,full,smooth,third,mid,p\n3,6,2,1,2,3\n4,8,3,1,2,4\n",
        "\xEF\xBB\xBFHALF;Full;smooth;third;mid;P\n3;6;2;1;2;3\n\n4;8;3;1;2;4\n\n",
        "3 6 2 1 2 3\n  4\t8  3 1 2 4  \n",
        " 3 , 6,2 ,1,2,3\n4,8,3,1,2,4 \n",
    };
    const int64_t expected[] = {3, 6, 2, 1, 2, 3, 4, 8, 3, 1, 2, 4};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        swp__params_rows rows;
        assert_int_equal(read_text(texts[i], strlen(texts[i]), &rows, NULL), SWP_OK);
        assert_int_equal(rows.count, 2);
        assert_memory_equal(rows.values, expected, sizeof expected);
        swp__params_rows_free(&rows);
    }
}

TEST(params_file_refuses_what_is_no_combo_with_its_line)
{
    static const struct {
        const char *text;
        uint64_t line;
        const char *says;
    } bad[] = {
        {"3,6,2,1,2,3\n3,6,2,1,2\n", 2, "is not a combo"},
        {"3,6,2,1,2,3\n3,6,2,1,2,3,4\n", 2, "is not a combo"},
        {"3,6,2,1,2,3,\n", 1, "is not a combo"},
        {"3,,2,1,2,3\n", 1, "full is \"\""},
        {"3,6,2,1,2,\n", 1, "p is \"\""},
        {"3,6,2,1,2,0\n", 1, "p is \"0\""},
        {"3,6,2,1,2,2147483648\n", 1, "p is \"2147483648\""},
        {"3,6,2,1,2,99999999999999999999\n", 1, "p is \"99999999999999999999\""},
        {"3,6,2,-1,2,3\n", 1, "third is \"-1\""},
        {"3,6,2.0,1,2,3\n", 1, "smooth is \"2.0\""},
        {"3,6,2,1,2,3\r4,8,3,1,2,4\n", 1, "is not a combo"}, /* lines that end in CR alone are not lines */
        {"half,full,smooth,mid,third,p\n", 1, "half is \"half\""},
        {"3,6,2,1,2,3\nhalf,full,smooth,third,mid,p\n", 2, "half is \"half\""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        swp__params_rows rows;
        swp_error error;
        char place[64];
        assert_int_equal(read_text(bad[i].text, strlen(bad[i].text), &rows, &error), SWP_BAD_PARAM);
        assert_int_equal(error.at, bad[i].line);
        snprintf(place, sizeof place, "%s:%d: ", path, (int)bad[i].line);
        assert_memory_equal(error.message, place, strlen(place));
        if (strstr(error.message, bad[i].says) == NULL) {
            fail_msg("\"%s\" does not say: %s", error.message, bad[i].says);
        }
    }
}

TEST(params_file_reads_a_line_up_to_its_bound_and_refuses_one_beyond)
{
    swp__params_rows rows;
    swp_error error;
    char text[1100];
    memset(text, ' ', sizeof text);
    memcpy(text, "3,6,2,1,2,3", 11);
    assert_int_equal(read_text(text, 1000, &rows, NULL), SWP_OK);
    swp__params_rows_free(&rows);
    assert_int_equal(read_text(text, 1001, &rows, &error), SWP_BAD_PARAM);
    assert_non_null(strstr(error.message, ":1: a line of more than 1000 bytes"));
    assert_int_equal(swp__params_file_read("/dev/zero", &rows, &error), SWP_BAD_PARAM); /* has no end */
    assert_non_null(strstr(error.message, "/dev/zero:1: a line of more than 1000 bytes"));
}

TEST(params_file_refuses_empty_binary_and_missing_files)
{
    swp__params_rows rows;
    assert_int_equal(read_text("", 0, &rows, NULL), SWP_BAD_PARAM);
    assert_int_equal(read_text("\n\n", 2, &rows, NULL), SWP_BAD_PARAM);
    assert_int_equal(read_text("3,6,2,1,2,3\0\n", 13, &rows, NULL), SWP_BAD_PARAM);
    assert_int_equal(swp__params_file_read("/nonexistent/params.csv", &rows, NULL), SWP_FILE);
    assert_int_equal(swp__params_file_read("/", &rows, NULL), SWP_FILE);
}
