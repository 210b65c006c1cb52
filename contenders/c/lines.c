// The methods of stdio that return lines. An unterminated last line counts.
#include "contender.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

cause read_by_getline(const struct request *request, struct answer *answer)
{
    char *buffer;
    FILE *file = open_stream(request->path, request->values[0], &buffer);
    if (!file)
        return strerror(errno);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, file)) > 0) {
        answer->bytes += (size_t)length;
        answer->newlines += line[length - 1] == '\n';
        answer->lines++;
    }
    cause failed = feof(file) ? NULL : strerror(errno);
    free(line);
    fclose(file);
    free(buffer);
    return failed;
}

// fgets returns no length, and a NUL byte ends a string before its line ends: the file position shows the missed
// bytes.
static cause count_strings(FILE *file, char *line, size_t size, struct answer *answer)
{
    bool within = false;
    while (fgets(line, (int)size, file)) {
        size_t length = strlen(line);
        bool ends = length > 0 && line[length - 1] == '\n';
        answer->bytes += length;
        answer->lines += !within;
        answer->newlines += ends;
        within = !ends;
    }
    if (ferror(file))
        return strerror(errno);
    bool all = (uint64_t)ftello(file) == answer->bytes;
    return all ? NULL : "it has NUL bytes, and fgets cannot tell what follows them";
}

cause read_by_fgets(const struct request *request, struct answer *answer)
{
    char *buffer;
    FILE *file = open_stream(request->path, request->values[1], &buffer);
    if (!file)
        return strerror(errno);
    size_t size = request->values[0];
    char *line = malloc(size);
    cause failed = line ? count_strings(file, line, size, answer) : strerror(errno);
    free(line);
    fclose(file);
    free(buffer);
    return failed;
}
