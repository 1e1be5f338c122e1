/* Graphs in files: `c` comments, `p sp VERTICES ARCS`, `a FROM TO WEIGHT`, vertices from 1.
 *
 * Source  9th DIMACS implementation challenge, "Shortest paths", 2006, file formats. */
#include "apsp_graph.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A file as far as it is read. */
typedef struct reader {
    session *s;
    const char *path;
    FILE *file;
    char *line; /* owned */
    size_t capacity;
    int64_t number; /* of the line, from 1 */
    int64_t n_vertices;
    int64_t n_arcs;
    bool has_problem; /* its line has come */
    int64_t n_read;   /* arcs */
} reader;

enum { SHOWN_SIZE = 64 };

#define REFUSE(r, format, ...)                                                                     \
    session_fail((r)->s, POLYTILE_INVALID, "%s: line %" PRId64 ": " format, (r)->path,             \
                 (r)->number, __VA_ARGS__)

static polytile_status open_file(session *s, const char *path, reader *r) {
    *r = (reader){.s = s, .path = path, .file = fopen(path, "r")};
    if (r->file == NULL)
        return session_fail(s, POLYTILE_IO, "cannot open %s: %s", path, strerror(errno));
    return POLYTILE_OK;
}

static void close_file(reader *r) {
    free(r->line);
    fclose(r->file);
}

/** Read the next line; *line is NULL behind the last. */
static polytile_status read_line(reader *r, char **line) {
    errno = 0;
    *line = NULL;
    if (getline(&r->line, &r->capacity, r->file) >= 0) {
        r->number++;
        *line = r->line;
        return POLYTILE_OK;
    }
    if (feof(r->file) && errno == 0)
        return POLYTILE_OK;
    return session_fail(r->s, errno == ENOMEM ? POLYTILE_NO_MEMORY : POLYTILE_IO,
                        "cannot read %s behind line %" PRId64 ": %s", r->path, r->number,
                        strerror(errno));
}

/** The next word of a line, which ends it there; "" behind the last. */
static char *next_word(char **at) {
    *at += strspn(*at, " \t\r\n");
    char *word = *at;
    *at += strcspn(*at, " \t\r\n");
    if (**at != '\0')
        *(*at)++ = '\0';
    return word;
}

/** A word as an error shows it. */
static const char *show(const char *word, char *shown) {
    return *word == '\0' ? "nothing" : polytile_text_show(word, shown, SHOWN_SIZE);
}

/** Read a number between two ends. */
static polytile_status read_number(reader *r, char **at, const char *what, int64_t least,
                                   int64_t most, int64_t *number) {
    char shown[SHOWN_SIZE], *end;
    const char *word = next_word(at);
    errno = 0;
    *number = strtoll(word, &end, 10);
    if (end == word || *end != '\0')
        return REFUSE(r, "%s is %s; it must be a whole number", what, show(word, shown));
    if (errno == ERANGE || *number < least || *number > most)
        return REFUSE(r, "%s is %s; it must be from %" PRId64 " to %" PRId64, what,
                      show(word, shown), least, most);
    return POLYTILE_OK;
}

static polytile_status end_line(reader *r, char **at) {
    char shown[SHOWN_SIZE];
    const char *word = next_word(at);
    return *word == '\0' ? POLYTILE_OK : REFUSE(r, "'%s' is one word too many", show(word, shown));
}

static polytile_status read_problem(reader *r, char *at) {
    char shown[SHOWN_SIZE];
    if (r->has_problem)
        return REFUSE(r, "a second line p; there is one%s", "");
    const char *word = next_word(&at);
    if (strcmp(word, "sp") != 0)
        return REFUSE(r, "the problem is '%s'; it must be sp, shortest paths", show(word, shown));
    TRY(read_number(r, &at, "the number of vertices", 1, GRAPH_MOST, &r->n_vertices));
    TRY(read_number(r, &at, "the number of arcs", 0, INT64_C(1) << 40, &r->n_arcs));
    r->has_problem = true;
    return end_line(r, &at);
}

static polytile_status read_arc(reader *r, char *at, graph_arc *arc) {
    int64_t weight;
    if (!r->has_problem)
        return REFUSE(r, "an arc before the line 'p sp VERTICES ARCS'%s", "");
    if (r->n_read == r->n_arcs)
        return REFUSE(r, "one arc more than the %" PRId64 " of the line p", r->n_arcs);
    TRY(read_number(r, &at, "the vertex that the arc leaves", 1, r->n_vertices, &arc->from));
    TRY(read_number(r, &at, "the vertex that the arc enters", 1, r->n_vertices, &arc->to));
    TRY(read_number(r, &at, "the weight", 0, GRAPH_MOST, &weight));
    arc->from--;
    arc->to--;
    arc->weight = (int32_t)weight;
    r->n_read++;
    return end_line(r, &at);
}

/** Read up to the next arc, or with only_problem to the line p; *found: there was one. */
static polytile_status read_on(reader *r, bool only_problem, graph_arc *arc, bool *found) {
    char *line, shown[SHOWN_SIZE];
    for (*found = false; !*found;) {
        TRY(read_line(r, &line));
        if (line == NULL)
            return POLYTILE_OK;
        const char *kind = next_word(&line);
        const bool is_arc = strcmp(kind, "a") == 0, is_problem = strcmp(kind, "p") == 0;
        if (is_arc)
            TRY(read_arc(r, line, arc));
        else if (is_problem)
            TRY(read_problem(r, line));
        else if (*kind != '\0' && strcmp(kind, "c") != 0)
            return REFUSE(r, "it begins with '%s'; lines begin with c, p or a", show(kind, shown));
        *found = only_problem ? is_problem : is_arc;
    }
    return POLYTILE_OK;
}

static polytile_status require_all(reader *r) {
    if (!r->has_problem)
        return session_fail(r->s, POLYTILE_INVALID,
                            "%s: it ends behind line %" PRId64
                            " without a line 'p sp VERTICES ARCS'",
                            r->path, r->number);
    if (r->n_read == r->n_arcs)
        return POLYTILE_OK;
    return session_fail(r->s, POLYTILE_INVALID,
                        "%s: it ends behind line %" PRId64 " with %" PRId64
                        " arcs; the line p says %" PRId64 ": is it truncated?",
                        r->path, r->number, r->n_read, r->n_arcs);
}

static polytile_status read_arcs(reader *r, graph_arc_function *take, void *user) {
    graph_arc arc = {0};
    bool found = true;
    while (found) {
        TRY(read_on(r, false, &arc, &found));
        if (found)
            take(user, &arc);
    }
    return require_all(r);
}

polytile_status dimacs_read_sizes(session *s, const char *path, int64_t *n_vertices,
                                  int64_t *n_arcs) {
    reader r;
    graph_arc arc;
    bool found;
    TRY(open_file(s, path, &r));
    polytile_status status = read_on(&r, true, &arc, &found);
    if (status == POLYTILE_OK && !found)
        status = require_all(&r);
    *n_vertices = r.n_vertices;
    *n_arcs = r.n_arcs;
    close_file(&r);
    return status;
}

polytile_status dimacs_each_arc(session *s, const char *path, graph_arc_function *take,
                                void *user) {
    reader r;
    TRY(open_file(s, path, &r));
    polytile_status status = read_arcs(&r, take, user);
    close_file(&r);
    return status;
}

int64_t dimacs_find_line(session *s, const char *path, const graph_arc *arc) {
    reader r;
    graph_arc other = {0};
    bool found = true, is_same = false;
    if (open_file(s, path, &r) != POLYTILE_OK)
        return 0;
    while (found && !is_same && read_on(&r, false, &other, &found) == POLYTILE_OK)
        is_same =
            found && other.from == arc->from && other.to == arc->to && other.weight == arc->weight;
    close_file(&r);
    return is_same ? r.number : 0;
}
