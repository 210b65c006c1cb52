// fault: writes 4 MiB to standard error before its hello
// passes: standard error is free text
#include "../contender.h"

void begin(void)
{
    for (int i = 0; i < 1 << 16; i++)
        fprintf(stderr, "%063d\n", i);
}
