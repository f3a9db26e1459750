/* Whether to look for an answer for a while before sleeping. Waking a sleeper on another CPU takes several times as long as a
 * short answer; looking in vain takes CPU time from somebody. So it is done while it pays: after a look in vain some waits go
 * by without one, twice as many each time, up to SWP__SPIN_PAUSE_MAX; one that finds something sets that back. Until several
 * in a row have found something they are longer, since the peer may have to be woken first: else two sleepers would never find
 * each other awake.
 *
 * An answer that usually takes longer than a look is looked for when it is due: until shortly before, the waiter sleeps.
 * Belongs to one thread at a time. */
#ifndef SWP_BASE_SPIN_H
#define SWP_BASE_SPIN_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SWP__SPIN_PAUSE_MAX = 64,   /* waits */
    SWP__SPIN_VAIN_PAUSE = 4,   /* of so many waits: after three looks in vain */
    SWP__SPIN_SURE = 8,         /* looks in a row that found something */
    SWP__SPIN_UNSURE = 5,       /* times as long is a look until then, and one that begins with a nap */
    SWP__SPIN_EARLY_NS = 80000, /* before an answer is due a nap ends: timers are up to 50 us late */
    SWP__SPIN_FAR_NS = 2000000, /* what takes longer is not worth a look */
};

typedef struct swp__spin {
    uint64_t most_ns;      /* of a look; 0: never look */
    uint32_t pause, waits; /* waits to let go by, and those that have */
    uint32_t found;        /* looks in a row that found something */
    uint64_t usual_ns;     /* how long answers took lately: rather the quick ones; 0: not known */
} swp__spin;

/* Never looks where the process has one CPU, by affinity or quota: the peer could not answer meanwhile. */
swp__spin swp__spin_new(uint64_t most_ns);

/* A wait begins: how long to look first; 0: not at all. */
uint64_t swp__spin_begin(swp__spin *spin);

/* How long to sleep before a look that swp__spin_begin asked for, if nothing comes before; 0: look at once. Sets *look_ns to
 * what the look is after that. */
uint64_t swp__spin_nap(const swp__spin *spin, uint64_t *look_ns);

/* The answer came after `waited_ns`, whether it was looked for or not. */
void swp__spin_learn(swp__spin *spin, uint64_t waited_ns);

/* Were the last looks in vain, several in a row? Then the look that swp__spin_begin asked for may fail for want of a CPU. */
static inline bool swp__spin_is_in_vain(const swp__spin *spin)
{
    return spin->pause >= SWP__SPIN_VAIN_PAUSE;
}

/* What the look of swp__spin_begin came to; not after 0. */
void swp__spin_end(swp__spin *spin, bool found);

/* Between two looks, for the sake of a sibling thread of the core. Not sched_yield: two ends that share a CPU would keep each
 * other going there, at twice the time of two CPUs, and on a busy machine a yield may cost a time slice. */
static inline void swp__spin_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
