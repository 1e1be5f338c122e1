#include "count.h"

#include <errno.h>
#include <stdlib.h>

bool count_parse(const char *text, int64_t least, int64_t *count) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < least)
        return false;
    *count = value;
    return true;
}
