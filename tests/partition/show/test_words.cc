#include <gtest/gtest.h>

#include <limits>
#include <string>

extern "C" {
#include "partition/show/words.h"
}

namespace {

constexpr int64_t least = std::numeric_limits<int64_t>::min();
constexpr int64_t most = std::numeric_limits<int64_t>::max();

TEST(Words, NumbersHaveSeparatedThousands) {
    const struct {
        int64_t number;
        const char *words;
    } cases[] = {{0, "0"},
                 {999, "999"},
                 {-999, "-999"},
                 {1000, "1,000"},
                 {-123456, "-123,456"},
                 {most, "9,223,372,036,854,775,807"},
                 {least, "-9,223,372,036,854,775,808"}};
    for (const auto &c : cases)
        EXPECT_STREQ(pti_words_number(c.number).text, c.words);
}

TEST(Words, OneThingHasNoS) {
    EXPECT_STREQ(pti_words_count(1, "kernel").text, "1 kernel");
    EXPECT_STREQ(pti_words_count(0, "kernel").text, "0 kernels");
    EXPECT_STREQ(pti_words_count(12000, "kernel").text, "12,000 kernels");
    const int64_t one[] = {1, 1}, several[] = {103, 1};
    EXPECT_STREQ(pti_words_blocks(2, one).text, "1x1 block");
    EXPECT_STREQ(pti_words_blocks(2, several).text, "103x1 blocks");
}

TEST(Words, DurationsHaveAFittingUnit) {
    EXPECT_STREQ(pti_words_seconds(2.5).text, "2.5 s");
    EXPECT_STREQ(pti_words_seconds(0.25).text, "250 ms");
    EXPECT_STREQ(pti_words_seconds(1e-5).text, "10 us");
}

TEST(Words, HaveRoomForEveryBoxAndItsSuperblock) {
    polytile_domain box = {};
    std::string all = "[";
    box.n_dims = POLYTILE_MAX_DIMS;
    for (int d = 0; d < POLYTILE_MAX_DIMS; d++) {
        box.range[d] = {least, most, most};
        all += (d == 0 ? "" : ", ") + std::to_string(least) + ":" + std::to_string(most) + ":" +
               std::to_string(most);
    }
    EXPECT_EQ(pti_words_box(&box).text, all + "]");
    pti_schedule schedule = {};
    schedule.superblock = &box;
    EXPECT_EQ(pti_words_superblock(&schedule, 0).text, "superblock 0: threads " + all + "]");
}

TEST(Words, LoseTheirEndWhereTheyAreTooLong) {
    const std::string name(2000, 'n');
    const pti_words words = pti_words_of("%s", name.c_str());
    EXPECT_EQ(std::string(words.text), name.substr(0, sizeof words.text - 1));
}

} // namespace
