/* normal_stream SEED COUNT: writes the first draws of the random stream as raw doubles, for tests/reference. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "bars/normal.h"

int main(int argc, char **argv)
{
    if (argc != 3) {
        return 2;
    }
    swp__pcg64 pcg;
    swp__pcg64_init(&pcg, strtoull(argv[1], NULL, 10));
    for (unsigned long long left = strtoull(argv[2], NULL, 10); left > 0; left--) {
        double z = swp__normal_next(&pcg);
        fwrite(&z, sizeof z, 1, stdout);
    }
    return fclose(stdout) == 0 ? 0 : 1;
}
