// The C++ contender of readlab: reads files with what the C++ library offers. This file starts one
// session (PROTOCOL.md) by the words of its command line; it does not read files.
#include "contender.hpp"

#include <cstdio>

constexpr int failed = 1, usage = 2;

int main(int count, char **arguments)
{
    const std::vector<std::string_view> words(arguments + 1, arguments + count);
    const std::string_view verb = words.empty() ? "" : words[0];
    if (verb == "hello" && words.size() == 1) {
        say_hello();
        return 0;
    }
    if (verb == "methods" && words.size() == 1) {
        say_hello();
        for (const Method &method : methods())
            say_method(method);
        return 0;
    }
    if (verb == "read" && words.size() >= 5) {
        Request request;
        say_hello();
        const Method *const method = parse({words.begin() + 1, words.end()}, request);
        return method ? serve(*method, request) : failed;
    }
    std::fprintf(stderr, "usage: %s hello | methods | read METHOD SCAN WORK TARGET [name=value ...]\n", arguments[0]);
    return usage;
}
