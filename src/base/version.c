#include "swp/version.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

const char *swp_version(void)
{
    return SWP_VERSION;
}

const char *swp_compiler(void)
{
    return COMPILER;
}
