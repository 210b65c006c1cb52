// fault: says another protocol number
// words: protocol 2
#define _GNU_SOURCE // program_invocation_short_name
#include "../contender.h"

void say_hello(void) { hello(2, program_invocation_short_name, "C"); }
