#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/elements.h"
#include "support/launch.h"
#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "access/lag.h"
}

namespace {

using Arrays = std::map<std::string, std::string>;

/** Which array each operand is: operands of one name are one array. */
std::vector<int> arrays_of(const pti_instance &instance) {
    std::vector<int> arrays;
    for (int p = 0; p < instance.n_operands; p++)
        arrays.push_back(instance.operand[p].name[0]);
    return arrays;
}

pti_lag lag_of(const pti_instance *earlier, int earlier_index, const pti_instance *later,
               int later_index) {
    const std::vector<int> first = arrays_of(*earlier), second = arrays_of(*later);
    const pti_cut_launch one = {{earlier, first.data()}, earlier_index, 0};
    const pti_cut_launch other = {{later, second.data()}, later_index, 0};
    pti_lag lag = {};
    EXPECT_EQ(pti_launch_lag(&one, &other, &lag), POLYTILE_OK);
    return lag;
}

/** What bounds a lag without isl, and whether that is the lag. */
std::pair<pti_lag, bool> bound_of(const pti_instance *earlier, int earlier_index,
                                  const pti_instance *later, int later_index) {
    const std::vector<int> first = arrays_of(*earlier), second = arrays_of(*later);
    const pti_cut_launch one = {{earlier, first.data()}, earlier_index, 0};
    const pti_cut_launch other = {{later, second.data()}, later_index, 0};
    pti_lag bound = {};
    const bool is_exact = pti_launch_lag_bound(&one, &other, &bound);
    return {bound, is_exact};
}

std::string text_of(const pti_lag &lag) {
    return lag.conflicts ? std::to_string(lag.threads) : "no conflict";
}

/** A launch and the index along which it is cut. */
struct Cut {
    const char *declaration, *threads;
    int index;
};

struct Case {
    Cut earlier, later;
    Arrays arrays;
    const char *lag;
};

void expect_lags(const std::vector<Case> &cases) {
    for (const Case &c : cases) {
        Launch earlier(c.earlier.declaration, c.earlier.threads, c.arrays);
        Launch later(c.later.declaration, c.later.threads, c.arrays);
        ASSERT_EQ(earlier.status(), POLYTILE_OK) << earlier.error();
        ASSERT_EQ(later.status(), POLYTILE_OK) << later.error();
        const pti_lag lag =
            lag_of(earlier.instance(), c.earlier.index, later.instance(), c.later.index);
        EXPECT_EQ(text_of(lag), c.lag)
            << c.earlier.declaration << " cut along " << c.earlier.index << "\n"
            << c.later.declaration << " cut along " << c.later.index;
    }
}

TEST(Lag, OfStencilsIsTheirReach) {
    const char *to = "k[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";
    const char *fro = "k[i, j]: in B[i-1:i+1, j], B[i, j-1:j+1]; out A[i, j]";
    const char *copy = "k[i, j]: in B[i, j]; out A[i, j]";
    const char *h = "h[i]: in E[i:i+1]; inout H[i]", *e = "e[i]: in H[i-1:i]; inout E[i]";
    const char *inner = "1:62, 1:62";
    const Arrays square = {{"A", "64x64"}, {"B", "64x64"}};
    const Arrays staggered = {{"E", "64"}, {"H", "64"}};
    expect_lags({
        {{to, inner, 0}, {fro, inner, 0}, square, "1"},
        {{to, inner, 1}, {fro, inner, 1}, square, "1"},
        {{to, inner, 0}, {to, inner, 0}, square, "0"},
        {{to, inner, 0}, {copy, inner, 0}, square, "1"},
        {{copy, inner, 0}, {to, inner, 0}, square, "1"},
        {{"k[i]: in A[i-3:i+3]; out B[i]", "3:60", 0},
         {"k[i]: in B[i-3:i+3]; out A[i]", "3:60", 0},
         {{"A", "64"}, {"B", "64"}},
         "3"},
        {{h, "0:62", 0}, {e, "1:62", 0}, staggered, "0"},
        {{e, "1:62", 0}, {h, "0:62", 0}, staggered, "1"},
        {{"k[i, j, k]: in A[i-2:i+2, j, k], A[i, j-1:j+1, k]; out B[i, j, k]", "2:9, 1:10, 0:11",
          0},
         {"k[i, j, k]: in B[i, j, k]; out A[i, j, k]", "2:9, 1:10, 0:11", 0},
         {{"A", "12x12x12"}, {"B", "12x12x12"}},
         "2"},
    });
}

TEST(Lag, IsNegativeWhereTheLaterLaunchMayRunAhead) {
    const Arrays line = {{"A", "100"}};
    expect_lags({
        {{"k[i]: out A[i]", "100", 0}, {"k[i]: in A[i-5]", "5:99", 0}, line, "-5"},
        {{"k[i]: out A[i]", "100", 0}, {"k[i]: in A[i+5]", "95", 0}, line, "5"},
        {{"k[i]: out A[i]", "100", 0}, {"k[i]: in A[0:i-2]", "2:99", 0}, line, "-2"},
        {{"k[i]: out A[i]", "10", 0}, {"k[i]: in A[i-50]", "50:99", 0}, line, "-50"},
    });
}

/** Of butterflies, which are no boxes, along either index of their threads and of the columns. */
TEST(Lag, IsBoundedWithoutIslByTheDimensionsThatFollowTheCuts) {
    const Arrays matrix = {{"x", "64x8"}};
    const Launch one("w[g, k, j]: inout x[8*g+k, j], x[8*g+k+4, j]", "8x4x8", matrix);
    const Launch other("w[g, k, j]: inout x[16*g+k, j], x[16*g+k+8, j]", "4x8x8", matrix);
    const struct {
        int earlier, later;
        int64_t most;
    } cases[] = {{2, 2, 0}, {0, 0, 4}, {1, 1, 3}};
    for (const auto &c : cases) {
        SCOPED_TRACE(c.earlier);
        const auto [bound, is_exact] =
            bound_of(one.instance(), c.earlier, other.instance(), c.later);
        EXPECT_FALSE(is_exact);
        EXPECT_EQ(bound.threads, c.most);
        EXPECT_LE(lag_of(one.instance(), c.earlier, other.instance(), c.later).threads, c.most);
    }
}

TEST(Lag, SeesTheArraysDimensionsApart) {
    const Arrays square = {{"A", "8x8"}, {"B", "8x8"}};
    const char *write = "k[i, j]: out A[i, j]";
    expect_lags({
        {{"k[i, j]: in A[i, :]; out B[i, j]", "8x8", 0}, {write, "8x8", 0}, square, "0"},
        {{"k[i, j]: in A[i, :]; out B[i, j]", "8x8", 1}, {write, "8x8", 1}, square, "7"},
        {{"k[i, j]: in A[:, j]; out B[i, j]", "8x8", 0}, {write, "8x8", 0}, square, "7"},
        {{"k[i, j]: in A[j, i]; out B[i, j]", "8x8", 0}, {write, "8x8", 0}, square, "7"},
        {{"k[i, j]: in A[j, i]; out B[i, j]", "8x8", 0}, {write, "8x8", 1}, square, "0"},
        {{"k[j]: in A[1, j]; out A[0, j]", "1:6", 0},
         {"k[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]", "1:6, 1:6", 1},
         square,
         "0"},
        {{"k[j]: in A[1, j]; out A[0, j]", "1:6", 0},
         {"k[i, j]: in A[i-1:i+1, j-1:j+1]; out B[i, j]", "1:6, 1:6", 1},
         square,
         "1"},
        {{"k[j]: in A[1, j]; out A[0, j]", "1:6", 0},
         {"k[i, j]: in A[i-1:i+1, j]; out B[i, j]", "1:6, 1:6", 0},
         square,
         "5"},
        {{"k[i, j]: out A[i, j]", "8x8", 0}, {"k[j]: in A[7, j]", "8", 0}, square, "7"},
        {{"k[i, j]: out A[i, j]", "8x8", 0}, {"k[j]: in A[2, j]", "3:7", 0}, square, "-1"},
    });
}

TEST(Lag, OfSectionsThatAreNoBoxesIsExactToo) {
    const Arrays arrays = {{"A", "15"}, {"L", "8x8"}, {"X", "8"}, {"Y", "8"}, {"Z", "1000"}};
    expect_lags({
        {{"k[i, j]: sum A[i+j]", "8x8", 0}, {"k[i, j]: in A[i+j]", "8x8", 0}, arrays, "7"},
        {{"k[i, j]: sum A[i+j]", "8x3", 0}, {"k[i, j]: in A[i+j]", "8x3", 0}, arrays, "2"},
        {{"k[i]: in L[i, 0:i]; out Y[i]", "8", 0}, {"k[i, j]: out L[i, j]", "8x8", 0}, arrays, "0"},
        {{"k[i]: in L[i, 0:i]; out Y[i]", "4", 0},
         {"k[i]: out L[i, i+4]", "4", 0},
         arrays,
         "no conflict"},
        {{"k[i]: out X[i]", "8", 0}, {"k[i]: in X[0:i]", "8", 0}, arrays, "0"},
        {{"k[i]: in X[0:i]", "8", 0}, {"k[i]: out X[i]", "8", 0}, arrays, "7"},
        {{"k[i]: in Z[99*i:99*i+99]", "9", 0},
         {"k[i]: out Z[100*i:100*i+99]", "10", 0},
         arrays,
         "1"},
    });
}

TEST(Lag, IsOfWhatMeetsAndIsWritten) {
    const Arrays arrays = {{"A", "20"}, {"B", "20"}, {"F", "10x10"}};
    const char *write = "k[i]: out A[i]";
    expect_lags({
        {{"k[i]: in A[i]; out B[i]", "20", 0}, {"k[i]: in A[:]", "20", 0}, arrays, "no conflict"},
        {{write, "20", 0}, {"k[i]: out B[i]", "20", 0}, arrays, "no conflict"},
        {{write, "0:9", 0}, {write, "10:19", 0}, arrays, "no conflict"},
        {{write, "0:9", 0}, {write, "9:19", 0}, arrays, "0"},
        {{"k[i]: sum A[i]", "20", 0}, {"k[i]: sum A[i]", "20", 0}, arrays, "0"},
        {{"k[i]: sum A[0]", "20", 0}, {"k[i]: in A[i]", "20", 0}, arrays, "19"},
        {{"k[i]: out A[2*i]", "10", 0}, {"k[i]: out A[2*i+1]", "10", 0}, arrays, "no conflict"},
        {{"k[i]: out A[2*i]", "1:9", 0},
         {"k[i]: in A[2*i-1:2*i+1:2]", "1:9", 0},
         arrays,
         "no conflict"},
        {{"k[i]: out F[i, 0:9:2]", "10", 0},
         {"k[i]: in F[i, 1:9:2]", "10", 0},
         arrays,
         "no conflict"},
        {{"k[i]: out A[i]", "20", 0}, {"k[i]: in A[2*i:2*i+2]", "9", 0}, arrays, "10"},
        {{"k[i]: out A[19-i]", "20", 0}, {"k[i]: in A[i]", "20", 0}, arrays, "19"},
        {{"k[i]: out A[19-i]", "5", 0}, {"k[i]: in A[i]", "20", 0}, arrays, "-11"},
    });
}

TEST(Lag, CountsTheWholeHullWhereThatIsAllThatIsKnown) {
    const Arrays arrays = {{"A", "-9:30"}};
    const Cut even = {"k[i]: inout {[i] -> A[a] : i <= a <= i + 2 and a mod 2 = 0}", "11", 0};
    expect_lags({
        {even, {"k[i]: in A[i]", "20", 0}, arrays, "10"},
        {even, {"k[i]: in A[i-7]", "20", 0}, arrays, "3"},
        {even, {"k[i]: in A[i]", "13:19", 0}, arrays, "no conflict"},
        {{"k[i]: in A[i]", "20", 0}, even, arrays, "12"},
    });
}

TEST(Lag, HoldsForDomainsOfAnySize) {
    const Arrays arrays = {{"A", "0:1000000000000000000"}, {"B", "0:1000000000000000000"}};
    const char *inner = "1:999999999999999999";
    expect_lags({
        {{"k[i]: in A[i-1:i+1]; out B[i]", inner, 0},
         {"k[i]: in B[i-1:i+1]; out A[i]", inner, 0},
         arrays,
         "1"},
        {{"k[i]: in A[:]; out B[i]", inner, 0},
         {"k[i]: out A[i]", inner, 0},
         arrays,
         "999999999999999998"},
        {{"k[i]: out A[3*i]", "0:300000000000000000", 0},
         {"k[i]: in A[2*i]", "0:400000000000000000", 0},
         arrays,
         "0"},
    });
}

/* ---- against enumeration ---- */

struct Touch {
    Point thread;
    bool writes;
};

/** Who touches each element of each array, by enumeration. */
using Touches = std::map<std::pair<int, Point>, std::vector<Touch>>;

Touches touches_of(const pti_instance &instance) {
    const std::vector<int> arrays = arrays_of(instance);
    Touches touches;
    for (int s = 0; s < instance.n_sections; s++) {
        const pti_section &section = instance.section[s];
        for_each_point(instance.threads, [&](const Point &thread) {
            polytile_domain box = section_of_thread(section, thread), clipped;
            pti_box_intersect(&box, &instance.operand[section.operand].domain, &clipped);
            for_each_point(clipped, [&](const Point &element) {
                touches[{arrays[static_cast<size_t>(section.operand)], element}].push_back(
                    {thread, section.role != POLYTILE_IN});
            });
        });
    }
    return touches;
}

std::optional<int64_t> widest(const Touches &earlier, int earlier_index, const Touches &later,
                              int later_index) {
    std::optional<int64_t> lag;
    for (const auto &[place, first] : earlier) {
        const auto found = later.find(place);
        if (found == later.end())
            continue;
        for (const Touch &a : first)
            for (const Touch &b : found->second)
                if (a.writes || b.writes)
                    lag = std::max(lag.value_or(INT64_MIN),
                                   a.thread[static_cast<size_t>(earlier_index)] -
                                       b.thread[static_cast<size_t>(later_index)]);
    }
    return lag;
}

/** A subscript of one index, or none, at most; a box by itself. */
std::string draw_window(Random *random, const std::string &index) {
    const int64_t at = random->number(-2, 4), length = random->number(0, 3);
    const std::string from = std::to_string(at), speed = std::to_string(random->number(2, 3));
    switch (random->number(0, 9)) {
    case 0:
        return ":";
    case 1:
        return from;
    case 2:
        return from + ":" + std::to_string(at + 4) + ":2";
    case 3:
        return "5 - " + index;
    case 4:
        return speed + "*" + index + " + " + from;
    case 5:
        return "2*" + index + ":2*" + index + " + " + std::to_string(length + 1);
    case 6:
        return "6 - 2*" + index + ":8 - 2*" + index + (random->chance(50) ? ":2" : "");
    default:
        return index + " + " + from + ":" + index + " + " + std::to_string(at + length);
    }
}

std::string draw_subscript(Random *random, const std::string &index, int n_indices) {
    const std::string other = std::string(1, "ijk"[random->number(0, n_indices - 1)]);
    switch (random->number(0, 3)) {
    case 0:
        return index + " + " + other;
    case 1:
        return "0:" + index;
    case 2:
        return index + ":" + index + " + " + other + ":2";
    default:
        return draw_window(random, other);
    }
}

/** A launch over A and B, both of as many dimensions as given. */
class DrawnLaunch {
  public:
    DrawnLaunch(Random *random, int n_dims, bool only_boxes) {
        static const char *const roles[] = {"in", "in", "out", "inout", "sum"};
        const int n_indices = static_cast<int>(random->number(1, 3));
        text_ =
            std::string("k[") + std::string("i, j, k").substr(0, size_of(3 * n_indices - 2)) + "]";
        const int64_t n_accesses = random->number(1, 3);
        for (int64_t a = 0; a < n_accesses; a++) {
            text_ += std::string(a == 0 ? ": " : "; ") + roles[random->number(0, 4)] + " " +
                     (random->chance(70) ? "A[" : "B[");
            const int64_t turn = random->number(0, 2);
            for (int d = 0; d < n_dims; d++) {
                const int64_t k = (turn + d) % 3;
                const std::string index = k < n_indices ? std::string(1, "ijk"[k]) : "0";
                const bool plain = only_boxes || random->chance(60);
                text_ += (d == 0 ? "" : ", ") + (plain ? draw_window(random, index)
                                                       : draw_subscript(random, index, n_indices));
            }
            text_ += "]";
        }
        const int64_t most = n_indices == 1 ? 8 : n_indices == 2 ? 5 : 3;
        for (int k = 0; k < n_indices; k++) {
            const int64_t lo = random->number(-1, 2);
            threads_ += (k == 0 ? "" : ", ") + std::to_string(lo) + ":" +
                        std::to_string(lo + random->number(0, most - 1));
        }
        launch_ = std::make_unique<Launch>(text_, threads_, arrays_of_dims(n_dims));
    }

    /** NULL if the launch is none that can be made. */
    const pti_instance *instance() const {
        return launch_->status() == POLYTILE_OK ? launch_->instance() : nullptr;
    }
    std::string text() const { return text_ + " over " + threads_; }

  private:
    static size_t size_of(int n) { return static_cast<size_t>(n); }

    static Arrays arrays_of_dims(int n_dims) {
        std::string domain = "-3:9";
        for (int d = 1; d < n_dims; d++)
            domain += ", -3:9";
        return {{"A", domain}, {"B", domain}};
    }

    std::string text_, threads_;
    std::unique_ptr<Launch> launch_;
};

bool is_known(const pti_instance &instance) {
    for (int s = 0; s < instance.n_sections; s++)
        if (!instance.section[s].exact || instance.operand[instance.section[s].operand].partial)
            return false;
    return true;
}

/** The lags of a pair of launches, whatever the indices along which they are cut. */
void compare(const DrawnLaunch &earlier, const DrawnLaunch &later, int64_t *n_conflicts,
             int64_t *n_free) {
    const Touches first = touches_of(*earlier.instance()), second = touches_of(*later.instance());
    const bool exact = is_known(*earlier.instance()) && is_known(*later.instance());
    for (int a = 0; a < earlier.instance()->n_indices; a++) {
        for (int b = 0; b < later.instance()->n_indices; b++) {
            const std::optional<int64_t> truth = widest(first, a, second, b);
            const pti_lag lag = lag_of(earlier.instance(), a, later.instance(), b);
            const auto [bound, is_exact] = bound_of(earlier.instance(), a, later.instance(), b);
            const std::string what = earlier.text() + ", cut along " + std::to_string(a) + "\n" +
                                     later.text() + ", cut along " + std::to_string(b);
            ASSERT_TRUE(!lag.conflicts || (bound.conflicts && bound.threads >= lag.threads))
                << what;
            if (is_exact) {
                ASSERT_EQ(text_of(bound), text_of(lag)) << what;
            }
            if (exact)
                ASSERT_EQ(text_of(lag), truth ? std::to_string(*truth) : "no conflict") << what;
            else
                ASSERT_TRUE(!truth || (lag.conflicts && lag.threads >= *truth)) << what;
            (truth ? *n_conflicts : *n_free)++;
        }
    }
}

/** Enough pairs, however few are asked for, that some conflict and some do not. */
int64_t rounds(int64_t n) {
    return std::max<int64_t>(200, scaled(n));
}

void compare_with_enumeration(Random *random, int64_t n_rounds, bool only_boxes) {
    int64_t n_conflicts = 0, n_free = 0;
    while (n_rounds > 0 && !testing::Test::HasFatalFailure()) {
        const int n_dims = static_cast<int>(random->number(1, 3));
        const DrawnLaunch one(random, n_dims, only_boxes), other(random, n_dims, only_boxes);
        if (one.instance() == nullptr || other.instance() == nullptr)
            continue;
        compare(one, other, &n_conflicts, &n_free);
        compare(other, one, &n_conflicts, &n_free);
        n_rounds--;
    }
    EXPECT_GE(n_conflicts, least_count(n_conflicts + n_free, 0.2));
    EXPECT_GE(n_free, least_count(n_conflicts + n_free, 0.2));
}

TEST(LagRandom, OfBoxesIsThatByEnumeration) {
    Random random(test_seed("LagRandom.OfBoxesIsThatByEnumeration"));
    compare_with_enumeration(&random, rounds(1500), true);
}

TEST(LagRandom, OfAnySectionsIsThatByEnumeration) {
    Random random(test_seed("LagRandom.OfAnySectionsIsThatByEnumeration"));
    compare_with_enumeration(&random, rounds(500), false);
}

} // namespace
