// The method that reads every regular file below a folder: a recursive_directory_iterator, which
// follows no link to a folder, and a std::ifstream for each file.
#include "failure.hpp"
#include "input.hpp"
#include "tally.hpp"

#include <filesystem>

namespace fs = std::filesystem;

// Adds up files, and proves each of them. It has the numbers that the tally of a file has.
class FilesTally {
    Answer all;

public:
    explicit FilesTally(const Request &request) : all(Tally(request).answer()) { all.files = all.products = 0; }

    void add(const Answer &file)
    {
        // The numbers of a file are taken modulo this in its proof.
        constexpr std::uint64_t modulus = 65521;
        const std::uint64_t bytes = file.bytes.value_or(0);
        const std::uint64_t value = file.newlines ? *file.newlines : file.sum ? *file.sum : bytes;
        *all.bytes += bytes;
        if (file.newlines)
            *all.newlines += *file.newlines;
        if (file.sum)
            *all.sum = static_cast<std::uint8_t>(*all.sum + *file.sum);
        *all.files += 1;
        *all.products += (bytes % modulus + 1) * (value % modulus + 1);
        *all.products %= std::uint64_t{1} << 32;
    }

    Answer answer() const { return all; }
};

static Answer read_file(const Request &request, const std::string &path, std::vector<char> &array)
try {
    Tally tally(request);
    InputStream in(path, request.value("buffer_bytes"));
    while (in.stream.read(array.data(), static_cast<std::streamsize>(array.size())) || in.stream.gcount() > 0)
        tally.take({array.data(), static_cast<std::size_t>(in.stream.gcount())});
    throw_if_failed(in.stream);
    return tally.answer();
} catch (const std::exception &error) {
    throw FileFailure(path, cause_of(error));
}

// Of an entry, is_regular_file would say what a link leads to.
Answer read_by_recursive_directory_iterator(const Request &request)
try {
    FilesTally tally(request);
    std::vector<char> array(request.value("array_bytes"));
    for (const fs::directory_entry &entry : fs::recursive_directory_iterator(request.path))
        if (entry.symlink_status().type() == fs::file_type::regular)
            tally.add(read_file(request, entry.path(), array));
    return tally.answer();
} catch (const fs::filesystem_error &error) {
    // The library does not say at which folder it could not go on.
    throw FileFailure(error.path1().empty() ? request.path : error.path1().string(), cause_of(error));
}
