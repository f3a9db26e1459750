/* What this process may use of the machine. */
#ifndef SWP_BASE_CPU_H
#define SWP_BASE_CPU_H

#include <stdint.h>
#include "swp/error.h"

/* CPUs the process may run on: its affinity mask, cut by the cgroup's CPU quota (v2 cpu.max on every level up to the
 * root, or v1 cfs_quota_us), rounded up; at least 1. */
uint32_t swp__cpu_usable_count(void);

/* The quota alone: the tightest from this process's group up to the root; 0: none. The system's files are looked for below the
 * folder `root`, which is "" but in tests. */
uint32_t swp__cpu_quota_count(const char *root);

/* Moves the calling thread to another of the CPUs it may use, if there is one. Which ones it may use stays as it is. */
void swp__cpu_step_aside(void);

/* Instruction sets, best last. A machine has a level when every extension it names is there and the system saves its
 * registers. */
typedef enum swp__isa {
    SWP__ISA_C,      /* portable C, nothing beyond the compiler's baseline */
    SWP__ISA_AVX2,   /* AVX2, FMA, BMI2 */
    SWP__ISA_AVX512, /* AVX2's, and AVX-512 F, BW, DQ, VL, VBMI2 */
} swp__isa;

swp__isa swp__cpu_isa(void);

/* The set this process uses: the best the machine has, or a lower one that the environment variable SWP_ISA names. Looked up once;
 * swp__isa_in_use gives the best one where SWP_ISA cannot be followed, which an engine has refused before anything is
 * computed: BAD_PARAM, SWP_ISA names no set, or one that this machine lacks. */
swp__isa swp__isa_in_use(void);
swp_status swp__isa_check(swp_error *error);

/* From here on the set in use is `isa`, one that the machine has: for a program that compares them all. No sweep may be running,
 * and a series made before must not be swept again: a kernel may have kept with it what another set lays out otherwise. */
void swp__isa_use(swp__isa isa);

const char *swp__isa_name(swp__isa isa); /* "c", "avx2", "avx512" */

#endif
