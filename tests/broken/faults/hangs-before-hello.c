// fault: hangs before its hello
// words: no answer within
#include "../contender.h"

void begin(void) { sleep(600); }
