#include "support/chain_launch.h"
#include "support/list.h"

extern "C" {
#include "partition/window/plan.h"
#include "partition/window/plan_chain.h"
}

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <polytile/polytile.h>

/* What launches that are planned together must be: of one context, with the parameters that their
 * kernels have, and with arrays of their own where they write. */

namespace {

const polytile_domain nine = {1, {{0, 8, 1}}};

class Launches : public testing::Test {
  protected:
    void SetUp() override {
        polytile_context_create(&ctx);
        polytile_context_create(&other);
        for (polytile_array *&array : arrays)
            polytile_array_describe(ctx, "a", POLYTILE_F32, &nine, &array);
        polytile_array_describe(other, "b", POLYTILE_F32, &nine, &foreign);
        options.limit_bytes = 1024;
    }
    void TearDown() override {
        polytile_context_destroy(ctx);
        polytile_context_destroy(other);
    }

    polytile_kernel *kernel(polytile_context *of, const std::string &declaration) {
        polytile_kernel *made = nullptr;
        EXPECT_EQ(polytile_kernel_create(of, declaration.c_str(), nullptr, &made), POLYTILE_OK)
            << polytile_last_error(of);
        return made;
    }

    void expect_refused(const std::vector<polytile_chain_launch> &launches, polytile_status wanted,
                        const char *says, int n_scratch = 0,
                        polytile_array *const *scratch = nullptr) {
        polytile_plan *plan = nullptr;
        EXPECT_EQ(polytile_plan_create_chain(static_cast<int>(launches.size()), launches.data(),
                                             n_scratch, scratch, &options, &plan),
                  wanted)
            << says;
        EXPECT_EQ(plan, nullptr);
        EXPECT_NE(std::string(polytile_last_error(ctx)).find(says), std::string::npos)
            << polytile_last_error(ctx) << "\n"
            << says;
    }

    polytile_context *ctx = nullptr, *other = nullptr;
    polytile_array *arrays[3] = {}, *foreign = nullptr;
    polytile_plan_options options = {};
};

TEST_F(Launches, AreOfOneContext) {
    polytile_kernel *copy = kernel(ctx, "copy[i]: in x[i]; out y[i]");
    polytile_kernel *elsewhere = kernel(other, "copy[i]: in x[i]; out y[i]");
    polytile_array *mixed[] = {arrays[0], foreign};
    expect_refused({chain_launch(copy, nine, arrays), chain_launch(elsewhere, nine, arrays)},
                   POLYTILE_INVALID, "launches that are planned together are of one context");
    expect_refused({chain_launch(copy, nine, arrays), chain_launch(copy, nine, mixed)},
                   POLYTILE_INVALID, "array b is of another context");
    expect_refused({chain_launch(copy, nine, arrays), chain_launch(nullptr, nine, arrays)},
                   POLYTILE_INVALID, "launch 2 of 2 has no kernel");
    expect_refused({chain_launch(copy, nine, nullptr)}, POLYTILE_INVALID, "list of arrays is NULL");
    polytile_array *const none[] = {arrays[0], nullptr};
    expect_refused({chain_launch(copy, nine, arrays)}, POLYTILE_INVALID,
                   "scratch array 1 of 2 is NULL", 2, none);
    expect_refused({chain_launch(copy, nine, arrays)}, POLYTILE_INVALID,
                   "scratch array 0 of 1 is NULL", 1, nullptr);
    expect_refused({chain_launch(copy, nine, arrays)}, POLYTILE_INVALID,
                   "copy: -1 scratch arrays; give 0 or more", -1, arrays);
    const polytile_chain_launch launch = chain_launch(copy, nine, arrays);
    const polytile_chain_launch gap[] = {{}, launch};
    EXPECT_EQ(polytile_check_chain(2, gap, 0, nullptr, nullptr), POLYTILE_INVALID);
    EXPECT_STREQ(polytile_last_error(ctx), "launch 1 of 2 has no kernel");
    EXPECT_EQ(polytile_check_chain(1, &launch, -1, arrays, nullptr), POLYTILE_INVALID);
    EXPECT_STREQ(polytile_last_error(ctx), "copy: -1 scratch arrays; give 0 or more");
}

TEST_F(Launches, HaveParametersOfTheirOwn) {
    polytile_kernel *first = kernel(ctx, "first[i]: in x[i+n-n]; out y[i]");
    const polytile_parameter three = POLYTILE_PARAMETER("n", 3), five = POLYTILE_PARAMETER("n", 5),
                             two[] = {POLYTILE_PARAMETER("n", 3), POLYTILE_PARAMETER("o", 7)};
    std::vector<polytile_chain_launch> both(2, chain_launch(first, nine, arrays));
    both[0].n_parameters = both[1].n_parameters = 1;
    both[0].parameters = &three;
    both[1].parameters = &five;
    polytile_plan *plan = nullptr;
    EXPECT_EQ(polytile_plan_create_chain(2, both.data(), 0, nullptr, &options, &plan), POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(plan->chain->launches.n_kinds, 2) << "other values make another launch";
    both[1].parameters = &three;
    EXPECT_EQ(polytile_plan_create_chain(2, both.data(), 0, nullptr, &options, &plan), POLYTILE_OK);
    EXPECT_EQ(plan->chain->launches.n_kinds, 1);
    both[1].n_parameters = 0;
    expect_refused(both, POLYTILE_DECLARATION,
                   "launch 2 of 2: first: n is no index, so it is a parameter");
    both[1].n_parameters = 2;
    both[1].parameters = two;
    expect_refused(both, POLYTILE_INVALID, "o");
}

TEST_F(Launches, WriteElementsThatNoOtherNameTouches) {
    polytile_kernel *sum = kernel(ctx, "sum2[i]: in x[i], y[i]; out z[i]");
    polytile_array *read_twice[] = {arrays[0], arrays[0], arrays[1]};
    polytile_array *in_and_out[] = {arrays[0], arrays[1], arrays[0]};
    polytile_plan *plan = nullptr;
    const polytile_chain_launch twice = chain_launch(sum, nine, read_twice);
    EXPECT_EQ(polytile_plan_create_chain(1, &twice, 0, nullptr, &options, &plan), POLYTILE_OK)
        << polytile_last_error(ctx);
    expect_refused({chain_launch(sum, nine, in_and_out)}, POLYTILE_CONFLICT,
                   "conflict on x[0], whose array is given for z, too");
    options.launches_per_pass = -1;
    expect_refused({chain_launch(sum, nine, read_twice)}, POLYTILE_INVALID, "-1 launches a pass");
}

TEST_F(Launches, HaveAtMost64ArraysEach) {
    std::string declaration = "many[i]: out a[i]; in ";
    std::vector<polytile_array *> given(65, arrays[0]);
    given[0] = arrays[1];
    for (int k = 0; k < 64; k++)
        declaration += (k == 0 ? "b" : ", b") + std::to_string(k) + "[i]";
    expect_refused({chain_launch(kernel(ctx, declaration), nine, given.data())},
                   POLYTILE_UNSUPPORTED, "many: 65 arrays; a kernel can have 64");
}

TEST_F(Launches, ArePlannedIntoAPlaceThatIsThere) {
    polytile_kernel *copy = kernel(ctx, "copy[i]: in x[i]; out y[i]");
    const polytile_chain_launch launch = chain_launch(copy, nine, arrays);
    EXPECT_EQ(polytile_plan_create_chain(1, &launch, 0, nullptr, nullptr, nullptr),
              POLYTILE_INVALID);
    EXPECT_NE(std::string(polytile_last_error(ctx)).find("the place for the plan is NULL"),
              std::string::npos);
    EXPECT_EQ(polytile_plan_create(copy, &nine, 2, arrays, nullptr, nullptr), POLYTILE_INVALID);
    polytile_plan *plan = nullptr;
    EXPECT_EQ(polytile_plan_create(nullptr, &nine, 2, arrays, nullptr, &plan), POLYTILE_INVALID);
    EXPECT_EQ(polytile_plan_create_chain(0, &launch, 0, nullptr, nullptr, &plan), POLYTILE_INVALID);
    ASSERT_EQ(polytile_plan_create(copy, &nine, 2, arrays, nullptr, &plan), POLYTILE_OK);
    polytile_domain threads = {};
    EXPECT_EQ(polytile_plan_get_superblock(nullptr, 0, &threads), POLYTILE_INVALID);
    EXPECT_EQ(polytile_plan_get_superblock(plan, 0, nullptr), POLYTILE_INVALID);
    EXPECT_EQ(polytile_plan_get_superblock(plan, -1, &threads), POLYTILE_INVALID);
    EXPECT_EQ(polytile_plan_get_superblock(plan, 1, &threads), POLYTILE_INVALID);
    EXPECT_EQ(polytile_plan_get_superblock(plan, 0, &threads), POLYTILE_OK);
    polytile_plan_destroy(nullptr);
}

TEST_F(Launches, OfTooManySubKernelsAreRefused) {
    const polytile_domain long_one = {1, {{0, INT64_C(1) << 40, 1}}};
    const int64_t block[] = {1};
    polytile_array *wide[2] = {};
    for (polytile_array *&array : wide)
        polytile_array_describe(ctx, "w", POLYTILE_F32, &long_one, &array);
    polytile_launch_options single = {};
    single.plan.limit_bytes = 64;
    single.plan.block = block;
    single.plan.n_buffers = 1;
    polytile_plan *plan = nullptr;
    EXPECT_EQ(polytile_plan_create(kernel(ctx, "turn[i]: in x[wrap(i+1)]; out y[i]"), &long_one,
                                   LIST(wide), &single, &plan),
              POLYTILE_UNSUPPORTED)
        << "it has no period";
    EXPECT_NE(std::string(polytile_last_error(ctx)).find("64 B"), std::string::npos)
        << polytile_last_error(ctx);
}

} // namespace
