#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

struct Descriptor {
    const int number;
    ~Descriptor() { close(number); }
};

struct Mapping {
    void *const start;
    const std::size_t length;
    ~Mapping() { munmap(start, length); }
};

// Counts over the file's bytes where they are mapped. A file that others cut off meanwhile ends the
// process with SIGBUS.
std::uint64_t total(const std::string &path, std::uint64_t (*count)(std::string_view))
{
    const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (file.number < 0)
        throw std::system_error(errno, std::generic_category(), path);
    const std::size_t length = std::filesystem::file_size(path);
    if (length == 0) // An empty file cannot be mapped.
        return 0;
    void *const start = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file.number, 0);
    if (start == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(), path);
    const Mapping mapping{start, length};
    return count({static_cast<const char *>(mapping.start), mapping.length});
}
