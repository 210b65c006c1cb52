// The methods that read many bytes at a time from a std::ifstream, and the one that visits its
// buffer by iterators.
#include "failure.hpp"
#include "input.hpp"
#include "tally.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

Answer read_by_ifstream_read(const Request &request)
{
    Tally tally(request);
    InputStream in(request.path, request.value("buffer_bytes"));
    std::vector<char> array(request.value("array_bytes"));
    while (in.stream.read(array.data(), static_cast<std::streamsize>(array.size())) || in.stream.gcount() > 0)
        tally.take({array.data(), static_cast<std::size_t>(in.stream.gcount())});
    throw_if_failed(in.stream);
    return tally.answer();
}

Answer read_by_ifstream_rdbuf(const Request &request)
{
    Tally tally(request);
    InputStream in(request.path, request.value("buffer_bytes"));
    std::vector<char> array(request.value("array_bytes"));
    std::streamsize length;
    while ((length = in.stream.rdbuf()->sgetn(array.data(), static_cast<std::streamsize>(array.size()))) > 0)
        tally.take({array.data(), static_cast<std::size_t>(length)});
    throw_if_failed(in.stream);
    return tally.answer();
}

static std::uint8_t plus(std::uint8_t sum, char byte)
{
    return static_cast<std::uint8_t>(sum + static_cast<unsigned char>(byte));
}

Answer read_by_istreambuf_iterator(const Request &request)
{
    Answer answer;
    InputStream in(request.path, request.value("buffer_bytes"));
    const std::istreambuf_iterator<char> begin(in.stream), end;
    if (request.work == Work::sum)
        answer.sum = std::accumulate(begin, end, std::uint8_t{0}, plus);
    else
        answer.newlines = static_cast<std::uint64_t>(std::count(begin, end, '\n'));
    throw_if_failed(in.stream);
    return answer;
}
