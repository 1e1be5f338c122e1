#include "graph/read/value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Read a whole number and move after it. */
static bool take_integer(const char **text, int64_t *value) {
    char *end;
    if (!isdigit((unsigned char)**text) && **text != '-')
        return false;
    errno = 0;
    *value = strtoll(*text, &end, 10);
    if (end == *text || errno != 0)
        return false;
    *text = end;
    return true;
}

static bool take_mark(const char **text, char mark) {
    if (**text != mark)
        return false;
    (*text)++;
    return true;
}

bool pti_value_integer(const char *text, int64_t lo, int64_t hi, int64_t *value) {
    return take_integer(&text, value) && *text == '\0' && *value >= lo && *value <= hi;
}

/** LO:HI or LO:HI:STEP. */
static bool take_range(const char **text, polytile_range *range) {
    range->step = 1;
    if (!take_integer(text, &range->lo) || !take_mark(text, ':') || !take_integer(text, &range->hi))
        return false;
    return !take_mark(text, ':') || (take_integer(text, &range->step) && range->step >= 1);
}

static bool take_extent(const char **text, polytile_range *range) {
    int64_t extent;
    if (!take_integer(text, &extent) || extent < 1)
        return false;
    *range = (polytile_range){0, extent - 1, 1};
    return true;
}

bool pti_value_domain(const char *text, polytile_domain *domain) {
    const bool has_ranges = strchr(text, ':') != NULL;
    bool is_good = true, goes_on = true;
    *domain = (polytile_domain){0};
    while (is_good && goes_on) {
        polytile_range *range = &domain->range[domain->n_dims];
        is_good = domain->n_dims < POLYTILE_MAX_DIMS &&
                  (has_ranges ? take_range(&text, range) : take_extent(&text, range));
        domain->n_dims += is_good;
        goes_on = is_good && take_mark(&text, has_ranges ? ',' : 'x');
    }
    return is_good && *text == '\0';
}

/** A number after '=': whole where it has neither a point nor an exponent. */
static bool take_number(const char **text, polytile_parameter *parameter) {
    const size_t length = strspn(*text, "+-0123456789.eE");
    char *end;
    int64_t whole;
    const char *from = *text;
    if (take_integer(text, &whole) && *text == from + length) {
        *parameter = polytile_parameter_signed(parameter->name, whole);
        return true;
    }
    *parameter = polytile_parameter_real(parameter->name, strtod(from, &end));
    *text = end;
    return end != from && end == from + length;
}

static bool take_parameter(const char **text, char **names, polytile_parameter *parameter) {
    size_t length = 0;
    while (isalnum((unsigned char)(*text)[length]) || (*text)[length] == '_')
        length++;
    if (length == 0 || (*text)[length] != '=')
        return false;
    memcpy(*names, *text, length);
    (*names)[length] = '\0';
    parameter->name = *names;
    *names += length + 1;
    *text += length + 1;
    return take_number(text, parameter);
}

bool pti_value_parameters(const char *text, char *names, int *n, polytile_parameter *parameters) {
    *n = 0;
    text += strspn(text, " ,");
    while (*text != '\0') {
        if (*n == POLYTILE_MAX_PARAMETERS || !take_parameter(&text, &names, &parameters[*n]) ||
            (*text != '\0' && *text != ',' && *text != ' '))
            return false;
        (*n)++;
        text += strspn(text, " ,");
    }
    return true;
}

/** A unit of a value, and what it multiplies. */
typedef struct unit_word {
    const char *word;
    double factor;
} unit_word;

/** A finite number and one of the words after it. */
static bool read_quantity(const char *text, const unit_word *units, double *value) {
    char *end;
    if (!isdigit((unsigned char)*text) && *text != '.')
        return false;
    *value = strtod(text, &end);
    while (*end == ' ')
        end++;
    for (; units->word != NULL; units++)
        if (strcmp(end, units->word) == 0) {
            *value *= units->factor;
            return isfinite(*value) && strpbrk(text, "xX") == NULL;
        }
    return false;
}

bool pti_value_rate(const char *text, double *bytes_per_s) {
    static const unit_word units[] = {
        {"B/s", 1},        {"kB/s", 1e3},   {"MB/s", 1e6},          {"GB/s", 1e9},
        {"TB/s", 1e12},    {"KiB/s", 1024}, {"MiB/s", 1024 * 1024}, {"GiB/s", 0x1p30},
        {"TiB/s", 0x1p40}, {NULL, 0},
    };
    return read_quantity(text, units, bytes_per_s) && *bytes_per_s > 0;
}

bool pti_value_seconds(const char *text, double *seconds) {
    static const unit_word units[] = {{"", 1},      {"s", 1},     {"ms", 1e-3},
                                      {"us", 1e-6}, {"ns", 1e-9}, {NULL, 0}};
    return read_quantity(text, units, seconds);
}
