/* The floating-point state the numbers are specified in: round to nearest even, subnormals kept, no traps. A library built
 * with -Ofast anywhere in the process may have switched subnormals off for a thread, so each thread that computes sets its
 * own state on entry and puts the former one back. */
#ifndef SWP_BASE_FPENV_H
#define SWP_BASE_FPENV_H

#include <float.h>
#include <stdint.h>

#if defined(__FAST_MATH__)
#error "-ffast-math and -Ofast change the numbers, which are specified to the bit"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "operations on doubles are rounded to double");

#if defined(__x86_64__)
#include <xmmintrin.h>

static inline uint64_t swp__fpenv_enter(void)
{
    uint64_t saved = _mm_getcsr();
    _mm_setcsr(0x1F80u); /* all exceptions masked, round to nearest, no FTZ, no DAZ */
    return saved;
}

static inline void swp__fpenv_leave(uint64_t saved)
{
    _mm_setcsr((unsigned)saved);
}

#elif defined(__aarch64__)

static inline uint64_t swp__fpenv_enter(void)
{
    uint64_t saved;
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved));
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    return saved;
}

static inline void swp__fpenv_leave(uint64_t saved)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(saved));
}

#else
#error "sweepd supports x86-64 and aarch64"
#endif
#endif
