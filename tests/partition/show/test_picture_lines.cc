#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <polytile/polytile.h>

#include "support/xml.h"

/* Pictures of launches with one index, whose arrays may have any dimensions and be any number. */

namespace {

std::string picture(const std::string &declaration, int64_t n, const std::vector<int> &n_dims,
                    int64_t limit_bytes, const char *strategy = "min-traffic") {
    polytile_context *ctx = nullptr;
    EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    polytile_kernel *kernel = nullptr;
    EXPECT_EQ(polytile_kernel_create(ctx, declaration.c_str(), nullptr, &kernel), POLYTILE_OK)
        << polytile_last_error(ctx);
    std::vector<polytile_array *> arrays;
    for (const int dims : n_dims) {
        polytile_domain whole = {};
        whole.n_dims = dims;
        for (int d = 0; d < dims; d++)
            whole.range[d] = {0, n - 1, 1};
        arrays.push_back(nullptr);
        EXPECT_EQ(polytile_array_describe(ctx, "a", POLYTILE_F32, &whole, &arrays.back()),
                  POLYTILE_OK);
    }
    polytile_launch_options options = {};
    options.plan.limit_bytes = limit_bytes;
    options.plan.strategy = strategy;
    const polytile_domain threads = {1, {{0, n - 1, 1}}};
    polytile_plan *plan = nullptr;
    EXPECT_EQ(polytile_plan_create(kernel, &threads, static_cast<int>(arrays.size()), arrays.data(),
                                   &options, &plan),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    char *text = nullptr;
    EXPECT_EQ(polytile_plan_to_string(plan, POLYTILE_SVG, &text), POLYTILE_OK);
    const std::string svg = text == nullptr ? "" : text;
    std::free(text);
    polytile_context_destroy(ctx);
    EXPECT_EQ(xml_error(svg), "") << declaration;
    return svg;
}

TEST(PictureLines, ShowAPlaneOfArraysThatAreHeldInTwoDimensions) {
    const std::string diagonal = picture("k[i]: in A[i, i]; out B[i]", 64, {2, 1}, 4096);
    EXPECT_NE(diagonal.find("A f32, in"), std::string::npos);
    EXPECT_EQ(diagonal.find("(dimensions"), std::string::npos);
    const std::string cube = picture("k[i]: in A[:, i, i]; out B[i]", 16, {3, 1}, 600);
    EXPECT_NE(cube.find("A f32, in (dimensions 1, 2)"), std::string::npos) << cube;
}

TEST(PictureLines, ShowWhatMovesBothWaysInHalves) {
    const std::string both = picture("k[i]: inout A[i]", 1000, {1}, 512);
    EXPECT_NE(both.find("upload"), std::string::npos);
    EXPECT_NE(both.find("download"), std::string::npos);
    EXPECT_NE(both.find("A f32, inout"), std::string::npos);
}

TEST(PictureLines, SayHowManyArraysAreNotShown) {
    std::string declaration = "k[i]: out z[i]; in ";
    for (int k = 0; k < 20; k++)
        declaration += (k == 0 ? "x" : ", x") + std::to_string(k) + "[i]";
    const std::string many =
        picture(declaration, 100, std::vector<int>(21, 1), 4096, "min-kernels");
    EXPECT_NE(many.find("more arrays"), std::string::npos);
}

} // namespace
