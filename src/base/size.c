#include <polytile/size.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct unit {
    const char *name;
    int64_t bytes;
} units[] = {
    {"TiB", (int64_t)1 << 40},
    {"GiB", (int64_t)1 << 30},
    {"MiB", (int64_t)1 << 20},
    {"KiB", (int64_t)1 << 10},
    {"B", 1},
};

enum { N_UNITS = sizeof units / sizeof *units };

char *polytile_size_format(int64_t bytes, char *buffer) {
    for (size_t k = 0; buffer != NULL && k < N_UNITS; k++) {
        if (bytes < units[k].bytes && k + 1 < N_UNITS)
            continue;
        double value = (double)bytes / (double)units[k].bytes;
        const char *format = bytes % units[k].bytes == 0 ? "%.0f %s" : "%.2f %s";
        snprintf(buffer, 32, format, value, units[k].name);
        break;
    }
    return buffer;
}

static int64_t unit_bytes(const char *name) {
    if (*name == '\0')
        return 1;
    for (size_t k = 0; k < N_UNITS; k++) {
        if (strcmp(units[k].name, name) == 0)
            return units[k].bytes;
    }
    return 0;
}

/** A fraction is exact in the 64 bits of a long double as long as its bytes are whole. */
bool polytile_size_parse(const char *text, int64_t *bytes) {
    char *end;
    if (text == NULL || bytes == NULL)
        return false;
    size_t n_digits = strspn(text, "0123456789.");
    long double number = strtold(text, &end);
    if (n_digits == 0 || end != text + n_digits)
        return false;
    long double product = number * (long double)unit_bytes(end);
    if (!(product >= 1) || product > (long double)INT64_MAX ||
        (long double)(int64_t)product != product)
        return false;
    *bytes = (int64_t)product;
    return true;
}
