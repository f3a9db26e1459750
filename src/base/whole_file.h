/* A file that appears whole or not at all: written beside its place under another name, synced, then renamed over it.
 * It takes over the owner, group and mode of the file it replaces, which must be one that may be written. What is not a plain
 * file (a pipe, /dev/null) is written in place, and a symbolic link stays one. */
#ifndef SWP_BASE_WHOLE_FILE_H
#define SWP_BASE_WHOLE_FILE_H

#include <stdio.h>
#include "swp/error.h"

typedef struct swp__whole_file {
    FILE *stream;    /* write here; its error flag is looked at when the file is finished */
    char *path;      /* where it goes */
    char *temp_path; /* where it is until then; NULL: written in place */
} swp__whole_file;

/* FILE, NO_MEMORY. After SWP_OK exactly one of _finish and _abandon follows. */
SWP_MUST_CHECK swp_status swp__whole_file_open(const char *path, swp__whole_file *file, swp_error *error);

/* Puts the file in its place. FILE (anything that could not be written, told by the system's own text): the place is as
 * it was before. */
SWP_MUST_CHECK swp_status swp__whole_file_finish(swp__whole_file *file, swp_error *error);

/* Leaves the place as it was. */
void swp__whole_file_abandon(swp__whole_file *file);

#endif
