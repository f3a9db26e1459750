#include "cli/nearest.h"

#include <stdint.h>
#include <string.h>

enum { WORD_MAX = 32 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment, the whole table: words are short. */
static size_t edit_distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t d[WORD_MAX + 1][WORD_MAX + 1];
    for (size_t i = 0; i <= a_size; i++) {
        for (size_t j = 0; j <= b_size; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            size_t changed = a[i - 1] != b[j - 1] ? 1 : 0;
            d[i][j] = least(least(d[i - 1][j] + 1, d[i][j - 1] + 1), d[i - 1][j - 1] + changed);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[a_size][b_size];
}

size_t swp__nearest_distance(const char *word, const char *candidate)
{
    size_t word_size = strlen(word), candidate_size = strlen(candidate);
    if (word_size >= 3 && strncmp(word, candidate, word_size) == 0) {
        return 1;
    }
    if (word_size > WORD_MAX || candidate_size > WORD_MAX) {
        return SIZE_MAX;
    }
    size_t distance = edit_distance(word, word_size, candidate, candidate_size);
    return distance <= 1 + candidate_size / 4 && distance < candidate_size ? distance : SIZE_MAX;
}
