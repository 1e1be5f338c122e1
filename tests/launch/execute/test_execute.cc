#include "partition/prove/handmade.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <omp.h>

extern "C" {
#include "access/array/array.h"
#include "access/declare/kernel.h"
#include "launch/execute/execute.h"
#include "launch/host/chain.h"
}

/* The executor on several launches that run in place, interleaved. */

namespace {

constexpr int64_t n_elements = 40, slab_threads = 7;

POLYTILE_KERNEL(take, (i), (const int64_t, A, 1), (int64_t, B, 1)) {
    PT_AT(B, i) = PT_AT(A, i);
}

POLYTILE_KERNEL(blend, (i), (const int64_t, A, 1), (int64_t, B, 1)) {
    PT_AT(B, i) = PT_AT(A, i - 1) + 2 * PT_AT(A, i) + PT_AT(A, i + 1);
}

POLYTILE_KERNEL(total, (i), (const int64_t, A, 1), (int64_t, s, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(A, i));
}

/** What take_kernel does. */
int take_by_launcher(const polytile_sub_kernel *launch) {
    take_kernel.host(launch->threads, launch->views, nullptr);
    return 0;
}

int fail(const polytile_sub_kernel *) {
    return 1;
}

/** Launch l of a chain is offset by l. */
struct Link {
    const char *declaration;
    polytile_implementation implementation;
    int64_t first, last; /* threads */
    std::vector<int> arrays;
};

/** Links of Chain(), one after the other, as plain loops. */
void ComputeChain(std::vector<int64_t> &a, std::vector<int64_t> &b) {
    b = a;
    for (int step = 0; step < 3; step++) {
        const std::vector<int64_t> &from = step == 1 ? a : b;
        std::vector<int64_t> &to = step == 1 ? b : a;
        for (size_t i = 1; i + 1 < from.size(); i++)
            to[i] = from[i - 1] + 2 * from[i] + from[i + 1];
    }
}

class Execute : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
        Open("host(threads=2)");
        for (size_t k = 0; k < values_[0].size(); k++)
            values_[0][k] = static_cast<int64_t>(k * k % 11);
        for (size_t a = 0; a < values_.size(); a++) {
            const int64_t extent = static_cast<int64_t>(values_[a].size());
            arrays_.push_back(nullptr);
            ASSERT_EQ(polytile_array_wrap(ctx_, std::string(1, static_cast<char>('A' + a)).c_str(),
                                          POLYTILE_I64, 1, &extent, values_[a].data(),
                                          &arrays_.back()),
                      POLYTILE_OK);
        }
    }

    void Open(const std::string &device) {
        polytile_device_close(device_);
        ASSERT_EQ(polytile_device_open(ctx_, device.c_str(), &device_), POLYTILE_OK);
    }

    void TearDown() override {
        for (pti_instance *instance : instances_)
            pti_instance_free(instance);
        polytile_context_destroy(ctx_);
    }

    /** A launch of its own for every link: its kernel, and its instance on the arrays. */
    void Describe(const std::vector<Link> &links) {
        for (const Link &link : links) {
            kernels_.push_back(nullptr);
            ASSERT_EQ(polytile_kernel_create(ctx_, link.declaration, &link.implementation,
                                             &kernels_.back()),
                      POLYTILE_OK)
                << polytile_last_error(ctx_);
            std::vector<polytile_array *> given;
            for (int a : link.arrays)
                given.push_back(arrays_[static_cast<size_t>(a)]);
            const polytile_domain threads = Box({{link.first, link.last}});
            instances_.push_back(nullptr);
            ASSERT_EQ(pti_instance_create(kernels_.back(), &threads, given.data(), 0, nullptr,
                                          &instances_.back()),
                      POLYTILE_OK)
                << polytile_last_error(ctx_);
        }
    }

    /** The links' launches in place, slab after slab. */
    Handmade Skewed(const std::vector<Link> &links) {
        Handmade made;
        made.in_place = true;
        std::vector<int64_t> placed;
        for (const polytile_array *array : arrays_) {
            const int a = made.Operand(array->name, array->element_bytes, array->domain);
            made.operands.back().type = array->type;
            placed.push_back(made.Place(a, 0, array->domain));
        }
        for (size_t l = 0; l < links.size(); l++) {
            made.Begin(HandKernel::From(*instances_[l]), links[l].arrays);
            const int64_t offset = static_cast<int64_t>(l);
            for (int64_t lo = links[l].first, hi; lo <= links[l].last; lo = hi + 1) {
                hi = (lo + offset) / slab_threads * slab_threads + slab_threads - offset - 1;
                made.Launch(Box({{lo, std::min(hi, links[l].last)}}), placed);
            }
        }
        std::stable_sort(made.ops.begin(), made.ops.end(), [](const pti_op &a, const pti_op &b) {
            return (a.box.range[0].lo + a.launch) / slab_threads <
                   (b.box.range[0].lo + b.launch) / slab_threads;
        });
        return made;
    }

    std::vector<pti_launch_config> Configs() const {
        std::vector<pti_launch_config> configs;
        for (const polytile_kernel *kernel : kernels_)
            configs.push_back(pti_launch_config_of(kernel, nullptr, nullptr));
        return configs;
    }

    /** Whether threads would stay awake between the launches. */
    bool IsChain(Handmade &made) {
        const std::vector<pti_launch_config> configs = Configs();
        pti_execution execution = {};
        bool suits = false;
        execution.configs = configs.data();
        made.WithSchedule([&](const pti_schedule &schedule) {
            execution.schedule = &schedule;
            suits = pti_host_chain_suits(&execution);
        });
        return suits;
    }

    /** Run the links on a device, beginning with the same values each time. */
    void ExpectSameAsInTurn(const std::string &device, Handmade &made) {
        const std::vector<std::vector<int64_t>> begin = values_;
        std::vector<int64_t> a = values_[0], b;
        ComputeChain(a, b);
        report_ = {};
        Open(device);
        ASSERT_EQ(Run(made), POLYTILE_OK) << polytile_last_error(ctx_);
        EXPECT_EQ(values_[0], a) << device;
        EXPECT_EQ(values_[1], b) << device;
        EXPECT_EQ(report_.n_kernels, static_cast<int64_t>(made.ops.size())) << device;
        EXPECT_GT(report_.compute_s, 0) << device;
        for (size_t k = 0; k < begin.size(); k++)
            std::copy(begin[k].begin(), begin[k].end(), values_[k].begin());
    }

    polytile_status Run(Handmade &made) {
        const std::vector<pti_launch_config> configs = Configs();
        polytile_status status = POLYTILE_INTERNAL;
        EXPECT_TRUE(made.Holds()) << made.why;
        made.WithSchedule([&](const pti_schedule &schedule) {
            status = pti_execute(device_, &schedule, configs.data(), arrays_.data(), &report_);
        });
        return status;
    }

    polytile_context *ctx_ = nullptr;
    polytile_device *device_ = nullptr;
    std::vector<std::vector<int64_t>> values_ = {std::vector<int64_t>(n_elements),
                                                 std::vector<int64_t>(n_elements),
                                                 std::vector<int64_t>(1)};
    std::vector<polytile_array *> arrays_;
    std::vector<polytile_kernel *> kernels_;
    std::vector<pti_instance *> instances_;
    polytile_report report_ = {};
};

std::vector<Link> Chain(const polytile_implementation &last) {
    const char *blend_text = "blend[i]: in A[i-1:i+1]; out B[i]";
    return {{"take[i]: in A[i]; out B[i]", take_kernel, 0, n_elements - 1, {0, 1}},
            {blend_text, blend_kernel, 1, n_elements - 2, {1, 0}},
            {blend_text, blend_kernel, 1, n_elements - 2, {0, 1}},
            {blend_text, last, 1, n_elements - 2, {1, 0}}};
}

TEST_F(Execute, InterleavedLaunchesInPlaceGiveWhatTheyGiveInTurn) {
    std::vector<int64_t> a = values_[0], b;
    ComputeChain(a, b);
    const std::vector<Link> links = Chain(blend_kernel);
    ASSERT_NO_FATAL_FAILURE(Describe(links));
    Handmade made = Skewed(links);
    ASSERT_EQ(made.ops[1].launch, 1);
    ASSERT_EQ(Run(made), POLYTILE_OK) << polytile_last_error(ctx_);
    EXPECT_EQ(values_[0], a);
    EXPECT_EQ(values_[1], b);
    EXPECT_EQ(report_.n_kernels, static_cast<int64_t>(made.ops.size()));
    EXPECT_EQ(report_.h2d_bytes + report_.d2h_bytes, 0);
}

TEST_F(Execute, ChainsOfHostFunctionsRunOnThreadsThatStayAwake) {
    const std::vector<Link> links = Chain(blend_kernel);
    ASSERT_NO_FATAL_FAILURE(Describe(links));
    Handmade made = Skewed(links);
    ASSERT_TRUE(IsChain(made));
    for (int n_threads = 1; n_threads <= 5; n_threads++)
        ASSERT_NO_FATAL_FAILURE(
            ExpectSameAsInTurn("host(threads=" + std::to_string(n_threads) + ")", made));
}

/** Inside a parallel region, a region has one thread. */
TEST_F(Execute, ChainsTakeTheThreadsThatTheyGet) {
    const std::vector<Link> links = Chain(blend_kernel);
    ASSERT_NO_FATAL_FAILURE(Describe(links));
    Handmade made = Skewed(links);
    const int n_levels = omp_get_max_active_levels();
    omp_set_max_active_levels(0);
    ExpectSameAsInTurn("host(threads=4)", made);
    omp_set_max_active_levels(n_levels);
}

TEST_F(Execute, AChainWithALauncherRunsCommandByCommand) {
    polytile_implementation by_launcher = {};
    by_launcher.host_launcher = take_by_launcher;
    std::vector<Link> links = Chain(blend_kernel);
    links[0].implementation = by_launcher;
    ASSERT_NO_FATAL_FAILURE(Describe(links));
    Handmade made = Skewed(links);
    EXPECT_FALSE(IsChain(made));
    ASSERT_NO_FATAL_FAILURE(ExpectSameAsInTurn("host(threads=2)", made));
}

TEST_F(Execute, InPlaceAReductionOfSeveralLaunchesStartsFromTheIdentity) {
    const std::vector<Link> links = {
        {"take[i]: in A[i]; out B[i]", take_kernel, 0, n_elements - 1, {0, 1}},
        {"total[i]: in A[i]; out sum s[0]", total_kernel, 0, n_elements - 1, {1, 2}}};
    ASSERT_NO_FATAL_FAILURE(Describe(links));
    Handmade made = Skewed(links);
    values_[2][0] = 1000;
    EXPECT_FALSE(IsChain(made));
    const int64_t filled = made.Move(PTI_FILL, made.kernels[1].first_superblock, 2, Box({{0}}));
    std::rotate(made.ops.begin(), made.ops.begin() + filled, made.ops.end());
    for (size_t i = 1; i < made.ops.size(); i++)
        made.waits[i] = {0};
    ASSERT_EQ(Run(made), POLYTILE_OK) << polytile_last_error(ctx_);
    EXPECT_EQ(values_[2][0], std::accumulate(values_[0].begin(), values_[0].end(), int64_t{0}));
}

TEST_F(Execute, ArraysThatALaunchOverwritesWholeAreCompleteAgain) {
    const std::vector<Link> links = Chain(blend_kernel);
    ASSERT_NO_FATAL_FAILURE(Describe(links));
    pti_array_set_complete(arrays_[0], false);
    pti_array_set_complete(arrays_[1], false);
    Handmade made = Skewed(links);
    ASSERT_EQ(Run(made), POLYTILE_OK) << polytile_last_error(ctx_);
    EXPECT_FALSE(polytile_array_is_complete(arrays_[0]));
    EXPECT_TRUE(polytile_array_is_complete(arrays_[1]));
}

TEST_F(Execute, AFailureLeavesIncompleteWhatInterleavedLaunchesBeganToWrite) {
    polytile_implementation broken = {};
    broken.host_launcher = fail;
    const std::vector<Link> links = Chain(broken);
    ASSERT_NO_FATAL_FAILURE(Describe(links));
    Handmade made = Skewed(links);
    EXPECT_NE(Run(made), POLYTILE_OK);
    EXPECT_NE(std::string(polytile_last_error(ctx_)).find("left incomplete: A, B"),
              std::string::npos)
        << polytile_last_error(ctx_);
    EXPECT_FALSE(polytile_array_is_complete(arrays_[0]));
    EXPECT_FALSE(polytile_array_is_complete(arrays_[1]));
    EXPECT_TRUE(polytile_array_is_complete(arrays_[2]));
}

} // namespace
