#include "partition/skew/skewed.h"
#include "support/xml.h"

extern "C" {
#include "partition/show/picture_chain.h"
#include "partition/window/plan.h"
}

namespace {

const Kernel there = {"blur[i]: in x[i-1:i+1]; out y[i]", "1:998", {{"x", 0}, {"y", 1}}};
const Kernel back = {"blur[i]: in x[i-1:i+1]; out y[i]", "1:998", {{"x", 1}, {"y", 0}}};

/** Steps to and fro over two lines, as a schedule of a shape. */
class ChainPicture : public ::testing::Test {
  protected:
    ~ChainPicture() override { pti_schedule_free(schedule_); }

    void Build(int n_launches, const pti_skew_shape &shape) {
        for (int l = 0; l < n_launches; l++)
            skewed_.Add(l % 2);
        ASSERT_EQ(skewed_.Find(), "");
        request_ = skewed_.Request(1 << 20);
        schedule_ = pti_skew_build(&request_, &shape);
        ASSERT_NE(schedule_, nullptr);
        ASSERT_TRUE(pti_interleaving_find(schedule_, &interleaving_));
    }
    void TearDown() override { pti_interleaving_free(&interleaving_); }

    Skewed skewed_{{"1000", "1000"}, {there, back}};
    pti_skew_request request_ = {};
    pti_schedule *schedule_ = nullptr;
    pti_interleaving interleaving_ = {};
};

std::string Draw(const pti_schedule *schedule) {
    pti_text svg = {};
    pti_chain_draw(&svg, schedule);
    EXPECT_FALSE(svg.failed);
    const std::string text = svg.data == nullptr ? "" : svg.data;
    pti_text_free(&svg);
    EXPECT_EQ(xml_error(text), "") << text.substr(0, 2000);
    EXPECT_EQ(text.find("nan"), std::string::npos);
    EXPECT_EQ(text.find("inf"), std::string::npos);
    return text;
}

void ExpectWords(const std::string &svg, const std::vector<std::string> &all) {
    for (const std::string &words : all)
        EXPECT_NE(svg.find(words), std::string::npos) << words;
}

TEST_F(ChainPicture, InterleavedLaunchesArePassesAndSlabsOfTheShape) {
    Build(8, {2, 4, 100, 2, false, 0, 0, 0, 0});
    ASSERT_EQ(interleaving_.n_passes, 2);
    EXPECT_EQ(interleaving_.pass[1].first, 4);
    EXPECT_EQ(interleaving_.pass[1].end, 8);
    EXPECT_EQ(interleaving_.pass[0].n_slabs, 11);
    polytile_domain threads;
    ASSERT_TRUE(pti_interleaving_threads(schedule_, &interleaving_, 3, 5, &threads));
    EXPECT_EQ(threads.range[0].lo, 1 + 500 - 3);
    EXPECT_EQ(threads.range[0].hi, 600 - 3);
    EXPECT_FALSE(pti_interleaving_threads(schedule_, &interleaving_, 0, 10, &threads));
}

TEST_F(ChainPicture, OneSlabOfAllLaunchesIsOnePass) {
    Build(4, {1, 4, 2000, 1, false, 0, 0, 0, 0});
    EXPECT_EQ(interleaving_.n_passes, 1);
    EXPECT_EQ(interleaving_.pass[0].n_slabs, 1);
    ExpectWords(Draw(schedule_), {"4 launches in 1 pass "});
}

TEST_F(ChainPicture, InPlaceWholeLaunchesFollowOneAnotherAndNothingMoves) {
    Build(4, {1, 4, 2000, 1, false, 0, 0, 0, 0});
    schedule_->in_place = true;
    const std::string svg = Draw(schedule_);
    ExpectWords(svg, {"4 launches in 4 passes in place", "in place: nothing moves"});
    EXPECT_EQ(svg.find("brings"), std::string::npos);
}

TEST_F(ChainPicture, HasTheFiguresAndWhatASlabMoves) {
    Build(8, {2, 4, 100, 2, false, 0, 0, 0, 0});
    ExpectWords(Draw(schedule_), {"blur: 8 launches in 2 passes within 1 MiB",
                                  "4 launches a pass, 100 threads a slab along i",
                                  "pass 1: launches 4 to 7 are interleaved in 11 slabs",
                                  "launch 3, slab 5: threads ", "with a pass for each launch",
                                  "begins a lap", "brings 800 B", "carries 1.59 KiB", "takes 800 B",
                                  "class=\"carried\"", "class=\"band\""});
}

TEST_F(ChainPicture, OfAManyTimesLargerChainStaysSmallAndSaysSo) {
    Build(256, {1, 256, 1, 4, false, 0, 0, 0, 0});
    const std::string svg = Draw(schedule_);
    EXPECT_LT(svg.size(), 200000u);
    ExpectWords(svg, {"a part is drawn: 20 of 256 launches, ", " of 1,253 slabs"});
}

TEST_F(ChainPicture, IsWhatAPlanOfSeveralLaunchesPrints) {
    Build(8, {2, 4, 100, 2, false, 0, 0, 0, 0});
    polytile_plan plan = {};
    char *text = nullptr;
    plan.schedule = schedule_;
    ASSERT_EQ(polytile_plan_to_string(&plan, POLYTILE_SVG, &text), POLYTILE_OK);
    EXPECT_EQ(text, Draw(schedule_));
    free(text);
}

TEST_F(ChainPicture, EscapesNames) {
    Build(4, {1, 4, 100, 2, false, 0, 0, 0, 0});
    char *const name = schedule_->instance->operand[0].name;
    char bad[] = "</svg>\x01";
    schedule_->instance->operand[0].name = bad;
    ExpectWords(Draw(schedule_), {"&lt;/svg&gt;?"});
    schedule_->instance->operand[0].name = name;
}

TEST(ChainPictures, OfLaunchesOneAfterAnotherHaveNoPassesOfSeveral) {
    const std::vector<std::string> domains = {"40x40", "40x40"};
    const char *jacobi = "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";
    Resident resident(4000, domains);
    std::vector<std::unique_ptr<CutLaunch>> launches;
    std::vector<pti_step> steps;
    for (int l = 0; l < 6; l++) {
        launches.push_back(std::make_unique<CutLaunch>(
            Kernel{jacobi, "1:38,1:38", {{"A", l % 2}, {"B", 1 - l % 2}}}, domains));
        launches.back()->CutInPieces(4);
        steps.push_back(launches.back()->Step());
    }
    steps.push_back(Flush(0));
    steps.push_back(Flush(1));
    const std::string svg = Draw(resident.Plan(steps));
    ExpectWords(svg, {"jacobi: 6 launches in 6 passes", "one launch after another"});
    EXPECT_EQ(svg.find("are interleaved"), std::string::npos);
}

TEST(ChainPictures, AreWellFormedWhateverRunsInWhateverPieces) {
    const uint64_t seed = test_seed("ChainPictures.AreWellFormedWhateverRunsInWhateverPieces");
    for (uint64_t round = 0; round < 200 && !::testing::Test::HasFailure(); round++) {
        SCOPED_TRACE(round);
        Random random(seed + round);
        Resident resident(1 << 16, some_domains);
        std::vector<std::unique_ptr<CutLaunch>> launches;
        std::vector<pti_step> steps;
        for (int64_t n = random.number(1, 8); n > 0; n--) {
            const auto k = static_cast<size_t>(
                random.number(0, static_cast<int64_t>(some_kernels.size()) - 1));
            launches.push_back(std::make_unique<CutLaunch>(some_kernels[k], some_domains));
            launches.back()->CutAtRandom(&random);
            steps.push_back(launches.back()->Step());
        }
        Draw(resident.Plan(steps));
    }
}

} // namespace
