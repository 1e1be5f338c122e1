#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include <polytile/program.h>

extern "C" {
#include "access/isl/isl_memory.h"
}

/* What a small program does not pay for when it starts. */

namespace {

POLYTILE_KERNEL(add, (i), (const float, x, 1), (const float, y, 1), (float, z, 1)) {
    PT_AT(z, i) = PT_AT(x, i) + PT_AT(y, i);
}

POLYTILE_KERNEL(mean, (i), (const float, x, 1), (float, z, 1)) {
    PT_AT(z, i) = (PT_AT(x, i - 1) + PT_AT(x, i + 1)) / 2;
}

POLYTILE_KERNEL(total, (i), (const float, x, 1), (float, z, 1)) {
    PT_SUM(PT_AT(z, 0), PT_AT(x, i));
}

/** How often isl asks for memory; an isl context does before anything else. */
int64_t n_asked = 0;
void *count_and_allocate(size_t n_bytes) {
    n_asked++;
    return malloc(n_bytes);
}

/** While one lives, isl's requests for memory are counted. */
class IslCounter {
  public:
    IslCounter() : before_(pti_isl_memory_source.allocate) {
        n_asked = 0;
        pti_isl_memory_source.allocate = count_and_allocate;
    }
    ~IslCounter() { pti_isl_memory_source.allocate = before_; }
    IslCounter(const IslCounter &) = delete;
    IslCounter &operator=(const IslCounter &) = delete;

  private:
    void *(*before_)(size_t);
};

constexpr int64_t n = 1000;

struct Row {
    const char *declaration;
    const polytile_implementation *implementation;
    int64_t lo, hi; /* threads */
};

const Row plain[] = {
    {"add[i]: in x[i], y[i]; out z[i]", &add_kernel, 0, n - 1},
    {"mean[i]: in x[i-1:i+1]; out z[i]", &mean_kernel, 1, n - 2},
    {"total[i]: in x[i]; sum z[0]", &total_kernel, 0, n - 1},
};

TEST(Start, ProgramsOfPlainSectionsAskIslNothing) {
    for (const char *device : {"host", "host(memory=1MiB)", "host(memory=4KiB)", "host,host"}) {
        for (const Row &row : plain) {
            const IslCounter counter;
            std::vector<float> x(n), y(n, 1), z(n);
            std::iota(x.begin(), x.end(), 0.0f);
            polytile_program *program = polytile_program_open(device);
            polytile_program_bind(program, POLYTILE_F32, POLYTILE_EXTENTS(n), "x, y, z",
                                  POLYTILE_DATA(x.data(), y.data(), z.data()));
            const polytile_domain threads = {1, {{row.lo, row.hi, 1}}};
            polytile_program_launch(program, row.declaration, row.implementation, &threads);
            polytile_program_close(program);
            EXPECT_EQ(n_asked, 0) << row.declaration << " on " << device;
            EXPECT_NE(z[row.lo], 0.0f) << row.declaration << " on " << device;
        }
    }
}

TEST(Start, ADeclarationInBracesAsksIsl) {
    const IslCounter counter;
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    ASSERT_EQ(polytile_kernel_create(ctx, "k[i]: in {[i] -> x[a] : 0 <= a <= i}; out z[i]", nullptr,
                                     &kernel),
              POLYTILE_OK);
    EXPECT_GT(n_asked, 0);
    polytile_context_destroy(ctx);
}

} // namespace
