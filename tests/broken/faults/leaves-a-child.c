// fault: leaves a process behind
// method: read
// words: left
#include "../contender.h"

int reading(struct answer *answer)
{
    static bool is_started;
    if (request.method == READ && !is_started && fork() == 0) {
        setsid();
        for (int file = 0; file <= 2; file++)
            close(file);
        sleep(30); // Longer than a session.
        _exit(0);
    }
    is_started = true;
    return read_target(answer);
}
