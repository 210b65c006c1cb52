// The methods that read the whole file into a std::string.
#include "failure.hpp"
#include "input.hpp"
#include "tally.hpp"

#include <sstream>

// The stream that takes the bytes fails if there are none, so its state says nothing about the
// file.
Answer read_by_stringstream(const Request &request)
{
    Tally tally(request);
    InputStream in(request.path, request.value("buffer_bytes"));
    std::stringstream text;
    text << in.stream.rdbuf();
    throw_if_failed(in.stream);
    tally.take(text.str());
    return tally.answer();
}

Answer read_by_string(const Request &request)
{
    Tally tally(request);
    InputStream in(request.path, 0);
    std::string text(size_of(request.path), '\0');
    in.stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    throw_if_failed(in.stream);
    tally.take({text.data(), static_cast<std::size_t>(in.stream.gcount())});
    return tally.answer();
}
