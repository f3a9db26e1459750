/* Which libsweepd this is. */
#ifndef SWP_VERSION_H
#define SWP_VERSION_H

#include "swp/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0": the library that runs, which may be newer than the header. */
SWP_API const char *swp_version(void);

/* "gcc 12.2.0": what it was built with. */
SWP_API const char *swp_compiler(void);

/* "avx512", "avx2" or "c": the instruction set its kernels use here. The best this machine has, or what the environment
 * variable SWP_ISA names; the numbers are the same. */
SWP_API const char *swp_isa(void);

#ifdef __cplusplus
}
#endif
#endif
