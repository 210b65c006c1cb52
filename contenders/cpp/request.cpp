// The words of a command line: a method, its settings, and what it reads.
#include "contender.hpp"

#include <algorithm>
#include <charconv>

std::optional<std::uint64_t> number(std::string_view digits)
{
    std::uint64_t value;
    const char *const end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc() && rest == end ? std::optional(value) : std::nullopt;
}

static const Method *method_named(std::string_view name)
{
    const auto found =
        std::find_if(methods().begin(), methods().end(), [&](const Method &method) { return method.name == name; });
    return found == methods().end() ? nullptr : &*found;
}

static bool has_scan(const Method &method, Work work, std::string_view scan)
{
    const auto scans = method.scans.find(work);
    return scans != method.scans.end() &&
           std::find(scans->second.begin(), scans->second.end(), scan) != scans->second.end();
}

// Sets one name=value in the request; false for a parameter or value that the method does not have.
static bool set(const Method &method, Request &request, std::string_view word)
{
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos)
        return false;
    const std::string_view name = word.substr(0, equals);
    const std::optional<std::uint64_t> value = number(word.substr(equals + 1));
    if (!value)
        return false;
    if (method.parts && (name == "start_bytes" || name == "length_bytes")) {
        (name == "start_bytes" ? request.part.start : request.part.length) = *value;
        return true;
    }
    for (const Param &param : method.params)
        if (param.name == name && *value >= param.min && *value <= param.max) {
            request.values[param.name] = *value;
            return true;
        }
    return false;
}

// METHOD SCAN WORK TARGET [name=value ...]; an error is reported, and a null pointer returned.
const Method *parse(const std::vector<std::string_view> &words, Request &request)
{
    const Method *const method = method_named(words[0]);
    if (!method) {
        say_failed(words[0], "there is no such method");
        return nullptr;
    }
    const auto work = std::find(work_words.begin(), work_words.end(), words[2]);
    request.work = static_cast<Work>(work - work_words.begin());
    if (work == work_words.end() || !has_scan(*method, request.work, words[1])) {
        say_failed(words[0], work == work_words.end() ? "there is no such work" : "it has no such scan for this work");
        return nullptr;
    }
    request.scan = words[1];
    request.path = words[3];
    for (const Param &param : method->params)
        request.values[param.name] = param.preset;
    for (std::size_t i = 4; i < words.size(); i++)
        if (!set(*method, request, words[i])) {
            say_failed(words[i], "no parameter of this method, or not within its bounds");
            return nullptr;
        }
    const auto has = [&](std::string_view bound) {
        return std::any_of(words.begin() + 4, words.end(),
                           [&](std::string_view word) { return word.substr(0, bound.size()) == bound; });
    };
    if (has("start_bytes=") != has("length_bytes=")) {
        say_failed(words[0], "a part needs both start_bytes and length_bytes");
        return nullptr;
    }
    return method;
}
