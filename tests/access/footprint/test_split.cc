#include <gtest/gtest.h>

#include "support/launch.h"

extern "C" {
#include "access/footprint/split.h"
}

namespace {

/** Sections and in which operands they are; "" where the instance is not split. */
struct Row {
    const char *declaration;
    std::map<std::string, std::string> arrays;
    const char *parallel; /* operands with PTI_TOGETHER_PARALLEL, as "A: 1 2, B: 3" */
    const char *near_by;  /* and with PTI_TOGETHER_NEAR */
};

std::string sections_of(const pti_instance &instance) {
    std::string text;
    for (int o = 0; o < instance.n_operands; o++) {
        text += (o == 0 ? "" : ", ") + std::string(instance.operand[o].name);
        text += ":" + std::to_string(instance.operand[o].n_sections);
    }
    return text;
}

std::string split_by(const Launch &launch, pti_together together) {
    pti_instance *split = nullptr;
    EXPECT_EQ(pti_instance_split(launch.context(), launch.instance(), together, &split),
              POLYTILE_OK);
    const std::string text = split == nullptr ? "" : sections_of(*split);
    pti_instance_free(split);
    return text;
}

const std::map<std::string, std::string> two_lines = {{"x", "100000"}, {"y", "1000"}};

const Row rows[] = {
    {"k[i]: in x[i], x[i+1]; out y[i]", two_lines, "", ""},
    {"k[i]: in x[i], x[i+65]; out y[i]", two_lines, "", ""},
    {"k[i]: in x[i], x[i+66]; out y[i]", two_lines, "", "x:1, y:1, x:1"},
    {"k[i]: in x[i:i+9], x[i+75:i+80]; out y[i]", two_lines, "", "x:1, y:1, x:1"},
    {"k[i]: in x[i:i+9], x[i+74:i+80]; out y[i]", two_lines, "", ""},
    {"k[i]: in x[i], x[2*i]; out y[i]", two_lines, "x:1, y:1, x:1", "x:1, y:1, x:1"},
    {"k[i]: in x[i], x[2*i], x[i+1]; out y[i]", two_lines, "x:2, y:1, x:1", "x:2, y:1, x:1"},
    {"k[i]: in x[i+500], x[i], x[i+1000]; out y[i]", two_lines, "", "x:1, y:1, x:1, x:1"},
    {"k[i]: in x[i+500], x[i], x[i+60]; out y[i]", two_lines, "", "x:1, y:1, x:2"},
    {"k[i]: in x[i], x[i+100], x[i+50]; out y[i]", two_lines, "", ""},
    {"k[i]: in x[0], x[i]; out y[i]", two_lines, "x:1, y:1, x:1", "x:1, y:1, x:1"},
    {"k[i]: in x[0:i], x[1:i+500]; out y[i]", two_lines, "", ""},
    {"k[i]: in x[0:i], x[i]; out y[i]", two_lines, "x:1, y:1, x:1", "x:1, y:1, x:1"},
    {"k[i]: in x[i], y[i]; inout x[i+500]", two_lines, "", ""},
    {"k[i]: in {[i] -> x[a] : 2a = i}, x[2*i]; out y[i]", two_lines, "", ""},
    {"k[i, j]: in A[i, :], A[j, :]; out G[i, j]",
     {{"A", "1000x10"}, {"G", "1000x1000"}},
     "A:1, G:1, A:1",
     "A:1, G:1, A:1"},
    {"k[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out G[i, j]",
     {{"A", "1000x1000"}, {"G", "1000x1000"}},
     "",
     ""},
};

TEST(Split, SectionsThatMoveApartOrLieFarApartAreOperandsOfTheirOwn) {
    for (const Row &row : rows) {
        const Launch launch(row.declaration, row.arrays.count("G") == 0 ? "0:999" : "1:998, 1:998",
                            row.arrays);
        ASSERT_EQ(launch.status(), POLYTILE_OK) << row.declaration << ": " << launch.error();
        EXPECT_EQ(split_by(launch, PTI_TOGETHER_PARALLEL), row.parallel) << row.declaration;
        EXPECT_EQ(split_by(launch, PTI_TOGETHER_NEAR), row.near_by) << row.declaration;
    }
}

TEST(Split, FurtherPiecesStandBehindAllArraysAndNameTheirOwn) {
    const Launch launch("k[i]: in x[i], x[2*i], x[3*i], z[i], z[2*i]; out y[i]", "0:999",
                        {{"x", "3000"}, {"y", "1000"}, {"z", "2000"}});
    pti_instance *split = nullptr;
    ASSERT_EQ(pti_instance_split(launch.context(), launch.instance(), PTI_TOGETHER_NEAR, &split),
              POLYTILE_OK);
    ASSERT_NE(split, nullptr);
    EXPECT_EQ(sections_of(*split), "x:1, z:1, y:1, x:1, x:1, z:1");
    EXPECT_EQ(pti_instance_n_arrays(split), 3);
    const int arrays[] = {0, 1, 2, 0, 0, 1}, n_pieces[] = {3, 2, 1};
    for (int o = 0; o < split->n_operands; o++) {
        EXPECT_EQ(pti_operand_array(split, o), arrays[o]);
        for (int s = 0; s < split->operand[o].n_sections; s++)
            EXPECT_EQ(split->section[split->operand[o].first_section + s].operand, o);
    }
    for (int a = 0; a < 3; a++)
        EXPECT_EQ(pti_instance_count_pieces(split, a), n_pieces[a]);
    pti_instance_free(split);
}

TEST(Split, MorePiecesThanALaunchCanHaveStayTogether) {
    for (int n_sections = POLYTILE_MAX_PIECES; n_sections <= POLYTILE_MAX_PIECES + 1;
         n_sections++) {
        std::string declaration = "k[i]: in x[i]";
        for (int s = 1; s < n_sections; s++)
            declaration += ", x[" + std::to_string(s + 1) + "*i]";
        const Launch launch(declaration + "; out y[i]", "0:999", two_lines);
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        EXPECT_EQ(split_by(launch, PTI_TOGETHER_NEAR).empty(), n_sections > POLYTILE_MAX_PIECES);
    }
}

} // namespace
