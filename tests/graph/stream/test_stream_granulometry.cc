#include <polytile/kernel.h>
#include <polytile/polytile.h>
#include <polytile/stream.h>

#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

/* Granulometry as in Boulos et al. 2012, section 6.1: how much of a volume is left by openings of
 * size n, which are n erosions and n dilations; what one size removes is what the volume has of
 * that size. */

namespace {

const int64_t extent = 9;
const int n_sizes = 3;

using Volume = std::vector<uint8_t>;

/** The least or the most of the 27 elements around one, of those that are there. */
template <class At> uint8_t reduce(int64_t i, int64_t j, int64_t k, bool least, const At &at) {
    uint8_t found = least ? 255 : 0;
    for (int64_t x = std::max<int64_t>(i - 1, 0); x <= std::min(i + 1, extent - 1); x++)
        for (int64_t y = std::max<int64_t>(j - 1, 0); y <= std::min(j + 1, extent - 1); y++)
            for (int64_t z = std::max<int64_t>(k - 1, 0); z <= std::min(k + 1, extent - 1); z++)
                found = least ? std::min(found, at(x, y, z)) : std::max(found, at(x, y, z));
    return found;
}

POLYTILE_KERNEL(erode, (i, j, k), (const uint8_t, A, 3), (uint8_t, B, 3)) {
    PT_AT(B, i, j, k) = reduce(i, j, k, true, [&](int64_t x, int64_t y, int64_t z) -> uint8_t {
        return PT_AT(A, x, y, z);
    });
}

POLYTILE_KERNEL(dilate, (i, j, k), (const uint8_t, A, 3), (uint8_t, B, 3)) {
    PT_AT(B, i, j, k) = reduce(i, j, k, false, [&](int64_t x, int64_t y, int64_t z) -> uint8_t {
        return PT_AT(A, x, y, z);
    });
}

POLYTILE_KERNEL(count, (i, j, k), (const uint8_t, A, 3), (int64_t, c, 1)) {
    PT_SUM(PT_AT(c, 0), (int64_t)PT_AT(A, i, j, k));
}

Volume step(const Volume &of, bool erodes) {
    Volume made(of.size());
    for (int64_t i = 0; i < extent; i++)
        for (int64_t j = 0; j < extent; j++)
            for (int64_t k = 0; k < extent; k++)
                made[static_cast<size_t>((i * extent + j) * extent + k)] =
                    reduce(i, j, k, erodes, [&](int64_t x, int64_t y, int64_t z) {
                        return of[static_cast<size_t>((x * extent + y) * extent + z)];
                    });
    return made;
}

int64_t count_opened(Volume volume, int size) {
    for (const bool erodes : {true, false})
        for (int run = 0; run < size; run++)
            volume = step(volume, erodes);
    int64_t sum = 0;
    for (const uint8_t element : volume)
        sum += element;
    return sum;
}

std::string granulometry() {
    const char section[] = "[i,j,k]: in A[i-1:i+1,j-1:j+1,k-1:k+1]; out B[i,j,k]\", repeat=";
    std::string text = "digraph { { node [type=u8, extents=\"9x9x9\"]; v; }\n";
    for (int n = 1; n <= n_sizes; n++) {
        const std::string s = std::to_string(n);
        text += "{ node [type=u8, extents=\"9x9x9\"]; e" + s + "; o" + s + " } c" + s +
                " [type=i64, extents=1];\n" + "E" + s + " [kernel=\"erode" + section + s + "]; D" +
                s + " [kernel=\"dilate" + section + s + "];\n" + "C" + s +
                " [kernel=\"count[i,j,k]: in A[i,j,k]; out sum c[0]\", domain=\"9x9x9\"];\n" +
                "v -> E" + s + " [as=A]; E" + s + " -> e" + s + " [as=B]; e" + s + " -> D" + s +
                " [as=A]; D" + s + " -> o" + s + " [as=B]; o" + s + " -> C" + s + " [as=A]; C" + s +
                " -> c" + s + " [as=c];\n";
    }
    return text + "}";
}

/** Some boxes, none of which an opening of size 1 removes, and noise, which it may remove. */
void draw_boxes(Random *random, Volume *volume) {
    for (uint8_t &element : *volume)
        element = random->chance(5);
    for (int64_t n = random->number(1, 3); n > 0; n--) {
        int64_t lo[3], hi[3];
        for (int d = 0; d < 3; d++) {
            lo[d] = random->number(0, extent - 3);
            hi[d] = random->number(lo[d] + 2, extent - 1);
        }
        for (int64_t i = lo[0]; i <= hi[0]; i++)
            for (int64_t j = lo[1]; j <= hi[1]; j++)
                for (int64_t k = lo[2]; k <= hi[2]; k++)
                    (*volume)[static_cast<size_t>((i * extent + j) * extent + k)] = 1;
    }
}

/** Count volumes on a machine, and compare with plain loops. */
void compare_counts(Random *random, const char *machine_text,
                    const polytile_graph_options *options) {
    polytile_context *ctx = nullptr;
    polytile_graph *graph = nullptr;
    polytile_machine *machine = nullptr;
    polytile_graph_plan *plan = nullptr;
    polytile_stream *stream = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    ASSERT_EQ(polytile_graph_parse(ctx, granulometry().c_str(), &graph), POLYTILE_OK)
        << polytile_last_error(ctx);
    ASSERT_EQ(polytile_graph_bind(graph, "erode", &erode_kernel), POLYTILE_OK);
    ASSERT_EQ(polytile_graph_bind(graph, "dilate", &dilate_kernel), POLYTILE_OK);
    ASSERT_EQ(polytile_graph_bind(graph, "count", &count_kernel), POLYTILE_OK)
        << polytile_last_error(ctx);
    ASSERT_EQ(polytile_machine_parse(ctx, machine_text, &machine), POLYTILE_OK);
    ASSERT_EQ(polytile_graph_plan_create(graph, machine, options, &plan), POLYTILE_OK)
        << polytile_last_error(ctx);
    ASSERT_EQ(polytile_stream_create(graph, plan, nullptr, &stream), POLYTILE_OK)
        << polytile_last_error(ctx);
    Volume volume(extent * extent * extent);
    int64_t counts[n_sizes] = {}, extents[] = {extent, extent, extent}, single = 1;
    polytile_array *in = nullptr, *out[n_sizes] = {};
    ASSERT_EQ(polytile_array_wrap(ctx, "v", POLYTILE_U8, 3, extents, volume.data(), &in),
              POLYTILE_OK);
    for (int n = 0; n < n_sizes; n++)
        ASSERT_EQ(polytile_array_wrap(ctx, "c", POLYTILE_I64, 1, &single, &counts[n], &out[n]),
                  POLYTILE_OK);
    for (int64_t f = 0; f < scaled(6); f++) {
        draw_boxes(random, &volume);
        ASSERT_EQ(polytile_stream_push(stream, 1, &in, nullptr), POLYTILE_OK)
            << polytile_last_error(ctx);
        ASSERT_EQ(polytile_stream_pull(stream, n_sizes, out, nullptr), POLYTILE_OK)
            << polytile_last_error(ctx);
        for (int n = 1; n <= n_sizes; n++)
            EXPECT_EQ(counts[n - 1], count_opened(volume, n)) << "frame " << f << ", size " << n;
        EXPECT_GE(counts[0], 27) << "one box is left at least";
    }
    polytile_context_destroy(ctx);
}

TEST(Granulometry, CountsWhatOpeningsLeaveOfEachVolume) {
    Random random(test_seed("Granulometry.CountsWhatOpeningsLeaveOfEachVolume"));
    compare_counts(&random,
                   "digraph { a [device=\"host(memory=8KiB,threads=1)\"]; "
                   "b [device=\"host(threads=2)\"] }",
                   nullptr);
}

TEST(Granulometry, CountsVolumesLargerThanAUnitInSuperblocks) {
    Random random(test_seed("Granulometry.CountsVolumesLargerThanAUnitInSuperblocks"));
    polytile_graph_options options = {};
    options.in_superblocks = true;
    compare_counts(&random, "digraph { a [device=\"host(memory=1200B,threads=1)\"] }", &options);
    compare_counts(&random,
                   "digraph { a [device=\"host(memory=1200B,threads=1)\"]; "
                   "b [device=\"host(memory=8KiB,threads=1)\"] }",
                   &options);
}

} // namespace
