// The C contender of readlab: reads files with the calls of C and POSIX. This file parses the command line and starts
// one session (PROTOCOL.md); it does not read files.
#include "contender.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FAILED = 1, USAGE = 2 };

static const struct method *method_named(const char *name)
{
    for (const struct method *method = methods; method->name; method++)
        if (strcmp(method->name, name) == 0)
            return method;
    return NULL;
}

static bool has_scan(const struct method *method, enum work work, const char *scan)
{
    for (int i = 0; i < SCANS_MAX && method->scans[work][i]; i++)
        if (strcmp(method->scans[work][i], scan) == 0)
            return true;
    return false;
}

// Sets a bound of the part if the word is about one, and the method reads parts; counts it.
static bool set_part(const struct method *method, struct request *request, const char *word, int *bounds)
{
    static const char start[] = "start_bytes=", length[] = "length_bytes=";
    bool is_start = strncmp(word, start, sizeof start - 1) == 0;
    if (!method->parts || (!is_start && strncmp(word, length, sizeof length - 1) != 0))
        return false;
    const char *digits = word + (is_start ? sizeof start : sizeof length) - 1;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(digits, &end, 10);
    *(is_start ? &request->part.start : &request->part.length) = value;
    *bounds += is_start ? 1 : -1;
    return *digits >= '0' && *digits <= '9' && *end == '\0' && errno == 0;
}

// Sets one name=value in the request; false for a parameter or value that the method does not have.
static bool set(const struct method *method, struct request *request, const char *word, int *bounds)
{
    if (set_part(method, request, word, bounds))
        return true;
    const char *digits = strchr(word, '=');
    for (int i = 0; digits && i < PARAMS_MAX && method->params[i].name; i++) {
        const struct param *param = &method->params[i];
        size_t length = (size_t)(digits - word);
        if (strlen(param->name) != length || strncmp(param->name, word, length) != 0)
            continue;
        char *end;
        errno = 0;
        unsigned long long value = strtoull(digits + 1, &end, 10);
        bool number = digits[1] >= '0' && digits[1] <= '9' && *end == '\0' && errno == 0;
        if (!number || value < param->min || value > param->max)
            return false;
        request->values[i] = value;
        return true;
    }
    return false;
}

// Takes in the list of places, which only a method of places reads, and which it needs; an error is
// reported.
static bool take_places(const struct method *method, bool is_list, struct request *request)
{
    if (is_list != (method->reads == READS_PLACES)) {
        say_failed(method->name, is_list ? "it reads no places" : "it reads places, and the target is no list of them");
        return false;
    }
    cause failed = is_list ? load_places(request->path, &request->places) : NULL;
    if (failed)
        say_failed(request->path, failed);
    return !failed;
}

// METHOD SCAN WORK TARGET [name=value ...]; an error is reported, and NULL returned.
static const struct method *parse(int count, char **words, struct request *request)
{
    const struct method *method = method_named(words[0]);
    if (!method) {
        say_failed(words[0], "there is no such method");
        return NULL;
    }
    enum work work = 0;
    while (work < WORKS && strcmp(work_words[work], words[2]) != 0)
        work++;
    if (work == WORKS || !has_scan(method, work, words[1])) {
        say_failed(words[0], work == WORKS ? "there is no such work" : "it has no such scan for this work");
        return NULL;
    }
    struct part all = {0, UINT64_MAX};
    *request = (struct request){.path = words[3], .part = all, .work = work, .scan = words[1]};
    for (int i = 0; i < PARAMS_MAX; i++)
        request->values[i] = method->params[i].preset;
    bool is_list = false;
    // Starts of a part without their lengths; below 0, lengths without their starts.
    int bounds = 0;
    for (int i = 4; i < count; i++)
        if (strcmp(words[i], "places=1") == 0) {
            is_list = true;
        } else if (!set(method, request, words[i], &bounds)) {
            say_failed(words[i], "no parameter of this method, or not within its bounds");
            return NULL;
        }
    if (bounds != 0) {
        say_failed(words[0], "a part needs both start_bytes and length_bytes");
        return NULL;
    }
    return take_places(method, is_list, request) ? method : NULL;
}

int main(int count, char **words)
{
    const char *verb = count > 1 ? words[1] : "";
    if (strcmp(verb, "hello") == 0 && count == 2) {
        say_hello();
        return 0;
    }
    if (strcmp(verb, "methods") == 0 && count == 2) {
        say_hello();
        for (const struct method *method = methods; method->name; method++)
            say_method(method);
        return 0;
    }
    if (strcmp(verb, "read") == 0 && count >= 6) {
        struct request request = {0};
        say_hello();
        const struct method *method = parse(count - 2, words + 2, &request);
        int code = method ? serve(method, &request) : FAILED;
        free_places(&request.places);
        return code;
    }
    fprintf(stderr, "usage: %s hello | methods | read METHOD SCAN WORK TARGET [name=value ...]\n", words[0]);
    return USAGE;
}
