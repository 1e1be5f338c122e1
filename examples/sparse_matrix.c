/* Sparse matrices as arrays, as the command line says. */
#include "sparse_matrix.h"

#include "common/fields.h"

#include <inttypes.h>
#include <math.h>

enum { DEFAULT_ROWS = 1 << 20, DEFAULT_DEGREE = 16, MOST_DEGREE = 1 << 18 };

/** The memory of a matrix while it is filled in. */
typedef struct filling {
    const sparse_matrix *m;
    bool is_wide; /* f64 */
    int64_t *P;
    int32_t *K;
    int32_t *R; /* NULL: not wanted */
    void *V;    /* NULL when only planning */
} filling;

static const char *kind_of(const session *s) {
    return s->options.kind != NULL ? s->options.kind : "band";
}

bool sparse_is_skewed(const session *s) {
    const sparse_generator *generator = sparse_find_generator(kind_of(s));
    return s->options.matrix == NULL && generator != NULL && generator->is_skewed;
}

static filling begin_filling(const sparse_matrix *m) {
    return (filling){.m = m,
                     .is_wide = polytile_array_get_type(m->V) == POLYTILE_F64,
                     .P = polytile_array_get_data(m->P),
                     .K = polytile_array_get_data(m->K),
                     .R = m->R != NULL ? polytile_array_get_data(m->R) : NULL,
                     .V = polytile_array_get_data(m->V)};
}

static void set_entry(const filling *f, int64_t at, int64_t row, int64_t column, double value) {
    f->K[at] = (int32_t)column;
    if (f->R != NULL)
        f->R[at] = (int32_t)row;
    if (f->V != NULL && f->is_wide)
        ((double *)f->V)[at] = value;
    else if (f->V != NULL)
        ((float *)f->V)[at] = (float)value;
}

/** Index arrays have memory even to plan with. */
static polytile_status create_index_array(session *s, const char *name, polytile_type type,
                                          int64_t n, polytile_array **array) {
    const field_shape shape = {type, 1, {n > 0 ? n : 1}};
    return field_create_filled(s, name, &shape, array);
}

/** An array without elements is none: a matrix without entries has room for one. */
static polytile_status create_entries(session *s, const sparse_request *request, sparse_matrix *m) {
    const field_shape values = {request->type, 1, {m->n_entries > 0 ? m->n_entries : 1}};
    TRY(create_index_array(s, "K", POLYTILE_I32, m->n_entries, &m->K));
    TRY(field_create(s, "V", &values, &m->V));
    if (request->has_row_numbers)
        TRY(create_index_array(s, "R", POLYTILE_I32, m->n_entries, &m->R));
    return POLYTILE_OK;
}

/** Turn how many entries each row has, P[i+1], into where they begin. */
static void give_places(sparse_matrix *m) {
    int64_t *P = polytile_array_get_data(m->P);
    for (int64_t i = 0; i < m->n_rows; ++i) {
        m->longest_row = P[i + 1] > m->longest_row ? P[i + 1] : m->longest_row;
        P[i + 1] += P[i];
    }
    m->n_entries = P[m->n_rows];
}

/** Return an entry of a matrix whose diagonal outweighs the rest of its row. */
static double definite_value(const sparse_source *source, int64_t row, int64_t column) {
    return row == column ? (double)(2 * (source->degree / 2) + 1) : -1.0;
}

static void fill_row(const filling *f, const sparse_source *source, bool is_definite, int64_t row) {
    const int64_t begin = f->P[row], n = f->P[row + 1] - begin;
    for (int64_t k = 0; k < n; ++k) {
        const int64_t column = f->m->generator->get_column(source, row, k, n);
        set_entry(f, begin + k, row, column,
                  is_definite ? definite_value(source, row, column)
                              : sparse_draw_value(source, begin + k));
    }
}

static polytile_status generate(session *s, const sparse_source *source,
                                const sparse_request *request, sparse_matrix *m) {
    TRY(create_index_array(s, "P", POLYTILE_I64, m->n_rows + 1, &m->P));
    int64_t *P = polytile_array_get_data(m->P);
#pragma omp parallel for
    for (int64_t i = 0; i < m->n_rows; ++i)
        P[i + 1] = m->generator->count_entries(source, i);
    give_places(m);
    TRY(create_entries(s, request, m));
    const filling f = begin_filling(m);
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t i = 0; i < m->n_rows; ++i)
        fill_row(&f, source, request->is_definite, i);
    return POLYTILE_OK;
}

static polytile_status take_generator(session *s, const sparse_request *request, sparse_matrix *m) {
    const example_options *options = &s->options;
    const sparse_source source = {options->rows > 0 ? options->rows : DEFAULT_ROWS,
                                  options->degree > 0 ? options->degree : DEFAULT_DEGREE,
                                  (uint64_t)options->seed};
    m->generator = sparse_find_generator(kind_of(s));
    if (m->generator == NULL)
        return session_fail(s, POLYTILE_INVALID,
                            "--kind %s is no kind of matrix; there are band, uniform and power",
                            kind_of(s));
    if (request->is_definite && !m->generator->is_symmetric)
        return session_fail(s, POLYTILE_INVALID,
                            "--kind %s makes matrices that are not symmetric; take band, or a "
                            "file of a symmetric one with --matrix",
                            kind_of(s));
    if (source.n_rows > SPARSE_MOST)
        return session_fail(s, POLYTILE_INVALID, "--rows %" PRId64 " is more than %d",
                            source.n_rows, (int)SPARSE_MOST);
    if (source.degree > MOST_DEGREE)
        return session_fail(s, POLYTILE_INVALID, "--degree %" PRId64 " is more than %d",
                            source.degree, (int)MOST_DEGREE);
    m->n_rows = m->n_columns = source.n_rows;
    return generate(s, &source, request, m);
}

static void count_entry(void *user, const market_entry *entry) {
    const filling *f = user;
    f->P[entry->row + 1]++;
}

/** Put an entry where its row has room next; P[i] moves on with each. */
static void place_entry(void *user, const market_entry *entry) {
    const filling *f = user;
    set_entry(f, f->P[entry->row]++, entry->row, entry->column, entry->value);
}

/** Move each row's begin back from its end, which is where the next row began. */
static void restore_places(const filling *f) {
    for (int64_t i = f->m->n_rows; i > 0; --i)
        f->P[i] = f->P[i - 1];
    f->P[0] = 0;
}

static polytile_status read_file(session *s, const sparse_request *request, sparse_matrix *m) {
    const char *path = s->options.matrix;
    TRY(create_index_array(s, "P", POLYTILE_I64, m->n_rows + 1, &m->P));
    filling f = {.m = m, .P = polytile_array_get_data(m->P)};
    TRY(market_each_entry(s, path, count_entry, &f));
    give_places(m);
    TRY(create_entries(s, request, m));
    f = begin_filling(m);
    TRY(market_each_entry(s, path, place_entry, &f));
    restore_places(&f);
    return POLYTILE_OK;
}

static polytile_status refuse_option(session *s, const char *option) {
    return session_fail(s, POLYTILE_INVALID, "%s is for generated matrices; leave it out with %s",
                        option, s->options.matrix);
}

static polytile_status take_file(session *s, const sparse_request *request, sparse_matrix *m) {
    const example_options *options = &s->options;
    market_header header;
    if (options->kind != NULL)
        return refuse_option(s, "--kind");
    if (options->rows > 0)
        return refuse_option(s, "--rows");
    if (options->degree > 0)
        return refuse_option(s, "--degree");
    TRY(market_read_header(s, options->matrix, &header));
    if (request->is_definite && !header.is_symmetric)
        return session_fail(s, POLYTILE_INVALID,
                            "%s: line 1: the matrix is general; this example needs a symmetric one",
                            options->matrix);
    m->n_rows = header.n_rows;
    m->n_columns = header.n_columns;
    return read_file(s, request, m);
}

polytile_status sparse_open(session *s, const sparse_request *request, sparse_matrix *m) {
    *m = (sparse_matrix){0};
    return s->options.matrix != NULL ? take_file(s, request, m) : take_generator(s, request, m);
}
