#include "base/close_policy.h"

#include <math.h>
#include <stddef.h>
#include "swp/engine.h"

const char *swp__close_refusal(double close, uint32_t allow)
{
    if (swp__close_is_plain(close)) {
        return NULL;
    }
    if (isnan(close)) {
        return (allow & SWP_ALLOW_NAN) ? NULL : "is not a number; allow \"nan\" to let it in";
    }
    if (isinf(close)) {
        return (allow & SWP_ALLOW_INF) ? NULL : "is infinite; allow \"inf\" to let it in";
    }
    return (allow & SWP_ALLOW_NONPOSITIVE) ? NULL : "is not above zero; allow \"nonpositive\" to let it in";
}
