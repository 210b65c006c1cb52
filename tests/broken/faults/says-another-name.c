// fault: says another contender's name
// words: calls itself
#include "../contender.h"

void say_hello(void) { hello(1, "c", "C"); }
