// An open file that closes itself: as a stream of C++, and as a descriptor.
#include "input.hpp"
#include "failure.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

InputStream::InputStream(const std::string &path, std::uint64_t buffer_bytes) : buffer(buffer_bytes)
{
    if (!buffer.empty())
        stream.rdbuf()->pubsetbuf(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    stream.open(path, std::ios::binary);
    if (!stream.is_open())
        throw_errno();
    errno = 0;
}

Descriptor::Descriptor(const std::string &path) : descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC))
{
    if (descriptor < 0)
        throw_errno();
}

Descriptor::~Descriptor()
{
    close(descriptor);
}

void Descriptor::seek(std::uint64_t start)
{
    if (start != 0 && lseek(descriptor, static_cast<off_t>(start), SEEK_SET) < 0)
        throw_errno();
}

std::size_t Descriptor::read(char *into, std::size_t size)
{
    ssize_t length;
    do
        length = ::read(descriptor, into, size);
    while (length < 0 && errno == EINTR);
    if (length < 0)
        throw_errno();
    return static_cast<std::size_t>(length);
}

std::uint64_t size_of(const std::string &path)
{
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(path, error);
    if (error == std::errc::not_supported)
        throw Unavailable("std::filesystem::file_size has sizes of regular files only");
    if (error)
        throw std::system_error(error);
    return size;
}
