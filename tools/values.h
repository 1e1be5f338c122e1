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

/** Names that stand for numbers. */
typedef struct number_scope {
    /** Find the number of a name of so many letters, NAME or NAME.K, K being the dimension; -1:
     * none is given. Returns false if there is no such name. */
    bool (*find)(const struct number_scope *scope, const char *name, size_t length, int dim,
                 int64_t *number);
    const void *of;
} number_scope;

/** Parse ranges as parse_domain() does, whose numbers may be sums of integers and names of a scope,
 * with an integer and a * before them: "1:A.0-2,2*n". */
bool parse_domain_in(const char *text, const number_scope *scope, polytile_domain *domain,
                     char *why);

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
    const char *path; /* of a NumPy file, which has type and domain; borrowed; NULL: none */
} array_value;

/** Parse "NAME:TYPE:DOMAIN" or "NAME=FILE". Owns: the caller frees value->name. */
parsed parse_array(const char *text, array_value *value, char *why);

/** An array of a run: a file that is there, or one to be created. */
typedef struct file_value {
    char *name; /* owned */
    polytile_type type;
    char *domain;     /* a text, of a file to be created; NULL: the file is there; owned */
    const char *path; /* NULL: none is kept; borrowed */
} file_value;

/** Parse "NAME=FILE". Owns: the caller frees value->name. */
parsed parse_file(const char *text, file_value *value, char *why);
/** Parse "NAME:TYPE:DOMAIN=FILE", or without "=FILE". Owns: the caller frees name and domain. */
parsed parse_output(const char *text, file_value *value, char *why);

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
