#include <gtest/gtest.h>

#include "support/launch.h"

#include <climits>
#include <map>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include "access/bind/unite.h"
#include "access/footprint/footprint.h"
#include "access/pieces/split.h"
}

namespace {

std::string sections_of(const pti_instance &instance) {
    std::string text;
    for (int o = 0; o < instance.n_operands; o++) {
        text += (o == 0 ? "" : ", ") + std::string(instance.operand[o].name);
        text += ":" + std::to_string(instance.operand[o].n_sections);
    }
    return text;
}

std::string split_for(const Launch &launch, const polytile_domain *threads,
                      int most_further = INT_MAX) {
    pti_instance *split = nullptr;
    EXPECT_EQ(
        pti_instance_split(launch.context(), launch.instance(), threads, most_further, &split),
        POLYTILE_OK);
    const std::string text = split == nullptr ? "" : sections_of(*split);
    pti_instance_free(split);
    return text;
}

/** Sections and how many each operand has; "" where the instance is not split. */
struct Row {
    const char *declaration;
    std::map<std::string, std::string> arrays;
    const char *alone; /* however many threads a superblock has */
    const char *worth; /* with 100 threads, or 100 by 100 */
};

const std::map<std::string, std::string> two_lines = {{"x", "100000"}, {"y", "1000"}};

const Row rows[] = {
    {"k[i]: in x[i], x[i+1]; out y[i]", two_lines, "", ""},
    {"k[i]: in x[i], x[i+9]; out y[i]", two_lines, "", ""},
    {"k[i]: in x[i], x[i+10]; out y[i]", two_lines, "x:1, y:1, x:1", ""},
    {"k[i]: in x[i], x[i+100]; out y[i]", two_lines, "x:1, y:1, x:1", ""},
    {"k[i]: in x[i], x[i+101]; out y[i]", two_lines, "x:1, y:1, x:1", "x:1, y:1, x:1"},
    {"k[i]: in x[i:i+9], x[i+18:i+24]; out y[i]", two_lines, "", ""},
    {"k[i]: in x[i:i+9], x[i+19:i+24]; out y[i]", two_lines, "x:1, y:1, x:1", ""},
    {"k[i]: in x[i], x[2*i]; out y[i]", two_lines, "x:1, y:1, x:1", "x:1, y:1, x:1"},
    {"k[i]: in x[i], x[2*i], x[i+1]; out y[i]", two_lines, "x:2, y:1, x:1", "x:2, y:1, x:1"},
    {"k[i]: in x[i+500], x[i], x[i+1000]; out y[i]", two_lines, "x:1, y:1, x:1, x:1",
     "x:1, y:1, x:1, x:1"},
    {"k[i]: in x[i+500], x[i], x[i+60]; out y[i]", two_lines, "x:1, y:1, x:1, x:1",
     "x:1, y:1, x:2"},
    {"k[i]: in x[0], x[i]; out y[i]", two_lines, "x:1, y:1, x:1", "x:1, y:1, x:1"},
    {"k[i]: in x[150], x[i]; out y[i]", two_lines, "x:1, y:1, x:1", "x:1, y:1, x:1"},
    {"k[i]: in x[0:i], x[1:i+500]; out y[i]", two_lines, "", ""},
    {"k[i]: in x[i], y[i]; inout x[i+1000]", two_lines, "x:1, y:1, x:1", "x:1, y:1, x:1"},
    {"k[i]: in y[i]; inout x[i], x[i+1000]", two_lines, "y:1, x:1, x:1", "y:1, x:1, x:1"},
    {"k[i]: in y[i]; inout x[2*i]; in x[3000]", two_lines, "y:1, x:1, x:1", "y:1, x:1, x:1"},
    {"k[i]: in y[i], x[2*i]; inout x[i]", two_lines, "", ""},
    {"k[i]: in y[i]; sum x[i], x[i+1000]", two_lines, "y:1, x:1, x:1", "y:1, x:1, x:1"},
    {"k[i]: in y[i]; sum x[i], x[2*i]", two_lines, "", ""},
    {"k[i]: in y[i]; sum x[i], x[2*i+1]", two_lines, "y:1, x:1, x:1", "y:1, x:1, x:1"},
    {"k[i]: in y[i]; out max x[i], x[i+9]", two_lines, "", ""},
    {"k[i]: in {[i] -> x[a] : 2a = i}, x[2*i]; out y[i]", two_lines, "", ""},
    {"k[i, j]: in A[i, :], A[j+500, :]; out G[i, j]",
     {{"A", "2000x10"}, {"G", "1000x1000"}},
     "A:1, G:1, A:1",
     "A:1, G:1, A:1"},
    {"k[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out G[i, j]",
     {{"A", "1000x1000"}, {"G", "1000x1000"}},
     "",
     ""},
};

TEST(Split, SectionsThatMoveApartOrLieFarApartAreOperandsOfTheirOwn) {
    for (const Row &row : rows) {
        const bool is_plane = row.arrays.count("G") > 0;
        const Launch launch(row.declaration, is_plane ? "1:998, 1:998" : "0:999", row.arrays);
        ASSERT_EQ(launch.status(), POLYTILE_OK) << row.declaration << ": " << launch.error();
        const polytile_domain superblock = domain_of(is_plane ? "101:200, 101:200" : "201:300");
        EXPECT_EQ(split_for(launch, nullptr), row.alone) << row.declaration;
        EXPECT_EQ(split_for(launch, &superblock), row.worth) << row.declaration;
    }
}

/** What a split writes of some threads, as a set of elements of its first array. */
std::multiset<int64_t> written_by(const pti_instance &split, const polytile_domain &threads) {
    std::multiset<int64_t> written;
    pti_boxes boxes = {};
    for (int o = 0; o < split.n_operands; o++) {
        EXPECT_TRUE(
            pti_footprint_boxes(&split, o, PTI_WRITES, &threads, PTI_MAX_WRITE_BOXES, &boxes));
        for (int b = 0; b < boxes.n_boxes; b++) {
            const polytile_range &range = boxes.box[b].range[0];
            for (int64_t e = range.lo; e <= range.hi; e += range.step)
                written.insert(e);
        }
    }
    pti_boxes_free(&boxes);
    return written;
}

/** More stretches than are written as boxes: all sections are united for the launch as a whole. */
TEST(Split, SectionsThatWereUnitedArePiecesAgain) {
    for (const int64_t n_stretches : {33, 64, 65, 1000}) {
        const Launch launch("f[g, k]: inout x[200*g+k], x[200*g+k+100]",
                            std::to_string(n_stretches) + "x100",
                            {{"x", std::to_string(200 * n_stretches)}});
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        pti_instance *united = nullptr, *split = nullptr;
        ASSERT_EQ(pti_instance_copy(launch.context(), launch.instance(), &united), POLYTILE_OK);
        ASSERT_EQ(pti_instance_unite_sections(launch.context(), &united), POLYTILE_OK);
        ASSERT_EQ(united->operand[0].n_sections, 1);
        united->piece_alignment_bytes = 256;
        united->threads = domain_of("3:20, 0:99");
        ASSERT_EQ(pti_instance_split(launch.context(), united, nullptr, INT_MAX, &split),
                  POLYTILE_OK);
        ASSERT_NE(split, nullptr);
        EXPECT_EQ(sections_of(*split), "x:1, x:1");
        EXPECT_EQ(split->piece_alignment_bytes, 256);
        EXPECT_EQ(split->threads.range[0].hi, 20);
        EXPECT_FALSE(split->operand[0].partial || split->operand[1].partial);
        const polytile_domain stretch = domain_of("7:7, 10:29"), two = domain_of("7:8, 10:29"),
                              whole = launch.instance()->threads;
        EXPECT_FALSE(pti_pieces_clash(split, &stretch));
        EXPECT_TRUE(pti_pieces_clash(split, &two));
        EXPECT_TRUE(pti_pieces_clash(split, &whole));
        std::multiset<int64_t> expected;
        for (int64_t k = 10; k < 30; k++)
            expected.insert({1400 + k, 1500 + k});
        EXPECT_EQ(written_by(*split, stretch), expected);
        pti_instance_free(split);
        pti_instance_free(united);
    }
}

/** An array that is not split beside one that is: what it writes takes too many boxes of the launch
 * as a whole, since its sections are no longer united. */
TEST(Split, WhatAnUnitedArrayBesideThemWritesIsKnownOfEachSuperblock) {
    const Launch launch("f[g, h, k, l]: inout x[1000*k+g, 9*h+l], x[1000*k+g+500000, 9*h+l], "
                        "z[18*g+k, 18*h+l], z[18*g+k+9, 18*h+l]",
                        "50x50x9x9", {{"x", "600000x450"}, {"z", "900x900"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    pti_instance *united = nullptr, *split = nullptr;
    ASSERT_EQ(pti_instance_copy(launch.context(), launch.instance(), &united), POLYTILE_OK);
    ASSERT_EQ(pti_instance_unite_sections(launch.context(), &united), POLYTILE_OK);
    EXPECT_EQ(sections_of(*united), "x:1, z:1");
    ASSERT_EQ(pti_instance_split(launch.context(), united, nullptr, INT_MAX, &split), POLYTILE_OK);
    ASSERT_NE(split, nullptr);
    EXPECT_EQ(sections_of(*split), "x:1, z:2, x:1");
    const polytile_domain few = domain_of("7:7, 0:9, 0:8, 0:8"),
                          many = domain_of("0:9, 0:9, 0:8, 0:8");
    EXPECT_FALSE(pti_pieces_clash(split, &few));
    EXPECT_TRUE(pti_pieces_clash(split, &many));
    pti_instance_free(split);
    pti_instance_free(united);
}

TEST(Split, FewerPiecesAreThoseWhoseUnionsTakeTheLeast) {
    const Launch launch("k[i]: in x[i], x[i+500], x[i+2000], x[i+9000]; out y[i]", "0:999",
                        two_lines);
    const polytile_domain superblock = domain_of("201:300");
    const char *const fewer[] = {"", "x:3, y:1, x:1", "x:2, y:1, x:1, x:1",
                                 "x:1, y:1, x:1, x:1, x:1"};
    for (int most_further = 0; most_further < 4; most_further++)
        EXPECT_EQ(split_for(launch, &superblock, most_further), fewer[most_further]);
}

/** Covers of the sections of x, each once, of which none is all in one piece, or all apart. */
std::set<std::vector<std::vector<int64_t>>> covers_of(const Launch &launch) {
    std::set<std::vector<std::vector<int64_t>>> covers;
    pti_instance *split = nullptr;
    for (int k = 0; pti_instance_split_by_cover(launch.context(), launch.instance(), k, &split) ==
                        POLYTILE_OK &&
                    split != nullptr;
         k++) {
        std::vector<std::vector<int64_t>> cover;
        for (int o = 0; o < split->n_operands; o++) {
            const pti_operand &operand = split->operand[o];
            if (operand.name[0] != 'x')
                continue;
            cover.emplace_back();
            for (int s = 0; s < operand.n_sections; s++)
                cover.back().push_back(
                    split->section[operand.first_section + s].subscript[0].lo.constant);
        }
        EXPECT_TRUE(covers.insert(cover).second) << k;
        pti_instance_free(split);
    }
    return covers;
}

TEST(Split, ThreeOrFourPiecesOfOneArrayAreUnitedInAllWays) {
    const std::map<std::string, std::string> two_arrays = {
        {"x", "99999"}, {"z", "99999"}, {"y", "9"}};
    const Launch two("k[i]: in x[i], x[i+500]; out y[i]", "9", two_arrays);
    const Launch three("k[i]: in x[i], x[i+500], x[i+501], x[i+2000]; out y[i]", "9", two_arrays);
    const Launch four("k[i]: in x[i], x[i+500], x[i+2000], x[i+9000]; out y[i]", "9", two_arrays);
    const Launch five("k[i]: in x[i], x[i+500], x[i+2000], x[i+9000], x[i+20000]; out y[i]", "9",
                      two_arrays);
    const Launch both("k[i]: in x[i], x[i+500], x[i+2000], z[i], z[i+500]; out y[i]", "9",
                      two_arrays);
    EXPECT_EQ(covers_of(two).size(), 0u);
    EXPECT_EQ(covers_of(three),
              (std::set<std::vector<std::vector<int64_t>>>{
                  {{0}, {500, 501, 2000}}, {{0, 2000}, {500, 501}}, {{0, 500, 501}, {2000}}}));
    EXPECT_EQ(covers_of(four).size(), 13u);
    EXPECT_EQ(covers_of(five).size(), 0u);
    EXPECT_EQ(covers_of(both).size(), 0u);
}

TEST(Split, FurtherPiecesStandBehindAllArraysAndNameTheirOwn) {
    const Launch launch("k[i]: in x[i], x[2*i], x[3*i], z[i], z[2*i]; out y[i]", "0:999",
                        {{"x", "3000"}, {"y", "1000"}, {"z", "2000"}});
    pti_instance *split = nullptr;
    ASSERT_EQ(pti_instance_split(launch.context(), launch.instance(), nullptr, INT_MAX, &split),
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

TEST(Split, ThereAreNoMorePiecesThanALaunchCanHave) {
    std::string declaration = "k[i]: in x[i]";
    for (int s = 1; s < POLYTILE_MAX_PIECES + 3; s++)
        declaration += ", x[" + std::to_string(s + 1) + "*i+" + std::to_string(100 * s) + "]";
    const Launch launch(declaration + "; out y[i]", "0:999", two_lines);
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    pti_instance *split = nullptr;
    ASSERT_EQ(pti_instance_split(launch.context(), launch.instance(), nullptr, INT_MAX, &split),
              POLYTILE_OK);
    ASSERT_NE(split, nullptr);
    EXPECT_EQ(pti_instance_count_pieces(split, 0), POLYTILE_MAX_PIECES);
    pti_instance_free(split);
}

} // namespace
