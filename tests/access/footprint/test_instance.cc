#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "support/launch.h"

namespace {

using Arrays = std::map<std::string, std::string>;

TEST(Instance, ParametersAndWholeDimensionsBecomeConstants) {
    Launch launch("k[i]: in x[1:n-1:2], A[i, :]; out y[i]", "10",
                  {{"x", "100"}, {"A", "0:9, -1:10"}, {"y", "10"}}, {{{"n", 50}}, {}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    const pti_instance &instance = *launch.instance();
    EXPECT_EQ(instance.section[0].subscript[0].lo.constant, 1);
    EXPECT_EQ(instance.section[0].subscript[0].hi.constant, 49);
    EXPECT_EQ(instance.section[0].subscript[0].step, 2);
    EXPECT_EQ(instance.section[1].subscript[1].lo.constant, -1);
    EXPECT_EQ(instance.section[1].subscript[1].hi.constant, 10);
}

TEST(Instance, FixedWindowsEndOnTheirLattice) {
    Launch launch("k[i]: in x[i:i+8:3]; out y[i:i+2:5]", "10", {{"x", "100"}, {"y", "100"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    const pti_section *sections = launch.instance()->section;
    EXPECT_EQ(sections[0].subscript[0].hi.constant, 6);
    EXPECT_EQ(sections[1].subscript[0].hi.constant, 0);
    EXPECT_EQ(sections[1].subscript[0].step, 1);
}

TEST(Instance, RolesAddUp) {
    Launch launch("k[i, j]: in x[i]; out y[i]; inout z[i]; sum s[0]; out min m[0]; in A[i, j]; out "
                  "A[i+10, j]",
                  "5x5",
                  {{"x", "5"}, {"y", "5"}, {"z", "5"}, {"s", "1"}, {"m", "1"}, {"A", "15x5"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    struct Case {
        const char *name;
        bool reads, writes, reduces, fresh;
    };
    const Case cases[] = {{"x", true, false, false, false}, {"y", false, true, false, false},
                          {"z", true, true, false, false},  {"s", true, true, true, false},
                          {"m", false, true, true, true},   {"A", true, true, false, false}};
    for (const Case &c : cases) {
        const pti_operand &operand = launch.instance()->operand[launch.operand(c.name)];
        EXPECT_EQ(operand.reads, c.reads) << c.name;
        EXPECT_EQ(operand.writes, c.writes) << c.name;
        EXPECT_EQ(operand.reduces, c.reduces) << c.name;
        EXPECT_EQ(operand.fresh, c.fresh) << c.name;
        EXPECT_FALSE(operand.partial) << c.name;
    }
    EXPECT_EQ(launch.instance()->operand[launch.operand("A")].n_sections, 2);
}

TEST(Instance, WritesThatAreNotAFewBoxesArePartial) {
    struct Case {
        const char *section;
        const char *threads;
        bool partial;
    };
    const Case cases[] = {
        {"A[i, j]", "100x100", false},       {"A[j, i]", "100x100", false},
        {"A[2*i, j]", "100x100", false},     {"A[i, 0:j]", "100x100", false},
        {"A[i, i]", "64x1", false},          {"A[i, i]", "65x1", true},
        {"A[i, 0:i]", "100x1", true},        {"A[i, 0:i-1]", "30x1", false},
        {"A[i, 0:j-5]", "100x100", false},   {"A[i, j-9:20]", "100x100", false},
        {"A[i, j:40-j]", "100x100", false},  {"A[i, j+9:2*j]", "100x100", false},
        {"A[i, i:i-2]", "100x1", false},     {"A[i, i:i-2]", "100x100", false},
        {"A[i+j, 0]", "100x100", false},     {"A[2*i+3*j, 0]", "64x100", false},
        {"A[2*i+3*j, 0]", "65x65", true},    {"A[4*i:4*i+1, j]", "50x50", false},
        {"A[i, j:j+9:3]", "100x100", false}, {"A[100*i+j, 0]", "100x100", true},
    };
    for (const Case &c : cases) {
        Launch launch(std::string("k[i, j]: out ") + c.section, c.threads, {{"A", "20000x400"}});
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        const pti_operand &operand = launch.instance()->operand[0];
        EXPECT_EQ(operand.partial, c.partial) << c.section << " over " << c.threads;
        EXPECT_EQ(operand.reads, c.partial) << c.section << " over " << c.threads;
    }
}

TEST(Instance, RefusalsSayWhatIsWrong) {
    struct Case {
        const char *declaration;
        const char *threads;
        Arrays arrays;
        Launch::Options options;
        polytile_status status;
        const char *says;
    };
    const int64_t far = INT64_C(1) << 61;
    const Case cases[] = {
        {"k[i]: in x[i]; out y[i]", "10", {{"x", "10"}}, {}, POLYTILE_INVALID, "array for y"},
        {"k[i]: out y[i]", "0:-1", {{"y", "10"}}, {}, POLYTILE_INVALID, "is empty"},
        {"k[i]: out y[i]", "0:8:2", {{"y", "7"}}, {}, POLYTILE_DECLARATION, "thread [8]"},
        {"k[i]: out y[i]", "5x5", {{"y", "10"}}, {}, POLYTILE_INVALID, "2 dimensions"},
        {"k[i]: out y[i]",
         "10",
         {{"y", "10x10"}},
         {},
         POLYTILE_DECLARATION,
         "y has 1 subscript, but its array y has 2 dimensions"},
        {"k[i]: out y[n*0+i]",
         "9",
         {{"y", "9"}},
         {},
         POLYTILE_DECLARATION,
         "n is no index, so it is a parameter"},
        {"k[i]: out y[i]", "9", {{"y", "9"}}, {{{"m", 4}}, {}}, POLYTILE_INVALID, "no parameter m"},
        {"k[i]: out sum y[0]",
         "9",
         {{"y", "9"}},
         {{}, {{"y", POLYTILE_BYTES(4)}}},
         POLYTILE_INVALID,
         "4 raw bytes"},
        {"k[i]: sum y[0]; prod y[1]", "9", {{"y", "9"}}, {}, POLYTILE_DECLARATION, "two arrays"},
        {"k[i]: sum y[0]; out sum y[1]", "9", {{"y", "9"}}, {}, POLYTILE_DECLARATION, "two arrays"},
        {"k[i]: out sum y[0]; in y[1]", "9", {{"y", "9"}}, {}, POLYTILE_DECLARATION, "two arrays"},
        {"k[i]: sum y[0]; in y[i+1]", "8", {{"y", "9"}}, {}, POLYTILE_DECLARATION, "two arrays"},
        {"k[i]: min y[0]; out y[i+1]", "8", {{"y", "9"}}, {}, POLYTILE_DECLARATION, "two arrays"},
        {"k[i]: out sum y[i, 0:i]", "99", {{"y", "99x99"}}, {}, POLYTILE_UNSUPPORTED, "drop"},
        {"k[i]: in x[i]; out y[i]",
         "10",
         {{"x", "8"}, {"y", "10"}},
         {},
         POLYTILE_DECLARATION,
         "k: thread [8] touches x[8], and its section has no element in x[0:7]"},
        {"k[i, j]: in x[i-j]; out y[i, j]",
         "3x8",
         {{"x", "-5:2"}, {"y", "3x8"}},
         {},
         POLYTILE_DECLARATION,
         "touches x[-6]"},
        {"k[i]: out y[4611686018427387904*i]", "9", {{"y", "9"}}, {}, POLYTILE_OVERFLOW, "2^61"},
        {"k[i]: out y[i+n]", "9", {{"y", "9"}}, {{{"n", far}}, {}}, POLYTILE_OVERFLOW, "2^61"},
        {"k[i]: out y[9*n]",
         "9",
         {{"y", "9"}},
         {{{"n", INT64_MAX}}, {}},
         POLYTILE_OVERFLOW,
         "parameter"},
        {"k[i]: out y[i]", "0:4611686018427387904", {{"y", "9"}}, {}, POLYTILE_OVERFLOW, "2^61"},
        {"k[i, j]: out y[i]",
         "4294967296x4294967296",
         {{"y", "9"}},
         {},
         POLYTILE_OVERFLOW,
         "threads"},
    };
    for (const Case &c : cases) {
        Launch launch(c.declaration, c.threads, c.arrays, c.options);
        EXPECT_EQ(launch.status(), c.status) << c.declaration << "\n" << launch.error();
        EXPECT_EQ(launch.instance(), nullptr);
        EXPECT_NE(launch.error().find(c.says), std::string::npos) << launch.error();
    }
}

TEST(Instance, EmptyAndClippedSectionsAreNoError) {
    const char *const declarations[] = {
        "k[i]: in x[i-1:i+1]; out y[i]", "k[i]: in x[0:i-1]; out y[i]",
        "k[i]: in x[i+1:9]; out y[i]", "k[i]: in x[i+5:i-5]; out y[i]",
        "k[i]: in x[10+i:19-i]; out y[i]"};
    for (const char *declaration : declarations) {
        Launch launch(declaration, declaration[11] == '1' ? "10:19" : "10",
                      {{"x", "10"}, {"y", "20"}});
        EXPECT_EQ(launch.status(), POLYTILE_OK) << declaration << launch.error();
    }
}

/** The elements that all threads combine into together are known where each thread's range lies in
 * that of another, empty ones too. */
TEST(Instance, ReductionsOverGrowingRangesStartFromTheIdentity) {
    const char *const sections[] = {"Q[:i-5]",   "Q[0:i-500:2]",  "Q[i+400:]",  "Q[i:700-i]",
                                    "Q[i-j-3:]", "Q[:i-5, :j-9]", "Q[i+1:i-1]", "Q[5:4]"};
    for (const char *section : sections) {
        const bool is_plane = std::string(section).find(", ") != std::string::npos;
        Launch launch(std::string("k[i, j]: out sum ") + section, "1000x20",
                      {{"Q", is_plane ? "1000x1000" : "1000"}});
        ASSERT_EQ(launch.status(), POLYTILE_OK) << section << ": " << launch.error();
        EXPECT_FALSE(launch.instance()->operand[0].partial) << section;
    }
}

TEST(Instance, APartlyEmptySectionIsAccusedOnlyWhereItIsNot) {
    Launch inside("k[i]: in x[i:8-i]; out y[i]", "10", {{"x", "0:4"}, {"y", "10"}});
    EXPECT_EQ(inside.status(), POLYTILE_OK) << inside.error();
    Launch outside("k[i]: in x[i:8-i]; out y[i]", "10", {{"x", "0:2"}, {"y", "10"}});
    EXPECT_EQ(outside.status(), POLYTILE_DECLARATION);
    EXPECT_NE(outside.error().find("thread [3] touches x[3]"), std::string::npos)
        << outside.error();
}

} // namespace
