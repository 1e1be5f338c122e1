#ifndef POLYTILE_TESTS_LAUNCH_ACCESS_CHECK_LINES_H
#define POLYTILE_TESTS_LAUNCH_ACCESS_CHECK_LINES_H

#include <gtest/gtest.h>
#include <polytile/polytile.h>
#include <string>
#include <vector>

/* What the tests of access checks have in common. */

class Context {
  public:
    Context() { EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    ~Context() { polytile_context_destroy(ctx); }
    std::string error() const { return polytile_last_error(ctx); }
    polytile_device *open(const std::string &text) {
        polytile_device *device = nullptr;
        EXPECT_EQ(polytile_device_open(ctx, text.c_str(), &device), POLYTILE_OK) << error();
        return device;
    }
    polytile_context *ctx = nullptr;
};

/** A context, a device on the host, and lines of floats. */
class AccessCheckLines : public testing::Test {
  protected:
    void SetUp() override {
        device = context.open("host");
        for (size_t a = 0; a < 3; a++) {
            for (size_t k = 0; k < memory[a].size(); k++)
                memory[a][k] = static_cast<float>((k * 7 + a) % 20);
            EXPECT_EQ(polytile_array_wrap(context.ctx, names[a], POLYTILE_F32, 1, &extent,
                                          memory[a].data(), &arrays[a]),
                      POLYTILE_OK);
        }
    }

    polytile_status check(const char *declaration, const polytile_implementation &of, int64_t n,
                          const polytile_launch_options *options = nullptr) {
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(context.ctx, declaration, &of, &kernel), POLYTILE_OK)
            << context.error();
        return polytile_check_run(device, kernel, POLYTILE_EXTENTS(n),
                                  polytile_kernel_get_n_arrays(kernel), arrays, options, &report);
    }
    polytile_status check(const char *declaration, polytile_host_function *host, int64_t n,
                          const polytile_launch_options *options = nullptr) {
        polytile_implementation made = {};
        made.host = host;
        return check(declaration, made, n, options);
    }

    static float &at(const polytile_view &view, int64_t i) {
        return *reinterpret_cast<float *>(static_cast<char *>(view.origin) +
                                          i * view.stride_bytes[0]);
    }
    void expect_says(const char *part) const {
        EXPECT_NE(context.error().find(part), std::string::npos) << context.error();
    }

    static constexpr const char *names[] = {"x", "y", "z"};
    const int64_t extent = 300;
    Context context;
    polytile_device *device = nullptr;
    std::vector<float> memory[3] = {std::vector<float>(300), std::vector<float>(300),
                                    std::vector<float>(300)};
    polytile_array *arrays[3] = {};
    polytile_check_report report = {};
};

#endif
