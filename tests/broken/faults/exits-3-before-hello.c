// fault: exits with 3 before its hello
// words: exited with 3
#include "../contender.h"

void begin(void) { exit(3); }
