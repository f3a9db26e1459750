#include "swp/version.h"

#include "base/cpu.h"

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

const char *swp_isa(void)
{
    return swp__isa_name(swp__isa_in_use());
}
