#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <jansson.h>
#include <polytile/polytile.h>

namespace {

void Increment(const polytile_domain *threads, const polytile_view *views, void *) {
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++) {
        char *y = static_cast<char *>(views[1].origin) + i * views[1].stride_bytes[0];
        const char *x = static_cast<const char *>(views[0].origin) + i * views[0].stride_bytes[0];
        *reinterpret_cast<float *>(y) = *reinterpret_cast<const float *>(x) + 1;
    }
}

class Trace : public ::testing::Test {
  protected:
    void SetUp() override {
        const int64_t n = 1000;
        polytile_implementation implementation{};
        implementation.host = Increment;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        ASSERT_EQ(polytile_device_open(ctx, "host(memory=2KiB,threads=1)", &device), POLYTILE_OK);
        ASSERT_EQ(
            polytile_kernel_create(ctx, "inc[i]: in x[i]; out y[i]", &implementation, &kernel),
            POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &n, x.data(), &arrays[0]),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "y", POLYTILE_F32, 1, &n, y.data(), &arrays[1]),
                  POLYTILE_OK);
        domain = polytile_domain_from_extents(1, &n);
    }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_context *ctx = nullptr;
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *arrays[2]{};
    polytile_domain domain{};
    std::vector<float> x = std::vector<float>(1000, 1), y = std::vector<float>(1000);
};

TEST_F(Trace, IsJsonWithOneEventAnOperationOnTheTrackOfItsStream) {
    const std::string path = ::testing::TempDir() + "polytile_trace.json";
    ASSERT_EQ(polytile_device_trace(device, path.c_str()), POLYTILE_OK);
    ASSERT_EQ(polytile_run(device, kernel, &domain, arrays, nullptr), POLYTILE_OK)
        << polytile_last_error(ctx);
    ASSERT_EQ(polytile_device_trace(device, nullptr), POLYTILE_OK);
    polytile_report report;
    polytile_device_get_report(device, &report);
    json_error_t error;
    json_t *root = json_load_file(path.c_str(), 0, &error);
    ASSERT_NE(root, nullptr) << error.text;
    json_t *events = json_object_get(root, "traceEvents");
    int64_t n_launches = 0, uploaded = 0, downloaded = 0;
    double end[3] = {0, 0, 0};
    size_t k;
    json_t *event;
    json_array_foreach(events, k, event) {
        if (std::string(json_string_value(json_object_get(event, "ph"))) != "X")
            continue;
        const std::string kind = json_string_value(json_object_get(event, "cat"));
        const auto track = static_cast<size_t>(json_integer_value(json_object_get(event, "tid")));
        const int64_t bytes =
            json_integer_value(json_object_get(json_object_get(event, "args"), "bytes"));
        const double start = json_number_value(json_object_get(event, "ts"));
        n_launches += kind == "launch";
        uploaded += kind == "upload" ? bytes : 0;
        downloaded += kind == "download" ? bytes : 0;
        EXPECT_EQ(track, kind == "launch" ? 1U : kind == "download" ? 2U : 0U);
        EXPECT_GE(start, end[track] - 0.002) << "events of one track do not overlap";
        end[track] = start + json_number_value(json_object_get(event, "dur"));
    }
    json_decref(root);
    EXPECT_GT(n_launches, 1);
    EXPECT_EQ(n_launches, report.n_kernels);
    EXPECT_EQ(uploaded, report.h2d_bytes);
    EXPECT_EQ(downloaded, report.d2h_bytes);
    std::remove(path.c_str());
}

TEST_F(Trace, ThatCannotBeWrittenIsNamed) {
    EXPECT_EQ(polytile_device_trace(device, "/no/such/folder/trace.json"), POLYTILE_IO);
    EXPECT_NE(std::string(polytile_last_error(ctx)).find("/no/such/folder/trace.json"),
              std::string::npos);
    EXPECT_EQ(polytile_run(device, kernel, &domain, arrays, nullptr), POLYTILE_OK)
        << "the device can be used on";
}

} // namespace
