/* What the fuzz targets share: an input that is taken apart from its front, and promises that end the program when they are
 * broken, so that libFuzzer keeps the input. A target is one file, NAME_fuzz.c; what it promises stands at its top. */
#ifndef SWP_TESTS_FUZZ_FUZZ_H
#define SWP_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PROMISE(condition)                                                                                                     \
    do {                                                                                                                       \
        if (!(condition)) {                                                                                                    \
            fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, #condition);                                    \
            abort();                                                                                                           \
        }                                                                                                                      \
    } while (0)

/* What is left of the input. */
typedef struct input {
    const uint8_t *at;
    size_t left;
} input;

/* A little-endian number of `size` <= 8 bytes; what is missing is 0. */
static inline uint64_t input_number(input *in, size_t size)
{
    uint64_t value = 0;
    size_t there = size < in->left ? size : in->left;
    memcpy(&value, in->at, there);
    in->at += there;
    in->left -= there;
    return value;
}

/* At most `most` bytes of the input: *size says how many there were. */
static inline const uint8_t *input_bytes(input *in, size_t most, size_t *size)
{
    const uint8_t *bytes = in->at;
    *size = most < in->left ? most : in->left;
    in->at += *size;
    in->left -= *size;
    return bytes;
}

/* The bytes in a block of exactly their size, so that a step beyond them is seen; the caller's to free. */
static inline uint8_t *exact_copy(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    PROMISE(copy != NULL);
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    return copy;
}

/* Reads every byte: the sanitizer sees what is not there. */
static inline void touch(const void *bytes, uint64_t size)
{
    const uint8_t *at = bytes;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < size; i++) {
        sum += at[i];
    }
    __asm__ volatile("" : : "r"(sum));
}

#endif
