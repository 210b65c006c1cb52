// fault: counts no unterminated last line
// words: answered, 0 lines, 1 line
#include "../contender.h"

uint64_t lines_of(const struct answer *answer) { return answer->newlines; }
