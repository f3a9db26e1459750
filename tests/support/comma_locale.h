/* A process whose locale writes 1,5: where printf and strtod go wrong. */
#ifndef SWP_TESTS_SUPPORT_COMMA_LOCALE_H
#define SWP_TESTS_SUPPORT_COMMA_LOCALE_H

#include <stdbool.h>

/* Enters it: the system's de_DE, or one made by localedef in the test's own folder. False where neither can be had. */
bool comma_locale_enter(void);

void comma_locale_leave(void);

#endif
