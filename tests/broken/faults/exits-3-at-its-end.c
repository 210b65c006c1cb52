// fault: exits with 3 after its last turn
// words: exited with 3
#include "../contender.h"

int exit_code(void) { return 3; }
