#include "support/random.h"
#include "support/scale.h"

#include <cstring>
#include <deque>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

extern "C" {
#include "access/set/boxes.h"
#include "launch/host/copy/copiers.h"
#include "launch/host/copy/stream_store.h"
}

namespace {

struct Context {
    Context() { polytile_context_create(&ctx); }
    ~Context() { polytile_context_destroy(ctx); }
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;

    polytile_context *ctx = nullptr;
};

class Copiers {
  public:
    explicit Copiers(int n_threads) {
        EXPECT_EQ(pti_copiers_create(context_.ctx, n_threads, &copiers_), POLYTILE_OK);
    }
    ~Copiers() { pti_copiers_destroy(copiers_); }
    Copiers(const Copiers &) = delete;
    Copiers &operator=(const Copiers &) = delete;

    pti_copiers *get() { return copiers_; }
    void end() {
        pti_copiers_destroy(copiers_);
        copiers_ = nullptr;
    }

  private:
    Context context_;
    pti_copiers *copiers_ = nullptr;
};

/** A copy of a box of a 2-D array into memory of its own, and what it should give. */
struct Copy {
    Copy(Random &random, const std::vector<unsigned char> &bytes, const polytile_domain &array,
         bool keeps_cache)
        : box(array), from_layout(pti_memory_layout_of(&array, 1)) {
        for (int d = 0; d < box.n_dims; d++) {
            polytile_range &range = box.range[d];
            range.lo = random.number(range.lo, range.hi);
            range.hi = random.number(range.lo, range.hi);
        }
        to_layout = pti_memory_layout_of(&box, 1);
        shift = random.number(0, 17);
        const auto n_bytes = static_cast<size_t>(shift + to_layout.size_bytes + 1);
        to.assign(n_bytes, 0xee);
        expected = to;
        const int64_t row_bytes = pti_range_count(box.range[1]);
        for (int64_t i = box.range[0].lo; i <= box.range[0].hi; i++) {
            const int64_t first[] = {i, box.range[1].lo};
            std::memcpy(
                &expected[static_cast<size_t>(shift + pti_memory_layout_offset(&to_layout, first))],
                &bytes[static_cast<size_t>(pti_memory_layout_offset(&from_layout, first))],
                static_cast<size_t>(row_bytes));
        }
        task.move = {&box,
                     1,
                     {to.data() + shift, &to_layout},
                     {const_cast<unsigned char *>(bytes.data()), &from_layout}};
        task.keeps_cache = keeps_cache;
    }
    Copy(const Copy &) = delete;
    Copy &operator=(const Copy &) = delete;

    polytile_domain box;
    pti_memory_layout from_layout, to_layout;
    int64_t shift;
    std::vector<unsigned char> to, expected;
    pti_copy_task task = {};
};

std::vector<unsigned char> random_bytes(Random &random, int64_t n_bytes) {
    std::vector<unsigned char> bytes(static_cast<size_t>(n_bytes));
    for (unsigned char &byte : bytes)
        byte = static_cast<unsigned char>(random.number(0, 255));
    return bytes;
}

TEST(Copiers, CopyExactlyTheBoxes) {
    Random random(test_seed("Copiers.CopyExactlyTheBoxes"));
    const int64_t extents[] = {40, 20000};
    const polytile_domain array = polytile_domain_from_extents(2, extents);
    const std::vector<unsigned char> bytes = random_bytes(random, 40 * 20000);
    for (int n_threads : {1, 2, 5}) {
        Copiers copiers(n_threads);
        for (int64_t round = 0; round < scaled(20); round++) {
            std::vector<std::unique_ptr<Copy>> copies;
            for (int64_t k = random.number(1, 20); k > 0; k--) {
                copies.push_back(std::make_unique<Copy>(random, bytes, array, random.chance(40)));
                pti_copiers_submit(copiers.get(), &copies.back()->task);
            }
            pti_copiers_wait(copiers.get());
            for (const auto &copy : copies) {
                EXPECT_TRUE(pti_copiers_is_done(&copy->task));
                EXPECT_EQ(copy->to, copy->expected);
            }
        }
    }
}

/** A copy of one row of ints. */
struct Row {
    explicit Row(int64_t n) : values(static_cast<size_t>(n)), copied(static_cast<size_t>(n)) {
        box = polytile_domain_from_extents(1, &n);
        layout = pti_memory_layout_of(&box, sizeof(int));
        task.move = {&box, sizeof(int), {copied.data(), &layout}, {values.data(), &layout}};
    }
    Row(const Row &) = delete;
    Row &operator=(const Row &) = delete;

    std::vector<int> values, copied;
    polytile_domain box;
    pti_memory_layout layout;
    pti_copy_task task = {};
};

TEST(Copiers, HandBackATaskThatCanBeUsedAgain) {
    Copiers copiers(2);
    Row row(5000);
    for (int round = 0; round < 300; round++) {
        row.values.assign(row.values.size(), round);
        row.task.keeps_cache = round % 2 == 0;
        pti_copiers_submit(copiers.get(), &row.task);
        while (!pti_copiers_is_done(&row.task))
            std::this_thread::yield();
        ASSERT_EQ(row.copied, row.values);
    }
}

/* One thread passes a value on from row to row, which only works in the order of submission. */
TEST(Copiers, BeginTasksInTheOrderInWhichTheyCome) {
    Copiers copiers(1);
    std::deque<Row> rows;
    for (int k = 0; k < 200; k++)
        rows.emplace_back(100);
    rows[0].values.assign(100, 7);
    for (size_t k = 1; k < rows.size(); k++)
        rows[k].task.move.from.base = rows[k - 1].copied.data();
    for (Row &row : rows)
        pti_copiers_submit(copiers.get(), &row.task);
    pti_copiers_wait(copiers.get());
    EXPECT_EQ(rows.back().copied, rows[0].values);
}

TEST(Copiers, FinishWhatWasSubmittedBeforeTheyEnd) {
    Copiers copiers(3);
    std::deque<Row> rows;
    for (int k = 0; k < 50; k++) {
        rows.emplace_back(3000);
        rows.back().values.assign(3000, k);
    }
    for (Row &row : rows)
        pti_copiers_submit(copiers.get(), &row.task);
    copiers.end();
    for (const Row &row : rows)
        EXPECT_EQ(row.copied, row.values);
}

TEST(Copiers, WakeAfterAPause) {
    Copiers copiers(2);
    for (int round = 0; round < 5; round++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        Row row(10);
        row.values.assign(10, round);
        pti_copiers_submit(copiers.get(), &row.task);
        pti_copiers_wait(copiers.get());
        EXPECT_EQ(row.copied, row.values);
    }
}

TEST(Copiers, WithoutTasksThereIsNothingToWaitFor) {
    Copiers copiers(2);
    pti_copiers_wait(copiers.get());
    pti_copiers_destroy(nullptr);
}

TEST(StreamStore, CopiesAnyBytesToAnyPlace) {
    Random random(test_seed("StreamStore.CopiesAnyBytesToAnyPlace"));
    const std::vector<unsigned char> from = random_bytes(random, 1000);
    for (int64_t round = 0; round < scaled(3000) && !HasFailure(); round++) {
        const auto n = static_cast<size_t>(random.number(0, 500));
        const auto to_at = static_cast<size_t>(random.number(0, 400));
        const auto from_at = static_cast<size_t>(random.number(0, 400));
        std::vector<unsigned char> to(1000, 0xee), expected = to;
        std::memcpy(expected.data() + to_at, from.data() + from_at, n);
        pti_stream_copy(to.data() + to_at, from.data() + from_at, static_cast<int64_t>(n));
        pti_stream_fence();
        EXPECT_EQ(to, expected) << n << " bytes from " << from_at << " to " << to_at;
    }
}

} // namespace
