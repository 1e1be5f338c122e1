#include "queue/queue_test.h"
#include "support/environment.h"

#include <polytile/kernel.h>

#include <algorithm>
#include <numeric>

extern "C" {
#include "distribute/group/run.h"
}

/* Members' arrays over the program's memory: those that come again are known again, with the plans
 * that are kept of them. */

namespace {

POLYTILE_KERNEL(member_sum, (i), (const uint32_t, x, 1), (uint32_t, y, 1)) {
    PT_AT(y, i) = 3u * PT_AT(x, i - 1) + 5u * PT_AT(x, i + 1);
}

POLYTILE_KERNEL(member_copy, (i), (const uint32_t, x, 1), (uint32_t, y, 1)) {
    PT_AT(y, i) = PT_AT(x, i);
}

class GroupMemberArrays : public QueueTest {
  protected:
    static constexpr int64_t n = 16384;
    /** How often arrays come and go until what is resident comes back, too. */
    static constexpr int n_first = 8;

    void SetUp() override {
        environment.set("POLYTILE_CHECK", "plan");
        QueueTest::SetUp();
        queue = open("host(memory=12KiB,threads=1),host(memory=12KiB,threads=1)");
        kernel = create("sum[i]: in x[i-1:i+1]; out y[i]", &member_sum_kernel);
    }

    polytile_array *wrap_words(const char *name, std::vector<uint32_t> &memory) {
        polytile_array *made = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx, name, POLYTILE_U32, 1, &n, memory.data(), &made),
                  POLYTILE_OK);
        return made;
    }

    int64_t hits(int member) const {
        return pti_residency_n_hits(pti_group_of(queue)->member[member]->residency);
    }

    void pass_through(polytile_kernel *of, polytile_array *from, polytile_array *to,
                      const polytile_domain &threads) {
        EXPECT_EQ(attach(queue, {from, to}), POLYTILE_OK) << error();
        EXPECT_EQ(launch(queue, of, threads, {from, to}), POLYTILE_OK) << error();
        EXPECT_EQ(detach(queue, {from, to}), POLYTILE_OK) << error();
    }

    /** Attach, launch over some threads, detach and compare. */
    void run_again(polytile_array *from, const std::vector<uint32_t> &x, polytile_array *to,
                   std::vector<uint32_t> &y, const polytile_domain &threads) {
        std::fill(y.begin(), y.end(), 1u);
        pass_through(kernel, from, to, threads);
        for (int64_t i = 0; i < n; i++) {
            const bool is_run = i >= threads.range[0].lo && i <= threads.range[0].hi;
            const auto at = static_cast<size_t>(i);
            ASSERT_EQ(y[at], is_run ? 3u * x[at - 1] + 5u * x[at + 1] : 1u) << i;
        }
    }

    static void count_from(uint32_t first, std::vector<uint32_t> &memory) {
        std::iota(memory.begin(), memory.end(), first);
    }

    const polytile_domain inner = box({1}, {n - 2});
    Environment environment;
    std::vector<uint32_t> x_memory = std::vector<uint32_t>(n), y_memory = std::vector<uint32_t>(n);
    polytile_queue *queue = nullptr;
    polytile_kernel *kernel = nullptr;
};

TEST_F(GroupMemberArrays, ArraysThatComeAgainHaveTheirPlans) {
    polytile_array *x = wrap_words("x", x_memory), *y = wrap_words("y", y_memory);
    polytile_kernel *copying = create("copy[i]: in x[i]; out y[i]", &member_copy_kernel);
    for (int k = 0; k < n_first; k++)
        pass_through(copying, x, y, box({0}, {n - 1}));
    const int64_t n_cut = pti_group_of(queue)->member[0]->n_cut;
    for (uint32_t k = 0; k < 4; k++) {
        const int64_t before[] = {hits(0), hits(1)};
        count_from(100 * k, x_memory);
        pass_through(copying, x, y, box({0}, {n - 1}));
        EXPECT_EQ(y_memory, x_memory);
        EXPECT_GT(hits(0), before[0]);
        EXPECT_GT(hits(1), before[1]);
    }
    EXPECT_EQ(pti_group_of(queue)->member[0]->n_cut, n_cut) << "nothing was cut";
}

/** Another array of the program has other memory, though all else is the same. */
TEST_F(GroupMemberArrays, OtherArraysAreNotTakenForThem) {
    std::vector<uint32_t> other_memory(n);
    polytile_array *x = wrap_words("x", x_memory), *y = wrap_words("y", y_memory);
    count_from(7, x_memory);
    count_from(1000, other_memory);
    for (int k = 0; k < n_first; k++)
        run_again(x, x_memory, y, y_memory, inner);
    polytile_array_destroy(x);
    polytile_array *other = wrap_words("x", other_memory);
    run_again(other, other_memory, y, y_memory, inner);
    for (int k = 0; k < n_first; k++)
        run_again(other, other_memory, y, y_memory, inner);
}

/** Members' arrays are over what their launches need, which is another box each time. */
TEST_F(GroupMemberArrays, BoxesOfOneArrayAreToldApart) {
    polytile_array *x = wrap_words("x", x_memory), *y = wrap_words("y", y_memory);
    for (uint32_t k = 0; k < 3 * n_first; k++) {
        const polytile_domain few =
            box({static_cast<int64_t>(1 + 700 * (k % 3))}, {n - 2 - 4000 * (k % 2)});
        count_from(k, x_memory);
        run_again(x, x_memory, y, y_memory, few);
    }
}

/** More arrays than are remembered. */
TEST_F(GroupMemberArrays, ManyArraysComeAndGo) {
    std::vector<std::vector<uint32_t>> memory;
    std::vector<polytile_array *> x;
    polytile_array *y = wrap_words("y", y_memory);
    for (uint32_t k = 0; k < 2 * PTI_GROUP_FORMER_MEMBERS; k++) {
        memory.emplace_back(n);
        count_from(13 * k, memory.back());
    }
    for (auto &one : memory)
        x.push_back(wrap_words("x", one));
    for (size_t k = 0; k < 3 * x.size(); k += 2)
        run_again(x[k % x.size()], memory[k % x.size()], y, y_memory, inner);
}

} // namespace
