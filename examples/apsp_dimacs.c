/* Graphs in files: `c` comments, `p sp VERTICES ARCS`, `a FROM TO WEIGHT`, vertices from 1.
 *
 * Source  9th DIMACS implementation challenge, "Shortest paths", 2006, file formats. */
#include "apsp_graph.h"

#include "common/lines.h"

#include <inttypes.h>
#include <string.h>

/** A file as far as it is read. */
typedef struct reader {
    lines lines;
    int64_t n_vertices;
    int64_t n_arcs;
    bool has_problem; /* its line has come */
    int64_t n_read;   /* arcs */
} reader;

static polytile_status open_file(session *s, const char *path, reader *r) {
    *r = (reader){0};
    return lines_open(s, path, &r->lines);
}

static polytile_status read_problem(reader *r, char *at) {
    char shown[LINES_SHOWN_SIZE];
    if (r->has_problem)
        return LINES_REFUSE(&r->lines, "a second line p; there is one%s", "");
    const char *word = lines_next_word(&at);
    if (strcmp(word, "sp") != 0)
        return LINES_REFUSE(&r->lines, "the problem is '%s'; it must be sp, shortest paths",
                            lines_show(word, shown));
    TRY(lines_read_whole(&r->lines, &at, "the number of vertices", 1, GRAPH_MOST, &r->n_vertices));
    TRY(lines_read_whole(&r->lines, &at, "the number of arcs", 0, INT64_C(1) << 40, &r->n_arcs));
    r->has_problem = true;
    return lines_end_line(&r->lines, &at);
}

static polytile_status read_arc(reader *r, char *at, graph_arc *arc) {
    int64_t weight;
    if (!r->has_problem)
        return LINES_REFUSE(&r->lines, "an arc before the line 'p sp VERTICES ARCS'%s", "");
    if (r->n_read == r->n_arcs)
        return LINES_REFUSE(&r->lines, "one arc more than the %" PRId64 " of the line p",
                            r->n_arcs);
    TRY(lines_read_whole(&r->lines, &at, "the vertex that the arc leaves", 1, r->n_vertices,
                         &arc->from));
    TRY(lines_read_whole(&r->lines, &at, "the vertex that the arc enters", 1, r->n_vertices,
                         &arc->to));
    TRY(lines_read_whole(&r->lines, &at, "the weight", 0, GRAPH_MOST, &weight));
    arc->from--;
    arc->to--;
    arc->weight = (int32_t)weight;
    r->n_read++;
    return lines_end_line(&r->lines, &at);
}

/** Read up to the next arc, or with only_problem to the line p; *found: there was one. */
static polytile_status read_on(reader *r, bool only_problem, graph_arc *arc, bool *found) {
    char *line, shown[LINES_SHOWN_SIZE];
    for (*found = false; !*found;) {
        TRY(lines_next(&r->lines, &line));
        if (line == NULL)
            return POLYTILE_OK;
        const char *kind = lines_next_word(&line);
        const bool is_arc = strcmp(kind, "a") == 0, is_problem = strcmp(kind, "p") == 0;
        if (is_arc)
            TRY(read_arc(r, line, arc));
        else if (is_problem)
            TRY(read_problem(r, line));
        else if (*kind != '\0' && strcmp(kind, "c") != 0)
            return LINES_REFUSE(&r->lines, "it begins with '%s'; lines begin with c, p or a",
                                lines_show(kind, shown));
        *found = only_problem ? is_problem : is_arc;
    }
    return POLYTILE_OK;
}

static polytile_status require_all(reader *r) {
    if (!r->has_problem)
        return session_fail(r->lines.s, POLYTILE_INVALID,
                            "%s: it ends after line %" PRId64
                            " without a line 'p sp VERTICES ARCS'",
                            r->lines.path, r->lines.number);
    if (r->n_read == r->n_arcs)
        return POLYTILE_OK;
    return session_fail(r->lines.s, POLYTILE_INVALID,
                        "%s: it ends after line %" PRId64 " with %" PRId64
                        " arcs; the line p says %" PRId64 ": is it truncated?",
                        r->lines.path, r->lines.number, r->n_read, r->n_arcs);
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
    lines_close(&r.lines);
    return status;
}

polytile_status dimacs_each_arc(session *s, const char *path, graph_arc_function *take,
                                void *user) {
    reader r;
    TRY(open_file(s, path, &r));
    polytile_status status = read_arcs(&r, take, user);
    lines_close(&r.lines);
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
    lines_close(&r.lines);
    return is_same ? r.lines.number : 0;
}
