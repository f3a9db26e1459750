#include "base/whole_file.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "support/temp.h"
#include "support/test.h"

static void assert_content(const char *path, const char *expected)
{
    char got[64] = {0};
    long size = temp_read(path, got, sizeof got - 1);
    assert_int_equal(size, strlen(expected));
    assert_string_equal(got, expected);
}

TEST(whole_file_is_in_its_place_only_when_finished)
{
    const char *path = temp_path("out.txt");
    swp__whole_file file;
    assert_int_equal(swp__whole_file_open(path, &file, NULL), SWP_OK);
    fputs("new", file.stream);
    fflush(file.stream);
    assert_int_equal(access(path, F_OK), -1);
    char temp[4200];
    strcpy(temp, file.temp_path);
    assert_int_equal(swp__whole_file_finish(&file, NULL), SWP_OK);
    assert_content(path, "new");
    assert_int_equal(access(temp, F_OK), -1);
}

TEST(whole_file_abandoned_leaves_the_old_content)
{
    const char *path = temp_write("old.txt", "old", 3);
    swp__whole_file file;
    assert_int_equal(swp__whole_file_open(path, &file, NULL), SWP_OK);
    fputs("new", file.stream);
    char temp[4200];
    strcpy(temp, file.temp_path);
    swp__whole_file_abandon(&file);
    assert_content(path, "old");
    assert_int_equal(access(temp, F_OK), -1);
}

TEST(whole_file_keeps_the_mode_and_a_symbolic_link)
{
    const char *path = temp_write("target.txt", "old", 3), *link = temp_path("link.txt");
    assert_int_equal(chmod(path, 0662), 0); /* which no umask gives */
    assert_int_equal(symlink(path, link), 0);
    swp__whole_file file;
    assert_int_equal(swp__whole_file_open(link, &file, NULL), SWP_OK);
    fputs("new", file.stream);
    assert_int_equal(swp__whole_file_finish(&file, NULL), SWP_OK);
    struct stat status;
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0662);
    assert_content(path, "new");
}

TEST(whole_file_does_not_replace_a_link_to_nothing)
{
    const char *link = temp_path("dangling.txt");
    assert_int_equal(symlink("not-there.txt", link), 0);
    swp__whole_file file;
    swp_error error;
    assert_int_equal(swp__whole_file_open(link, &file, &error), SWP_FILE);
    assert_non_null(strstr(error.message, "dangling.txt: cannot be written: a link to nothing"));
    struct stat status;
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

TEST(whole_file_does_not_replace_a_file_that_may_not_be_written)
{
    if (geteuid() == 0) {
        SKIP("root may write every file");
    }
    const char *path = temp_write("locked.txt", "old", 3);
    assert_int_equal(chmod(path, 0444), 0);
    swp__whole_file file;
    swp_error error;
    assert_int_equal(swp__whole_file_open(path, &file, &error), SWP_FILE);
    assert_non_null(strstr(error.message, "locked.txt: cannot be written: Permission denied"));
    assert_content(path, "old");
}

TEST(whole_file_does_not_replace_a_device)
{
    swp__whole_file file;
    assert_int_equal(swp__whole_file_open("/dev/null", &file, NULL), SWP_OK);
    fputs("gone", file.stream);
    assert_int_equal(swp__whole_file_finish(&file, NULL), SWP_OK);
    struct stat status;
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
}

TEST(whole_file_reports_a_full_disk)
{
    swp__whole_file file;
    swp_error error;
    assert_int_equal(swp__whole_file_open("/dev/full", &file, NULL), SWP_OK);
    fputs("gone", file.stream);
    assert_int_equal(swp__whole_file_finish(&file, &error), SWP_FILE);
    assert_string_equal(error.message, "/dev/full: cannot be written: No space left on device");
}

TEST(whole_file_names_a_folder_that_is_not_there)
{
    swp__whole_file file;
    swp_error error;
    assert_int_equal(swp__whole_file_open("/nowhere/out.txt", &file, &error), SWP_FILE);
    assert_string_equal(error.message, "/nowhere/out.txt: cannot be written: No such file or directory");
}
