#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/elements.h"
#include "support/launch.h"

extern "C" {
#include "access/footprint/footprint.h"
}

namespace {

using Arrays = std::map<std::string, std::string>;

const std::string jacobi = "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";
const Arrays jacobi_arrays = {{"A", "100x100"}, {"B", "100x100"}};
const std::string matmul = "matmul[i, j]: in A[i, :], B[:, j]; out C[i, j]";
const Arrays matmul_arrays = {{"A", "40x30"}, {"B", "30x50"}, {"C", "40x50"}};
const std::string gemm = "gemm[i, j, k]: in A[i, k], B[k, j]; sum C[i, j]";

/** One operand's footprint of a box of threads. */
struct Row {
    std::string declaration;
    std::string domain;
    Arrays arrays;
    std::string threads;
    const char *operand;
    pti_touch touch;
    std::string hull;               /* "": empty */
    std::vector<std::string> boxes; /* in any order */
};

const Row rows[] = {
    /* what the second dimension leaves of the threads leaves nothing to the first */
    {"k[i, j]: out A[3*j:6+i:3, 4*i-1:3*j-1]",
     "-1:49, 4:89",
     {{"A", "-1104:1267, -1005:1357"}},
     "-1:49, 4:89",
     "A",
     PTI_WRITES,
     "",
     {}},
    {"add[i]: in x[i], y[i]; out z[i]",
     "100",
     {{"x", "100"}, {"y", "100"}, {"z", "100"}},
     "8:15",
     "x",
     PTI_READS,
     "8:15",
     {"8:15"}},
    {"add[i]: in x[i], y[i]; out z[i]",
     "100",
     {{"x", "100"}, {"y", "100"}, {"z", "100"}},
     "8:15",
     "z",
     PTI_WRITES,
     "8:15",
     {"8:15"}},
    {"add[i]: in x[i], y[i]; out z[i]",
     "100",
     {{"x", "100"}, {"y", "100"}, {"z", "100"}},
     "8:15",
     "z",
     PTI_READS,
     "",
     {}},
    {jacobi,
     "1:98, 1:98",
     jacobi_arrays,
     "8:15, 20:39",
     "A",
     PTI_READS,
     "7:16, 19:40",
     {"7:16, 20:39", "8:15, 19:19", "8:15, 40:40"}},
    {jacobi,
     "1:98, 1:98",
     jacobi_arrays,
     "8:15, 20:39",
     "B",
     PTI_WRITES,
     "8:15, 20:39",
     {"8:15, 20:39"}},
    {jacobi,
     "100x100",
     jacobi_arrays,
     "0:15, 96:99",
     "A",
     PTI_READS,
     "0:16, 95:99",
     {"0:16, 96:99", "0:15, 95:95"}},
    {matmul, "40x50", matmul_arrays, "8:15, 20:39", "A", PTI_READS, "8:15, 0:29", {"8:15, 0:29"}},
    {matmul, "40x50", matmul_arrays, "8:15, 20:39", "B", PTI_READS, "0:29, 20:39", {"0:29, 20:39"}},
    {gemm,
     "40x50x30",
     matmul_arrays,
     "8:15, 20:39, 4:5",
     "A",
     PTI_READS,
     "8:15, 4:5",
     {"8:15, 4:5"}},
    {gemm,
     "40x50x30",
     matmul_arrays,
     "8:15, 20:39, 4:5",
     "B",
     PTI_READS,
     "4:5, 20:39",
     {"4:5, 20:39"}},
    {gemm,
     "40x50x30",
     matmul_arrays,
     "8:15, 20:39, 4:5",
     "C",
     PTI_READS,
     "8:15, 20:39",
     {"8:15, 20:39"}},
    {gemm,
     "40x50x30",
     matmul_arrays,
     "8:15, 20:39, 4:5",
     "C",
     PTI_WRITES,
     "8:15, 20:39",
     {"8:15, 20:39"}},
    {"dot[i]: in x[i], y[i]; out sum s[0]",
     "9",
     {{"x", "9"}, {"y", "9"}, {"s", "1"}},
     "2:5",
     "s",
     PTI_READS,
     "",
     {}},
    {"dot[i]: in x[i], y[i]; out sum s[0]",
     "9",
     {{"x", "9"}, {"y", "9"}, {"s", "1"}},
     "2:5",
     "s",
     PTI_WRITES,
     "0:0",
     {"0:0"}},
    {"coarsen[i]: in fine[2*i:2*i+2]; out coarse[i]",
     "10",
     {{"fine", "21"}, {"coarse", "10"}},
     "3:5",
     "fine",
     PTI_READS,
     "6:12",
     {"6:12"}},
    {"odd[i]: in x[1:n-1:2]; out y[i]",
     "10",
     {{"x", "50"}, {"y", "10"}},
     "3:5",
     "x",
     PTI_READS,
     "1:49:2",
     {"1:49:2"}},
    {"lower[i]: in L[i, 0:i], x[0:i]; out y[i]",
     "9",
     {{"L", "9x9"}, {"x", "9"}, {"y", "9"}},
     "2:4",
     "L",
     PTI_READS,
     "2:4, 0:4",
     {"2:4, 0:2", "3:4, 3:3", "4:4, 4:4"}},
    {"lower[i]: in L[i, 0:i], x[0:i]; out y[i]",
     "9",
     {{"L", "9x9"}, {"x", "9"}, {"y", "9"}},
     "2:4",
     "x",
     PTI_READS,
     "0:4",
     {"0:4"}},
    {"strict[i]: in L[i, 0:i-1]; out y[i]",
     "9",
     {{"L", "9x9"}, {"y", "9"}},
     "0:0",
     "L",
     PTI_READS,
     "",
     {}},
    {"hankel[i, j]: in h[i+j]; out H[i, j]",
     "9x9",
     {{"h", "17"}, {"H", "9x9"}},
     "2:4, 3:7",
     "h",
     PTI_READS,
     "5:11",
     {"5:11"}},
    {"gaps[i]: in A[4*i:4*i+1]; out B[i]",
     "10",
     {{"A", "40"}, {"B", "10"}},
     "2:9",
     "A",
     PTI_READS,
     "8:37",
     {"8:36:4", "9:37:4"}},
    {"diagonal[i]: in A[i, i]; out B[i]",
     "10",
     {{"A", "10x10"}, {"B", "10"}},
     "2:4",
     "A",
     PTI_READS,
     "2:4, 2:4",
     {"2:2, 2:2", "3:3, 3:3", "4:4, 4:4"}},
    {"mirror[i]: in A[9-i]; out B[i]",
     "10",
     {{"A", "10"}, {"B", "10"}},
     "2:4",
     "A",
     PTI_READS,
     "5:7",
     {"5:7"}},
    {"twostrides[i]: in A[2:100:2], A[2:100:3]; out B[i]",
     "10",
     {{"A", "101"}, {"B", "10"}},
     "2:4",
     "A",
     PTI_READS,
     "2:100",
     {"2:100:2", "5:95:6"}},
    {"never[i]: in A[i+1:i-1]; out B[i]",
     "10",
     {{"A", "10"}, {"B", "10"}},
     "2:4",
     "A",
     PTI_READS,
     "",
     {}},
    {"never[i]: in A[i, 5:3]; out B[i]",
     "10",
     {{"A", "10x10"}, {"B", "10"}},
     "2:4",
     "A",
     PTI_READS,
     "",
     {}},
    {"never[i]: in A[2*i+7:2*i:3]; out B[i]",
     "10",
     {{"A", "30"}, {"B", "10"}},
     "2:4",
     "A",
     PTI_READS,
     "",
     {}},
    {"later[i]: in A[:i-5]; out B[i]",
     "10",
     {{"A", "10"}, {"B", "10"}},
     "2:8",
     "A",
     PTI_READS,
     "0:3",
     {"0:3"}},
    {"later[i]: in A[:i-5]; out B[i]",
     "10",
     {{"A", "10"}, {"B", "10"}},
     "2:4",
     "A",
     PTI_READS,
     "",
     {}},
    {"later[i]: in A[i, :i-5]; out B[i]",
     "10",
     {{"A", "10x10"}, {"B", "10"}},
     "2:6",
     "A",
     PTI_READS,
     "5:6, 0:1",
     {"5:5, 0:0", "6:6, 0:1"}},
    {"later[i]: in A[i+5:2*i]; out B[i]",
     "10",
     {{"A", "30"}, {"B", "10"}},
     "2:8",
     "A",
     PTI_READS,
     "10:16",
     {"10:16"}},
    {"earlier[i]: in A[i:7-i]; out B[i]",
     "10",
     {{"A", "10"}, {"B", "10"}},
     "2:8",
     "A",
     PTI_READS,
     "2:5",
     {"2:5"}},
    {"earlier[i]: in A[20-2*i:9:2]; out B[i]",
     "10",
     {{"A", "21"}, {"B", "10"}},
     "5:8",
     "A",
     PTI_READS,
     "4:8:2",
     {"4:8:2"}},
    {"corner[i, j]: in A[:i-j-3]; out B[i, j]",
     "9x9",
     {{"A", "9"}, {"B", "9x9"}},
     "0:8, 2:4",
     "A",
     PTI_READS,
     "0:3",
     {"0:3"}},
};

Elements elements_of(const polytile_domain &array, const std::vector<std::string> &boxes) {
    Elements elements(array);
    for (const std::string &box : boxes)
        elements.add(domain_of(box));
    return elements;
}

TEST(Footprint, OfTheExampleDeclarations) {
    for (const Row &row : rows) {
        SCOPED_TRACE(row.declaration + " " + row.operand + " by " + row.threads);
        Launch::Options options;
        if (row.declaration.find("n-1") != std::string::npos)
            options.parameters["n"] = 50;
        Launch launch(row.declaration, row.domain, row.arrays, options);
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        const int p = launch.operand(row.operand);
        const polytile_domain threads = domain_of(row.threads);
        const polytile_domain &array = launch.instance()->operand[p].domain;
        const polytile_domain hull = pti_footprint_hull(launch.instance(), p, row.touch, &threads);
        const polytile_domain expected =
            row.hull.empty() ? pti_box_empty(array.n_dims) : domain_of(row.hull);
        EXPECT_TRUE(pti_box_equals(&hull, &expected)) << text_of(hull);
        pti_boxes boxes = {};
        EXPECT_TRUE(pti_footprint_boxes(launch.instance(), p, row.touch, &threads, 64, &boxes));
        Elements found(array);
        found.add(boxes);
        EXPECT_TRUE(found == elements_of(array, row.boxes));
        EXPECT_EQ(boxes.n_boxes, static_cast<int>(row.boxes.size()));
        pti_boxes_free(&boxes);
    }
}

TEST(Footprint, OfARelationInBracesContainsWhatItTouches) {
    Launch launch("any[i, j]: in {[i, j] -> A[a, b] : a = i and 0 <= b <= j}; out B[i, j]", "9x9",
                  {{"A", "9x9"}, {"B", "9x9"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    const polytile_domain threads = domain_of("2:4, 3:7"), touched = domain_of("2:4, 0:7");
    pti_boxes boxes = {};
    const bool exact = pti_footprint_boxes(launch.instance(), 0, PTI_READS, &threads, 64, &boxes);
    EXPECT_TRUE(pti_boxes_cover(&boxes, &touched));
    EXPECT_TRUE(!exact || pti_boxes_count(&boxes) == pti_box_count(&touched));
    pti_boxes_free(&boxes);
}

TEST(Footprint, TooManyBoxesBecomeHullsOfGroups) {
    Launch launch("diagonal[i]: in A[i, i]; out B[i]", "1000", {{"A", "1000x1000"}, {"B", "1000"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    pti_boxes boxes = {};
    EXPECT_FALSE(pti_footprint_boxes(launch.instance(), 0, PTI_READS, &launch.instance()->threads,
                                     8, &boxes));
    EXPECT_LE(boxes.n_boxes, 8);
    EXPECT_EQ(pti_boxes_count(&boxes), 8 * 125 * 125);
    pti_boxes_free(&boxes);
}

TEST(Footprint, APartialOperandIsItsHullBothWays) {
    Launch launch("lower[i]: out L[i, 0:i]", "1000", {{"L", "1000x1000"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    ASSERT_TRUE(launch.instance()->operand[0].partial);
    const polytile_domain threads = domain_of("10:19");
    for (pti_touch touch : {PTI_READS, PTI_WRITES, PTI_TOUCHES}) {
        pti_boxes boxes = {};
        EXPECT_FALSE(pti_footprint_boxes(launch.instance(), 0, touch, &threads, 64, &boxes));
        ASSERT_EQ(boxes.n_boxes, 1);
        const polytile_domain expected = domain_of("10:19, 0:19");
        EXPECT_TRUE(pti_box_equals(&boxes.box[0], &expected));
        pti_boxes_free(&boxes);
    }
}

/** Regularity, and the trend along each index: c constant, r rising, f falling, m mixed. */
struct Pattern {
    std::string declaration;
    std::string domain;
    Arrays arrays;
    const char *operand;
    bool regular;
    std::string trends;
};

const Pattern patterns[] = {
    {jacobi, "1:98, 1:98", jacobi_arrays, "A", true, "cc"},
    {matmul, "40x50", matmul_arrays, "A", true, "cc"},
    {matmul, "40x50", matmul_arrays, "B", true, "cc"},
    {gemm, "40x50x30", matmul_arrays, "A", false, "ccc"},
    {"k[i]: in L[i, 0:i]; out y[i]", "9", {{"L", "9x9"}, {"y", "9"}}, "L", false, "r"},
    {"k[i]: in U[i, i:n-1]; out y[i]", "9", {{"U", "9x9"}, {"y", "9"}}, "U", false, "f"},
    {"k[i]: in x[0], x[i]; out y[i]", "9", {{"x", "9"}, {"y", "9"}}, "x", false, "m"},
    {"k[i]: in x[0:9], x[i:i+10]; out y[i]", "9", {{"x", "30"}, {"y", "9"}}, "x", false, "r"},
    {"k[i]: in A[0:i, i:9]; out y[i]", "9", {{"A", "30x30"}, {"y", "9"}}, "A", false, "m"},
    {"k[i, j]: in h[i+j]; out H[i, j]", "9x9", {{"h", "17"}, {"H", "9x9"}}, "h", false, "cc"},
};

TEST(Footprint, PatternsOfTheExampleDeclarations) {
    for (const Pattern &pattern : patterns) {
        SCOPED_TRACE(pattern.declaration + " " + pattern.operand);
        Launch::Options options;
        if (pattern.declaration.find("n-1") != std::string::npos)
            options.parameters["n"] = 9;
        Launch launch(pattern.declaration, pattern.domain, pattern.arrays, options);
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        const int p = launch.operand(pattern.operand);
        EXPECT_EQ(pti_operand_is_regular(launch.instance(), p), pattern.regular);
        std::string trends;
        for (int k = 0; k < launch.instance()->n_indices; k++)
            trends += "crfm"[pti_operand_trend(launch.instance(), p, k)];
        EXPECT_EQ(trends, pattern.trends);
    }
}

TEST(Footprint, DependsOnTheIndicesThatItsSectionsName) {
    Launch launch(gemm, "40x50x30", matmul_arrays);
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    const int c = launch.operand("C");
    EXPECT_TRUE(pti_operand_depends(launch.instance(), c, 0));
    EXPECT_TRUE(pti_operand_depends(launch.instance(), c, 1));
    EXPECT_FALSE(pti_operand_depends(launch.instance(), c, 2));
}

TEST(Footprint, LeastCountsAreExactWhereSlicesCannotMeet) {
    struct Case {
        const char *declaration;
        const char *domain;
        Arrays arrays;
        pti_touch touch;
        int64_t count;
    };
    const Case cases[] = {
        {"k[i]: in L[i, 0:i]; out y[i]",
         "1000",
         {{"L", "1000x1000"}, {"y", "1000"}},
         PTI_READS,
         1000 * 1001 / 2},
        {"k[i]: out L[i, i]", "1000", {{"L", "1000x1000"}}, PTI_WRITES, 1000},
        {"k[i]: out L[i, i]", "1000", {{"L", "1000x1000"}}, PTI_READS, 0},
        {"k[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out y[i, j]",
         "1:1000, 1:1000",
         {{"A", "1002x1002"}, {"y", "1:1000, 1:1000"}},
         PTI_READS,
         1000 * 1000 + 4 * 1000},
        {"k[i, j]: in A[i+j, i:i+1, j]; out y[i, j]",
         "100x100",
         {{"A", "199x101x100"}, {"y", "100x100"}},
         PTI_READS,
         20000},
        {"k[i]: in h[2*i], h[3*i]; out y[i]",
         "1000",
         {{"h", "3000"}, {"y", "1000"}},
         PTI_READS,
         1000 + 1000 - 334},
    };
    for (const Case &c : cases) {
        Launch launch(c.declaration, c.domain, c.arrays);
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        bool failed = false;
        EXPECT_EQ(pti_operand_least_count(launch.instance(), 0, c.touch, &failed), c.count)
            << c.declaration;
        EXPECT_FALSE(failed);
    }
}

TEST(Footprint, LeastCountOfMoreSlicesThanCanBeWalkedIsClose) {
    Launch launch("k[i]: in L[i, 0:i]; out y[i]", "1000000",
                  {{"L", "1000000x1000000"}, {"y", "1000000"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    const int64_t truth = INT64_C(1000000) * 1000001 / 2;
    bool failed = false;
    const int64_t bound = pti_operand_least_count(launch.instance(), 0, PTI_READS, &failed);
    EXPECT_FALSE(failed);
    EXPECT_LE(bound, truth);
    EXPECT_GE(bound, truth - truth / 1000);
}

} // namespace
