// The agent of one rank: it joins the MPI job in place of readlab, and does what readlab asks for on its standard
// input. It knows nothing of files, contenders or rounds. MESSAGES.md describes the messages.
//
// Whoever waits for other ranks sleeps: MPI's own blocking calls keep a processor busy, which the readings need. Only
// the comparison of clocks waits busily, before and after a round. While readlab sends nothing, the agent sleeps in
// read(2) and makes no call of MPI.
//
// It ends when readlab says so, or with the whole job when readlab is gone or wants the job to end, also while it waits
// for other ranks: they may hang, or have been ended by the launcher. Signals to the job are readlab's to handle.
#define _GNU_SOURCE
#include <mpi.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum kind { RANKS = 'r', BARRIER = 'w', BROADCAST = 'b', GATHER = 'g', CLOCKS = 'c', ABORT = 'a', END = 'e' };

// The longest body of a message. A longer one is taken for a torn one.
#define BODY_BYTES_MAX (256u << 20)
#define SLEEP_NS_MIN 20000
#define SLEEP_NS_MAX 500000
// How often a busy wait looks whether readlab is still there: once in so many rounds.
#define LOOK_ROUNDS 1024

struct body {
    uint32_t bytes;
    char *data;
};

static int from_readlab, to_readlab, rank, ranks;

static _Noreturn void fail(const char *what, const char *cause) {
    fprintf(stderr, "fleet agent of rank %d: %s: %s\n", rank, what, cause);
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

static void *memory(size_t bytes) {
    void *data = malloc(bytes ? bytes : 1);
    if (!data) fail("memory", strerror(errno));
    return data;
}

// False at the end of the input.
static int read_whole(void *data, size_t bytes) {
    for (char *at = data; bytes > 0;) {
        ssize_t got = read(from_readlab, at, bytes);
        if (got == 0) return 0;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail("read", strerror(errno));
        at += got;
        bytes -= (size_t)got;
    }
    return 1;
}

static void write_whole(const void *data, size_t bytes) {
    for (const char *at = data; bytes > 0;) {
        ssize_t put = write(to_readlab, at, bytes);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) fail("write", strerror(errno));
        at += put;
        bytes -= (size_t)put;
    }
}

static void put_u32(unsigned char *at, uint32_t value) {
    for (int byte = 0; byte < 4; byte++) at[byte] = (unsigned char)(value >> 8 * byte);
}

static uint32_t get_u32(const unsigned char *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put_u64(unsigned char *at, uint64_t value) {
    put_u32(at, (uint32_t)value);
    put_u32(at + 4, (uint32_t)(value >> 32));
}

static void answer(enum kind kind, uint32_t bytes) {
    unsigned char head[5] = {(unsigned char)kind};
    put_u32(head + 1, bytes);
    write_whole(head, sizeof head);
}

static int read_message(enum kind *kind, struct body *body) {
    unsigned char head[5];
    if (!read_whole(head, sizeof head)) return 0;
    *kind = (enum kind)head[0], body->bytes = get_u32(head + 1);
    if (body->bytes > BODY_BYTES_MAX) fail("a message", "it is too long");
    body->data = memory((size_t)body->bytes + 1);
    if (!read_whole(body->data, body->bytes)) fail("a message", "it was cut");
    body->data[body->bytes] = 0;
    return 1;
}

// Sleeps, and ends the job if readlab is gone, or sends anything: before the answer it only asks for the end.
static void sleep_with_readlab(long sleep_ns) {
    struct pollfd readlab = {.fd = from_readlab, .events = POLLIN};
    if (ppoll(&readlab, 1, &(struct timespec){.tv_nsec = sleep_ns}, NULL) <= 0) return;
    enum kind kind;
    struct body body;
    if (!read_message(&kind, &body)) fail("readlab", "it ended while other ranks were awaited");
    fail("aborted", kind == ABORT ? body.data : "readlab asked for something else before the answer");
}

// Waits asleep. Sleeps grow, so that a long wait costs nothing.
static void await(MPI_Request *request) {
    int done = 0;
    for (long sleep_ns = SLEEP_NS_MIN;; sleep_ns = sleep_ns * 2 > SLEEP_NS_MAX ? SLEEP_NS_MAX : sleep_ns * 2) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) fail("MPI", "a call failed");
        if (done) return;
        sleep_with_readlab(sleep_ns);
    }
}

static void await_barrier(void) {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    await(&request);
}

static void broadcast(struct body body) {
    MPI_Request request;
    uint32_t bytes = body.bytes;
    MPI_Ibcast(&bytes, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD, &request);
    await(&request);
    char *data = rank == 0 ? body.data : memory(bytes);
    MPI_Ibcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    await(&request);
    answer(BROADCAST, bytes);
    write_whole(data, bytes);
    if (rank != 0) free(data);
}

// What one rank sent, and where it is among what all sent.
struct part {
    int bytes, at;
};

// Rank 0 is answered with every rank's length, then every rank's bytes; the others with nothing.
static void gather(struct body body) {
    MPI_Request request;
    int own = (int)body.bytes, *bytes = memory((size_t)ranks * sizeof *bytes), *at = memory((size_t)ranks * sizeof *at);
    MPI_Igather(&own, 1, MPI_INT, bytes, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    await(&request);
    size_t whole = 0;
    for (int from = 0; rank == 0 && from < ranks; from++) {
        at[from] = (int)whole;
        whole += (size_t)bytes[from];
        if (whole > BODY_BYTES_MAX) fail("gather", "all messages together are too long");
    }
    char *data = memory(whole);
    MPI_Igatherv(body.data, own, MPI_BYTE, data, bytes, at, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    await(&request);
    answer(GATHER, rank == 0 ? (uint32_t)(whole + 4 * (size_t)ranks) : 0);
    for (int from = 0; rank == 0 && from < ranks; from++) {
        unsigned char length[4];
        put_u32(length, (uint32_t)bytes[from]);
        write_whole(length, sizeof length);
    }
    write_whole(data, whole);
    free(data);
    free(at);
    free(bytes);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Waits for a message of another rank busily: sleeping would be part of the round trip.
static int64_t receive_time(int other) {
    MPI_Request request;
    int64_t time_ns;
    MPI_Irecv(&time_ns, 1, MPI_INT64_T, other, 0, MPI_COMM_WORLD, &request);
    for (int done = 0, round = 1;; round++) {
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) fail("MPI", "a call failed");
        if (done) return time_ns;
        if (round % LOOK_ROUNDS == 0) sleep_with_readlab(0);
        else sched_yield();
    }
}

static void send_time(int other, int64_t time_ns) {
    MPI_Send(&time_ns, 1, MPI_INT64_T, other, 0, MPI_COMM_WORLD);
}

// What to add to this rank's clock for that of rank 0, and half the shortest round trip, which bounds the error:
// rank 0 looked at its clock at some time between sending and receiving.
static void compare_clocks(uint32_t pings) {
    int64_t offset_ns = 0, bound_ns = 0;
    for (int other = 1; other < ranks; other++) {
        for (uint32_t ping = 0; ping < pings && (rank == 0 || rank == other); ping++) {
            if (rank == 0) {
                receive_time(other);
                send_time(other, now_ns());
                continue;
            }
            int64_t sent = now_ns();
            send_time(0, sent);
            int64_t of_first = receive_time(0), round_trip = now_ns() - sent;
            if (ping == 0 || (round_trip + 1) / 2 < bound_ns) {
                bound_ns = (round_trip + 1) / 2;
                offset_ns = of_first - sent - round_trip / 2;
            }
        }
    }
    await_barrier();
    unsigned char found[16];
    put_u64(found, (uint64_t)offset_ns);
    put_u64(found + 8, (uint64_t)bound_ns);
    answer(CLOCKS, sizeof found);
    write_whole(found, sizeof found);
}

static void tell_ranks(void) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int library_bytes;
    MPI_Get_library_version(library, &library_bytes);
    unsigned char head[8];
    put_u32(head, (uint32_t)rank);
    put_u32(head + 4, (uint32_t)ranks);
    library_bytes = (int)strcspn(library, ",\n");
    answer(RANKS, (uint32_t)(sizeof head + (size_t)library_bytes));
    write_whole(head, sizeof head);
    write_whole(library, (size_t)library_bytes);
}

static void obey(enum kind kind, struct body body) {
    switch (kind) {
    case RANKS: tell_ranks(); return;
    case BARRIER: await_barrier(); answer(BARRIER, 0); return;
    case BROADCAST: broadcast(body); return;
    case GATHER: gather(body); return;
    case CLOCKS:
        if (body.bytes != 4) fail("clocks", "the number of pings is missing");
        compare_clocks(get_u32((unsigned char *)body.data));
        return;
    case ABORT: fail("aborted", body.data);
    case END: return;
    }
    fail("a message", "its kind is not known");
}

int main(int argc, char **argv) {
    // What a library prints must not be taken for an answer.
    from_readlab = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), to_readlab = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    int nothing = open("/dev/null", O_RDONLY);
    if (from_readlab < 0 || to_readlab < 0 || nothing < 0) return perror("fleet agent"), 1;
    dup2(nothing, STDIN_FILENO), dup2(STDERR_FILENO, STDOUT_FILENO), close(nothing);
    // Ctrl-C reaches every process of the job. Readlab ends its run then, for which it needs the agent.
    signal(SIGINT, SIG_IGN), signal(SIGTERM, SIG_IGN), signal(SIGHUP, SIG_IGN), signal(SIGPIPE, SIG_IGN);
    // Nothing looks after it while the library waits for other ranks.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
    prctl(PR_SET_PDEATHSIG, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (enum kind kind = RANKS; kind != END;) {
        struct body body;
        if (!read_message(&kind, &body)) fail("readlab", "it ended without saying so");
        obey(kind, body);
        free(body.data);
    }
    MPI_Finalize();
    return 0;
}
