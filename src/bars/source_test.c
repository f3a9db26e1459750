#include "bars/source.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fcntl.h>
#include "support/temp.h"
#include "support/test.h"

TEST(source_reads_to_the_end_and_says_that_it_has_ended)
{
    swp__source source;
    char bytes[8];
    size_t got;
    assert_int_equal(swp__source_open(temp_write("in.bin", "0123456789", 10), &source, NULL), SWP_OK);
    assert_int_equal(source.size_bytes, 10);
    assert_int_equal(swp__source_read(&source, bytes, 8, &got, NULL), SWP_OK);
    assert_int_equal(got, 8);
    assert_int_equal(swp__source_read(&source, bytes, 8, &got, NULL), SWP_OK);
    assert_int_equal(got, 2);
    assert_memory_equal(bytes, "89", 2);
    assert_int_equal(swp__source_read(&source, bytes, 8, &got, NULL), SWP_OK);
    assert_int_equal(got, 0);
    swp__source_close(&source);
}

/* A byte at a time, as a slow pipe has it. */
static void *drip(void *path)
{
    int descriptor = open(path, O_WRONLY);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(write(descriptor, &"0123456789"[i], 1), 1);
    }
    close(descriptor);
    return NULL;
}

TEST(source_fills_the_buffer_from_a_pipe_too)
{
    swp__source source;
    char path[4096], bytes[16];
    size_t got;
    pthread_t writer;
    strcpy(path, temp_path("pipe"));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&writer, NULL, drip, path), 0);
    assert_int_equal(swp__source_open(path, &source, NULL), SWP_OK);
    assert_int_equal(source.size_bytes, 0);
    assert_int_equal(swp__source_read(&source, bytes, sizeof bytes, &got, NULL), SWP_OK);
    assert_int_equal(got, 10);
    assert_memory_equal(bytes, "0123456789", 10);
    pthread_join(writer, NULL);
    swp__source_close(&source);
}
