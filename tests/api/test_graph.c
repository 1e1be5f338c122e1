#include <polytile/graph.h>

#include "api/files.h"
#include "support/c_test.h"

#include <stdio.h>

static const char opening[] =
    "digraph opening {\n"
    "  { node [type=u8, extents=\"64x64x64\"]; frame; small; opened }\n"
    "  { node [kernel=\"cube[i,j,k]: in A[i-1:i+1,j-1:j+1,k-1:k+1]; out B[i,j,k]\"]; erode; dilate "
    "}\n"
    "  frame -> erode [as=A]; erode -> small [as=B]; small -> dilate [as=A]; dilate -> opened "
    "[as=B]\n"
    "}\n";

TEST_CASE(ApiGraph, IsReadFromATextOrAFile) {
    const char *path = file_named("opening.dot");
    polytile_graph *graph = NULL, *of_file = NULL;
    if (!CHECK_OK(polytile_graph_parse(ctx, opening, &graph)))
        return;
    CHECK_OK(polytile_graph_set_seconds(graph, "erode", 0.25));
    polytile_graph_destroy(graph);
    polytile_graph_destroy(NULL);
    file_write(path, opening, sizeof opening - 1);
    CHECK_OK(polytile_graph_read(ctx, path, &of_file));
    remove(path);
    CHECK_REFUSED(polytile_graph_read(ctx, path, &of_file), POLYTILE_IO, path);
    CHECK(of_file == NULL);
}

static const struct {
    const char *text;
    const char *why;
} wrong[] = {
    {"digraph { a -- b }", "since edges have a direction"},
    {"digraph { a }", "a is neither an actor, with kernel=, nor an array"},
    {"digraph { a [kernel=\"a[i]: out q[i]\"] }", "nobody takes an operand"},
};

TEST_TABLE(ApiGraph, IsRefusedWithThePlace, wrong) {
    polytile_graph *graph = NULL;
    CHECK_REFUSED(polytile_graph_parse(ctx, row->text, &graph), POLYTILE_DECLARATION, row->why,
                  "(column ");
    CHECK(graph == NULL);
}

TEST_CASE(ApiGraph, RefusesWhatIsNotThere) {
    polytile_graph *graph = NULL;
    CHECK_REFUSED(polytile_graph_parse(ctx, NULL, &graph), POLYTILE_INVALID, "its text");
    CHECK_REFUSED(polytile_graph_read(ctx, "x", NULL), POLYTILE_INVALID, "a place for it");
    CHECK_STATUS(polytile_graph_parse(NULL, opening, &graph), POLYTILE_INVALID);
    if (!CHECK_OK(polytile_graph_parse(ctx, opening, &graph)))
        return;
    CHECK_REFUSED(polytile_graph_set_seconds(graph, "open", 1), POLYTILE_INVALID,
                  "no actor \"open\"");
    CHECK_REFUSED(polytile_graph_set_seconds(graph, NULL, 1), POLYTILE_INVALID, "no actor \"\"");
    CHECK_REFUSED(polytile_graph_set_seconds(graph, "erode", -1), POLYTILE_INVALID,
                  "erode cannot take -1 seconds");
}
