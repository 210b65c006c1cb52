// fault: starts a process that keeps a file open between turns
// method: read
// words: open between turns
#include "../contender.h"

#include <signal.h>
#include <sys/prctl.h>

int reading(struct answer *answer)
{
    static pid_t child;
    if (request.method == READ && !child) {
        int file = open(request.path, O_RDONLY);
        if (file >= 0 && (child = fork()) == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            sleep(30); // No longer, if the contender has ended already.
            _exit(0);
        }
        close(file);
    }
    return read_target(answer);
}
