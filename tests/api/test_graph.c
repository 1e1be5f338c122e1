#include <polytile/graph.h>

#include "api/files.h"
#include "support/c_test.h"

#include <stdio.h>
#include <stdlib.h>

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
    CHECK_TEXT(polytile_graph_get_input_name(graph, 0), "frame");
    CHECK_TEXT(polytile_graph_get_output_name(graph, 0), "opened");
    CHECK(polytile_graph_get_output_name(graph, 1) == NULL);
    CHECK_REFUSED(polytile_graph_bind(graph, "open", NULL), POLYTILE_INVALID,
                  "the name of an actor or a kernel");
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

static const char gpus[] =
    "digraph machine { gpu0 [device=\"cuda:0(memory=8GiB)\"]; gpu1 [device=\"cuda:1\"];\n"
    "  gpu0 -> gpu1 [bandwidth=\"390GB/s\"] }\n";

TEST_CASE(ApiGraph, MachinesAreReadOrFound) {
    const char *path = file_named("gpus.dot");
    polytile_machine *machine = NULL;
    CHECK_OK(polytile_machine_parse(ctx, gpus, &machine));
    polytile_machine_destroy(machine);
    polytile_machine_destroy(NULL);
    file_write(path, gpus, sizeof gpus - 1);
    CHECK_OK(polytile_machine_read(ctx, path, &machine));
    CHECK_OK(polytile_machine_find(ctx, &machine));
    CHECK_REFUSED(polytile_machine_parse(ctx, "digraph { a }", &machine), POLYTILE_DECLARATION,
                  "unit a has no device=", "(column 11)");
    CHECK(machine == NULL);
    CHECK_REFUSED(polytile_machine_find(ctx, NULL), POLYTILE_INVALID, "a place for it");
    CHECK_REFUSED(polytile_machine_read(ctx, NULL, &machine), POLYTILE_INVALID, "its text");
}

TEST_CASE(ApiGraph, IsPlannedForAMachine) {
    polytile_graph *graph = NULL;
    polytile_machine *machine = NULL;
    polytile_graph_plan *plan = NULL;
    polytile_graph_summary summary;
    char *text = NULL;
    if (!CHECK_OK(polytile_graph_parse(ctx, opening, &graph)) ||
        !CHECK_OK(polytile_machine_parse(ctx, gpus, &machine)))
        return;
    CHECK_OK(polytile_graph_set_seconds(graph, "erode", 0.25));
    CHECK_OK(polytile_graph_set_seconds(graph, "dilate", 0.5));
    if (!CHECK_OK(polytile_graph_plan_create(graph, machine, NULL, &plan)))
        return;
    polytile_graph_destroy(graph);
    polytile_machine_destroy(machine);
    SPOIL(summary);
    polytile_graph_plan_get_summary(plan, &summary);
    CHECK_RESERVED(summary);
    CHECK_NEAR(summary.period_s, 0.5, 1e-12);
    CHECK_NEAR(summary.bound_s, 0.5, 1e-12);
    CHECK_CONTAINS(summary.bound, "work of gpu");
    CHECK(summary.latency_s >= 0.75);
    CHECK(summary.frames_in_flight >= 2);
    CHECK_EQUAL(summary.n_actors, 2);
    CHECK(summary.mapping_is_exact && summary.channels_are_least);
    CHECK_CONTAINS(polytile_graph_plan_get_notes(plan), "25 GB/s is assumed");
    CHECK_OK(polytile_graph_plan_to_string(plan, POLYTILE_TEXT, &text));
    CHECK_CONTAINS(text, "2 actors", "2 frames a second");
    free(text);
    CHECK_OK(polytile_graph_plan_to_dot(plan, &text));
    CHECK_CONTAINS(text, "digraph", "on=\"gpu");
    free(text);
    polytile_graph_plan_destroy(plan);
    polytile_graph_plan_destroy(NULL);
}

TEST_CASE(ApiGraph, LinksHaveTheRatesThatWereMeasured) {
    polytile_graph *graph = NULL;
    polytile_machine *machine = NULL;
    polytile_graph_plan *plan = NULL;
    polytile_graph_summary summary;
    if (!CHECK_OK(polytile_graph_parse(ctx, opening, &graph)) ||
        !CHECK_OK(polytile_machine_parse(ctx, "digraph { gpu [device=\"cuda:0(memory=8GiB)\"] }",
                                         &machine)))
        return;
    CHECK_OK(polytile_graph_set_seconds(graph, "erode", 0));
    CHECK_OK(polytile_graph_set_seconds(graph, "dilate", 0));
    CHECK_OK(polytile_machine_set_rate(machine, "host", "gpu", 1));
    CHECK_OK(polytile_machine_set_rate(machine, "host", "gpu", 1e6));
    CHECK_OK(polytile_machine_set_rate(machine, "gpu", "host", 4e6));
    CHECK_REFUSED(polytile_machine_set_rate(machine, "gpu", "gpu1", 1), POLYTILE_INVALID,
                  "no link gpu -> gpu1");
    CHECK_REFUSED(polytile_machine_set_rate(machine, "gpu", "gpu", 1), POLYTILE_INVALID,
                  "no link gpu -> gpu");
    CHECK_REFUSED(polytile_machine_set_rate(machine, NULL, "gpu", 1), POLYTILE_INVALID,
                  "no link NULL -> gpu");
    CHECK_REFUSED(polytile_machine_set_rate(machine, "gpu", "host", 0), POLYTILE_INVALID,
                  "cannot move 0 bytes");
    if (!CHECK_OK(polytile_graph_plan_create(graph, machine, NULL, &plan)))
        return;
    polytile_graph_plan_get_summary(plan, &summary);
    CHECK_NEAR(summary.period_s, (double)summary.h2d_bytes / 1e6, 1e-6);
    CHECK_NEAR(summary.latency_s, (double)summary.h2d_bytes / 1e6 + (double)summary.d2h_bytes / 4e6,
               1e-6);
    CHECK_EQUAL(summary.h2d_bytes, summary.d2h_bytes);
    CHECK_EQUAL(summary.p2p_bytes, 0);
    CHECK(summary.device_bytes >= 2 * summary.h2d_bytes);
}

TEST_CASE(ApiGraph, DoesNotFitALittleMemory) {
    polytile_graph *graph = NULL;
    polytile_machine *machine = NULL;
    polytile_graph_plan *plan = NULL;
    if (!CHECK_OK(polytile_graph_parse(ctx, opening, &graph)) ||
        !CHECK_OK(polytile_machine_parse(ctx, "digraph { small [device=\"host(memory=500KiB)\"] }",
                                         &machine)))
        return;
    CHECK_REFUSED(polytile_graph_plan_create(graph, machine, NULL, &plan), POLYTILE_NO_FIT,
                  "one frame of actor erode needs 512 KiB", "small is limited to 500 KiB");
    CHECK(plan == NULL);
    CHECK_REFUSED(polytile_graph_plan_create(graph, NULL, NULL, &plan), POLYTILE_INVALID,
                  "needs a machine");
    CHECK_STATUS(polytile_graph_plan_create(NULL, machine, NULL, &plan), POLYTILE_INVALID);
}
