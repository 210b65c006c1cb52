// fault: says each sample before the next reading of the turn
// words: inside a turn
#include "../contender.h"
#include <time.h>

// Long enough that the lab has read the sample before it, however busy the machine is.
#define SECOND_READING_NS 200000000

int turn(uint32_t lead, uint32_t timed_readings)
{
    struct sample sample;
    int error = 0;
    for (uint32_t i = 0; i < lead && !error; i++)
        error = reading(&sample.answer);
    for (uint32_t i = 0; i < timed_readings && !error; i++)
        if (!(error = timed(&sample))) {
            if (i == 1) {
                nanosleep(&(struct timespec){ .tv_nsec = SECOND_READING_NS }, NULL);
                sample.wall_ns += SECOND_READING_NS;
            }
            say_sample(&sample);
            fflush(stdout);
        }
    if (!error)
        say_done(timed_readings);
    return error;
}
