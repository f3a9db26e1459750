#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"

enum { NAMES_TRIED_MAX = 100 };

/* By errno. */
static swp_status fail(swp_error *error, const char *path)
{
    return swp__fail(error, SWP_FILE, SWP_AT_NONE, "%s: cannot be written: %s", path, strerror(errno));
}

static void release(swp__whole_file *file)
{
    free(file->path);
    free(file->temp_path);
    *file = (swp__whole_file){0};
}

/* Opens a new file beside `path`, named after it, this process and a count, so that writers never meet. */
static int open_temp(const char *path, mode_t mode, char **temp_path)
{
    static atomic_uint count;
    for (int i = 0; i < NAMES_TRIED_MAX; i++) {
        if (asprintf(temp_path, "%s.%ld.%u.part", path, (long)getpid(), atomic_fetch_add(&count, 1u)) < 0) {
            *temp_path = NULL;
            errno = ENOMEM;
            return -1;
        }
        int descriptor = open(*temp_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (descriptor >= 0 || errno != EEXIST) {
            return descriptor;
        }
        free(*temp_path);
        *temp_path = NULL;
    }
    return -1;
}

/* The place a chain of links ends in; a copy of `path` where there is none. NULL with errno: no memory, or a link whose end is
 * not there, which a rename would replace. */
static char *resolve(const char *path)
{
    struct stat link;
    char *resolved = realpath(path, NULL);
    if (resolved == NULL && errno == ENOENT && access(path, F_OK) != 0 && lstat(path, &link) == 0) {
        errno = ENOENT;
        return NULL;
    }
    return resolved != NULL ? resolved : strdup(path);
}

/* Gives the new file what the one it replaces has: owner and group where we may, and the mode. What a group was let in to is not
 * for another group. */
static void take_over(int descriptor, const struct stat *former)
{
    mode_t mode = former->st_mode & 0777;
    struct stat made;
    if (fchown(descriptor, former->st_uid, former->st_gid) != 0 && fstat(descriptor, &made) == 0 &&
        made.st_gid != former->st_gid) {
        mode &= ~(mode_t)070;
    }
    fchmod(descriptor, mode);
}

/* Opens where to write for now: a temporary file beside the place, or what the place is when that is no plain file. */
static int open_place(swp__whole_file *file)
{
    struct stat former;
    if (stat(file->path, &former) != 0) {
        return open_temp(file->path, 0666, &file->temp_path);
    }
    if (!S_ISREG(former.st_mode)) {
        return open(file->path, O_WRONLY | O_CLOEXEC);
    }
    if (faccessat(AT_FDCWD, file->path, W_OK, AT_EACCESS) != 0) { /* a rename would not ask */
        return -1;
    }
    int descriptor = open_temp(file->path, 0600, &file->temp_path);
    if (descriptor >= 0) {
        take_over(descriptor, &former);
    }
    return descriptor;
}

swp_status swp__whole_file_open(const char *path, swp__whole_file *file, swp_error *error)
{
    swp__whole_file made = {.path = resolve(path)};
    if (made.path == NULL) {
        return errno == ENOMEM ? swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "%s: no memory", path)
                               : swp__fail(error, SWP_FILE, SWP_AT_NONE, "%s: cannot be written: a link to nothing", path);
    }
    int descriptor = open_place(&made);
    if (descriptor < 0) {
        goto failed;
    }
    made.stream = fdopen(descriptor, "w");
    if (made.stream == NULL) {
        close(descriptor);
        goto failed;
    }
    *file = made;
    return SWP_OK;

failed:;
    swp_status status = fail(error, path);
    if (descriptor >= 0 && made.temp_path != NULL) {
        unlink(made.temp_path);
    }
    release(&made);
    return status;
}

/* Makes the rename itself last: the entry is in the folder, which is synced for it. */
static void sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash != NULL) {
        slash[slash == path ? 1 : 0] = '\0';
    }
    int folder = open(slash != NULL ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        fsync(folder);
        close(folder);
    }
}

/* Flushes and closes; false with errno set when any byte did not reach the disk. Where a write before this call failed,
 * errno is still its own: writers do nothing between that could change it. */
static bool settle(swp__whole_file *file)
{
    bool written = fflush(file->stream) == 0 && ferror(file->stream) == 0;
    written = written && (file->temp_path == NULL || fsync(fileno(file->stream)) == 0);
    int why = errno;
    bool closed = fclose(file->stream) == 0;
    errno = written ? errno : why;
    return written && closed;
}

swp_status swp__whole_file_finish(swp__whole_file *file, swp_error *error)
{
    swp_status status = SWP_OK;
    if (!settle(file) || (file->temp_path != NULL && rename(file->temp_path, file->path) != 0)) {
        errno = errno != 0 ? errno : EIO;
        status = fail(error, file->path);
        if (file->temp_path != NULL) {
            unlink(file->temp_path);
        }
    } else if (file->temp_path != NULL) {
        sync_folder(file->path);
    }
    release(file);
    return status;
}

void swp__whole_file_abandon(swp__whole_file *file)
{
    fclose(file->stream);
    if (file->temp_path != NULL) {
        unlink(file->temp_path);
    }
    release(file);
}
