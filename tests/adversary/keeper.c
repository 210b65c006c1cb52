// A contender that manipulates the cache; its first argument names the way. With `hold` and a path it is not a
// contender but a foreign program, which keeps a file mapped and locked until it is killed.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *path;
static long size;

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long newlines_in(const char *bytes, long length) {
    long found = 0;
    for (long at = 0; at < length; at++) found += bytes[at] == '\n';
    return found;
}

// Maps the file and touches every page; nobody unmaps it.
static long keep_mapped(int locked) {
    int file = open(path, O_RDONLY);
    const char *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (bytes == MAP_FAILED) exit(3);
    if (locked && mlock(bytes, size) != 0) perror("mlock");
    return newlines_in(bytes, size);
}

static long read_it(int flags, int keep_open) {
    static char buffer[1 << 20] __attribute__((aligned(4096)));
    int file = open(path, O_RDONLY | flags);
    long found = 0, length;
    while ((length = read(file, buffer, sizeof buffer)) > 0) found += newlines_in(buffer, length);
    if (length < 0) exit(4);
    if (!keep_open) close(file);
    return found;
}

// A child, in a session of its own, that keeps the file mapped for as long as it lives.
static void leave_a_child(void) {
    int ready[2];
    char byte;
    if (pipe(ready) != 0) exit(5);
    if (fork() == 0) {
        setsid();
        keep_mapped(0);
        if (write(ready[1], "x", 1) != 1) exit(6);
        for (;;) pause();
    }
    if (read(ready[0], &byte, 1) != 1) exit(7);
    close(ready[0]);
    close(ready[1]);
}

static long reading(const char *mode, int turn) {
    static long remembered = -1;
    if (strcmp(mode, "mapped") == 0) return keep_mapped(0);
    if (strcmp(mode, "late") == 0 && turn >= 2) return keep_mapped(0);
    if (strcmp(mode, "opened") == 0) return read_it(0, 1);
    if (strcmp(mode, "direct") == 0) return read_it(O_DIRECT, 0);
    if (strcmp(mode, "child") == 0 && turn == 2) leave_a_child();
    if (strcmp(mode, "remembers") == 0 && remembered >= 0) {
        usleep(20000);
        return remembered;
    }
    return remembered = read_it(0, 0);
}

int main(int count, char **words) {
    const char *mode = words[1];
    struct stat facts;
    if (strcmp(mode, "hold") == 0) {
        path = words[2];
        if (stat(path, &facts) != 0) return 2;
        size = facts.st_size;
        keep_mapped(1);
        puts("ready");
        fflush(stdout);
        for (;;) pause();
    }
    printf("{\"say\":\"hello\",\"protocol\":1,\"contender\":\"%s\",\"version\":\"1\",\"runtime\":\"C\"}\n", mode);
    if (strcmp(words[2], "methods") == 0) {
        printf("{\"say\":\"method\",\"method\":\"read\",\"scans\":{\"newlines\":[\"-\"]},\"about\":\"a liar\",\"cache\":\"%s\"}\n",
               strcmp(mode, "direct") == 0 ? "bypass" : "through");
    }
    if (count < 7) return 0;
    path = words[6];
    if (stat(path, &facts) != 0) return 2;
    size = facts.st_size;
    printf("{\"say\":\"ready\",\"params\":{}}\n");
    fflush(stdout);
    char line[100];
    for (int turn = 1; fgets(line, sizeof line, stdin); turn++) {
        int lead, timed;
        if (sscanf(line, "go %d %d", &lead, &timed) != 2) return 1;
        for (int at = 0; at < lead + timed; at++) {
            long long start = now_ns();
            long newlines = reading(mode, turn);
            long long wall_ns = now_ns() - start;
            if (at >= lead) printf("{\"say\":\"sample\",\"wall_ns\":%lld,\"newlines\":%ld}\n", wall_ns, newlines);
        }
        printf("{\"say\":\"done\",\"count\":%d}\n", timed);
        fflush(stdout);
    }
    return 0;
}
