#ifndef EXAMPLES_SPARSE_MATRIX_H
#define EXAMPLES_SPARSE_MATRIX_H

#include "common/session.h"

/* Sparse matrices in compressed rows, of a generator or of a file. */

/** The most rows and columns: columns have 32 bits. */
enum { SPARSE_MOST = INT32_MAX };

/** What the program wants of a matrix. */
typedef struct sparse_request {
    polytile_type type;   /* of its elements: f32 or f64 */
    bool has_row_numbers; /* of each entry */
    bool is_definite;     /* it has to be symmetric and positive definite */
} sparse_request;

/** The arrays of a matrix. Index arrays have memory also when only planning, V has none then. The
 * entries of row i are those from P[i] to P[i+1]-1. */
typedef struct sparse_matrix {
    const struct sparse_generator *generator; /* NULL: a file */
    int64_t n_rows;
    int64_t n_columns;
    int64_t n_entries;
    int64_t longest_row; /* its entries */
    polytile_array *P;   /* i64, one more than rows; as the others of at least one element */
    polytile_array *K;   /* i32, columns */
    polytile_array *V;
    polytile_array *R; /* i32, rows; NULL: not wanted */
} sparse_matrix;

/** Return whether the command line has a generator that gives few rows a large part of the
 * entries. */
bool sparse_is_skewed(const session *s);

/**
 * Make the matrix that the command line says.
 *
 * Errors  INVALID (an unknown kind; options that do not go together; a kind or a file that is not
 *         definite, where the request wants that; a file that is none of Matrix Market or of
 *         another kind than are read, with line and value), IO, OVERFLOW, NO_MEMORY.
 */
polytile_status sparse_open(session *s, const sparse_request *request, sparse_matrix *m);

/* sparse_generate.c */

/** What a generator makes a matrix of. */
typedef struct sparse_source {
    int64_t n_rows; /* and columns */
    int64_t degree; /* entries a row, about */
    uint64_t seed;
} sparse_source;

/** A generator's rows, each of which follows from its number. */
typedef struct sparse_generator {
    const char *name;
    bool is_skewed;    /* a few rows hold a large part of the entries */
    bool is_symmetric; /* what it has a column of, it has a row of */
    int64_t (*count_entries)(const sparse_source *source, int64_t row);
    int64_t (*get_column)(const sparse_source *source, int64_t row, int64_t k, int64_t n_entries);
} sparse_generator;

/** Return the generator of a name; NULL: there is none. */
const sparse_generator *sparse_find_generator(const char *name);

/** Return the element of an entry: a small whole number, so that sums are exact. */
double sparse_draw_value(const sparse_source *source, int64_t entry);

/* sparse_market.c */

/** The header of a Matrix Market file. */
typedef struct market_header {
    bool has_values; /* else all are 1 */
    bool is_whole;   /* values are whole numbers */
    bool is_symmetric;
    int64_t n_rows;
    int64_t n_columns;
    int64_t n_lines; /* of entries */
} market_header;

/** An entry, its indices from 0. */
typedef struct market_entry {
    int64_t row;
    int64_t column;
    double value;
} market_entry;

typedef void market_entry_function(void *user, const market_entry *entry);

/** Read a file up to its sizes. Errors: INVALID, IO, NO_MEMORY. */
polytile_status market_read_header(session *s, const char *path, market_header *header);
/** Read all entries, of a symmetric matrix those on both sides. Errors: INVALID, IO, NO_MEMORY. */
polytile_status market_each_entry(session *s, const char *path, market_entry_function *take,
                                  void *user);

#endif
