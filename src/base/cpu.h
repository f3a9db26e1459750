/* What this process may use of the machine. */
#ifndef SWP_BASE_CPU_H
#define SWP_BASE_CPU_H

#include <stdint.h>

/* CPUs the process may run on: its affinity mask, cut by the cgroup's CPU quota (v2 cpu.max on every level up to the
 * root, or v1 cfs_quota_us), rounded up; at least 1. */
uint32_t swp__cpu_usable_count(void);

/* Instruction sets, best last. A machine has a level when every extension it names is there and the system saves its
 * registers. */
typedef enum swp__isa {
    SWP__ISA_C,      /* portable C, nothing beyond the compiler's baseline */
    SWP__ISA_AVX2,   /* AVX2, FMA, BMI2 */
    SWP__ISA_AVX512, /* AVX2's, and AVX-512 F, BW, DQ, VL, VBMI2 */
} swp__isa;

swp__isa swp__cpu_isa(void);

/* What kernels are chosen by: the machine's best, or the one that SWP_ISA=c|avx2|avx512 in the environment names, if the
 * machine has it. Read at the first call; the same for the whole process. */
swp__isa swp__isa_in_use(void);

const char *swp__isa_name(swp__isa isa); /* "c", "avx2", "avx512" */

#endif
