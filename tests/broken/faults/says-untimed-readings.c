// fault: says a sample for each untimed reading, too
// words: asked for 2 samples
#include "../contender.h"

int turn(uint32_t lead, uint32_t timed_readings) { return take_turn(0, lead + timed_readings); }
