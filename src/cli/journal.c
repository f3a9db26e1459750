#include "cli/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "base/fingerprint.h"

static const char MAGIC[8] = {'s', 'w', 'p', '-', 'j', 'r', 'n', 'l'};
enum { VERSION = 1 };

/* Then params, the closes of the warm-up, and the checksum of all that: u64. */
typedef struct head {
    char magic[8];
    uint32_t version, strategy;
    swp__fingerprint kernel_id;
    uint64_t combos_count, warm_count;
    double fee;
    uint32_t entry, allow;
} head;

_Static_assert(sizeof(head) == 64, "fields as the specification has them");

/* Then combos x state, and the checksum: u64, of the one before it and this record. */
typedef struct record_head {
    uint64_t bar;
    double close;
} record_head;

static swp_status fail_file(const swp__journal *j, const char *what, swp_error *error)
{
    return swp__fail(error, SWP_FILE, SWP_AT_NONE, "%s: %s: %s", j->path, what, strerror(errno));
}

static swp_status no_memory(const swp__journal *j, swp_error *error)
{
    return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "%s: no memory", j->path);
}

static uint64_t record_size(uint64_t combos_count)
{
    return sizeof(record_head) + combos_count * sizeof(swp_live_state) + sizeof(uint64_t);
}

static uint64_t sum_after(uint64_t sum_before, const void *bytes, size_t size)
{
    swp__fingerprinter f;
    swp__fingerprinter_init(&f);
    swp__fingerprinter_add(&f, &sum_before, sizeof sum_before);
    swp__fingerprinter_add(&f, bytes, size);
    return swp__fingerprinter_end(&f).low;
}

/* ---- writing ---- */

static swp_status write_all(const swp__journal *j, const void *bytes, size_t size, swp_error *error)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t written = write(j->descriptor, at, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return fail_file(j, "cannot be written", error);
        }
        at += written;
        size -= (size_t)written;
    }
    if (j->syncs && fdatasync(j->descriptor) != 0) {
        return fail_file(j, "cannot be brought to the disk", error);
    }
    return SWP_OK;
}

static swp_status write_head(swp__journal *j, const double *warm_up, swp_error *error)
{
    head h = {.version = VERSION,
              .strategy = SWP_STRATEGY_HMA_CROSS,
              .kernel_id = swp__hma_cross_id(),
              .combos_count = j->request.combos_count,
              .warm_count = j->warm_count,
              .fee = j->request.fee,
              .entry = (uint32_t)j->request.entry,
              .allow = j->request.allow};
    memcpy(h.magic, MAGIC, sizeof MAGIC);
    size_t params_size = j->request.combos_count * sizeof(swp_params), closes_size = j->warm_count * sizeof(double);
    size_t size = sizeof h + params_size + closes_size + sizeof(uint64_t);
    char *bytes = malloc(size);
    if (bytes == NULL) {
        return no_memory(j, error);
    }
    memcpy(bytes, &h, sizeof h);
    memcpy(bytes + sizeof h, j->request.params, params_size);
    if (closes_size > 0) {
        memcpy(bytes + sizeof h + params_size, warm_up, closes_size);
    }
    j->sum = sum_after(0, bytes, size - sizeof j->sum);
    memcpy(bytes + size - sizeof j->sum, &j->sum, sizeof j->sum);
    swp_status status = write_all(j, bytes, size, error);
    free(bytes);
    return status;
}

swp_status swp__journal_begin(const char *path, const swp_live_request *request, const double *warm_up, uint64_t warm_count,
                              bool syncs, swp__journal *j, swp_error *error)
{
    *j = (swp__journal){.path = path,
                        .syncs = syncs,
                        .request = *request,
                        .warm_count = warm_count,
                        .bars_count = warm_count,
                        .descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
    if (j->descriptor < 0) {
        return fail_file(j, "cannot be made", error);
    }
    j->record = malloc(record_size(request->combos_count));
    swp_status status = j->record != NULL ? SWP_OK : no_memory(j, error);
    if (status == SWP_OK && flock(j->descriptor, LOCK_EX | LOCK_NB) != 0) {
        status = fail_file(j, "is in use", error);
    }
    status = status == SWP_OK ? write_head(j, warm_up, error) : status;
    if (status != SWP_OK) {
        unlink(path); /* we made it a moment ago */
        swp__journal_close(j);
    }
    return status;
}

swp_status swp__journal_append(swp__journal *j, double close, const swp_live_state *states, swp_error *error)
{
    uint64_t size = record_size(j->request.combos_count);
    const record_head h = {.bar = j->bars_count, .close = close};
    memcpy(j->record, &h, sizeof h);
    memcpy(j->record + sizeof h, states, j->request.combos_count * sizeof *states);
    uint64_t sum = sum_after(j->sum, j->record, size - sizeof sum);
    memcpy(j->record + size - sizeof sum, &sum, sizeof sum);
    swp_status status = write_all(j, j->record, size, error);
    if (status == SWP_OK) {
        j->sum = sum;
        j->bars_count++;
    }
    return status;
}

/* ---- reading ---- */

typedef struct bytes {
    unsigned char *at;
    uint64_t size;
} bytes;

static swp_status damaged(const swp__journal *j, uint64_t at, const char *what, swp_error *error)
{
    return swp__fail(error, SWP_BAD_PARAM, at, "%s: byte %" PRIu64 ": %s", j->path, at, what);
}

static swp_status read_whole(const swp__journal *j, bytes *whole, swp_error *error)
{
    struct stat of;
    if (fstat(j->descriptor, &of) != 0 || !S_ISREG(of.st_mode)) {
        return swp__fail(error, SWP_FILE, SWP_AT_NONE, "%s: is not a file", j->path);
    }
    whole->size = (uint64_t)of.st_size;
    whole->at = malloc(whole->size + 1);
    if (whole->at == NULL) {
        return no_memory(j, error);
    }
    for (uint64_t done = 0; done < whole->size;) {
        ssize_t got = pread(j->descriptor, whole->at + done, whole->size - done, (off_t)done);
        if (got <= 0) {
            return fail_file(j, "cannot be read", error);
        }
        done += (uint64_t)got;
    }
    return SWP_OK;
}

static swp_status check_head(const swp__journal *j, const bytes *whole, const head *h, swp_error *error)
{
    if (memcmp(h->magic, MAGIC, sizeof MAGIC) != 0) {
        return damaged(j, 0, "this is no journal", error);
    }
    if (h->version != VERSION || h->strategy != SWP_STRATEGY_HMA_CROSS) {
        return swp__fail(error, SWP_UNKNOWN, offsetof(head, version),
                         "%s: version %" PRIu32 ", strategy %" PRIu32 ": expected %d, 1", j->path, h->version, h->strategy,
                         VERSION);
    }
    if (!swp__fingerprint_equal(h->kernel_id, swp__hma_cross_id())) {
        return swp__fail(error, SWP_UNKNOWN, offsetof(head, kernel_id),
                         "%s: written by a program that computes other numbers (another kernel id)", j->path);
    }
    uint64_t room = whole->size - sizeof *h;
    if (h->combos_count == 0 || h->combos_count > room / sizeof(swp_params) ||
        h->warm_count > (room - h->combos_count * sizeof(swp_params)) / sizeof(double)) {
        return damaged(j, offsetof(head, combos_count), "counts that do not fit the file", error);
    }
    return SWP_OK;
}

/* Options, combos, warm-up; *size is where the records begin. */
static swp_status read_head(swp__journal *j, const bytes *whole, uint64_t *size, swp_error *error)
{
    head h;
    if (whole->size < sizeof h + sizeof j->sum) {
        return damaged(j, whole->size, "ends before a journal's head does", error);
    }
    memcpy(&h, whole->at, sizeof h);
    swp_status status = check_head(j, whole, &h, error);
    if (status != SWP_OK) {
        return status;
    }
    size_t params_size = h.combos_count * sizeof(swp_params), closes_size = h.warm_count * sizeof(double);
    uint64_t sum_at = sizeof h + params_size + closes_size, said;
    if (whole->size - sum_at < sizeof said) {
        return damaged(j, whole->size, "ends before a journal's head does", error);
    }
    memcpy(&said, whole->at + sum_at, sizeof said);
    j->sum = sum_after(0, whole->at, sum_at);
    if (said != j->sum) {
        return damaged(j, sum_at, "the checksum of the head is not that of its bytes", error);
    }
    j->params = malloc(params_size);
    if (j->params == NULL) {
        return no_memory(j, error);
    }
    memcpy(j->params, whole->at + sizeof h, params_size);
    j->request = (swp_live_request){
        .params = j->params, .combos_count = h.combos_count, .fee = h.fee, .entry = (swp_entry)h.entry, .allow = h.allow};
    j->warm_count = j->bars_count = h.warm_count;
    *size = sum_at + sizeof said;
    return SWP_OK;
}

static bool is_record(const swp__journal *j, const unsigned char *at, uint64_t size, uint64_t *sum)
{
    record_head h;
    uint64_t said;
    memcpy(&h, at, sizeof h);
    memcpy(&said, at + size - sizeof said, sizeof said);
    *sum = sum_after(j->sum, at, size - sizeof said);
    return said == *sum && h.bar == j->bars_count;
}

static bool all_zero(const unsigned char *at, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++) {
        if (at[i] != 0) {
            return false;
        }
    }
    return true;
}

/* What is behind the last whole record: nothing, or one that was being written, or what a file system left of it. */
static swp_status check_end(swp__journal *j, const bytes *whole, uint64_t at, swp_error *error)
{
    uint64_t size = record_size(j->request.combos_count), left = whole->size - at;
    if (left > size && !all_zero(whole->at + at, left)) {
        return damaged(j, at, "a damaged record, and more behind it", error);
    }
    j->torn_bytes = left;
    return SWP_OK;
}

static swp_status read_records(swp__journal *j, const bytes *whole, uint64_t at, swp_error *error)
{
    uint64_t combos = j->request.combos_count, size = record_size(combos), most = (whole->size - at) / size, sum;
    j->closes = malloc((j->warm_count + most + 1) * sizeof *j->closes);
    j->states = malloc((most + 1) * combos * sizeof *j->states);
    j->record = malloc(size);
    if (j->closes == NULL || j->states == NULL || j->record == NULL) {
        return no_memory(j, error);
    }
    memcpy(j->closes, whole->at + sizeof(head) + combos * sizeof(swp_params), j->warm_count * sizeof *j->closes);
    while (whole->size - at >= size && is_record(j, whole->at + at, size, &sum)) {
        memcpy(&j->closes[j->bars_count], whole->at + at + offsetof(record_head, close), sizeof(double));
        memcpy(j->states + (j->bars_count - j->warm_count) * combos, whole->at + at + sizeof(record_head),
               combos * sizeof *j->states);
        j->sum = sum;
        j->bars_count++;
        at += size;
    }
    return check_end(j, whole, at, error);
}

static swp_status read_journal(swp__journal *j, bytes *whole, swp_error *error)
{
    uint64_t records_at = 0;
    swp_status status = read_whole(j, whole, error);
    status = status == SWP_OK ? read_head(j, whole, &records_at, error) : status;
    return status == SWP_OK ? read_records(j, whole, records_at, error) : status;
}

swp_status swp__journal_open(const char *path, bool appends, bool syncs, swp__journal *j, swp_error *error)
{
    *j = (swp__journal){.path = path, .syncs = syncs};
    j->descriptor = open(path, (appends ? O_RDWR | O_APPEND : O_RDONLY) | O_CLOEXEC);
    if (j->descriptor < 0) {
        return errno == ENOENT ? swp__fail(error, SWP_NOT_FOUND, SWP_AT_NONE, "%s: there is no such journal", path)
                               : fail_file(j, "cannot be opened", error);
    }
    bytes whole = {0};
    swp_status status = SWP_OK;
    if (appends && flock(j->descriptor, LOCK_EX | LOCK_NB) != 0) {
        status = swp__fail(error, SWP_FILE, SWP_AT_NONE, "%s: another session writes this journal", path);
    }
    status = status == SWP_OK ? read_journal(j, &whole, error) : status;
    if (status == SWP_OK && appends && j->torn_bytes > 0 &&
        ftruncate(j->descriptor, (off_t)(whole.size - j->torn_bytes)) != 0) {
        status = fail_file(j, "its torn end cannot be cut off", error);
    }
    free(whole.at);
    if (status != SWP_OK) {
        swp__journal_close(j);
    }
    return status;
}

void swp__journal_close(swp__journal *j)
{
    if (j->path != NULL && j->descriptor >= 0) {
        close(j->descriptor);
    }
    free(j->params);
    free(j->closes);
    free(j->states);
    free(j->record);
    *j = (swp__journal){0};
}
