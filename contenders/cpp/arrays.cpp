// The methods that read many bytes at a time with the calls of C and POSIX: fread, and read(2) into
// a std::vector.
#include "failure.hpp"
#include "input.hpp"
#include "tally.hpp"

Answer read_by_read(const Request &request)
{
    Tally tally(request);
    Descriptor file(request.path);
    std::vector<char> buffer(request.value("buffer_bytes"));
    std::uint64_t left = request.part.length;
    file.seek(request.part.start);
    while (const std::size_t length = file.read(buffer.data(), least(left, buffer.size()))) {
        tally.take({buffer.data(), length});
        left -= length;
    }
    return tally.answer();
}

Answer read_by_fread(const Request &request)
{
    Tally tally(request);
    const File file(std::fopen(request.path.c_str(), "r"));
    if (!file)
        throw_errno();
    std::vector<char> array(request.value("array_bytes"));
    std::uint64_t left = request.part.length;
    if (request.part.start != 0 && fseeko(file.get(), static_cast<off_t>(request.part.start), SEEK_SET) != 0)
        throw_errno();
    while (const std::size_t length = std::fread(array.data(), 1, least(left, array.size()), file.get())) {
        tally.take({array.data(), length});
        left -= length;
    }
    if (std::ferror(file.get()))
        throw_errno();
    return tally.answer();
}
