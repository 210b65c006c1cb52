// fault: opens a pipe in a folder, and hangs
// method: folder
// words: no answer within
#include "../contender.h"

bool is_wanted(const char *name, const struct stat *about) { return !S_ISDIR(about->st_mode); }
