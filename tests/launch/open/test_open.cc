#include <polytile/polytile.h>

#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace {

class Device : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_context *ctx = nullptr;
    polytile_device *device = nullptr;
};

TEST_F(Device, OpensFromItsText) {
    const struct {
        const char *text;
        int64_t limit_bytes;
    } rows[] = {
        {"host", 0},
        {"host(memory=64MiB)", 64 << 20},
        {"host(threads=2)", 0},
        {"host(memory=1.5KiB,threads=1)", 1536},
        {" host ( threads = 3 , memory = 4096B ) ", 4096},
        {"host(memory=64GiB)", int64_t(64) << 30},
    };
    for (const auto &row : rows) {
        ASSERT_EQ(polytile_device_open(ctx, row.text, &device), POLYTILE_OK)
            << polytile_last_error(ctx);
        EXPECT_EQ(polytile_device_get_limit(device), row.limit_bytes) << row.text;
        EXPECT_STREQ(polytile_device_get_text(device), row.text);
        polytile_device_close(device);
    }
}

TEST_F(Device, RefusesWhatItDoesNotKnowAndSaysWhatThereIs) {
    const struct {
        const char *text;
        const char *says;
    } rows[] = {
        {"", "unknown device \"\"; there is host"},
        {"gpu", "unknown device \"gpu\"; there is host, host(memory=SIZE,threads=N)"},
        {"hosts", "unknown device"},
        {"host:0", "takes no number"},
        {"host()", "an option and its value are expected"},
        {"host(64MiB)", "an option and its value are expected"},
        {"host(memroy=64MiB)", "unknown option \"memroy\"; host takes memory=SIZE"},
        {"host(memory=64XiB)", "wrong value \"64XiB\""},
        {"host(memory=0)", "wrong value \"0\" of memory; it is not a size from 1 byte"},
        {"host(memory=64)", "wrong value \"64\" of memory; it has no unit: 64MiB?"},
        {"host(memory=64MB,threads=2)", "it has no unit that is known: 64MiB?"},
        {"host(memory=-1)", "wrong value \"-1\""},
        {"host(memory=9223372036854775808)", "wrong value"},
        {"host(memory=)", "wrong value"},
        {"host(threads=0)", "threads=N (1 to 1024)"},
        {"host(threads=1025)", "wrong value \"1025\""},
        {"host(threads=2x)", "wrong value \"2x\""},
        {"host(threads=2,threads=2)", "given twice is option \"threads\""},
        {"host(memory=1MiB", "a closing parenthesis is missing"},
        {"host(memory=1MiB) now", "cannot understand \"now\""},
        {"host(streams=4)", "unknown option \"streams\"; host takes memory=SIZE"},
        {"cuda:0(streams=0)",
         "wrong value \"0\" of streams; a number of streams is 1 to 32, or auto"},
        {"cuda:0(streams=33)", "wrong value \"33\" of streams; a number of streams is 1 to 32"},
        {"cuda:0(streams=x)", "wrong value \"x\" of streams; a number of streams is 1 to 32"},
        {"cuda:0(streams=-1)", "wrong value \"-1\" of streams"},
        {"cuda:0(streams=)", "wrong value \"\" of streams"},
        {"cuda:0(streams=2,streams=2)", "given twice is option \"streams\""},
        {"host,host", "it is a list of devices, which only queues take"},
        {"host(memory=1MiB), host", "it is a list of devices, which only queues take"},
        {"host)", "unknown device \"host)\""},
    };
    for (const auto &row : rows) {
        device = reinterpret_cast<polytile_device *>(this);
        EXPECT_EQ(polytile_device_open(ctx, row.text, &device), POLYTILE_INVALID) << row.text;
        EXPECT_EQ(device, nullptr);
        EXPECT_NE(std::string(polytile_last_error(ctx)).find(row.says), std::string::npos)
            << polytile_last_error(ctx);
    }
}

TEST_F(Device, RefusesNullsAndClosesNothing) {
    EXPECT_EQ(polytile_device_open(nullptr, "host", &device), POLYTILE_INVALID);
    EXPECT_EQ(polytile_device_open(ctx, nullptr, &device), POLYTILE_INVALID);
    EXPECT_EQ(polytile_device_open(ctx, "host", nullptr), POLYTILE_INVALID);
    polytile_device_close(nullptr);
}

TEST_F(Device, SaysWhenItsMemoryCannotBeMapped) {
    EXPECT_EQ(polytile_device_open(ctx, "host(memory=1048576TiB)", &device), POLYTILE_NO_MEMORY);
    EXPECT_NE(std::string(polytile_last_error(ctx)).find("1048576 TiB"), std::string::npos)
        << polytile_last_error(ctx);
}

/** Print what opening a device says in a process that may start no more threads, and end it. */
void say_error_without_threads() {
    polytile_context *ctx = nullptr;
    polytile_device *device = nullptr;
    rlimit none = {1, 1};
    if (setrlimit(RLIMIT_NPROC, &none) != 0 || setuid(65534) != 0 ||
        polytile_context_create(&ctx) != POLYTILE_OK)
        _exit(2);
    if (polytile_device_open(ctx, "host(threads=64)", &device) != POLYTILE_DEVICE)
        _exit(3);
    std::fputs(polytile_last_error(ctx), stderr);
    _exit(0);
}

/** In a new process: one that is forked from several threads may start none under the thread
 * sanitizer. */
TEST_F(Device, SaysWhenItsThreadsDoNotStart) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root, to become a user without processes";
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(say_error_without_threads(), testing::ExitedWithCode(0), "of 64 threads start ");
}

TEST_F(Device, ListMeasuresTheHost) {
    polytile_device_info info = {};
    int n_devices = 0;
    ASSERT_EQ(polytile_devices_list(ctx, 1, &info, &n_devices), POLYTILE_OK);
    EXPECT_GE(n_devices, 1);
    EXPECT_STREQ(info.text, "host");
    EXPECT_NE(info.description[0], '\0');
    EXPECT_GT(info.memory_bytes, 0);
    EXPECT_GE(info.n_threads, 1);
    for (double rate : {info.link.upload_bytes_per_s, info.link.download_bytes_per_s,
                        info.link.duplex_bytes_per_s, info.link.kernel_bytes_per_s})
        EXPECT_GT(rate, 1e7);
    for (double latency_s : {info.link.transfer_latency_s, info.link.launch_latency_s}) {
        EXPECT_GT(latency_s, 0);
        EXPECT_LT(latency_s, 0.1);
    }
}

TEST_F(Device, ListCountsWithoutRoom) {
    int n_devices = 0;
    EXPECT_EQ(polytile_devices_list(ctx, 0, nullptr, &n_devices), POLYTILE_OK);
    EXPECT_GE(n_devices, 1);
    EXPECT_EQ(polytile_devices_list(ctx, 1, nullptr, &n_devices), POLYTILE_INVALID);
    EXPECT_EQ(polytile_devices_list(ctx, 0, nullptr, nullptr), POLYTILE_INVALID);
    EXPECT_EQ(polytile_devices_list(nullptr, 0, nullptr, &n_devices), POLYTILE_INVALID);
}

} // namespace
