#include <polytile/size.h>

#include <ctype.h>
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
    for (size_t k = 0; k < N_UNITS; k++) {
        if (strcmp(units[k].name, name) == 0)
            return units[k].bytes;
    }
    return 0;
}

static const char number_marks[] = "0123456789.";

/** A fraction is exact in the 64 bits of a long double as long as its bytes are whole. */
bool polytile_size_parse(const char *text, int64_t *bytes) {
    char *end;
    if (text == NULL || bytes == NULL)
        return false;
    size_t n_digits = strspn(text, number_marks);
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

/** Return the unit whose name begins as the text after a number; NULL: none. */
static const char *guess_unit(const char *after) {
    const char letter = (char)toupper((unsigned char)*after);
    for (size_t k = 0; k < N_UNITS; k++) {
        if (units[k].name[0] == letter)
            return units[k].name;
    }
    return NULL;
}

/** Write a number with a unit into a buffer; return whether it is a valid size. */
static bool is_size(char *buffer, size_t capacity, const char *text, int n_digits,
                    const char *unit) {
    int64_t bytes;
    const int length = snprintf(buffer, capacity, "%.*s%s", n_digits, text, unit);
    return length > 0 && (size_t)length < capacity && polytile_size_parse(buffer, &bytes);
}

char *polytile_size_explain(const char *text, char *buffer) {
    char meant[32];
    const char *given = text == NULL ? "" : text;
    const int n_digits = (int)strspn(given, number_marks);
    const char *after = given + n_digits + strspn(given + n_digits, " ");
    const char *unit = *after == '\0' ? "MiB" : guess_unit(after);
    if (buffer == NULL)
        return NULL;
    if (*after == '\0' && is_size(meant, sizeof meant, given, n_digits, unit))
        snprintf(buffer, POLYTILE_SIZE_WHY_BYTES, "it has no unit: %s? (%.*sB for bytes)", meant,
                 n_digits, given);
    else if (unit != NULL && is_size(meant, sizeof meant, given, n_digits, unit))
        snprintf(buffer, POLYTILE_SIZE_WHY_BYTES, "it has no unit that is known: %s?", meant);
    else
        snprintf(buffer, POLYTILE_SIZE_WHY_BYTES,
                 "it is not a size from 1 byte to 8 EiB; write a number and B, KiB, MiB, GiB or "
                 "TiB, such as 64MiB");
    return buffer;
}
