#include <stdio.h>

int main(void)
{
    puts("sweepd");
    return 0;
}
