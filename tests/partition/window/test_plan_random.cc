#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <polytile/polytile.h>

#include "support/links.h"
#include "support/scale.h"

extern "C" {
#include "base/text.h"
#include "partition/cost/demand.h"
#include "partition/prove/check.h"
#include "partition/window/plan.h"
}

namespace {

/** A launch drawn at random: few blocks along each index, so that every superblock shape can be
 * tried. */
struct Launch {
    std::string declaration;
    std::vector<int64_t> extents;
    std::vector<int64_t> block;
    struct Array {
        std::string name;
        polytile_type type;
        std::vector<int64_t> extents;
    };
    std::vector<Array> arrays;
};

class Draw {
  public:
    explicit Draw(uint64_t seed) : random_(seed) {}

    int64_t Number(int64_t lo, int64_t hi) {
        return std::uniform_int_distribution<int64_t>(lo, hi)(random_);
    }

    polytile_type Type() {
        const polytile_type types[] = {POLYTILE_F32, POLYTILE_F64, POLYTILE_U8, POLYTILE_BYTES(12)};
        return types[Number(0, 3)];
    }

    Launch One() {
        Launch launch;
        int n_dims = static_cast<int>(Number(1, 3));
        const char *names[] = {"i", "j", "k"};
        std::string indices, whole;
        const int64_t most_blocks = n_dims == 1 ? 40 : n_dims == 2 ? 9 : 5;
        for (int d = 0; d < n_dims; d++) {
            launch.block.push_back(Number(1, 3));
            launch.extents.push_back(launch.block[d] * Number(1, most_blocks) -
                                     Number(0, launch.block[d] - 1));
            indices += (d ? ", " : "") + std::string(names[d]);
        }
        launch.declaration = "random[" + indices + "]: out z[" + indices + "]";
        launch.arrays.push_back({"z", Type(), launch.extents});
        int n_inputs = static_cast<int>(Number(1, 3));
        for (int a = 0; a < n_inputs; a++)
            AddInput(launch, "x" + std::to_string(a), names, n_dims);
        return launch;
    }

  private:
    /** One dimension of an input's section: it moves with an index, is whole, strided, or grows. */
    std::string Subscript(const std::string &index, int64_t extent, int64_t *array_extent) {
        switch (Number(0, 5)) {
        case 0:
            *array_extent = Number(1, 6);
            return ":";
        case 1:
            *array_extent = 2 * extent;
            return "2*" + index;
        case 2:
            *array_extent = extent;
            return "0:" + index;
        default: {
            std::string reach = std::to_string(Number(0, 2));
            *array_extent = extent;
            return index + "-" + reach + ":" + index + "+" + reach;
        }
        }
    }

    void AddInput(Launch &launch, const std::string &name, const char *const *indices, int n_dims) {
        Launch::Array array{name, Type(), {}};
        int rank = static_cast<int>(Number(1, n_dims));
        std::string section;
        for (int r = 0; r < rank; r++) {
            int index = n_dims - rank + r;
            int64_t extent;
            section += (r ? ", " : "") + Subscript(indices[index], launch.extents[index], &extent);
            array.extents.push_back(extent);
        }
        launch.declaration += "; in " + name + "[" + section + "]";
        launch.arrays.push_back(array);
    }

    std::mt19937_64 random_;
};

uint64_t Seed() {
    const char *text = std::getenv("POLYTILE_TEST_SEED");
    return text ? std::strtoull(text, nullptr, 10) : std::random_device{}();
}

/** The fewest kernels over every uniform shape and all positions; 0 if none fits. */
int64_t BruteForce(const pti_instance *instance, const pti_grid &grid, int64_t limit_bytes) {
    int n_dims = instance->n_indices;
    std::vector<int64_t> shape(n_dims, 1);
    int64_t fewest = 0;
    for (;;) {
        int64_t n_kernels = pti_grid_n_superblocks(&grid, shape.data());
        if (fewest == 0 || n_kernels < fewest) {
            bool fits = true;
            std::vector<int64_t> position(n_dims, 0);
            for (int64_t k = 0; k < n_kernels && fits; k++) {
                int64_t rest = k;
                for (int d = 0; d < n_dims; d++) {
                    int64_t quotient = pti_grid_quotient(&grid, shape.data(), d);
                    position[d] = rest % quotient;
                    rest /= quotient;
                }
                polytile_domain threads = pti_grid_superblock(&grid, shape.data(), position.data());
                int64_t bytes[PTI_MAX_OPERANDS];
                fits = pti_piece_bytes(instance, &threads, bytes) <= limit_bytes;
            }
            if (fits)
                fewest = n_kernels;
        }
        int d = 0;
        while (d < n_dims && ++shape[d] > grid.n_blocks[d])
            shape[d++] = 1;
        if (d == n_dims)
            return fewest;
    }
}

class PlanRandom : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    void Make(const Launch &launch) {
        ASSERT_EQ(polytile_kernel_create(ctx, launch.declaration.c_str(), nullptr, &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        arrays.clear();
        for (const auto &array : launch.arrays) {
            polytile_domain indices = polytile_domain_from_extents(
                static_cast<int>(array.extents.size()), array.extents.data());
            polytile_array *made;
            ASSERT_EQ(polytile_array_describe(ctx, array.name.c_str(), array.type, &indices, &made),
                      POLYTILE_OK);
            arrays.push_back(made);
        }
        domain = polytile_domain_from_extents(static_cast<int>(launch.extents.size()),
                                              launch.extents.data());
    }

    void Forget() {
        polytile_kernel_destroy(kernel);
        for (polytile_array *array : arrays)
            polytile_array_destroy(array);
    }

    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    std::vector<polytile_array *> arrays;
    polytile_domain domain{};
};

TEST_F(PlanRandom, AgreesWithBruteForceAndPassesTheChecker) {
    const uint64_t seed = Seed();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    Draw draw(seed);
    const char *strategies[] = {"min-kernels", "min-traffic", "min-time", "paper"};
    const int n_plans = static_cast<int>(scaled(20000));
    int n_planned = 0;
    for (int n = 0; n < n_plans; n++) {
        Launch launch = draw.One();
        SCOPED_TRACE("case " + std::to_string(n) + ": " + launch.declaration);
        ASSERT_NO_FATAL_FAILURE(Make(launch));
        polytile_launch_options options{};
        options.plan.block = launch.block.data();
        options.plan.limit_bytes = draw.Number(8, 3000);
        options.plan.strategy = "min-kernels";
        options.plan.n_buffers = 1;
        polytile_plan *plan;
        polytile_status status = polytile_plan_create(
            kernel, &domain, static_cast<int>(arrays.size()), arrays.data(), &options, &plan);
        pti_instance *instance;
        ASSERT_EQ(pti_instance_create(kernel, &domain, arrays.data(), 0, nullptr, &instance),
                  POLYTILE_OK);
        pti_grid grid = pti_grid_of(&instance->threads, launch.block.data());
        int64_t fewest = BruteForce(instance, grid, options.plan.limit_bytes);
        pti_instance_free(instance);
        SCOPED_TRACE("limit " + std::to_string(options.plan.limit_bytes));
        if (fewest == 0) {
            ASSERT_EQ(status, POLYTILE_NO_FIT) << polytile_last_error(ctx);
        } else {
            ASSERT_EQ(status, POLYTILE_OK) << polytile_last_error(ctx);
            polytile_plan_summary summary;
            polytile_plan_get_summary(plan, &summary);
            bool varies = launch.declaration.find("0:") != std::string::npos;
            if (varies) {
                ASSERT_LE(summary.n_kernels, fewest);
            } else {
                ASSERT_EQ(summary.n_kernels, fewest);
            }
            polytile_plan_destroy(plan);
        }
        options.plan.strategy = strategies[draw.Number(0, 3)];
        options.plan.n_buffers = static_cast<int>(draw.Number(0, 3));
        status = polytile_plan_create(kernel, &domain, static_cast<int>(arrays.size()),
                                      arrays.data(), &options, &plan);
        if (status == POLYTILE_OK) {
            n_planned++;
            pti_text why{};
            bool right = pti_schedule_check(plan->schedule, &why);
            ASSERT_TRUE(right) << options.plan.strategy << ", " << options.plan.n_buffers
                               << " buffers: " << why.data;
            ASSERT_LE(plan->summary.peak_device_bytes, options.plan.limit_bytes);
            ASSERT_GE(plan->summary.h2d_bytes + plan->summary.d2h_bytes,
                      plan->summary.lower_bound_bytes);
            pti_text_free(&why);
            polytile_plan_destroy(plan);
        } else {
            ASSERT_EQ(status, POLYTILE_NO_FIT) << polytile_last_error(ctx);
        }
        Forget();
    }
    EXPECT_GE(n_planned, least_count(n_plans, 0.8));
}

/** Sums of overlapping windows: what one superblock combines into another may still hold. */
class OverlappingSums {
  public:
    explicit OverlappingSums(Draw *draw) : draw_(draw) {}

    Launch One() {
        Launch launch;
        const int n_dims = static_cast<int>(draw_->Number(1, 3));
        std::string indices;
        for (int d = 0; d < n_dims; d++) {
            launch.block.push_back(draw_->Number(1, 2));
            launch.extents.push_back(draw_->Number(1, n_dims == 1 ? 40 : 12));
            indices += (d > 0 ? ", " : "") + Index(d);
        }
        launch.declaration = "random[" + indices + "]: in x[" + indices + "]";
        launch.arrays.push_back({"x", draw_->Type(), launch.extents});
        const int n_sums = static_cast<int>(draw_->Number(1, 2));
        for (int a = 0; a < n_sums; a++)
            AddSum(launch, "s" + std::to_string(a), n_dims);
        return launch;
    }

  private:
    static std::string Index(int d) { return std::string(1, "ijk"[d]); }

    void AddSum(Launch &launch, const std::string &name, int n_dims) {
        Launch::Array array{name, POLYTILE_F32, {}};
        std::string section;
        const int rank = static_cast<int>(draw_->Number(1, 2));
        for (int r = 0; r < rank; r++) {
            const int d = static_cast<int>(draw_->Number(0, n_dims - 1));
            const int64_t coefficient = draw_->Number(0, 3), length = draw_->Number(1, 4);
            const std::string first = std::to_string(coefficient) + "*" + Index(d);
            section += (r > 0 ? ", " : "") + first + ":" + first + "+" + std::to_string(length - 1);
            if (draw_->Number(0, 3) == 0)
                section += ":2";
            array.extents.push_back(coefficient * (launch.extents[d] - 1) + length);
        }
        const char *roles[] = {"sum", "out sum", "min", "out max"};
        launch.declaration +=
            "; " + std::string(roles[draw_->Number(0, 3)]) + " " + name + "[" + section + "]";
        launch.arrays.push_back(array);
    }

    Draw *draw_;
};

TEST_F(PlanRandom, OverlappingSumsPassTheChecker) {
    const uint64_t seed = Seed();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    Draw draw(seed);
    Random random(seed);
    OverlappingSums sums(&draw);
    const int n_plans = static_cast<int>(scaled(20000));
    int n_planned = 0;
    for (int n = 0; n < n_plans; n++) {
        const Launch launch = sums.One();
        ASSERT_NO_FATAL_FAILURE(Make(launch));
        const polytile_link link = uneven_link(&random);
        polytile_launch_options options{};
        options.plan.block = launch.block.data();
        options.plan.limit_bytes = draw.Number(200, 3000);
        options.plan.n_buffers = static_cast<int>(draw.Number(0, 3));
        options.plan.link = &link;
        SCOPED_TRACE("case " + std::to_string(n) + ": " + launch.declaration + ", limit " +
                     std::to_string(options.plan.limit_bytes));
        polytile_plan *plan = nullptr;
        const polytile_status status = polytile_plan_create(
            kernel, &domain, static_cast<int>(arrays.size()), arrays.data(), &options, &plan);
        if (status == POLYTILE_OK) {
            n_planned++;
            pti_text why{};
            EXPECT_TRUE(pti_schedule_check(plan->schedule, &why)) << why.data;
            pti_text_free(&why);
            polytile_plan_destroy(plan);
        } else {
            ASSERT_EQ(status, POLYTILE_NO_FIT) << polytile_last_error(ctx);
        }
        Forget();
    }
    EXPECT_GE(n_planned, least_count(n_plans, 0.8));
}

} // namespace
