// fault: says a hello longer than 64 KiB
// words: more than 65536 bytes
#define _GNU_SOURCE // program_invocation_short_name
#include "../contender.h"

void say_hello(void)
{
    char runtime[70000] = "";
    memset(runtime, 'C', sizeof runtime - 1);
    hello(1, program_invocation_short_name, runtime);
}
