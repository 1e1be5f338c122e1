#include "partition/skewed.h"

namespace {

const std::vector<std::string> two_lines = {"64", "64"};
const Kernel there = {"blur[i]: in x[i-1:i+1]; out y[i]", "1:62", {{"x", 0}, {"y", 1}}};
const Kernel back = {"blur[i]: in x[i-1:i+1]; out y[i]", "1:62", {{"x", 1}, {"y", 0}}};

/** Random numbers in arrays; zeros in those that nobody wrote. */
std::vector<HostArray> RandomArrays(const Skewed &skewed, Random *random) {
    std::vector<HostArray> host;
    for (size_t a = 0; a < skewed.domains().size(); a++) {
        host.emplace_back(domain_of(skewed.domains()[a]));
        for (uint64_t &element : host.back().element)
            element = skewed.IsScratch(static_cast<int>(a))
                          ? 0
                          : static_cast<uint64_t>(random->number(1, 1000000));
    }
    return host;
}

/** Run a chain's schedule, and compare with running launch after launch. */
void ExpectRight(Skewed *skewed, const pti_skew_request &request, const pti_skew_shape &shape,
                 Random *random) {
    pti_schedule *schedule = pti_skew_build(&request, &shape);
    ASSERT_NE(schedule, nullptr);
    ASSERT_LE(pti_schedule_peak_bytes(schedule), request.arena_bytes);
    ASSERT_EQ(Objection(schedule), "");
    std::vector<HostArray> host = RandomArrays(*skewed, random), right = host;
    for (size_t a = 0; a < host.size(); a++)
        if (skewed->IsScratch(static_cast<int>(a)))
            std::fill(host[a].element.begin(), host[a].element.end(), 0xdeadu);
    ResidentMemory memory(request.arena_bytes);
    ASSERT_EQ(memory.Run(*schedule, &host, random), "");
    skewed->RunAtOnce(&right);
    for (size_t a = 0; a < host.size(); a++)
        if (!skewed->IsScratch(static_cast<int>(a))) {
            ASSERT_EQ(host[a].element, right[a].element) << "array " << a;
        }
    const pti_traffic traffic = pti_schedule_traffic(schedule);
    EXPECT_EQ(traffic.h2d_bytes, shape.h2d_bytes);
    EXPECT_EQ(traffic.d2h_bytes, shape.d2h_bytes);
    pti_schedule_free(schedule);
}

TEST(Skew, AStencilToAndFroGoesThroughOnce) {
    Random random(test_seed("Skew.AStencilToAndFroGoesThroughOnce"));
    Skewed skewed(two_lines, {there, back});
    skewed.MakeScratch(1);
    for (int step = 0; step < 8; step++)
        skewed.Add(step % 2);
    ASSERT_EQ(skewed.Find(), "");
    EXPECT_EQ(skewed.chain().launch[7].offset, 7);
    const pti_skew_request request = skewed.Request(1500);
    pti_skew_shape shape;
    pti_text why = {};
    ASSERT_TRUE(pti_skew_choose(&request, &shape, &why)) << why.data;
    ExpectRight(&skewed, request, shape, &random);
    EXPECT_EQ(shape.n_passes, 1);
    EXPECT_EQ(shape.h2d_bytes, 64 * 8);
    EXPECT_EQ(shape.d2h_bytes, 62 * 8);
}

const std::vector<std::string> planes = {"64x64", "64x64", "64x64", "64"};
const Kernel blur_there = {
    "blur[i, j]: in x[i-1:i+1, j]; out y[i, j]", "1:62,0:63", {{"x", 0}, {"y", 1}}};
const Kernel blur_back = {
    "blur[i, j]: in x[i-1:i+1, j]; out y[i, j]", "1:62,0:63", {{"x", 1}, {"y", 0}}};
const Kernel add_up = {
    "rows[i, j]: in w[:, :], x[i, j]; out sum z[i]", "0:63,0:63", {{"w", 2}, {"x", 0}, {"z", 3}}};

/** Whether so many launches take turns in so much memory. */
bool AreFused(int n_launches, int64_t arena_bytes) {
    Skewed skewed(planes, {blur_there, blur_back});
    skewed.MakeScratch(1);
    for (int step = 0; step < n_launches; step++)
        skewed.Add(step % 2);
    EXPECT_EQ(skewed.Find(), "");
    const pti_skew_request request = skewed.Request(arena_bytes);
    pti_skew_shape shape;
    pti_text why = {};
    const bool are_fused = pti_skew_choose(&request, &shape, &why);
    pti_text_free(&why);
    return are_fused;
}

TEST(Skew, OddNumbersOfLaunchesAreCutIntoPairsToo) {
    int64_t arena_bytes = 1024;
    while (!AreFused(4, arena_bytes))
        arena_bytes += 256;
    for (const int n_launches : {3, 5, 7})
        EXPECT_TRUE(AreFused(n_launches, arena_bytes)) << n_launches;
}

TEST(Skew, ALaunchThatCannotJoinLeavesNoTrace) {
    Skewed skewed(planes, {blur_there, blur_back, add_up});
    for (const int kernel : {0, 1, 0, 1, 2})
        skewed.Add(kernel);
    EXPECT_EQ(skewed.Find(), "rows starts a reduction of array3");
    EXPECT_EQ(skewed.chain().n_launches, 4);
    EXPECT_EQ(skewed.chain().axis[2], PTI_AXIS_NONE);
}

} // namespace
