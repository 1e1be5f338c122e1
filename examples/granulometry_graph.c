/* Granulometry as a graph of actors.
 *
 * Source  Boulos et al., "Efficient implementation of data flow graphs on multi-gpu clusters",
 *         2012, section 5.2. */
#include "granulometry_graph.h"

#include "common/frames.h"
#include "granulometry_kernels.h"

#include <inttypes.h>
#include <stdio.h>

static polytile_status fail_memory(session *s) {
    return session_fail(s, POLYTILE_NO_MEMORY,
                        "the text of the graph cannot be written: no memory is left");
}

static void write_volume(FILE *to, const volume *v, const char *name, int64_t size) {
    fprintf(to, "%s%" PRId64 " [type=u8, extents=\"%" PRId64 "x%" PRId64 "x%" PRId64 "\"];\n", name,
            size, v->extent[0], v->extent[1], v->extent[2]);
}

/** An actor of so many runs, between two volumes. */
static void write_filter(FILE *to, const volume *v, const char *name, const char *declaration,
                         int64_t size) {
    fprintf(to,
            "%s%" PRId64 " [kernel=\"%s\", repeat=%" PRId64 ", params=\"ni=%" PRId64 ",nj=%" PRId64
            ",nk=%" PRId64 "\"];\n",
            name, size, declaration, size, v->extent[0], v->extent[1], v->extent[2]);
}

static void write_count(FILE *to, const volume *v, const char *of, int64_t size) {
    fprintf(to,
            "count%" PRId64 " [kernel=\"%s\", domain=\"%" PRId64 "x%" PRId64 "x%" PRId64 "\"];\n"
            "left%" PRId64 " [type=i64, extents=1];\n"
            "%s%" PRId64 " -> count%" PRId64 " [as=A]; count%" PRId64 " -> left%" PRId64
            " [as=c];\n",
            size, COUNT_DECLARATION, v->extent[0], v->extent[1], v->extent[2], size, of, size, size,
            size, size);
}

static void write_opening(FILE *to, const volume *v, int64_t size) {
    write_volume(to, v, "eroded", size);
    write_volume(to, v, "opened", size);
    write_filter(to, v, "erode", ERODE_DECLARATION, size);
    write_filter(to, v, "dilate", DILATE_DECLARATION, size);
    fprintf(to,
            "opened0 -> erode%" PRId64 " [as=A]; erode%" PRId64 " -> eroded%" PRId64 " [as=B];\n"
            "eroded%" PRId64 " -> dilate%" PRId64 " [as=A]; dilate%" PRId64 " -> opened%" PRId64
            " [as=B];\n",
            size, size, size, size, size, size, size);
    write_count(to, v, "opened", size);
}

polytile_status granulometry_write_graph(session *s, const volume *v, int64_t n_sizes,
                                         char **text) {
    size_t length;
    FILE *to = open_memstream(text, &length);
    if (to == NULL)
        return fail_memory(s);
    fprintf(to, "digraph granulometry {\n");
    write_volume(to, v, "opened", 0);
    write_count(to, v, "opened", 0);
    for (int64_t size = 1; size <= n_sizes; ++size)
        write_opening(to, v, size);
    fprintf(to, "}\n");
    return frames_close_text(to) ? POLYTILE_OK : fail_memory(s);
}
