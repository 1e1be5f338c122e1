#include "size.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *unit;
    double bytes;
} units[] = {
    {"B", 1.0}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
};
enum { N_UNITS = sizeof(units) / sizeof(units[0]) };

bool count_parse(const char *text, int64_t least, int64_t *count) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < least)
        return false;
    *count = value;
    return true;
}

/** The bytes of a unit, 1 for none; 0 when it is unknown. */
static double unit_bytes(const char *unit) {
    if (*unit == '\0')
        return 1.0;
    for (int u = 0; u < N_UNITS; ++u)
        if (strcmp(unit, units[u].unit) == 0)
            return units[u].bytes;
    return 0.0;
}

bool size_parse(const char *text, int64_t *bytes) {
    char *end;
    if (strspn(text, "0123456789.") == 0)
        return false;
    double value = strtod(text, &end);
    double size = value * unit_bytes(end);
    if (size < 1.0 || size >= 0x1p63 || size != (double)(int64_t)size)
        return false;
    *bytes = (int64_t)size;
    return true;
}

char *size_format(int64_t bytes, char *buffer) {
    int u = 0;
    while (u + 1 < N_UNITS && (double)bytes >= units[u + 1].bytes)
        ++u;
    snprintf(buffer, 32, u == 0 ? "%.0f %s" : "%.1f %s", (double)bytes / units[u].bytes,
             units[u].unit);
    return buffer;
}
