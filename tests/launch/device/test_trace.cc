#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <jansson.h>
#include <polytile/polytile.h>
#include <unistd.h>

extern "C" {
#include "base/clock.h"
#include "launch/device/trace.h"
}

namespace {

/** A slice of a track; times in whole nanoseconds, as printed. */
struct Slice {
    std::string name, kind, array;
    int64_t track, start_ns, end_ns, bytes, threads;
    bool is_run;
};

int64_t nanoseconds(const json_t *event, const char *key) {
    return std::llround(1e3 * json_number_value(json_object_get(event, key)));
}

std::string text_of(const json_t *event, const char *key) {
    const char *text = json_string_value(json_object_get(event, key));
    return text == nullptr ? "" : text;
}

/** The events of a file by their time, those of one time in the file's order, as viewers read it.
 */
std::vector<json_t *> events_of(json_t *root) {
    std::vector<json_t *> events;
    size_t k;
    json_t *event;
    json_array_foreach(json_object_get(root, "traceEvents"), k, event) events.push_back(event);
    std::stable_sort(events.begin(), events.end(), [](const json_t *a, const json_t *b) {
        return nanoseconds(a, "ts") < nanoseconds(b, "ts");
    });
    return events;
}

/** Reads a trace as a viewer does: a stack of slices a track. */
class Viewer {
  public:
    explicit Viewer(const std::string &path) {
        json_error_t error;
        json_t *root = json_load_file(path.c_str(), JSON_REJECT_DUPLICATES, &error);
        EXPECT_NE(root, nullptr) << error.text;
        for (const json_t *event : events_of(root))
            read(event);
        for (const auto &track : open_)
            EXPECT_TRUE(track.second.empty()) << "a slice is never closed";
        json_decref(root);
    }

    std::vector<Slice> slices; /* but for the runs', by their starts */
    std::vector<Slice> runs;   /* by their ends */
    std::map<std::string, std::vector<std::string>> metadata;

  private:
    void read(const json_t *event) {
        const std::string phase = text_of(event, "ph");
        const json_t *args = json_object_get(event, "args");
        Slice slice{text_of(event, "name"),
                    text_of(event, "cat"),
                    text_of(args, "array"),
                    json_integer_value(json_object_get(event, "tid")),
                    nanoseconds(event, "ts"),
                    nanoseconds(event, "ts") + nanoseconds(event, "dur"),
                    json_integer_value(json_object_get(args, "bytes")),
                    json_integer_value(json_object_get(args, "threads")),
                    phase == "B"};
        if (phase == "M")
            metadata[slice.name].push_back(text_of(args, "name"));
        else if (phase == "E")
            close(slice);
        else
            open(slice);
    }

    void leave(int64_t track, int64_t now_ns) {
        std::vector<Slice> &stack = open_[track];
        while (!stack.empty() && !stack.back().is_run && stack.back().end_ns <= now_ns)
            stack.pop_back();
    }

    void open(const Slice &slice) {
        std::vector<Slice> &stack = open_[slice.track];
        leave(slice.track, slice.start_ns);
        if (slice.is_run) {
            EXPECT_TRUE(stack.empty()) << "a run begins inside " << stack.back().name;
        } else {
            slices.push_back(slice);
            ASSERT_FALSE(stack.empty()) << slice.name << " lies outside any run";
            EXPECT_TRUE(stack.back().is_run) << slice.name << " overlaps " << stack.back().name;
        }
        stack.push_back(slice);
    }

    void close(const Slice &end) {
        std::vector<Slice> &stack = open_[end.track];
        leave(end.track, end.start_ns);
        ASSERT_EQ(stack.size(), 1U) << "what a run holds ends no later than the run";
        Slice run = stack.back();
        EXPECT_TRUE(run.is_run);
        run.end_ns = end.start_ns;
        runs.push_back(run);
        stack.pop_back();
    }

    std::map<int64_t, std::vector<Slice>> open_;
};

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
        ASSERT_EQ(
            polytile_kernel_create(ctx, "inc[i]: in x[i]; out y[i]", &implementation, &kernel),
            POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &n, x.data(), &arrays[0]),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "y", POLYTILE_F32, 1, &n, y.data(), &arrays[1]),
                  POLYTILE_OK);
        domain = polytile_domain_from_extents(1, &n);
    }
    void TearDown() override {
        polytile_context_destroy(ctx);
        std::remove(path.c_str());
    }

    polytile_device *open(const char *text) {
        polytile_device *device = nullptr;
        EXPECT_EQ(polytile_device_open(ctx, text, &device), POLYTILE_OK);
        return device;
    }

    /** Trace some runs. */
    void run(polytile_device *device, int n_runs) {
        ASSERT_EQ(polytile_device_trace(device, path.c_str()), POLYTILE_OK);
        for (int k = 0; k < n_runs; k++)
            ASSERT_EQ(polytile_run(device, kernel, &domain, polytile_kernel_get_n_arrays(kernel),
                                   arrays, nullptr),
                      POLYTILE_OK)
                << polytile_last_error(ctx);
        ASSERT_EQ(polytile_device_trace(device, nullptr), POLYTILE_OK);
    }

    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *arrays[2]{};
    polytile_domain domain{};
    std::vector<float> x = std::vector<float>(1000, 1), y = std::vector<float>(1000);
    const std::string path =
        ::testing::TempDir() + "polytile-" + std::to_string(getpid()) + ".json";
};

constexpr const char *small_device = "host(memory=2KiB,threads=1)";

TEST_F(Trace, HasASliceAnOperationOnTheTrackOfItsStream) {
    polytile_device *device = open(small_device);
    run(device, 1);
    const Viewer viewer(path);
    polytile_report report;
    polytile_device_get_report(device, &report);
    std::map<std::string, int64_t> n_slices, bytes, threads;
    for (const Slice &slice : viewer.slices) {
        n_slices[slice.kind]++;
        bytes[slice.kind] += slice.bytes;
        threads[slice.kind] += slice.threads;
        EXPECT_EQ(slice.track, slice.kind == "launch" ? 2 : slice.kind == "download" ? 1 : 0);
        EXPECT_EQ(slice.array, slice.kind == "launch" ? "" : slice.kind == "download" ? "y" : "x");
        EXPECT_EQ(slice.name, slice.kind + " " + (slice.array.empty() ? "inc" : slice.array));
    }
    EXPECT_GT(report.n_kernels, 1);
    EXPECT_EQ(n_slices["launch"], report.n_kernels);
    EXPECT_EQ(threads["launch"], 1000);
    EXPECT_EQ(bytes["upload"], report.h2d_bytes);
    EXPECT_EQ(bytes["download"], report.d2h_bytes);
}

TEST_F(Trace, NamesTheDeviceAndItsStreams) {
    run(open(small_device), 1);
    Viewer viewer(path);
    EXPECT_EQ(viewer.metadata["process_name"],
              std::vector<std::string>{std::string("polytile ") + small_device});
    EXPECT_EQ(viewer.metadata["thread_name"],
              (std::vector<std::string>{"in", "out", "compute", "plan", "compute, lane 1"}));
    EXPECT_EQ(viewer.metadata["thread_sort_index"].size(), 5U);
}

/** The args of each run's begin, those of one run together, and those of the device's name. */
std::map<int64_t, std::vector<std::string>> args_of_runs(const std::string &path,
                                                         int64_t *limit_bytes) {
    std::map<int64_t, std::vector<std::string>> runs;
    json_t *root = json_load_file(path.c_str(), 0, nullptr);
    for (json_t *event : events_of(root)) {
        json_t *args = json_object_get(event, "args");
        if (text_of(event, "ph") == "B") {
            char *text = json_dumps(args, JSON_SORT_KEYS);
            runs[json_integer_value(json_object_get(args, "run"))].push_back(text);
            free(text);
        }
        if (text_of(event, "name") == "process_name")
            *limit_bytes = json_integer_value(json_object_get(args, "limit_bytes"));
    }
    json_decref(root);
    return runs;
}

TEST_F(Trace, TellsOfEachRunWhatWasPlannedAndOfTheDeviceItsLimit) {
    polytile_device *device = open(small_device);
    int64_t limit_bytes = 0;
    run(device, 2);
    polytile_report report;
    polytile_device_get_report(device, &report);
    const std::string expected =
        "{\"bound_bytes\": " + std::to_string(report.lower_bound_bytes) +
        ", \"launches\": 1, \"peak_bytes\": " + std::to_string(report.peak_device_bytes) +
        ", \"planned_bytes\": " + std::to_string(report.h2d_bytes + report.d2h_bytes);
    const auto runs = args_of_runs(path, &limit_bytes);
    EXPECT_EQ(runs.size(), 2U);
    for (const auto &[number, tracks] : runs) {
        EXPECT_TRUE(number == 1 || number == 2) << number;
        EXPECT_EQ(tracks.size(), 3U);
        for (const std::string &args : tracks)
            EXPECT_EQ(args, expected + ", \"run\": " + std::to_string(number) +
                                ", \"superblocks\": " + std::to_string(report.n_kernels) + "}");
    }
    EXPECT_EQ(limit_bytes, 2048);
}

TEST_F(Trace, IsJsonWhateverTheDevicesTextHolds) {
    const char *text = "host(\tmemory\n=2KiB )";
    run(open(text), 1);
    Viewer viewer(path);
    EXPECT_EQ(viewer.metadata["process_name"],
              std::vector<std::string>{std::string("polytile ") + text});
}

TEST_F(Trace, EnclosesEachRunOnEveryTrackItUses) {
    run(open(small_device), 4);
    const Viewer viewer(path);
    std::map<int64_t, int> n_runs;
    for (const Slice &slice : viewer.runs) {
        EXPECT_EQ(slice.name, "run inc");
        n_runs[slice.track]++;
    }
    EXPECT_EQ(n_runs, (std::map<int64_t, int>{{0, 4}, {1, 4}, {2, 4}}));
}

TEST_F(Trace, LeavesTracksEmptyThatARunDoesNotUse) {
    run(open("host(threads=1)"), 2);
    const Viewer viewer(path);
    ASSERT_EQ(viewer.runs.size(), 2U);
    for (const Slice &slice : viewer.runs)
        EXPECT_EQ(slice.track, 2);
}

TEST_F(Trace, ThatCannotBeWrittenIsNamed) {
    polytile_device *device = open(small_device);
    EXPECT_EQ(polytile_device_trace(device, "/no/such/folder/trace.json"), POLYTILE_IO);
    EXPECT_NE(std::string(polytile_last_error(ctx)).find("/no/such/folder/trace.json"),
              std::string::npos);
    EXPECT_EQ(polytile_run(device, kernel, &domain, polytile_kernel_get_n_arrays(kernel), arrays,
                           nullptr),
              POLYTILE_OK)
        << "the device can be used on";
}

TEST_F(Trace, ThatDoesNotFitTheDiskIsNamed) {
    polytile_device *device = open(small_device);
    ASSERT_EQ(polytile_device_trace(device, "/dev/full"), POLYTILE_OK);
    EXPECT_EQ(polytile_run(device, kernel, &domain, polytile_kernel_get_n_arrays(kernel), arrays,
                           nullptr),
              POLYTILE_OK);
    EXPECT_EQ(polytile_device_trace(device, nullptr), POLYTILE_IO);
    EXPECT_NE(std::string(polytile_last_error(ctx)).find("/dev/full"), std::string::npos);
}

/** A launch written to a trace with times of its own. */
class TraceOfClocksThatDisagree : public Trace {
  protected:
    void SetUp() override {
        Trace::SetUp();
        device = open(small_device);
        ASSERT_EQ(polytile_device_trace(device, path.c_str()), POLYTILE_OK);
        start_s = pti_now_s();
        instance.kernel_name = const_cast<char *>("odd");
        schedule.instance = &instance;
        schedule.n_launches = 1;
        schedule.launch = &launch;
        op.kind = PTI_LAUNCH;
        op.box = domain;
    }

    void add(double after_s, double taken_s) {
        pti_trace_op(device, &op, start_s + after_s, taken_s);
    }

    polytile_device *device = nullptr;
    pti_instance instance = {};
    pti_schedule_launch launch = {{&instance, nullptr}, 0, 0, 0};
    pti_schedule schedule = {};
    pti_op op = {};
    double start_s = 0;
};

TEST_F(TraceOfClocksThatDisagree, NestsNevertheless) {
    for (int round = 0; round < 2; round++) {
        pti_trace_run_begin(device, &schedule);
        add(-5, 1e-3);        /* before the trace began */
        add(1e-3, 1e-3);      /* begins sooner than the one before ended */
        add(1.5e-3, 2e-3);    /* overlaps it */
        add(1.6e-3, 0);       /* lies inside it */
        add(9e-3 + 1e-10, 1); /* ends long after the run */
        pti_trace_run_end(device);
    }
    pti_trace_run_begin(device, &schedule);
    add(3, 1.00000049e-6);
    add(3 + 1e-6, 1e-6); /* they overlap by less than is printed */
    ASSERT_EQ(polytile_device_trace(device, nullptr), POLYTILE_OK);
    const Viewer viewer(path);
    EXPECT_EQ(viewer.slices.size(), 12U);
    EXPECT_EQ(viewer.runs.size(), 3U) << "a run that was cut off is closed with the trace";
}

TEST_F(TraceOfClocksThatDisagree, IsJsonWhateverANameHolds) {
    char name[] = "a \"quoted\" \\ kernel\x01";
    instance.kernel_name = name;
    pti_trace_run_begin(device, &schedule);
    add(0.25, 0.125);
    ASSERT_EQ(polytile_device_trace(device, nullptr), POLYTILE_OK);
    const Viewer viewer(path);
    ASSERT_EQ(viewer.slices.size(), 1U);
    EXPECT_EQ(viewer.slices[0].name, std::string("launch ") + name);
    ASSERT_EQ(viewer.runs.size(), 1U);
    EXPECT_EQ(viewer.runs[0].name, std::string("run ") + name);
}

TEST_F(TraceOfClocksThatDisagree, KeepsTimesThatAreRight) {
    pti_trace_run_begin(device, &schedule);
    add(0.25, 0.125);
    add(0.5, 0.0625);
    ASSERT_EQ(polytile_device_trace(device, nullptr), POLYTILE_OK);
    const Viewer viewer(path);
    ASSERT_EQ(viewer.slices.size(), 2U);
    EXPECT_EQ(viewer.slices[0].end_ns - viewer.slices[0].start_ns, 125000000);
    EXPECT_NEAR(static_cast<double>(viewer.slices[1].start_ns - viewer.slices[0].start_ns), 250e6,
                2);
}

} // namespace
