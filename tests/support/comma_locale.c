#include "support/comma_locale.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "support/temp.h"

static bool make_locale(void)
{
    char folder[4096], command[3 * sizeof folder];
    snprintf(folder, sizeof folder, "%s", temp_path("locale"));
    snprintf(command, sizeof command, "mkdir -p %s && localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null", folder, folder);
    return system(command) == 0 && setenv("LOCPATH", folder, 1) == 0;
}

bool comma_locale_enter(void)
{
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL && (!make_locale() || setlocale(LC_ALL, "de_DE.UTF-8") == NULL)) {
        return false;
    }
    return strcmp(localeconv()->decimal_point, ",") == 0;
}

void comma_locale_leave(void)
{
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
}
