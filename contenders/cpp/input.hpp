// An open file that closes itself: as a stream of C++, as one of C, and as a descriptor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

// A file stream with a buffer of this many bytes, or the library's own for 0.
class InputStream {
    std::vector<char> buffer;

public:
    std::ifstream stream;

    InputStream(const std::string &path, std::uint64_t buffer_bytes);
};

struct CloseFile {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

class Descriptor {
    int descriptor;

public:
    explicit Descriptor(const std::string &path);
    ~Descriptor();
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;

    int number() const { return descriptor; }
    void seek(std::uint64_t start);
    // How many bytes one read(2) delivers; 0 at the end of the file.
    std::size_t read(char *into, std::size_t size);
};

// The size of a regular file; other files have none for the library.
std::uint64_t size_of(const std::string &path);

// How many of the bytes that are left fit.
inline std::size_t least(std::uint64_t left, std::size_t size)
{
    return left < size ? static_cast<std::size_t>(left) : size;
}
