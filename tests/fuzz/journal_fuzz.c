/* Journals that were damaged, or that somebody else made: as they are, or with every checksum put right, so that what is behind
 * them is reached. One that is taken can be gone on with, and reads the same then, and one bar more.
 *
 * Input: u8 (bit 0: put right), then the journal. */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/fingerprint.h"
#include "cli/journal.h"
#include "fuzz/fuzz.h"

enum { COMBOS_AT = 32, WARM_AT = 40, HEAD_SIZE = 64, SUM_SIZE = 8 };

static uint64_t sum_after(uint64_t before, const void *bytes, size_t size)
{
    swp__fingerprinter f;
    swp__fingerprinter_init(&f);
    swp__fingerprinter_add(&f, &before, sizeof before);
    swp__fingerprinter_add(&f, bytes, size);
    return swp__fingerprinter_end(&f).low;
}

/* protocol.md, section 14: each checksum is of the one before it and what is between. */
static void put_right(uint8_t *bytes, size_t size)
{
    uint64_t combos, warm, bar;
    if (size < HEAD_SIZE + SUM_SIZE) {
        return;
    }
    memcpy(&combos, bytes + COMBOS_AT, sizeof combos);
    memcpy(&warm, bytes + WARM_AT, sizeof warm);
    if (combos == 0 || combos > size / 48 || warm > size / 8 || HEAD_SIZE + 48 * combos + 8 * warm + SUM_SIZE > size) {
        return;
    }
    size_t at = HEAD_SIZE + 48 * combos + 8 * warm, record = 16 + 40 * combos + SUM_SIZE;
    uint64_t sum = sum_after(0, bytes, at);
    memcpy(bytes + at, &sum, SUM_SIZE);
    bar = warm;
    for (at += SUM_SIZE; size - at >= record; at += record) {
        memcpy(bytes + at, &bar, sizeof bar);
        sum = sum_after(sum, bytes + at, record - SUM_SIZE);
        memcpy(bytes + at + record - SUM_SIZE, &sum, SUM_SIZE);
        bar++;
    }
}

static void check_goes_on(const char *path, const swp__journal *j)
{
    swp__journal writer, reader;
    swp_error error;
    uint64_t combos = j->request.combos_count;
    swp_live_state *states = calloc(combos, sizeof *states);
    PROMISE(states != NULL && swp__journal_open(path, true, false, &writer, &error) == SWP_OK);
    PROMISE(writer.bars_count == j->bars_count);
    PROMISE(swp__journal_append(&writer, 123.5, states, &error) == SWP_OK);
    swp__journal_close(&writer);
    PROMISE(swp__journal_open(path, false, false, &reader, &error) == SWP_OK);
    PROMISE(reader.torn_bytes == 0 && reader.bars_count == j->bars_count + 1 && reader.closes[j->bars_count] == 123.5);
    PROMISE(memcmp(reader.closes, j->closes, j->bars_count * sizeof *j->closes) == 0);
    swp__journal_close(&reader);
    free(states);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("journal", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    input in = {data, size};
    bool repaired = (input_number(&in, 1) & 1) != 0;
    uint8_t *bytes = exact_copy(in.at, in.left);
    if (repaired) {
        put_right(bytes, in.left);
    }
    PROMISE(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, bytes, in.left, 0) == (ssize_t)in.left);
    swp__journal journal;
    swp_error error;
    swp_status status = swp__journal_open(path, false, false, &journal, &error);
    if (status == SWP_OK) {
        PROMISE(journal.bars_count >= journal.warm_count && journal.torn_bytes <= in.left);
        check_goes_on(path, &journal);
        swp__journal_close(&journal);
    } else {
        PROMISE(error.status == status && error.message[0] != '\0' && (status == SWP_BAD_PARAM || status == SWP_UNKNOWN));
    }
    free(bytes);
    return 0;
}
