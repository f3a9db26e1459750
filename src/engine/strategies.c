#include "engine/strategies.h"

#include "base/fingerprint.h"
#include "base/text.h"
#include "swp/strategy.h"

/* In the order of the wire. */
static void add_hex(swp__text *text, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        swp__text_add(text, "%02x", ((const unsigned char *)bytes)[i]);
    }
}

size_t swp__strategies_text(char *text, size_t size)
{
    static const char *const parameters[SWP_PARAMS_COUNT] = {"half", "full", "smooth", "third", "mid", "p"};
    swp__text out = {.at = text, .size = size};
    swp__fingerprint id = swp__hma_cross_id();
    swp__text_add(&out, "[{\"id\": %u, \"name\": \"hma-cross\", \"kernel_id\": \"", SWP_STRATEGY_HMA_CROSS);
    add_hex(&out, &id, sizeof id);
    swp__text_add(&out, "\", \"columns\": [\"close\"], \"parameters\": [");
    for (size_t i = 0; i < SWP_PARAMS_COUNT; i++) {
        swp__text_add(&out, "%s{\"name\": \"%s\", \"type\": \"i64\", \"min\": 1, \"max\": %lld, \"default\": null}",
                      i > 0 ? ", " : "", parameters[i], SWP_PARAM_MAX);
    }
    swp__text_add(&out, "]}]");
    return out.length;
}
