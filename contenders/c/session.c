// The turns of a session: reads with a clock around each timed reading, and prints only after the last one of a turn.
// The clock is CLOCK_MONOTONIC; CPU times are those of getrusage.
#include "contender.h"

#include <inttypes.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { FAILED = 1, TURN_CHARS_MAX = 64 };

struct sample {
    uint64_t wall_ns, cpu_ns[2];
    struct answer answer;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t nanoseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

static cause timed(const struct method *method, const struct request *request, struct sample *sample)
{
    struct rusage before, after;
    *sample = (struct sample){0};
    getrusage(RUSAGE_SELF, &before);
    uint64_t start = now_ns();
    cause failed = method->read(request, &sample->answer);
    sample->wall_ns = now_ns() - start;
    getrusage(RUSAGE_SELF, &after);
    sample->cpu_ns[0] = nanoseconds(after.ru_utime) - nanoseconds(before.ru_utime);
    sample->cpu_ns[1] = nanoseconds(after.ru_stime) - nanoseconds(before.ru_stime);
    return failed;
}

static cause turn(const struct method *method, const struct request *request, uint32_t lead, uint32_t count)
{
    struct sample *samples = calloc(count, sizeof *samples);
    if (!samples)
        return "out of memory for the samples";
    cause failed = NULL;
    for (uint32_t i = 0; i < lead && !failed; i++) {
        struct answer untold = {0};
        failed = method->read(request, &untold);
    }
    for (uint32_t i = 0; i < count && !failed; i++)
        failed = timed(method, request, &samples[i]);
    for (uint32_t i = 0; i < count && !failed; i++)
        say_sample(method, request, samples[i].wall_ns, samples[i].cpu_ns, &samples[i].answer);
    free(samples);
    return failed;
}

// Returns freed buffers, which hold bytes of the file, to the kernel.
static void give_back(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

// What a failed reading is about.
static const char *subject(const struct request *request)
{
    const char *target = request->places.file ? request->places.file : request->path;
    return *failed_file ? failed_file : target;
}

int serve(const struct method *method, const struct request *request)
{
    if (method->unavailable) {
        say_unavailable(method->unavailable);
        return FAILED;
    }
    say_ready(method, request);
    char line[TURN_CHARS_MAX];
    while (fgets(line, sizeof line, stdin)) {
        uint64_t lead, count;
        char more;
        int found = sscanf(line, "go %" SCNu64 " %" SCNu64 " %c", &lead, &count, &more);
        if (found != 2 || lead > UINT32_MAX || count == 0 || count > UINT32_MAX) {
            line[strcspn(line, "\n")] = '\0';
            say_failed(line, "expected `go LEAD COUNT` with COUNT above 0");
            return FAILED;
        }
        cause failed = turn(method, request, (uint32_t)lead, (uint32_t)count);
        if (failed) {
            say_failed(subject(request), failed);
            return FAILED;
        }
        give_back();
        say_done((uint32_t)count);
    }
    return 0;
}
