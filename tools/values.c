#include "values.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static bool refuse(char *why, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, WHY_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

/** Read an integer at *at and move after it. */
static bool read_integer(const char **at, int64_t *number) {
    char *end;
    errno = 0;
    long long value = strtoll(*at, &end, 10);
    if (end == *at || errno != 0)
        return false;
    *at = end;
    *number = value;
    return true;
}

static void skip_spaces(const char **at) {
    while (isspace((unsigned char)**at))
        ++*at;
}

bool parse_integer(const char *text, int64_t *number) {
    return read_integer(&text, number) && *text == '\0';
}

/** How many parts a text has between commas. */
static size_t count_parts(const char *text) {
    size_t n_parts = 1;
    for (; *text != '\0'; text++)
        n_parts += *text == ',';
    return n_parts;
}

parsed parse_numbers(const char *text, int *n_numbers, double **numbers) {
    char *end = NULL;
    *n_numbers = 0;
    *numbers = calloc(count_parts(text), sizeof **numbers);
    if (*numbers == NULL)
        return PARSED_NO_MEMORY;
    for (const char *next = text; end == NULL || *end == ','; next = end + 1) {
        (*numbers)[(*n_numbers)++] = strtod(next, &end);
        if (end == next)
            break;
    }
    if (*end == '\0' && end != text && end[-1] != ',')
        return PARSED;
    free(*numbers);
    *numbers = NULL;
    *n_numbers = 0;
    return PARSED_REFUSED;
}

static bool refuse_number(const char *at, char *why) {
    if (*at == '\0')
        return refuse(why, "it ends where a number is expected");
    return refuse(why, "\"%.40s\" does not begin with a 64-bit integer", at);
}

static bool is_name(char c, bool is_first) {
    return isalpha((unsigned char)c) || c == '_' || (!is_first && isdigit((unsigned char)c));
}

/** Read NAME or NAME.K. */
static bool read_name(const char **at, const number_scope *scope, int64_t *number, char *why) {
    const char *name = *at;
    int64_t dim = -1;
    while (is_name(**at, *at == name))
        ++*at;
    const size_t length = (size_t)(*at - name);
    if (**at == '.' && isdigit((unsigned char)(*at)[1])) {
        ++*at;
        if (!read_integer(at, &dim))
            return refuse_number(*at, why);
    }
    if (dim < POLYTILE_MAX_DIMS && scope->find(scope, name, length, (int)dim, number))
        return true;
    return refuse(
        why,
        "%.*s is no parameter with a value, nor the extent of an array, as A.0 is that of "
        "A's first dimension",
        (int)(*at - name), name);
}

/** Read an integer, a name, or "2*n". */
static bool read_term(const char **at, const number_scope *scope, int64_t *number, char *why) {
    int64_t factor = 1;
    const char *start = *at;
    if (scope != NULL && is_name(**at, true))
        return read_name(at, scope, number, why);
    if (!read_integer(at, number))
        return refuse_number(start, why);
    if (scope == NULL || **at != '*')
        return true;
    ++*at;
    factor = *number;
    if (!is_name(**at, true))
        return refuse(why, "a name is expected after *, as in 2*n");
    return read_name(at, scope, number, why) &&
           (!__builtin_mul_overflow(*number, factor, number) || refuse_number(start, why));
}

/** Read a sum of terms; without a scope an integer. */
static bool read_sum(const char **at, const number_scope *scope, int64_t *number, char *why) {
    int64_t term = 0;
    const char *start = *at;
    if (!read_term(at, scope, number, why))
        return false;
    while (scope != NULL && (**at == '+' || **at == '-')) {
        const bool is_minus = *(*at)++ == '-';
        if (!read_term(at, scope, &term, why))
            return false;
        if (is_minus ? __builtin_sub_overflow(*number, term, number)
                     : __builtin_add_overflow(*number, term, number))
            return refuse_number(start, why);
    }
    return true;
}

/** Read ":STEP", if there is one. */
static bool read_step(const char **at, polytile_range *range, char *why) {
    int64_t step;
    if (**at != ':')
        return true;
    const char *start = ++*at;
    if (!read_integer(at, &step))
        return refuse_number(start, why);
    if (step < 1)
        return refuse(why, "the step %" PRId64 " is less than 1", step);
    range->hi -= (int64_t)(((uint64_t)range->hi - (uint64_t)range->lo) % (uint64_t)step);
    range->step = step;
    return true;
}

/** Read "N" as 0 .. N-1, "LO:HI" or "LO:HI:STEP". */
static bool read_range(const char **at, const number_scope *scope, polytile_range *range,
                       char *why) {
    int64_t first = 0, last = 0;
    if (!read_sum(at, scope, &first, why))
        return false;
    if (**at != ':') {
        if (first < 1)
            return refuse(why, "the extent %" PRId64 " is less than 1", first);
        *range = (polytile_range){0, first - 1, 1};
        return true;
    }
    ++*at;
    if (!read_sum(at, scope, &last, why))
        return false;
    *range = (polytile_range){first, last, 1};
    if (first > last)
        return refuse(why, "the range %" PRId64 ":%" PRId64 " is empty", first, last);
    return read_step(at, range, why);
}

/** Step over an x or a comma between dimensions. */
static bool read_separator(const char **at, char *why) {
    skip_spaces(at);
    if (**at != 'x' && **at != ',')
        return refuse(why,
                      "\"%.40s\" is not understood; write extents as 8192x8192 or inclusive ranges "
                      "as 1:8190,1:8190",
                      *at);
    ++*at;
    skip_spaces(at);
    return true;
}

bool parse_domain_in(const char *text, const number_scope *scope, polytile_domain *domain,
                     char *why) {
    const char *at = text;
    domain->n_dims = 0;
    skip_spaces(&at);
    do {
        if (domain->n_dims == POLYTILE_MAX_DIMS)
            return refuse(why, "there are more than %d dimensions", POLYTILE_MAX_DIMS);
        if (domain->n_dims > 0 && !read_separator(&at, why))
            return false;
        if (!read_range(&at, scope, &domain->range[domain->n_dims], why))
            return false;
        domain->n_dims++;
        skip_spaces(&at);
    } while (*at != '\0');
    return true;
}

bool parse_domain(const char *text, polytile_domain *domain, char *why) {
    return parse_domain_in(text, NULL, domain, why);
}

bool parse_extents(const char *text, int *n_dims, int64_t *extents, char *why) {
    polytile_domain domain;
    if (strchr(text, ':') != NULL)
        return refuse(why, "extents such as 32x8 are expected, not a range");
    if (!parse_domain(text, &domain, why))
        return false;
    *n_dims = domain.n_dims;
    for (int d = 0; d < domain.n_dims; d++)
        extents[d] = domain.range[d].hi + 1;
    return true;
}

/** Copy the text up to a separator; refused: there is none, or nothing before it. */
static parsed copy_until(const char *text, char separator, char **copy) {
    const char *end = strchr(text, separator);
    *copy = NULL;
    if (end == NULL || end == text)
        return PARSED_REFUSED;
    *copy = strndup(text, (size_t)(end - text));
    return *copy == NULL ? PARSED_NO_MEMORY : PARSED;
}

static bool read_type(const char *text, polytile_type *type, char *why) {
    return polytile_type_parse(text, type) == POLYTILE_OK ||
           refuse(why,
                  "there is no type %.40s; use i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 bf16 c64 "
                  "c128, a name with _i64 at the end (f32_i64), or a size in bytes",
                  text);
}

static parsed read_array(const char *text, const char *type, array_value *value, char *why) {
    if (!read_type(type, &value->type, why))
        return PARSED_REFUSED;
    const char *domain = text + strlen(value->name) + strlen(type) + 2;
    return parse_domain(domain, &value->domain, why) ? PARSED : PARSED_REFUSED;
}

parsed parse_array(const char *text, array_value *value, char *why) {
    char *type = NULL;
    const size_t n_name = strcspn(text, "=:");
    *value = (array_value){.text = text};
    refuse(why, "it is not of the form NAME:TYPE:DOMAIN, such as A:f32:8192x8192, or "
                "NAME=FILE.npy, of an index array");
    if (text[n_name] == '=' && text[n_name + 1] != '\0') {
        value->path = text + n_name + 1;
        return copy_until(text, '=', &value->name);
    }
    parsed how = copy_until(text, ':', &value->name);
    if (how == PARSED)
        how = copy_until(text + strlen(value->name) + 1, ':', &type);
    if (how == PARSED)
        how = read_array(text, type, value, why);
    free(type);
    if (how != PARSED) {
        free(value->name);
        value->name = NULL;
    }
    return how;
}

/** Read an integer of 64 bits, with or without a sign, or a real number, the whole text. */
static bool read_number(const char *text, const char *name, polytile_parameter *value) {
    char *end;
    int64_t integer;
    if (parse_integer(text, &integer)) {
        *value = polytile_parameter_signed(name, integer);
        return true;
    }
    errno = 0;
    const unsigned long long natural = strtoull(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && strchr(text, '-') == NULL) {
        *value = polytile_parameter_unsigned(name, natural);
        return true;
    }
    errno = 0;
    const double real = strtod(text, &end);
    *value = polytile_parameter_real(name, real);
    return end != text && *end == '\0' && (errno == 0 || fabs(real) < 1);
}

parsed parse_parameter(const char *text, parameter_value *value, char *why) {
    *value = (parameter_value){0};
    parsed how = copy_until(text, '=', &value->name);
    if (how == PARSED && !read_number(text + strlen(value->name) + 1, value->name, &value->value))
        how = PARSED_REFUSED;
    if (how != PARSED) {
        free(value->name);
        value->name = NULL;
        refuse(why, "it is not of the form NAME=INTEGER or NAME=REAL, such as n=100 or a=2.5");
    }
    return how;
}

/** Copy what is after the separator; refused: nothing, or the same name again. */
static parsed copy_other(const char *text, const char *one, char **other) {
    const char *start = text + strlen(one) + 1;
    if (*start == '\0' || strcmp(one, start) == 0)
        return PARSED_REFUSED;
    *other = strdup(start);
    return *other == NULL ? PARSED_NO_MEMORY : PARSED;
}

parsed parse_swap(const char *text, swap_value *value, char *why) {
    *value = (swap_value){0};
    parsed how = copy_until(text, '=', &value->one);
    if (how == PARSED)
        how = copy_other(text, value->one, &value->other);
    if (how != PARSED) {
        free(value->one);
        *value = (swap_value){0};
        refuse(why, "it is not two names of arrays, such as A=B");
    }
    return how;
}

parsed parse_file(const char *text, file_value *value, char *why) {
    *value = (file_value){0};
    parsed how = copy_until(text, '=', &value->name);
    if (how == PARSED)
        value->path = text + strlen(value->name) + 1;
    if (how == PARSED && *value->path == '\0')
        how = PARSED_REFUSED;
    if (how != PARSED) {
        free(value->name);
        *value = (file_value){0};
        refuse(why, "it is not of the form NAME=FILE.npy");
    }
    return how;
}

/** Read what stands after the type, "DOMAIN" or "DOMAIN=FILE". */
static parsed read_output(const char *text, file_value *value) {
    const char *equals = strchr(text, '=');
    const size_t length = equals == NULL ? strlen(text) : (size_t)(equals - text);
    if (length == 0 || (equals != NULL && equals[1] == '\0'))
        return PARSED_REFUSED;
    value->domain = strndup(text, length);
    value->path = equals == NULL ? NULL : equals + 1;
    return value->domain == NULL ? PARSED_NO_MEMORY : PARSED;
}

parsed parse_output(const char *text, file_value *value, char *why) {
    char *type = NULL;
    *value = (file_value){0};
    refuse(why, "it is not of the form NAME:TYPE:EXTENTS=FILE.npy, such as B:f32:A.0xA.1=b.npy");
    parsed how = copy_until(text, ':', &value->name);
    if (how == PARSED)
        how = copy_until(text + strlen(value->name) + 1, ':', &type);
    if (how == PARSED && !read_type(type, &value->type, why))
        how = PARSED_REFUSED;
    else if (how == PARSED)
        how = read_output(text + strlen(value->name) + strlen(type) + 2, value);
    free(type);
    if (how != PARSED) {
        free(value->name);
        *value = (file_value){0};
    }
    return how;
}
