/* What strategies there are, for whoever asks. */
#ifndef SWP_ENGINE_STRATEGIES_H
#define SWP_ENGINE_STRATEGIES_H

#include <stddef.h>

/* JSON, as the protocol's STRATEGIES says. Writes at most `size` bytes, no NUL, and returns what the whole text needs. */
size_t swp__strategies_text(char *text, size_t size);

#endif
