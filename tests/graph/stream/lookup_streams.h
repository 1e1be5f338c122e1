#ifndef POLYTILE_TESTS_GRAPH_STREAM_LOOKUP_STREAMS_H
#define POLYTILE_TESTS_GRAPH_STREAM_LOOKUP_STREAMS_H

#include <polytile/kernel.h>
#include <polytile/polytile.h>
#include <polytile/stream.h>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/random.h"

/* Streams of a graph whose actors look up what the program feeds, and plain loops of it. */

namespace lookup_streams {

POLYTILE_KERNEL(rows, (i), (const float, V, 1), (const int32_t, P, 1), (const float, x, 1),
                (const int32_t, K, 1), (float, y, 1)) {
    float sum = 0;
    for (int64_t k = PT_AT(P, i); k < PT_AT(P, i + 1); k++)
        sum += PT_AT(V, k) * PT_AT(x, PT_AT(K, k));
    PT_AT(y, i) = sum;
}

POLYTILE_KERNEL(twice, (i), (const float, y, 1), (float, z, 1)) {
    PT_AT(z, i) = 2 * PT_AT(y, i);
}

POLYTILE_KERNEL(count, (e), (float, h, 1), (const int32_t, K, 1)) {
    PT_SUM(PT_AT(h, PT_AT(K, e)), 1);
}

inline constexpr int64_t n_rows = 20, n_entries = 60;

/** Actors that multiply by a sparse matrix and count its entries, by their texts; each may say more
 * of itself. */
inline std::string sparse_graph(const std::string &of_rows = "", const std::string &of_twice = "",
                                const std::string &of_count = "", bool counts_first = false) {
    const std::string rows =
        R"(rows [kernel="rows[i]: in V[P[i]:P[i+1]-1], x[K[P[i]:P[i+1]-1]]; out y[i]")" + of_rows +
        "];\n";
    const std::string count =
        R"(count [kernel="count[e]: sum h[K[e]]", domain="60")" + of_count + "];\n";
    return R"(digraph sparse {
        { node [type=f32, extents="20"]; x; y; z; before; h }
        V [type=f32, extents="60"]; P [type=i32, extents="21"]; K [type=i32, extents="60"];
        )" +
           (counts_first ? count + rows : rows + count) +
           R"(twice [kernel="twice[i]: in y[i]; out z[i]")" + of_twice + R"(];
        V -> rows [as=V]; P -> rows [as=P]; x -> rows [as=x]; K -> rows [as=K]; rows -> y [as=y];
        y -> twice [as=y]; twice -> z [as=z];
        K -> count [as=K]; before -> count [as=h]; count -> h [as=h];
    })";
}

/** What one frame has. */
struct Frame {
    std::vector<float> x = std::vector<float>(n_rows), before = std::vector<float>(n_rows),
                       V = std::vector<float>(n_entries);
    std::vector<int32_t> P = std::vector<int32_t>(n_rows + 1), K = std::vector<int32_t>(n_entries);

    static Frame draw(Random *random) {
        Frame made;
        for (float &value : made.x)
            value = static_cast<float>(random->number(-9, 9));
        for (float &value : made.V)
            value = static_cast<float>(random->number(-9, 9));
        for (size_t i = 1; i < made.P.size(); i++)
            made.P[i] = made.P[i - 1] + static_cast<int32_t>(random->number(0, 3));
        for (int32_t &column : made.K)
            column = static_cast<int32_t>(random->number(0, n_rows - 1));
        return made;
    }
    std::vector<float> twice() const {
        std::vector<float> made(n_rows);
        for (size_t i = 0; i < n_rows; i++)
            for (auto k = static_cast<size_t>(P[i]); k < static_cast<size_t>(P[i + 1]); k++)
                made[i] += V[k] * x[static_cast<size_t>(K[k])];
        for (float &value : made)
            value *= 2;
        return made;
    }
    std::vector<float> counts() const {
        std::vector<float> made = before;
        for (const int32_t column : K)
            made[static_cast<size_t>(column)] += 1;
        return made;
    }
};

class Lookups : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }
    std::string error() const { return polytile_last_error(ctx); }

    template <class T> polytile_array *wrap(std::vector<T> *of, polytile_type type) {
        const auto extent = static_cast<int64_t>(of->size());
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx, "frame", type, 1, &extent, of->data(), &array),
                  POLYTILE_OK);
        return array;
    }

    void bind(polytile_graph *graph) {
        for (const auto &[name, kernel] :
             {std::make_pair("rows", &rows_kernel), std::make_pair("twice", &twice_kernel),
              std::make_pair("count", &count_kernel)})
            EXPECT_EQ(polytile_graph_bind(graph, name, kernel), POLYTILE_OK) << error();
    }

    /** Push the inputs of a frame. */
    polytile_status push(Frame *frame) {
        std::vector<polytile_array *> arrays;
        for (const std::string &name : inputs)
            arrays.push_back(name == "x"        ? wrap(&frame->x, POLYTILE_F32)
                             : name == "before" ? wrap(&frame->before, POLYTILE_F32)
                             : name == "V"      ? wrap(&frame->V, POLYTILE_F32)
                             : name == "P"      ? wrap(&frame->P, POLYTILE_I32)
                                                : wrap(&frame->K, POLYTILE_I32));
        const polytile_status status =
            polytile_stream_push(stream, static_cast<int>(arrays.size()), arrays.data(), nullptr);
        const std::string kept = error();
        for (polytile_array *array : arrays)
            polytile_array_destroy(array);
        last = kept;
        return status;
    }

    /** Pull the outputs, and compare them where there are any. */
    polytile_status pull(const Frame &frame) {
        std::vector<float> z(n_rows), h(n_rows);
        std::vector<polytile_array *> arrays;
        for (const std::string &name : outputs)
            arrays.push_back(wrap(name == "z" ? &z : &h, POLYTILE_F32));
        const polytile_status status =
            polytile_stream_pull(stream, static_cast<int>(arrays.size()), arrays.data(), nullptr);
        last = error();
        for (polytile_array *array : arrays)
            polytile_array_destroy(array);
        for (const std::string &name : outputs)
            if (status == POLYTILE_OK)
                EXPECT_EQ(name == "z" ? z : h, name == "z" ? frame.twice() : frame.counts());
        return status;
    }

    polytile_context *ctx = nullptr;
    polytile_stream *stream = nullptr;
    std::vector<std::string> inputs, outputs; /* names of this process' own */
    std::string last;
};

} // namespace lookup_streams

#endif
