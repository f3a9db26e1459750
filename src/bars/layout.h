/* Layouts of files without a header, as exchanges and terminals write them. A layout is believed only while every row fits
 * it: what each column looks like, and the high and the low of a bar around its open and close. */
#ifndef SWP_BARS_LAYOUT_H
#define SWP_BARS_LAYOUT_H

#include "bars/header.h"

typedef struct swp__layout {
    const char *name;
    char delimiter;
    const char *columns; /* a letter a column, layout.c */
} swp__layout;

/* The one layout that the first row fits, cell for cell; NULL: none. */
const swp__layout *swp__layout_find(const swp__header *first_row, char delimiter, char decimal);

/* The high is the highest and the low the lowest of the four. */
bool swp__bar_is_sound(double open, double high, double low, double close);

/* Which column plays which part. */
swp__roles swp__layout_roles(const swp__layout *layout);

#endif
