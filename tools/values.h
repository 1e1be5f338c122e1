#ifndef POLYTILE_TOOLS_VALUES_H
#define POLYTILE_TOOLS_VALUES_H

#include <polytile/array.h>
#include <polytile/launch.h>
#include <stdbool.h>

/* The values of options as text. A parser that refuses one leaves in *why, a buffer of at least
 * WHY_SIZE, what is wrong and what is expected. */

enum { WHY_SIZE = 256 };

/** The outcome of parsing a text whose parts are copied. */
typedef enum parsed { PARSED, PARSED_REFUSED, PARSED_NO_MEMORY } parsed;

/** Parse an integer, the whole text. */
bool parse_integer(const char *text, int64_t *number);

/** Parse numbers with commas between them, "8,1,1"; *numbers is for free(), NULL unless parsed. */
parsed parse_numbers(const char *text, int *n_numbers, double **numbers);

/** Parse ranges "8192x8192" (from 0), "1:8190,1:8190" (both ends included) or both, by x or
 * comma. */
bool parse_domain(const char *text, polytile_domain *domain, char *why);

/** Parse extents "32x8", each at least 1. */
bool parse_extents(const char *text, int *n_dims, int64_t *extents, char *why);

typedef struct array_value {
    char *name; /* owned */
    polytile_type type;
    polytile_domain domain;
    const char *text; /* as it was given; borrowed */
} array_value;

/** Parse "NAME:TYPE:DOMAIN". Owns: the caller frees value->name. */
parsed parse_array(const char *text, array_value *value, char *why);

typedef struct parameter_value {
    char *name;               /* owned */
    polytile_parameter value; /* its name is the one above */
} parameter_value;

/** Parse "NAME=INTEGER" or "NAME=REAL". Owns: the caller frees value->name. */
parsed parse_parameter(const char *text, parameter_value *value, char *why);

typedef struct swap_value {
    char *one; /* owned, as is the other */
    char *other;
} swap_value;

/** Parse "NAME=NAME", two different ones. Owns: the caller frees both. */
parsed parse_swap(const char *text, swap_value *value, char *why);

#endif
