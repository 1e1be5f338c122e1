#include <gtest/gtest.h>

#include <ctime>

#include "distribute/shared_program.h"
#include "support/scale.h"

extern "C" {
#include "distribute/exchange/depth.h"
}

namespace {

polytile_domain square(int64_t n) {
    const int64_t extents[] = {n, n};
    return polytile_domain_from_extents(2, extents);
}

/** Launches that alternate between two squares divided alike. */
class Steps {
  public:
    Steps(int64_t n, int n_members, const char *grid, const char *distribution)
        : inner_{2, {{1, n - 2, 1}, {1, n - 2, 1}}}, n_members_(n_members) {
        for (int a = 0; a < 2; a++)
            program_.add_array(square(n), n_members, grid, distribution);
    }

    void add(const char *declaration, int n_launches) {
        const size_t first = program_.launches().size();
        for (int l = 0; l < 2; l++)
            ASSERT_TRUE(program_.add_launch(declaration, inner_, {l, 1 - l}));
        for (int l = 2; l < n_launches; l++)
            program_.repeat_launch(first + static_cast<size_t>(l % 2));
    }
    pti_superstep superstep() const {
        return program_.superstep(0, program_.launches().size(), n_members_);
    }
    int depth(double fraction, int most) const {
        const pti_superstep whole = superstep();
        return pti_superstep_depth(&whole, fraction, most);
    }

  private:
    SharedProgram program_;
    polytile_domain inner_;
    int n_members_;
};

const char *const five_points = "five[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";
const char *const one_point = "one[i, j]: in A[i, j]; out B[i, j]";

/* D steps on 1024 rows run D * (D - 1) rows more than D * 1024. */
TEST(Depth, IsTheLongestWithSoLittleComputedTwice) {
    Steps steps(4096, 4, "4x1", "block");
    steps.add(five_points, 200);
    EXPECT_EQ(steps.depth(0.02, 200), 21);
    EXPECT_EQ(steps.depth(0.02, 10), 10);
    EXPECT_EQ(steps.depth(0.01, 200), 11);
    EXPECT_EQ(steps.depth(0, 200), 1);
    EXPECT_EQ(steps.depth(1, 200), 200);
}

TEST(Depth, IsWhatTryingAllLengthsFinds) {
    Random random(test_seed("Depth.IsWhatTryingAllLengthsFinds"));
    for (int64_t round = 0; round < scaled(60); round++) {
        const int n_members = static_cast<int>(random.number(1, 9));
        Steps steps(random.number(20, 400), n_members, "", "block");
        steps.add(random.chance(80) ? five_points : one_point,
                  static_cast<int>(random.number(2, 40)));
        const double fraction = static_cast<double>(random.number(0, 30)) / 100;
        const pti_superstep whole = steps.superstep();
        const int member = pti_superstep_busiest(&whole);
        int longest = 0;
        for (pti_superstep part = whole; part.n_launches > longest; part.n_launches--) {
            pti_work work;
            ASSERT_TRUE(pti_work_create(&part, member, &work));
            if (static_cast<double>(work.n_extra_threads) <=
                fraction * static_cast<double>(work.n_threads))
                longest = part.n_launches;
            pti_work_free(&work);
        }
        ASSERT_EQ(steps.depth(fraction, 1000), longest) << n_members << " members";
    }
}

TEST(Depth, HasNoLimitWhereNothingIsComputedTwice) {
    Steps pointwise(64, 4, "", "block"), alone(64, 1, "", "block"),
        scattered(64, 4, "", "cyclic(4)");
    pointwise.add(one_point, 1024);
    alone.add(five_points, 1024);
    scattered.add(one_point, 1024);
    const pti_superstep superstep = pointwise.superstep();
    EXPECT_EQ(pti_superstep_depth(&superstep, PTI_DEPTH_FRACTION, 1024), 1024);
    EXPECT_EQ(alone.depth(PTI_DEPTH_FRACTION, 1024), 1024);
    EXPECT_EQ(scattered.depth(PTI_DEPTH_FRACTION, 1024), 1);
}

TEST(Depth, TheBusiestMemberHasMostRowsAndNeighboursOnBothSides) {
    const struct {
        const char *grid;
        const char *distribution;
        int n_members;
        int busiest;
    } rows[] = {
        {"4x1", "block", 4, 2}, {"5x1", "block", 5, 2},
        {"3x3", "block", 9, 4}, {"4x1", "weighted(1,2,1,1)", 4, 1},
        {"", "block", 1, 0},    {"1x4", "block(dim=1)", 4, 2},
    };
    for (const auto &row : rows) {
        Steps steps(900, row.n_members, row.grid, row.distribution);
        steps.add(five_points, 2);
        const pti_superstep superstep = steps.superstep();
        EXPECT_EQ(pti_superstep_busiest(&superstep), row.busiest) << row.distribution;
    }
}

TEST(Depth, TakesTimeProportionalToTheLaunches) {
    const auto seconds = [](int n_launches) {
        Steps steps(64, 4, "", "block");
        steps.add(one_point, n_launches);
        double least = 1e9;
        for (int turn = 0; turn < 5; turn++) {
            const std::clock_t begin = std::clock();
            EXPECT_EQ(steps.depth(PTI_DEPTH_FRACTION, n_launches), n_launches);
            least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
        }
        return least;
    };
    const double of_128 = seconds(128), of_1024 = seconds(1024);
    std::printf("128 launches %.0f us, 1024 launches %.0f us\n", 1e6 * of_128, 1e6 * of_1024);
    EXPECT_LT(of_1024, 40 * of_128 + 1e-3);
}

} // namespace
