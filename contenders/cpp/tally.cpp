// The consumer of all methods that visit bytes: it counts the bytes and does the work.
#include "tally.hpp"

#include <algorithm>
#include <cstring>

static std::uint64_t newlines_by_count(std::string_view bytes)
{
    return static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
}

static std::uint64_t newlines_by_loop(std::string_view bytes)
{
    std::uint64_t newlines = 0;
    for (const char byte : bytes)
        if (byte == '\n')
            newlines++;
    return newlines;
}

static std::uint64_t newlines_by_memchr(std::string_view bytes)
{
    std::uint64_t newlines = 0;
    const char *at = bytes.data();
    const char *const end = at + bytes.size();
    while (at != end && (at = static_cast<const char *>(std::memchr(at, '\n', static_cast<std::size_t>(end - at))))) {
        newlines++;
        at++;
    }
    return newlines;
}

static std::uint8_t sum_of(std::string_view bytes)
{
    std::uint8_t sum = 0;
    for (const char byte : bytes)
        sum = static_cast<std::uint8_t>(sum + static_cast<unsigned char>(byte));
    return sum;
}

Tally::Tally(const Request &request)
    : work(request.work), count(request.scan == "memchr"  ? newlines_by_memchr
                                : request.scan == "count" ? newlines_by_count
                                                          : newlines_by_loop)
{
}

void Tally::take(std::string_view more)
{
    bytes += more.size();
    if (work == Work::sum)
        sum = static_cast<std::uint8_t>(sum + sum_of(more));
    else if (work == Work::newlines)
        newlines += count(more);
}

Answer Tally::answer() const
{
    Answer answer;
    answer.bytes = bytes;
    if (work == Work::newlines)
        answer.newlines = newlines;
    if (work == Work::sum)
        answer.sum = sum;
    return answer;
}
