#include "queue/queue_test.h"

#include "support/random.h"
#include "support/scale.h"

#include <algorithm>

extern "C" {
#include "queue/queue.h"
}

/* Launches that differ only in which arrays they have are cut once. */

namespace {

/** How a launch was cut: superblocks, and the sections of each piece of its arrays. */
struct Cut {
    std::vector<std::vector<int64_t>> superblocks;
    std::vector<int64_t> shape, pieces;
    bool is_apart = false;
};

std::vector<int64_t> numbers_of(const polytile_domain &box) {
    std::vector<int64_t> made;
    for (int d = 0; d < box.n_dims; d++)
        made.insert(made.end(), {box.range[d].lo, box.range[d].hi});
    return made;
}

Cut cut_of(const pti_prepared &prepared) {
    const pti_partition &partition = prepared.partition;
    const pti_call &call = prepared.ways.call[prepared.way];
    Cut made;
    for (int64_t k = 0; k < partition.n_superblocks; k++)
        made.superblocks.push_back(numbers_of(partition.superblock[k]));
    made.shape = {partition.n_lanes, partition.n_strips, partition.cut};
    for (int d = 0; d < prepared.domain.n_dims; d++)
        made.shape.push_back(partition.shape[d]);
    for (int o = 0; o < call.instance->n_operands; o++) {
        const pti_operand &operand = call.instance->operand[o];
        made.pieces.insert(made.pieces.end(), {operand.n_sections, operand.array, call.array[o]});
        for (int s = 0; s < operand.n_sections; s++)
            made.pieces.push_back(call.instance->section[operand.first_section + s].access);
    }
    made.is_apart = prepared.is_cut_apart;
    return made;
}

/** The launch that was prepared last. */
const pti_prepared &newest(const polytile_queue &queue) {
    const pti_prepared *found = nullptr;
    for (const pti_prepared *bucket : queue.prepared)
        for (const pti_prepared *next = bucket; next != nullptr; next = next->next)
            if (found == nullptr || next->serial > found->serial)
                found = next;
    return *found;
}

class QueueTwins : public QueueTest {
  protected:
    void SetUp() override {
        QueueTest::SetUp();
        nothing.host = [](const polytile_domain *, const polytile_view *, void *) {};
        nothing.host_takes_pieces = true;
    }

    polytile_array *field(const char *name, const Lengths &extents) {
        int64_t n = 1;
        for (const int64_t extent : extents)
            n *= extent;
        memory_.emplace_back(static_cast<size_t>(n));
        polytile_array *made = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx, name, POLYTILE_F32, static_cast<int>(extents.size()),
                                      extents.data(), memory_.back().data(), &made),
                  POLYTILE_OK)
            << error();
        return made;
    }

    /** Queue a launch, and return how it was cut; nothing runs. */
    Cut cut(polytile_queue *queue, const polytile_kernel *kernel, const polytile_domain &threads,
            const Arrays &arrays) {
        EXPECT_EQ(launch(queue, kernel, threads, arrays), POLYTILE_OK) << error();
        return cut_of(newest(*queue));
    }

    polytile_queue *open_paused(const std::string &device, const Arrays &arrays) {
        polytile_queue *queue = open(device.c_str());
        EXPECT_EQ(attach(queue, arrays), POLYTILE_OK) << error();
        polytile_queue_pause(queue);
        return queue;
    }

    polytile_implementation nothing = {};

  private:
    std::vector<std::vector<float>> memory_;
};

const char *const declarations[] = {
    "copy[i, j]: in A[i, j]; out B[i, j]",
    "five[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
    "ring[i, j]: in A[wrap(i-1:i+1), j]; out B[i, j]",
    "torus[i, j]: in A[wrap(i-1:i+1), j], A[i, wrap(j-1:j+1)]; out B[i, j]",
    "far[i, j]: in A[wrap(i+40), j], A[i, j]; out B[i, j]",
    "rows[i, j]: in A[i, :]; out B[i, j]",
    "turned[i, j]: in A[j, i]; out B[i, j]",
    "grown[i, j]: in A[i, j]; inout B[i, j]",
};

/** The second launch is cut as the first one, which is how it would be cut without that. */
TEST_F(QueueTwins, AreCutAsEachOneByItself) {
    Random random(test_seed("QueueTwins.AreCutAsEachOneByItself"));
    for (int trial = 0; trial < scaled(40); trial++) {
        const char *declaration =
            declarations[random.number(0, static_cast<int64_t>(std::size(declarations)) - 1)];
        const int64_t n = random.number(48, 127);
        polytile_kernel *kernel = create(declaration, &nothing);
        polytile_array *a = field("a", {n, n}), *b = field("b", {n, n});
        const polytile_domain threads = {2, {{0, n - 1, 1}, {0, n - 1, 1}}};
        const std::string device =
            "host(memory=" + std::to_string(n * n * 4 / random.number(1, 6)) + "B)";
        SCOPED_TRACE(std::string(declaration) + " of " + std::to_string(n) + " on " + device);
        polytile_queue *both = open_paused(device, {a, b});
        const Cut there = cut(both, kernel, threads, {a, b});
        const Cut back = cut(both, kernel, threads, {b, a});
        polytile_queue_resume(both);
        polytile_queue_destroy(both);
        polytile_queue *alone = open_paused(device, {a, b});
        const Cut expected = cut(alone, kernel, threads, {b, a});
        polytile_queue_resume(alone);
        polytile_queue_destroy(alone);
        EXPECT_TRUE(there.is_apart && back.is_apart && expected.is_apart);
        EXPECT_EQ(back.superblocks, expected.superblocks);
        EXPECT_EQ(back.shape, expected.shape);
        EXPECT_EQ(back.pieces, expected.pieces);
        EXPECT_EQ(back.superblocks, there.superblocks);
        polytile_kernel_destroy(kernel);
    }
}

/** A field that is made anew for each of a program's runs is no reason to cut anew. */
TEST_F(QueueTwins, AreFoundAmongLaunchesWhoseArraysHaveLeft) {
    polytile_kernel *kernel = create(declarations[3], &nothing);
    const Lengths extents = {96, 96};
    const polytile_domain threads = {2, {{0, 95, 1}, {0, 95, 1}}};
    polytile_array *a = field("a", extents);
    polytile_queue *queue = open("host(memory=16KiB)");
    Cut before;
    for (int run = 0; run < 3; run++) {
        polytile_array *scratch = nullptr;
        ASSERT_EQ(attach(queue, {a}), POLYTILE_OK) << error();
        ASSERT_EQ(polytile_queue_create_array(queue, "scratch", POLYTILE_F32, 2, extents.data(),
                                              &scratch),
                  POLYTILE_OK)
            << error();
        const Cut made = cut(queue, kernel, threads, {a, scratch});
        EXPECT_TRUE(made.is_apart);
        if (run > 0)
            EXPECT_EQ(made.superblocks, before.superblocks);
        before = made;
        polytile_array_destroy(scratch);
        ASSERT_EQ(detach(queue, {a}), POLYTILE_OK) << error();
    }
}

/** Not all arrays fit any more, so the queue's thread cuts a launch anew. Its twin is cut as that,
 * while the queue cuts others. */
TEST_F(QueueTwins, AreCutAsALaunchThatTheQueueCutAnew) {
    const int64_t n = 48;
    const polytile_domain threads = {2, {{0, n - 1, 1}, {0, n - 1, 1}}};
    for (int trial = 0; trial < 3; trial++) {
        polytile_kernel *kernel = create(declarations[2 + trial], &nothing);
        polytile_array *a = field("a", {n, n}), *b = field("b", {n, n}), *c = field("c", {n, n}),
                       *d = field("d", {n, n});
        polytile_queue *queue = open("host(memory=20KiB)");
        ASSERT_EQ(attach(queue, {a, b, c, d}), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, kernel, threads, {a, b}), POLYTILE_OK) << error();
        const pti_prepared &first = newest(*queue);
        const int64_t serial = first.serial;
        EXPECT_TRUE(first.all_fit);
        for (const Arrays &arrays : {Arrays{c, d}, Arrays{a, b}})
            ASSERT_EQ(launch(queue, kernel, threads, arrays), POLYTILE_OK) << error();
        ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        EXPECT_FALSE(first.all_fit);
        EXPECT_GT(first.serial, serial);
        const Cut anew = cut_of(first);
        for (const Arrays &arrays : {Arrays{c, d}, Arrays{d, c}, Arrays{a, b}})
            ASSERT_EQ(launch(queue, kernel, threads, arrays), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, kernel, threads, {b, a}), POLYTILE_OK) << error();
        ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        const Cut twin = cut_of(newest(*queue));
        EXPECT_EQ(twin.superblocks, anew.superblocks);
        EXPECT_EQ(twin.shape, anew.shape);
        EXPECT_EQ(twin.is_apart, anew.is_apart);
        polytile_queue_destroy(queue);
        polytile_kernel_destroy(kernel);
    }
}

/** What is as large, but has another arena, threads, or a related launch of another kind, is cut
 * for itself. */
TEST_F(QueueTwins, AreNoneWhereSomethingElseDiffers) {
    polytile_array *a = field("a", {64, 64}), *b = field("b", {64, 64}), *c = field("c", {64, 96});
    const polytile_domain threads = {2, {{1, 62, 1}, {1, 62, 1}}},
                          fewer = {2, {{1, 62, 1}, {1, 61, 1}}};
    polytile_kernel *five = create(declarations[1], &nothing);
    polytile_kernel *other = create(declarations[0], &nothing);
    polytile_queue *queue = open_paused("host(memory=8KiB)", {a, b, c});
    EXPECT_TRUE(cut(queue, five, threads, {a, b}).is_apart);
    EXPECT_FALSE(cut(queue, five, fewer, {b, a}).is_apart);
    EXPECT_FALSE(cut(queue, other, threads, {a, b}).is_apart);
    EXPECT_FALSE(cut(queue, other, threads, {a, c}).is_apart);
    EXPECT_FALSE(cut(queue, five, threads, {b, a}).is_apart);
    polytile_queue_resume(queue);
    EXPECT_EQ(detach(queue, {a, b, c}), POLYTILE_OK) << error();
}

} // namespace
