#include "distribute/shared_program.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <set>

extern "C" {
#include "distribute/share/chunk_list.h"
}

namespace {

/** The pieces of a program's launch. */
class Pieces {
  public:
    Pieces(const SharedProgram &program, const pti_shared_launch &launch, int n_chunks) {
        std::vector<polytile_domain> domains;
        for (const pti_ownership &ownership : program.ownerships())
            domains.push_back(ownership.domain);
        obstacle = pti_chunk_list_cut(&launch, domains.data(), static_cast<int>(domains.size()),
                                      n_chunks, &chunks);
    }
    ~Pieces() { pti_chunk_list_free(&chunks); }
    Pieces(const Pieces &) = delete;
    Pieces &operator=(const Pieces &) = delete;

    pti_chunks_obstacle obstacle;
    pti_chunk_list chunks = {};
};

polytile_domain box(int64_t n, int64_t m = 0) {
    const int64_t extents[] = {n, m};
    return polytile_domain_from_extents(m == 0 ? 1 : 2, extents);
}

pti_chunks_obstacle obstacle_of(const std::string &declaration, const polytile_domain &threads,
                                const std::vector<polytile_domain> &arrays) {
    SharedProgram program;
    std::vector<int> numbers;
    for (const polytile_domain &array : arrays)
        numbers.push_back(program.add_array(array, 1, "", "block"));
    EXPECT_TRUE(program.add_launch(declaration, threads, numbers)) << program.error();
    return Pieces(program, program.launches()[0], 5).obstacle;
}

TEST(Pool, CutsWhatIsWrittenInRows) {
    SharedProgram program;
    program.add_array(box(10, 7), 1, "", "block");
    program.add_array(box(10, 7), 1, "", "block");
    ASSERT_TRUE(program.add_launch("f[i, j]: in A[i, :]; out B[i, j]", box(10, 7), {0, 1}));
    const Pieces pieces(program, program.launches()[0], 5);
    ASSERT_EQ(pieces.chunks.n_chunks, 5);
    for (int p = 0; p < 5; p++) {
        ASSERT_EQ(pieces.chunks.threads[p].n_boxes, 1);
        EXPECT_EQ(text_of(pieces.chunks.threads[p].box[0]),
                  text_of(polytile_domain{2, {{2 * p, 2 * p + 1, 1}, {0, 6, 1}}}));
    }
}

TEST(Pool, HasNoEmptyPieces) {
    SharedProgram program;
    program.add_array(box(3), 1, "", "block");
    ASSERT_TRUE(program.add_launch("f[i]: inout x[i]", box(3), {0}));
    EXPECT_EQ(Pieces(program, program.launches()[0], 8).chunks.n_chunks, 3);
}

TEST(Pool, IsNotOfWhatReducesOrCannotBeCut) {
    EXPECT_EQ(obstacle_of("f[i]: in x[i]; out y[i]", box(9), {box(9), box(9)}), PTI_CHUNKS_NONE);
    EXPECT_EQ(obstacle_of("f[i, j]: in A[i, j]; out B[j, i]", box(9, 9), {box(9, 9), box(9, 9)}),
              PTI_CHUNKS_NONE);
    EXPECT_EQ(obstacle_of("f[i]: in x[i]; sum s[0]", box(9), {box(9), box(1)}), PTI_CHUNKS_REDUCE);
    EXPECT_EQ(obstacle_of("f[i, j]: in A[i, j]; sum x[i]", box(9, 9), {box(9, 9), box(9)}),
              PTI_CHUNKS_REDUCE);
    EXPECT_EQ(obstacle_of("f[i]: in x[i]; out A[0, i]", box(9), {box(9), box(9, 9)}),
              PTI_CHUNKS_WHOLE);
}

using Element = std::pair<int, Point>;

/** All elements that a box of threads writes. */
std::set<Element> written_by(const pti_shared_launch &launch, const pti_boxes &threads) {
    std::set<Element> all;
    const pti_instance &instance = *launch.call.instance;
    for (int t = 0; t < threads.n_boxes; t++)
        for_each_point(threads.box[t], [&](const Point &thread) {
            for (int s = 0; s < instance.n_sections; s++) {
                const pti_section &section = instance.section[s];
                if (section.role == POLYTILE_IN)
                    continue;
                polytile_domain touched = section_of_thread(section, thread), inside;
                pti_box_intersect(&touched, &instance.operand[section.operand].domain, &inside);
                for_each_point(inside, [&](const Point &element) {
                    all.insert({section.operand, element});
                });
            }
        });
    return all;
}

TEST(Pool, PiecesAreAllThreadsAndWriteNothingTwice) {
    Random random(test_seed("Pool"));
    int64_t n_cut = 0;
    for (int64_t round = 0; round < scaled(5000) && !testing::Test::HasFailure(); round++) {
        SharedProgram program;
        program.draw_arrays(&random, 1);
        if (!program.draw_launch(&random))
            continue;
        const pti_shared_launch &launch = program.launches()[0];
        const Pieces pieces(program, launch, static_cast<int>(random.number(1, 9)));
        if (pieces.obstacle != PTI_CHUNKS_NONE)
            continue;
        std::set<Point> threads;
        std::set<Element> written;
        for (int p = 0; p < pieces.chunks.n_chunks; p++) {
            for (int t = 0; t < pieces.chunks.threads[p].n_boxes; t++)
                for_each_point(pieces.chunks.threads[p].box[t], [&](const Point &thread) {
                    EXPECT_TRUE(threads.insert(thread).second) << program.text();
                });
            for (const Element &element : written_by(launch, pieces.chunks.threads[p]))
                EXPECT_TRUE(written.insert(element).second) << program.text();
        }
        EXPECT_EQ(static_cast<int64_t>(threads.size()),
                  pti_box_count(&launch.call.instance->threads))
            << program.text();
        n_cut++;
    }
    EXPECT_GT(n_cut, 0);
}

} // namespace
