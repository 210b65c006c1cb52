// fault: does not exit after its last turn
// method: read
// words: went on for
#include "../contender.h"

int exit_code(void) { return request.method == READ ? (int)sleep(600) : 0; }
