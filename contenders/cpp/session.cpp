// The turns of a session: reads with a clock around each timed reading, and prints only after the
// last one of a turn. The clock is std::chrono::steady_clock; CPU times are those of getrusage.
#include "contender.hpp"
#include "failure.hpp"
#include "input.hpp"

#include <chrono>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/resource.h>
#include <unistd.h>

constexpr int failed = 1;

struct Sample {
    std::uint64_t wall_ns, cpu_user_ns, cpu_system_ns;
    Answer answer;
};

// What the lab writes on standard input. It moves to another descriptor, because a method may read
// the target as standard input.
class Commands {
    File file;

public:
    Commands() : file(fdopen(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), "r"))
    {
        if (!file || !std::freopen("/dev/null", "r", stdin))
            throw_errno();
    }
    // The next line without its end; none at the end of the input.
    std::optional<std::string> next()
    {
        std::array<char, 64> chars;
        if (!std::fgets(chars.data(), chars.size(), file.get()))
            return std::nullopt;
        std::string line = chars.data();
        if (!line.empty() && line.back() == '\n')
            line.pop_back();
        return line;
    }
};

struct Turn {
    std::uint64_t lead, count;
};

// `go LEAD COUNT`
static std::optional<Turn> turn_of(std::string_view line)
{
    constexpr std::string_view go = "go ";
    const std::size_t space = line.find(' ', go.size());
    if (line.substr(0, go.size()) != go || space == std::string_view::npos)
        return std::nullopt;
    const auto lead = number(line.substr(go.size(), space - go.size())), count = number(line.substr(space + 1));
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    if (!lead || !count || *lead > most || *count == 0 || *count > most)
        return std::nullopt;
    return Turn{*lead, *count};
}

static std::uint64_t nanoseconds(const timeval &time)
{
    return static_cast<std::uint64_t>(time.tv_sec) * 1000000000 + static_cast<std::uint64_t>(time.tv_usec) * 1000;
}

static Sample timed(const Method &method, const Request &request)
{
    using Clock = std::chrono::steady_clock;
    rusage before, after;
    Sample sample{};
    getrusage(RUSAGE_SELF, &before);
    const Clock::time_point start = Clock::now();
    sample.answer = method.read(request);
    const Clock::duration wall = Clock::now() - start;
    getrusage(RUSAGE_SELF, &after);
    sample.wall_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(wall).count());
    sample.cpu_user_ns = nanoseconds(after.ru_utime) - nanoseconds(before.ru_utime);
    sample.cpu_system_ns = nanoseconds(after.ru_stime) - nanoseconds(before.ru_stime);
    return sample;
}

static void take_turn(const Method &method, const Request &request, const Turn &turn)
{
    std::vector<Sample> samples;
    samples.reserve(turn.count);
    for (std::uint64_t i = 0; i < turn.lead; i++)
        method.read(request);
    for (std::uint64_t i = 0; i < turn.count; i++)
        samples.push_back(timed(method, request));
    for (const Sample &sample : samples)
        say_sample(sample.wall_ns, sample.cpu_user_ns, sample.cpu_system_ns, sample.answer);
}

// Returns freed buffers, which hold bytes of the file, to the kernel.
static void give_back()
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

static int take_turns(const Method &method, const Request &request)
{
    Commands commands;
    say_ready(method, request);
    while (const std::optional<std::string> line = commands.next()) {
        const std::optional<Turn> turn = turn_of(*line);
        if (!turn) {
            say_failed(*line, "expected `go LEAD COUNT` with COUNT above 0");
            return failed;
        }
        take_turn(method, request, *turn);
        give_back();
        say_done(turn->count);
    }
    return 0;
}

int serve(const Method &method, const Request &request)
{
    try {
        if (!method.unavailable.empty())
            throw Unavailable(std::string(method.unavailable));
        return take_turns(method, request);
    } catch (const Unavailable &error) {
        say_unavailable(error.what());
    } catch (const FileFailure &error) {
        say_failed(error.path, error.what());
    } catch (const std::exception &error) {
        say_failed(request.path, cause_of(error));
    }
    return failed;
}
