// The methods that map the file: mmap(2), and Boost.Iostreams if the program was built with it.
#include "failure.hpp"
#include "input.hpp"
#include "tally.hpp"

#include <sys/mman.h>
#include <unistd.h>

#ifdef READLAB_BOOST_IOSTREAMS
#include <boost/iostreams/device/mapped_file.hpp>
#include <boost/version.hpp>
#endif

// One byte of every page, so that each page is read; volatile, so that the compiler cannot leave it
// out.
static void touch(std::string_view bytes)
{
    const volatile char *const at = bytes.data();
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (std::size_t i = 0; i < bytes.size(); i += page)
        static_cast<void>(at[i]);
}

static void visit(std::string_view bytes, const Request &request, Tally &tally)
{
    if (request.work == Work::discard)
        touch(bytes);
    tally.take(bytes);
}

// Bytes of a file where they are mapped.
class Mapping {
    void *const start;
    const std::size_t length;

public:
    Mapping(const Descriptor &file, std::uint64_t from, std::size_t length)
        : start(mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file.number(), static_cast<off_t>(from))), length(length)
    {
        if (start == MAP_FAILED)
            throw_errno();
    }
    ~Mapping() { munmap(start, length); }
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;

    std::string_view bytes() const { return {static_cast<const char *>(start), length}; }
};

// Nothing cannot be mapped, and has no bytes to visit.
Answer read_by_mmap(const Request &request)
{
    Tally tally(request);
    const Descriptor file(request.path);
    const std::uint64_t size = size_of(request.path);
    const Part &part = request.part;
    if (part.start < size && part.length > 0) {
        const Mapping mapping(file, part.start, least(part.length, static_cast<std::size_t>(size - part.start)));
        visit(mapping.bytes(), request, tally);
    }
    return tally.answer();
}

#ifdef READLAB_BOOST_IOSTREAMS
const std::string_view boost_version = BOOST_LIB_VERSION;

Answer read_by_mapped_file_source(const Request &request)
{
    Tally tally(request);
    if (size_of(request.path) > 0) {
        const boost::iostreams::mapped_file_source file(request.path);
        visit({file.data(), file.size()}, request, tally);
    }
    return tally.answer();
}
#else
const std::string_view boost_version = {};

Answer read_by_mapped_file_source(const Request &)
{
    throw Unavailable("this program was built without Boost.Iostreams");
}
#endif
