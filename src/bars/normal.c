/* Three published pieces: NumPy's SeedSequence (after M. O'Neill's seed_seq), PCG64 (O'Neill, 2014) and the ziggurat
 * (Marsaglia and Tsang, 2000) in the form NumPy gives it. */
#include "bars/normal.h"

#include <math.h>
#include "bars/ziggurat_table.h"

enum { POOL_WORDS = 4 };

/* One of the two hash chains of SeedSequence: every word is mixed with a constant that changes from word to word. */
typedef struct hash {
    uint32_t constant, multiplier;
} hash;

static uint32_t hash_word(hash *h, uint32_t word)
{
    word ^= h->constant;
    h->constant *= h->multiplier;
    word *= h->constant;
    return word ^ (word >> 16);
}

static uint32_t mix(uint32_t x, uint32_t y)
{
    uint32_t mixed = 0xCA01F9DDu * x - 0x4973F715u * y;
    return mixed ^ (mixed >> 16);
}

/* SeedSequence(seed)'s entropy pool. */
static void fill_pool(uint64_t seed, uint32_t pool[POOL_WORDS])
{
    hash in = {0x43B0D7E5u, 0x931E8875u};
    const uint32_t entropy[POOL_WORDS] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int i = 0; i < POOL_WORDS; i++) {
        pool[i] = hash_word(&in, entropy[i]);
    }
    for (int from = 0; from < POOL_WORDS; from++) {
        for (int to = 0; to < POOL_WORDS; to++) {
            if (from != to) {
                pool[to] = mix(pool[to], hash_word(&in, pool[from]));
            }
        }
    }
}

/* Two words of SeedSequence.generate_state as one, the first the lower half. */
static uint64_t draw_seed(hash *out, const uint32_t *pool)
{
    uint64_t low = hash_word(out, pool[0]);
    return low | (uint64_t)hash_word(out, pool[1]) << 32;
}

static void step(swp__pcg64 *pcg)
{
    const swp__u128 multiplier = (swp__u128)0x2360ED051FC65DA4u << 64 | 0x4385DF649FCCF645u;
    pcg->state = pcg->state * multiplier + pcg->increment;
}

void swp__pcg64_init(swp__pcg64 *pcg, uint64_t seed)
{
    uint32_t pool[POOL_WORDS];
    fill_pool(seed, pool);
    hash out = {0x8B51F9DDu, 0x58F38DEDu};
    uint64_t words[4];
    for (int i = 0; i < 4; i++) {
        words[i] = draw_seed(&out, pool + (2 * i) % POOL_WORDS);
    }
    swp__u128 start = (swp__u128)words[0] << 64 | words[1];
    swp__u128 stream = (swp__u128)words[2] << 64 | words[3];
    *pcg = (swp__pcg64){.increment = stream << 1 | 1u};
    step(pcg);
    pcg->state += start;
    step(pcg);
}

uint64_t swp__pcg64_next(swp__pcg64 *pcg)
{
    step(pcg);
    uint64_t folded = (uint64_t)(pcg->state >> 64) ^ (uint64_t)pcg->state;
    unsigned rotation = (unsigned)(pcg->state >> 122);
    return folded >> rotation | folded << ((64u - rotation) & 63u);
}

double swp__uniform_next(swp__pcg64 *pcg)
{
    return (double)(swp__pcg64_next(pcg) >> 11) * 0x1p-53;
}

/* Beyond ZIGGURAT_R: Marsaglia's method, with 1 - U so that log(0) cannot be. */
static double draw_tail(swp__pcg64 *pcg)
{
    for (;;) {
        double x = -ZIGGURAT_INVERSE_R * log1p(-swp__uniform_next(pcg));
        double y = -log1p(-swp__uniform_next(pcg));
        if (y + y > x * x) {
            return ZIGGURAT_R + x;
        }
    }
}

double swp__normal_next(swp__pcg64 *pcg)
{
    for (;;) {
        uint64_t bits = swp__pcg64_next(pcg); /* from the lowest: 8 for the step, 1 for the sign, 52 for the place */
        unsigned i = bits & 0xFFu;
        uint64_t place = bits >> 9 & 0xFFFFFFFFFFFFFu;
        double x = (double)place * ziggurat_width[i];
        x = bits & 0x100u ? -x : x;
        if (place < ziggurat_inside[i]) {
            return x;
        }
        if (i == 0) {
            double tail = draw_tail(pcg);
            return place & 0x100u ? -tail : tail; /* NumPy takes another bit for the sign here */
        }
        double y = (ziggurat_height[i - 1] - ziggurat_height[i]) * swp__uniform_next(pcg) + ziggurat_height[i];
        if (y < exp(-0.5 * x * x)) {
            return x;
        }
    }
}
