#include "support/temp.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "support/test.h"

static char folder[] = "/tmp/sweepd-test-XXXXXX";

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

const char *temp_path(const char *name)
{
    static int made;
    static char paths[4][4096];
    static unsigned next;
    if (!made) {
        assert_non_null(mkdtemp(folder));
        atexit(remove_folder);
        made = 1;
    }
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

const char *temp_write(const char *name, const void *bytes, size_t size)
{
    const char *path = temp_path(name);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
    return path;
}

long temp_read(const char *path, void *bytes, size_t size)
{
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return -1;
    }
    size_t got = fread(bytes, 1, size, stream);
    fclose(stream);
    return (long)got;
}
