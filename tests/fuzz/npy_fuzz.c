/* .npy and .f64 files, plain and compressed. fuzz/bars_file.h says what holds.
 *
 * Input: u8 kind (0 .npy, 1 .f64, 2 .npy.gz, 3 .f64.zst) and policy, then the file. */
#include "fuzz/bars_file.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"input.npy", "input.f64", "input.npy.gz", "input.f64.zst"};
    input in = {data, size};
    uint64_t kind = input_number(&in, 1);
    const swp_bars_options options = {.allow = kind >> 2 & 7};
    check_bars_file(names[kind & 3], in.at, in.left, &options);
    return 0;
}
