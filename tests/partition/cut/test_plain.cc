#include <gtest/gtest.h>

#include <memory>

#include "partition/cut/launches.h"

using namespace cut;

namespace {

TEST(Plain, TakesNoMoreBuffersThanFit) {
    const std::unique_ptr<Launch> launch(MakeLaunch(Add(100)));
    const pti_problem problem =
        pti_problem_of(launch->instance(), &polytile_link_default, pti_one_block, MiB);
    const pti_buffer_range buffers = {1, 3, 3};
    pti_variant variant = pti_variant_of(&pti_family_plain, 1);
    EXPECT_FALSE(pti_family_plain.next(&problem, &buffers, false, &variant));
}

} // namespace
