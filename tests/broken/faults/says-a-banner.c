// fault: says a line before its hello that is no message
// words: not a line of protocol
#include "../contender.h"

void begin(void) { puts("Welcome!"); }
