// The method that makes lines out of a std::ifstream, and the consumer of lines.
#include "lines.hpp"
#include "failure.hpp"
#include "input.hpp"

// A line that ends where the file does has no newline.
Answer count_lines(std::istream &in)
{
    std::uint64_t bytes = 0, newlines = 0, lines = 0;
    for (std::string line; std::getline(in, line);) {
        const bool ended = !in.eof();
        bytes += line.size() + ended;
        newlines += ended;
        lines++;
    }
    Answer answer;
    answer.bytes = bytes;
    answer.newlines = newlines;
    answer.lines = lines;
    return answer;
}

Answer read_by_getline(const Request &request)
{
    InputStream in(request.path, request.value("buffer_bytes"));
    const Answer answer = count_lines(in.stream);
    throw_if_failed(in.stream);
    return answer;
}
