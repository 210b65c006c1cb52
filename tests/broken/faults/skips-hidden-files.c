// fault: skips hidden files in a folder
// method: folder
// words: answered, files
#include "../contender.h"

bool is_wanted(const char *name, const struct stat *about) { return S_ISREG(about->st_mode) && *name != '.'; }
