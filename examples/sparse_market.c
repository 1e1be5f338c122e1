/* Matrices in files: a line `%%MatrixMarket matrix coordinate FIELD SYMMETRY`, comments that begin
 * with %, `ROWS COLUMNS ENTRIES`, and a line `ROW COLUMN VALUE` an entry, indices from 1.
 *
 * Source  Boisvert, Pozo and Remington, "The Matrix Market exchange formats: initial design",
 *         1996. */
#include "sparse_matrix.h"

#include "common/lines.h"

#include <string.h>
#include <strings.h>

static polytile_status expect_word(const lines *l, char **at, const char *what,
                                   const char *const *words, int n_words, int *which) {
    char shown[LINES_SHOWN_SIZE];
    const char *word = lines_next_word(at);
    for (*which = 0; *which < n_words; ++*which)
        if (strcasecmp(word, words[*which]) == 0)
            return POLYTILE_OK;
    return LINES_REFUSE(l, "%s is %s; it must be %s%s%s%s%s", what, lines_show(word, shown),
                        words[0], n_words > 2 ? ", " : "", n_words > 2 ? words[1] : "",
                        n_words > 1 ? " or " : "", n_words > 1 ? words[n_words - 1] : "");
}

static polytile_status read_banner(const lines *l, char *at, market_header *header) {
    static const char *const banner[] = {"%%MatrixMarket"}, *const object[] = {"matrix"},
                             *const format[] = {"coordinate"},
                             *const field[] = {"real", "integer", "pattern"},
                             *const symmetry[] = {"general", "symmetric"};
    enum { INTEGER = 1, PATTERN = 2 };
    int which;
    TRY(expect_word(l, &at, "the first word", banner, 1, &which));
    TRY(expect_word(l, &at, "the object", object, 1, &which));
    TRY(expect_word(l, &at, "the format", format, 1, &which));
    TRY(expect_word(l, &at, "the field", field, 3, &which));
    header->has_values = which != PATTERN;
    header->is_whole = which == INTEGER;
    TRY(expect_word(l, &at, "the symmetry", symmetry, 2, &which));
    header->is_symmetric = which == 1;
    return lines_end_line(l, &at);
}

/** Read the next line that holds more than space, and is no comment; *line is NULL after the
 * last. */
static polytile_status next_filled(lines *l, char **line) {
    do
        TRY(lines_next(l, line));
    while (*line != NULL && (**line == '%' || (*line)[strspn(*line, " \t\r\n")] == '\0'));
    return POLYTILE_OK;
}

static polytile_status read_sizes(const lines *l, char *at, market_header *header) {
    TRY(lines_read_whole(l, &at, "the number of rows", 1, SPARSE_MOST, &header->n_rows));
    TRY(lines_read_whole(l, &at, "the number of columns", 1, SPARSE_MOST, &header->n_columns));
    TRY(lines_read_whole(l, &at, "the number of entries", 0, INT64_C(1) << 40, &header->n_lines));
    if (header->is_symmetric && header->n_rows != header->n_columns)
        return LINES_REFUSE(
            l, "a symmetric matrix has as many columns as rows, not %" PRId64 " and %" PRId64,
            header->n_rows, header->n_columns);
    return lines_end_line(l, &at);
}

static polytile_status read_header(lines *l, market_header *header) {
    char *line;
    *header = (market_header){0};
    TRY(lines_next(l, &line));
    if (line == NULL)
        return session_fail(l->s, POLYTILE_INVALID, "%s: it is empty", l->path);
    TRY(read_banner(l, line, header));
    TRY(next_filled(l, &line));
    if (line == NULL)
        return session_fail(l->s, POLYTILE_INVALID,
                            "%s: it ends after line %" PRId64
                            " without a line ROWS COLUMNS ENTRIES",
                            l->path, l->number);
    return read_sizes(l, line, header);
}

static polytile_status read_value(const lines *l, char **at, const market_header *header,
                                  double *value) {
    int64_t whole = 1;
    if (header->has_values && !header->is_whole)
        return lines_read_real(l, at, "the value", value);
    if (header->is_whole)
        TRY(lines_read_whole(l, at, "the value", INT64_MIN, INT64_MAX, &whole));
    *value = (double)whole;
    return POLYTILE_OK;
}

static polytile_status read_entry(const lines *l, char *at, const market_header *header,
                                  market_entry *entry) {
    int64_t row, column;
    TRY(lines_read_whole(l, &at, "the row", 1, header->n_rows, &row));
    TRY(lines_read_whole(l, &at, "the column", 1, header->n_columns, &column));
    if (header->is_symmetric && column > row)
        return LINES_REFUSE(l,
                            "the column is %" PRId64 " in row %" PRId64
                            "; a symmetric matrix has only entries with columns up to the row's",
                            column, row);
    TRY(read_value(l, &at, header, &entry->value));
    entry->row = row - 1;
    entry->column = column - 1;
    return lines_end_line(l, &at);
}

static void take_entry(const market_header *header, const market_entry *entry,
                       market_entry_function *take, void *user) {
    take(user, entry);
    if (header->is_symmetric && entry->row != entry->column)
        take(user, &(market_entry){entry->column, entry->row, entry->value});
}

static polytile_status read_entries(lines *l, const market_header *header,
                                    market_entry_function *take, void *user) {
    market_entry entry;
    char *line;
    for (int64_t k = 0;; ++k) {
        TRY(next_filled(l, &line));
        if (line == NULL && k < header->n_lines)
            return session_fail(l->s, POLYTILE_INVALID,
                                "%s: it ends after line %" PRId64 " with %" PRId64
                                " entries; it says %" PRId64 ": is it truncated?",
                                l->path, l->number, k, header->n_lines);
        if (line == NULL)
            return POLYTILE_OK;
        if (k == header->n_lines)
            return LINES_REFUSE(l, "one entry more than the %" PRId64 " that it says",
                                header->n_lines);
        TRY(read_entry(l, line, header, &entry));
        take_entry(header, &entry, take, user);
    }
}

polytile_status market_read_header(session *s, const char *path, market_header *header) {
    lines l;
    TRY(lines_open(s, path, &l));
    polytile_status status = read_header(&l, header);
    lines_close(&l);
    return status;
}

polytile_status market_each_entry(session *s, const char *path, market_entry_function *take,
                                  void *user) {
    lines l;
    market_header header;
    TRY(lines_open(s, path, &l));
    polytile_status status = read_header(&l, &header);
    if (status == POLYTILE_OK)
        status = read_entries(&l, &header, take, user);
    lines_close(&l);
    return status;
}
