// The method that makes lines out of std::cin. The file becomes the standard input of this process,
// as `<file` of a shell does it; the turns of a session come through another descriptor.
#include "failure.hpp"
#include "lines.hpp"

#include <cerrno>
#include <cstdio>
#include <iostream>

// The file as standard input; afterwards it is empty again, with no file open.
class StandardInput {
public:
    explicit StandardInput(const std::string &path)
    {
        if (!std::freopen(path.c_str(), "r", stdin))
            throw_errno();
        errno = 0;
    }
    ~StandardInput()
    {
        if (!std::freopen("/dev/null", "r", stdin))
            std::perror("/dev/null");
    }
    StandardInput(const StandardInput &) = delete;
    StandardInput &operator=(const StandardInput &) = delete;
};

// The standard streams are separated from stdio before their first use, and stay so: the messages
// of this program do not use them, and a session has one value of `synced`. At the end of a file
// std::cin gets a state that it keeps.
Answer read_by_stdin_getline(const Request &request)
{
    std::ios::sync_with_stdio(request.value("synced") != 0);
    const StandardInput file(request.path);
    std::cin.clear();
    const Answer answer = count_lines(std::cin);
    throw_if_failed(std::cin);
    return answer;
}
