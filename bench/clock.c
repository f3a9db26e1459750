/* How fast the CPU runs: prints GHz, by a chain of additions that each take one cycle. What cycles are reckoned with. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Sixteen additions, each waiting for the one before; the compiler may not see through them. */
static uint64_t add_16(uint64_t x, uint64_t step)
{
    for (int i = 0; i < 16; i++) {
        __asm__ volatile("" : "+r"(x));
        x += step;
    }
    return x;
}

int main(int argc, char **argv)
{
    (void)argv;
    const int64_t rounds = 5000000;
    uint64_t x = 0, step = (uint64_t)argc;
    double best = 0.0;
    for (int attempt = 0; attempt < 5; attempt++) {
        double begun = now_ns();
        for (int64_t i = 0; i < rounds; i++) {
            x = add_16(x, step);
        }
        double ghz = 16.0 * (double)rounds / (now_ns() - begun);
        best = ghz > best ? ghz : best;
    }
    printf("%.3f\n", best);
    return x == 1; /* never: keeps x */
}
