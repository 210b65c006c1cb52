// fault: hangs in a turn
// method: mmap
// words: no answer within
#include "../contender.h"

int turn(uint32_t lead, uint32_t timed_readings)
{
    if (request.method == MMAP)
        sleep(600);
    return take_turn(lead, timed_readings);
}
