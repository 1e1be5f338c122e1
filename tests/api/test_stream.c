#include <polytile/stream.h>

#include "support/c_test.h"

#include <polytile/kernel.h>
#include <stdlib.h>

POLYTILE_KERNEL(brighten, (i), (const uint8_t, A, 1), (uint8_t, B, 1)) {
    PT_AT(B, i) = (uint8_t)(PT_AT(A, i) + 1);
}

enum { N = 6 };

static const char twice[] =
    "digraph { { node [type=u8, extents=6]; frame; between; result }\n"
    "{ node [kernel=\"brighten[i]: in A[i]; out B[i]\"]; first; second }\n"
    "frame -> first [as=A]; first -> between [as=B]; between -> second [as=A];\n"
    "second -> result [as=B] }\n";

static polytile_stream *begin(polytile_context *ctx, polytile_graph **graph) {
    polytile_machine *machine = NULL;
    polytile_graph_plan *plan = NULL;
    polytile_stream *stream = NULL;
    if (!CHECK_OK(polytile_graph_parse(ctx, twice, graph)) ||
        !CHECK_OK(polytile_machine_parse(ctx, "digraph { host [device=\"host(threads=1)\"] }",
                                         &machine)) ||
        !CHECK_OK(polytile_graph_bind(*graph, "brighten", &brighten_kernel)) ||
        !CHECK_OK(polytile_graph_plan_create(*graph, machine, NULL, &plan)))
        return NULL;
    CHECK_OK(polytile_stream_create(*graph, plan, NULL, &stream));
    polytile_graph_plan_destroy(plan);
    polytile_machine_destroy(machine);
    return stream;
}

TEST_CASE(ApiStream, TakesFramesAndGivesResultsInOrder) {
    const int64_t extents[] = {N};
    uint8_t memory[N] = {0}, results[N];
    polytile_array *frame, *result;
    polytile_graph *graph = NULL;
    polytile_stream_report report;
    polytile_stream_lane lane;
    const void *lent;
    char *text = NULL;
    int64_t number;
    polytile_stream *stream = begin(ctx, &graph);
    if (stream == NULL ||
        !CHECK_OK(polytile_array_wrap(ctx, "frame", POLYTILE_U8, 1, extents, memory, &frame)) ||
        !CHECK_OK(polytile_array_wrap(ctx, "result", POLYTILE_U8, 1, extents, results, &result)))
        return;
    CHECK_TEXT(polytile_graph_get_input_name(graph, 0), "frame");
    CHECK(polytile_graph_get_input_name(graph, 1) == NULL);
    CHECK_TEXT(polytile_graph_get_output_name(graph, 0), "result");
    CHECK(polytile_graph_get_output_name(graph, -1) == NULL);
    CHECK(polytile_stream_get_depth(stream) >= 1);
    for (int f = 0; f < 5; f++) {
        for (int i = 0; i < N; i++)
            memory[i] = (uint8_t)(10 * f + i);
        CHECK_OK(polytile_stream_push(stream, 1, &frame, &number));
        CHECK_EQUAL(number, f);
        CHECK_OK(polytile_stream_peek(stream, 1, &lent));
        CHECK_EQUAL(((const uint8_t *)lent)[0], 10 * f + 2);
        CHECK_OK(polytile_stream_pull(stream, 1, &result, &number));
        CHECK_EQUAL(number, f);
        CHECK_EQUAL(results[N - 1], 10 * f + N - 1 + 2);
    }
    SPOIL(report);
    polytile_stream_get_report(stream, &report);
    CHECK_RESERVED(report);
    CHECK_EQUAL(report.n_pushed, 5);
    CHECK_EQUAL(report.n_pulled, 5);
    CHECK_EQUAL(report.n_failed, 0);
    CHECK_EQUAL(report.n_lanes, 1);
    SPOIL(lane);
    CHECK_EQUAL(polytile_stream_get_lanes(stream, 1, &lane), 1);
    CHECK_RESERVED(lane);
    CHECK_TEXT(lane.name, "host");
    CHECK(lane.is_unit);
    CHECK(polytile_stream_get_seconds(stream, "first") > 0);
    CHECK_EQUAL(lane.n_bytes, 0);
    CHECK_OK(polytile_stream_to_json(stream, &text));
    CHECK_CONTAINS(text, "{\"name\": \"first\", \"seconds\": ", "\"pulled\": 5", "\"links\": []");
    free(text);
    polytile_stream_destroy(stream);
    polytile_stream_destroy(NULL);
}

TEST_CASE(ApiStream, RefusesWhatIsNotThere) {
    polytile_graph *graph = NULL;
    polytile_stream *stream = begin(ctx, &graph);
    polytile_stream_options options = {.reserved = {1}};
    if (stream == NULL)
        return;
    CHECK_REFUSED(polytile_stream_pull(stream, 0, NULL, NULL), POLYTILE_INVALID,
                  "no frame is in flight");
    CHECK_REFUSED(polytile_stream_push(stream, 1, NULL, NULL), POLYTILE_INVALID,
                  "the graph has 1 input");
    CHECK_REFUSED(polytile_graph_bind(graph, "darken", &brighten_kernel), POLYTILE_INVALID,
                  "neither an actor nor a kernel \"darken\"");
    CHECK_REFUSED(polytile_graph_bind(graph, "first", NULL), POLYTILE_INVALID,
                  "and an implementation");
    CHECK_REFUSED(polytile_stream_create(graph, NULL, &options, &stream), POLYTILE_INVALID,
                  "a plan of the graph");
    CHECK(stream == NULL);
}
