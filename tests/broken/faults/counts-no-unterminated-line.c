// fault: counts no unterminated last line
// words: answered, lines, no-final-newline
#include "../contender.h"

uint64_t lines_of(const struct answer *answer) { return answer->newlines; }
