// fault: follows links in a folder
// method: folder
// words: answered, files
#include "../contender.h"

int walk_flags(void) { return 0; }
