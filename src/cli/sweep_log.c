#include "cli/sweep_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "base/fingerprint.h"
#include "base/number.h"

enum { ROWS_MAX = 4096 }; /* of a record */

typedef struct head {
    char magic[8];
    swp__fingerprint numbers_id; /* which numbers the library computes */
    swp__fingerprint closes;     /* of their bytes */
    swp__fingerprint combos;     /* of their parameters, six i64 each */
    uint64_t bars_count, combos_count;
    double fee;
    uint64_t entry;
    uint64_t sum; /* of all before it */
} head;

_Static_assert(sizeof(head) == 96, "no padding, which would be hashed");

typedef struct record_head {
    uint64_t first, count;
} record_head;

enum { RECORD_SIZE_MAX = sizeof(record_head) + ROWS_MAX * SWP__ROW_BYTES + sizeof(uint64_t) };

static swp_status fail_file(const swp__sweep_log *log, const char *what, swp_error *error)
{
    return swp__fail(error, SWP_FILE, SWP_AT_NONE, "%s: %s: %s", log->path, what, strerror(errno));
}

static uint64_t sum_after(uint64_t sum_before, const void *bytes, size_t size)
{
    swp__fingerprinter f;
    swp__fingerprinter_init(&f);
    swp__fingerprinter_add(&f, &sum_before, sizeof sum_before);
    swp__fingerprinter_add(&f, bytes, size);
    return swp__fingerprinter_end(&f).low;
}

/* ---- which sweep ---- */

static swp__fingerprint fingerprint_of_grid(const swp_grid *grid)
{
    swp__fingerprinter f;
    swp__fingerprinter_init(&f);
    for (uint64_t i = 0; i < grid->combos_count; i++) {
        swp_params p = swp_grid_at(grid, i);
        swp__fingerprinter_add(&f, &p, sizeof p);
    }
    return swp__fingerprinter_end(&f);
}

static head head_of(const swp__arguments *arguments, const swp__input *input)
{
    head h = {
        .magic = {'s', 'w', 'p', '-', 'p', 'a', 'r', 't'},
        .numbers_id = swp__numbers_id(),
        .closes = swp__fingerprint_of(input->bars.close, input->bars.bars_count * sizeof *input->bars.close),
        .combos = fingerprint_of_grid(&input->combos.grid),
        .bars_count = input->bars.bars_count,
        .combos_count = input->combos.grid.combos_count,
        .fee = arguments->fee,
        .entry = arguments->entry,
    };
    h.sum = sum_after(0, &h, offsetof(head, sum));
    return h;
}

static swp_status fail_other(const swp__sweep_log *log, const char *what, swp_error *error)
{
    return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE,
                     "%s holds a part of another sweep: %s; remove it to begin anew, or choose another --out", log->path, what);
}

/* `found` is whole and differs from `wanted`. */
static swp_status fail_differs(const swp__sweep_log *log, const head *found, const head *wanted, swp_error *error)
{
    char what[160], of_it[SWP__NUMBER_SIZE], of_this[SWP__NUMBER_SIZE];
    if (!swp__fingerprint_equal(found->numbers_id, wanted->numbers_id)) {
        return fail_other(log, "made by a version that computes other numbers", error);
    }
    if (found->bars_count != wanted->bars_count) {
        snprintf(what, sizeof what, "%" PRIu64 " bars, here %" PRIu64, found->bars_count, wanted->bars_count);
    } else if (!swp__fingerprint_equal(found->closes, wanted->closes)) {
        snprintf(what, sizeof what, "as many bars, but other closes");
    } else if (found->combos_count != wanted->combos_count) {
        snprintf(what, sizeof what, "%" PRIu64 " combos, here %" PRIu64, found->combos_count, wanted->combos_count);
    } else if (!swp__fingerprint_equal(found->combos, wanted->combos)) {
        snprintf(what, sizeof what, "as many combos, but others");
    } else if (found->entry != wanted->entry) {
        snprintf(what, sizeof what, "--entry %s, here %s", found->entry == SWP_ENTRY_CROSS ? "cross" : "first",
                 wanted->entry == SWP_ENTRY_CROSS ? "cross" : "first");
    } else {
        swp__number_format(found->fee, of_it);
        swp__number_format(wanted->fee, of_this);
        snprintf(what, sizeof what, "--fee %s, here %s", of_it, of_this);
    }
    return fail_other(log, what, error);
}

/* ---- reading and writing bytes ---- */

/* How many of `size` bytes were there; less at the end of the file. < 0: errno. */
static ssize_t read_bytes(int descriptor, void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(descriptor, (char *)bytes + done, size - done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got < 0 ? -1 : (ssize_t)done;
        }
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static bool write_bytes(int descriptor, const void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t put = write(descriptor, (const char *)bytes + done, size - done);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        done += put > 0 ? (size_t)put : 0;
    }
    return true;
}

static void release(swp__sweep_log *log)
{
    if (log->descriptor >= 0) {
        close(log->descriptor);
    }
    free(log->path);
    free(log->logged);
    free(log->record);
    *log = (swp__sweep_log){.descriptor = -1};
}

/* ---- opening ---- */

/* A file that nobody else writes. BUSY, FILE. */
static swp_status open_alone(swp__sweep_log *log, swp_error *error)
{
    struct stat found;
    log->descriptor = open(log->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (log->descriptor < 0 || fstat(log->descriptor, &found) != 0) {
        return fail_file(log, "cannot be opened", error);
    }
    if (!S_ISREG(found.st_mode)) {
        return swp__fail(error, SWP_FILE, SWP_AT_NONE, "%s: not a plain file", log->path);
    }
    bool ours = flock(log->descriptor, LOCK_EX | LOCK_NB) == 0;
    if (!ours && errno != EWOULDBLOCK) {
        return fail_file(log, "cannot be locked", error);
    }
    if (!ours || fstat(log->descriptor, &found) != 0 || found.st_nlink == 0) { /* 0: its sweep ended this moment */
        return swp__fail(error, SWP_BUSY, SWP_AT_NONE, "%s: another sweep is writing it", log->path);
    }
    return SWP_OK;
}

static swp_status begin(swp__sweep_log *log, const head *wanted, swp_error *error)
{
    if (ftruncate(log->descriptor, 0) != 0 || lseek(log->descriptor, 0, SEEK_SET) < 0 ||
        !write_bytes(log->descriptor, wanted, sizeof *wanted)) {
        return fail_file(log, "cannot be written", error);
    }
    log->sum = wanted->sum;
    return SWP_OK;
}

static void mark_logged(swp__sweep_log *log, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        log->logged_count += 1 - log->logged[i];
        log->logged[i] = 1;
    }
}

/* One record into `columns`; false where there is no whole one. */
static bool take_record(swp__sweep_log *log, swp__columns *columns)
{
    record_head r;
    uint64_t sum;
    if (read_bytes(log->descriptor, log->record, sizeof r) != (ssize_t)sizeof r) {
        return false;
    }
    memcpy(&r, log->record, sizeof r);
    if (r.count == 0 || r.count > ROWS_MAX || r.first > columns->count || r.count > columns->count - r.first) {
        return false;
    }
    size_t size = r.count * SWP__ROW_BYTES + sizeof sum;
    if (read_bytes(log->descriptor, log->record + sizeof r, size) != (ssize_t)size) {
        return false;
    }
    size += sizeof r - sizeof sum;
    memcpy(&sum, log->record + size, sizeof sum);
    if (sum != sum_after(log->sum, log->record, size)) {
        return false;
    }
    log->sum = sum;
    swp__columns_unpack(columns, r.first, r.count, log->record + sizeof r);
    mark_logged(log, r.first, r.count);
    return true;
}

static swp_status take_records(swp__sweep_log *log, swp__columns *columns, swp_error *error)
{
    off_t end;
    do {
        end = lseek(log->descriptor, 0, SEEK_CUR);
    } while (take_record(log, columns));
    off_t size = lseek(log->descriptor, 0, SEEK_END);
    if (end < 0 || size < 0 || ftruncate(log->descriptor, end) != 0 || lseek(log->descriptor, end, SEEK_SET) < 0) {
        return fail_file(log, "cannot be gone on with", error);
    }
    log->torn_bytes = (uint64_t)(size - end);
    return SWP_OK;
}

/* A head that was cut off has nothing behind it. */
static swp_status begin_or_take(swp__sweep_log *log, const head *wanted, swp__columns *columns, swp_error *error)
{
    head found;
    ssize_t got = read_bytes(log->descriptor, &found, sizeof found);
    if (got < 0) {
        return fail_file(log, "cannot be read", error);
    }
    size_t begins_alike = got < (ssize_t)sizeof found.magic ? (size_t)got : sizeof found.magic;
    if (memcmp(found.magic, wanted->magic, begins_alike) != 0) {
        return swp__fail(error, SWP_BAD_PARAM, 0, "%s is not what a sweep leaves there; move it away, or choose another --out",
                         log->path);
    }
    if (got < (ssize_t)sizeof found || found.sum != sum_after(0, &found, offsetof(head, sum))) {
        log->torn_bytes = (uint64_t)got;
        return begin(log, wanted, error);
    }
    if (memcmp(&found, wanted, sizeof found) != 0) {
        return fail_differs(log, &found, wanted, error);
    }
    log->sum = found.sum;
    return take_records(log, columns, error);
}

swp_status swp__sweep_log_open(const swp__arguments *arguments, const swp__input *input, swp__columns *columns,
                               swp__sweep_log *log, swp_error *error)
{
    swp__sweep_log made = {.descriptor = -1, .logged = calloc(columns->count, 1), .record = malloc(RECORD_SIZE_MAX)};
    if (asprintf(&made.path, "%s.resume", arguments->out) < 0) {
        made.path = NULL;
    }
    swp_status status = SWP_OK;
    if (made.path == NULL || made.logged == NULL || made.record == NULL) {
        status = swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "%s.resume: no memory", arguments->out);
    }
    if (status == SWP_OK) {
        status = open_alone(&made, error);
    }
    if (status == SWP_OK) {
        head wanted = head_of(arguments, input);
        status = begin_or_take(&made, &wanted, columns, error);
    }
    if (status != SWP_OK) {
        release(&made);
        return status;
    }
    *log = made;
    return SWP_OK;
}

/* ---- adding ---- */

static bool is_new(const swp__sweep_log *log, const swp__columns *columns, uint64_t i)
{
    return log->logged[i] == 0 && __atomic_load_n(&columns->of.finished[i], __ATOMIC_ACQUIRE) != 0;
}

static bool add_record(swp__sweep_log *log, const swp__columns *columns, uint64_t first, uint64_t count)
{
    record_head r = {first, count};
    size_t size = sizeof r + count * SWP__ROW_BYTES;
    memcpy(log->record, &r, sizeof r);
    swp__columns_pack(columns, first, count, log->record + sizeof r);
    uint64_t sum = sum_after(log->sum, log->record, size);
    memcpy(log->record + size, &sum, sizeof sum);
    if (!write_bytes(log->descriptor, log->record, size + sizeof sum)) {
        return false;
    }
    log->sum = sum;
    mark_logged(log, first, count);
    return true;
}

swp_status swp__sweep_log_add(swp__sweep_log *log, const swp__columns *columns, swp_error *error)
{
    if (log->descriptor < 0) {
        return SWP_OK;
    }
    off_t held = lseek(log->descriptor, 0, SEEK_CUR);
    bool written = held >= 0;
    for (uint64_t i = 0; i < columns->count && written; i++) {
        uint64_t first = i;
        while (i < columns->count && i - first < ROWS_MAX && is_new(log, columns, i)) {
            i++;
        }
        if (i > first) {
            written = add_record(log, columns, first, i - first);
            i--;
        }
    }
    if (written && fdatasync(log->descriptor) == 0) {
        return SWP_OK;
    }
    swp_status status = fail_file(log, "cannot be written", error);
    if (held >= 0 && ftruncate(log->descriptor, held) != 0) {
        /* its torn end is found when it is opened again */
    }
    close(log->descriptor);
    log->descriptor = -1;
    return status;
}

void swp__sweep_log_remove(swp__sweep_log *log)
{
    unlink(log->path);
    release(log);
}

void swp__sweep_log_close(swp__sweep_log *log)
{
    if (log->path == NULL) {
        return;
    }
    if (log->logged_count == 0) {
        unlink(log->path);
    }
    release(log);
}
