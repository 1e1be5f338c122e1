#include "launch/cuda/product.h"
#include "support/environment.h"
#include "support/failing_api.h"
#include "support/scale.h"

#include <polytile/kernel.h>
#include <polytile/ranks.h>

#include <algorithm>

extern "C" {
#include "support/chain_launch.h"
}

/* Stencils on several GPUs: halos go from one's memory to the other's, where these are linked. */

namespace {

POLYTILE_KERNEL(pull_step, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    PT_AT(B, i, j) = 3u * PT_AT(A, i, j) + 5u * PT_AT(A, i - 1, j) + 7u * PT_AT(A, i + 1, j) +
                     11u * PT_AT(A, i, j - 1) + 13u * PT_AT(A, i, j + 1) + (uint32_t)(17 * i + j);
}

POLYTILE_KERNEL(pull_rows, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    PT_AT(B, i, j) = 3u * PT_AT(A, i, j) + 5u * PT_AT(A, i - 1, j) + 7u * PT_AT(A, i + 1, j);
}

polytile_implementation on_gpus(const polytile_implementation &of) {
    polytile_implementation made = of;
    made.cuda = reinterpret_cast<const void *>(of.host);
    return made;
}

polytile_implementation step_on_gpus() {
    return on_gpus(pull_step_kernel);
}

/** What is run: steps between two fields, after some of which the program waits. */
struct StepsRun {
    std::string devices;
    int64_t n_rows, n_columns, n_steps;
    int64_t waits_every; /* steps; 0: never */
    std::string grid;    /* of members; empty: balanced */
    /** Steps write all columns, and are recorded before the first one runs. */
    bool is_of_rows = false;
};

polytile_implementation kernel_of(const StepsRun &run) {
    return run.is_of_rows ? on_gpus(pull_rows_kernel) : step_on_gpus();
}

const char *declaration_of(const StepsRun &run) {
    return run.is_of_rows ? "rows[i, j]: in A[i-1:i+1, j]; out B[i, j]"
                          : "step[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";
}

polytile_domain threads_of(const StepsRun &run) {
    const int64_t edge = run.is_of_rows ? 0 : 1;
    return {2, {{1, run.n_rows - 2, 1}, {edge, run.n_columns - 1 - edge, 1}}};
}

using Fields = std::vector<std::vector<uint32_t>>;

Fields some_fields(const StepsRun &run) {
    Random random(1);
    Fields made(2);
    for (std::vector<uint32_t> &field : made) {
        field.resize(static_cast<size_t>(run.n_rows * run.n_columns));
        for (uint32_t &element : field)
            element = static_cast<uint32_t>(random.number(0, 1 << 30));
    }
    return made;
}

/** Two fields on a queue. */
class Steps {
  public:
    Steps(const StepsRun &run, Fields *fields) : run_(run) {
        const int64_t extents[] = {run.n_rows, run.n_columns};
        const polytile_implementation implementation = kernel_of(run);
        EXPECT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
        polytile_share_options share = {};
        share.grid = run.grid.empty() ? nullptr : run.grid.c_str();
        EXPECT_EQ(polytile_queue_create_shared(ctx_, run.devices.c_str(), &share, &queue_),
                  POLYTILE_OK)
            << error();
        EXPECT_EQ(polytile_kernel_create(ctx_, declaration_of(run), &implementation, &kernel_),
                  POLYTILE_OK)
            << error();
        for (size_t f = 0; f < 2; f++)
            EXPECT_EQ(polytile_array_wrap(ctx_, f == 0 ? "A" : "B", POLYTILE_U32, 2, extents,
                                          (*fields)[f].data(), &array_[f]),
                      POLYTILE_OK);
    }
    ~Steps() { polytile_context_destroy(ctx_); }
    Steps(const Steps &) = delete;
    Steps &operator=(const Steps &) = delete;

    /** The first error; arrays stay on the queue. */
    polytile_status run() {
        const polytile_domain threads = threads_of(run_);
        polytile_status status = polytile_queue_attach(queue_, 2, array_);
        if (run_.is_of_rows)
            polytile_queue_pause(queue_);
        for (int64_t k = 0; k < run_.n_steps && status == POLYTILE_OK; k++) {
            polytile_array *const turn[] = {array_[k % 2], array_[1 - k % 2]};
            status = polytile_queue_launch(queue_, kernel_, &threads, 2, turn, nullptr);
            if (status == POLYTILE_OK && run_.waits_every > 0 && k % run_.waits_every == 0)
                status = polytile_queue_wait(queue_);
        }
        polytile_queue_resume(queue_);
        return status == POLYTILE_OK ? polytile_queue_wait(queue_) : status;
    }
    polytile_status detach() { return polytile_queue_detach(queue_, 2, array_); }
    polytile_report report() {
        polytile_report report = {};
        polytile_queue_get_report(queue_, true, &report);
        return report;
    }
    bool is_complete() const {
        return polytile_array_is_complete(array_[0]) && polytile_array_is_complete(array_[1]);
    }
    std::string error() const { return polytile_last_error(ctx_); }

  private:
    StepsRun run_;
    polytile_context *ctx_ = nullptr;
    polytile_queue *queue_ = nullptr;
    polytile_kernel *kernel_ = nullptr;
    polytile_array *array_[2] = {};
};

Fields wanted_of(StepsRun run) {
    Fields fields = some_fields(run);
    run.devices = "host";
    run.grid = "";
    Steps steps(run, &fields);
    EXPECT_EQ(steps.run(), POLYTILE_OK) << steps.error();
    EXPECT_EQ(steps.detach(), POLYTILE_OK) << steps.error();
    return fields;
}

/** What was moved before the fields leave. */
polytile_report report_of(const StepsRun &run, int n_devices, bool are_linked, bool are_pinned,
                          uint64_t seed) {
    const Fields wanted = wanted_of(run);
    Fields fields = some_fields(run);
    polytile_report report = {};
    FakeCuda cuda(seed, gpus(n_devices, are_linked));
    cuda.add_kernel(kernel_of(run).cuda, kernel_of(run));
    for (std::vector<uint32_t> &field : fields) {
        const ByteRange range = byte_range(field.data(), field.size() * sizeof field[0]);
        if (are_pinned)
            cuda.host().declare(range, cudaMemoryTypeHost);
    }
    {
        Steps steps(run, &fields);
        const Bytes before = bytes_of(cuda, n_devices);
        EXPECT_EQ(steps.run(), POLYTILE_OK) << steps.error();
        report = steps.report();
        const Bytes after = bytes_of(cuda, n_devices);
        EXPECT_EQ(report.h2d_bytes, after.up - before.up);
        EXPECT_EQ(report.p2p_bytes, after.between - before.between);
        EXPECT_EQ(steps.detach(), POLYTILE_OK) << steps.error();
        EXPECT_EQ(cuda.n_pending(), 0);
    }
    for (size_t f = 0; f < 2; f++)
        EXPECT_TRUE(fields[f] == wanted[f]) << "field " << f << " differs on " << run.devices;
    EXPECT_EQ(cuda.violations(), "");
    EXPECT_EQ(cuda.leaks(), "");
    return report;
}

class GroupPulls : public testing::Test {
  protected:
    void SetUp() override { environment_.set("POLYTILE_CHECK", "plan"); }
    Environment environment_;
};

/** The same elements as otherwise come to the host, and from there to the other GPU. */
TEST_F(GroupPulls, HalosGoFromGpuToGpuAndNothingToTheHost) {
    const StepsRun run = {"cuda:0,cuda:1", 900, 40, 60, 0, ""};
    const polytile_report linked = report_of(run, 2, true, true, 1);
    const polytile_report apart = report_of(run, 2, false, true, 1);
    EXPECT_EQ(linked.d2h_bytes, 0);
    EXPECT_GT(linked.p2p_bytes, 0);
    EXPECT_EQ(apart.p2p_bytes, 0);
    EXPECT_EQ(apart.d2h_bytes, linked.p2p_bytes);
    EXPECT_LE(linked.h2d_bytes + linked.p2p_bytes, apart.h2d_bytes);
}

TEST_F(GroupPulls, FourGpusPullFromAllTheirNeighbours) {
    const StepsRun run = {"cuda:0,cuda:1,cuda:2,cuda:3", 400, 400, 60, 0, "2x2"};
    const polytile_report linked = report_of(run, 4, true, true, 1);
    EXPECT_EQ(linked.d2h_bytes, 0);
    EXPECT_GT(linked.p2p_bytes, 0);
}

/** What a plan says of the steps. */
polytile_ranks_summary planned(const StepsRun &run) {
    const int64_t extents[] = {run.n_rows, run.n_columns};
    const polytile_domain threads = threads_of(run);
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *array[2] = {};
    EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    EXPECT_EQ(polytile_kernel_create(ctx, declaration_of(run), nullptr, &kernel), POLYTILE_OK);
    const polytile_domain whole = polytile_domain_from_extents(2, extents);
    for (size_t f = 0; f < 2; f++)
        EXPECT_EQ(polytile_array_describe(ctx, f == 0 ? "A" : "B", POLYTILE_U32, &whole, &array[f]),
                  POLYTILE_OK);
    polytile_array *const turn[2][2] = {{array[0], array[1]}, {array[1], array[0]}};
    std::vector<polytile_chain_launch> launches(static_cast<size_t>(run.n_steps));
    for (size_t k = 0; k < launches.size(); k++)
        launches[k] = chain_launch(kernel, threads, turn[k % 2]);
    polytile_plan_options options = {};
    options.limit_bytes = int64_t{1} << 24;
    polytile_ranks_request request = {};
    request.n_launches = static_cast<int>(launches.size());
    request.launches = launches.data();
    request.options = &options;
    request.device = run.devices.c_str();
    request.are_linked = 1;
    request.share.grid = run.grid.empty() ? nullptr : run.grid.c_str();
    polytile_ranks_plan *plan = nullptr;
    polytile_ranks_summary summary = {};
    EXPECT_EQ(polytile_ranks_plan_create(&request, &plan), POLYTILE_OK) << polytile_last_error(ctx);
    polytile_ranks_plan_get_summary(plan, &summary);
    polytile_context_destroy(ctx);
    return summary;
}

/** A queue whose program runs ahead begins with a shorter superstep; elements that no step writes
 * come from the host. */
TEST_F(GroupPulls, APlanOfLinkedDevicesSaysWhatIsPulled) {
    const StepsRun runs[] = {{"cuda:0,cuda:1", 900, 40, 60, 0, "", true},
                             {"cuda:0,cuda:1,cuda:2", 300, 20, 20, 0, "", true},
                             {"cuda:0,cuda:1,cuda:2,cuda:3", 400, 400, 60, 0, "2x2", true}};
    for (const StepsRun &run : runs) {
        const auto n_devices =
            static_cast<int>(std::count(run.devices.begin(), run.devices.end(), ',')) + 1;
        const polytile_report linked = report_of(run, n_devices, true, true, 1);
        const polytile_ranks_summary summary = planned(run);
        EXPECT_GT(summary.pulled_bytes, 0) << run.devices;
        EXPECT_EQ(summary.pulled_bytes, linked.p2p_bytes) << run.devices << " " << run.n_rows;
    }
}

TEST_F(GroupPulls, ResultsAreThoseOfRunningInOrder) {
    Random random(test_seed("GroupPulls.ResultsAreThoseOfRunningInOrder"));
    int64_t n_pulled = 0;
    const int64_t n_rounds = scaled(30);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        const int n_devices = static_cast<int>(random.number(2, 4));
        const StepsRun run = {devices_text(n_devices, random.chance(50) ? "" : "(memory=1MiB)"),
                              random.number(20, 600),
                              random.number(10, 60),
                              random.number(1, 120),
                              random.one_of({0, 0, 7, 30}),
                              n_devices == 4 && random.chance(50) ? "2x2" : ""};
        const auto seed = static_cast<uint64_t>(random.number(0, int64_t{1} << 62));
        n_pulled +=
            report_of(run, n_devices, random.chance(85), random.chance(60), seed).p2p_bytes > 0;
        if (HasFailure())
            ADD_FAILURE() << run.n_rows << " x " << run.n_columns << ", " << run.n_steps
                          << " steps, a wait every " << run.waits_every << ", " << run.devices
                          << ", grid " << run.grid << ", seed " << seed;
    }
    EXPECT_GE(n_pulled, least_count(n_rounds, 0.42));
}

/** Whether the call that was to fail came. */
bool survives(int64_t n_th, const std::string &name) {
    const StepsRun run = {"cuda:0,cuda:1", 300, 30, 50, 0, ""};
    const Fields wanted = wanted_of(run);
    Fields fields = some_fields(run);
    FakeCuda cuda(static_cast<uint64_t>(n_th), gpus(2, true));
    FailingApi failing;
    bool has_failed = false;
    cuda.add_kernel(step_on_gpus().cuda, step_on_gpus());
    {
        Steps steps(run, &fields);
        failing.let_fail(n_th, name, cudaErrorUnknown);
        const polytile_status status = steps.run();
        failing.stop();
        has_failed = !failing.failed().empty();
        const polytile_status left = steps.detach();
        if (has_failed) {
            EXPECT_EQ(status, POLYTILE_DEVICE) << steps.error();
            EXPECT_TRUE(left != POLYTILE_OK || !steps.is_complete());
        } else {
            EXPECT_EQ(status, POLYTILE_OK) << steps.error();
            EXPECT_TRUE(fields == wanted);
        }
        EXPECT_EQ(cuda.n_pending(), 0);
    }
    EXPECT_EQ(cuda.violations(), "");
    EXPECT_EQ(cuda.leaks(), "");
    return has_failed;
}

TEST_F(GroupPulls, APullThatFailsIsToldAndEndsTheRun) {
    int64_t n_failed = 0;
    for (const char *call : {"cudaMemcpyPeerAsync", "cudaMemcpy3DPeerAsync"})
        for (int64_t n = 1; n <= scaled(8) && survives(n, call) && !HasFailure(); n++)
            n_failed++;
    EXPECT_GT(n_failed, 0);
}

/** Little more fits than a device's parts of two fields, or of three, which have half of the rows.
 * Limits are in tenths of a field. */
TEST_F(GroupPulls, NothingComesToTheHostWhereTheLimitIsAFewFields) {
    const struct {
        int n_devices;
        const char *grid;
        int64_t limit;
    } cases[] = {{2, "", 13}, {2, "", 16}, {4, "2x2", 13}, {4, "2x2", 16}};
    for (const auto &of : cases) {
        const int64_t field_bytes = 400 * 400 * 4;
        const std::string option = "(memory=" + std::to_string(field_bytes / 10 * of.limit) + "B)";
        const StepsRun run = {devices_text(of.n_devices, option), 400, 400, 60, 0, of.grid};
        const polytile_report report = report_of(run, of.n_devices, true, true, 1);
        EXPECT_EQ(report.d2h_bytes, 0) << run.devices;
        EXPECT_GT(report.p2p_bytes, 0) << run.devices;
    }
}

/** Fields of which some leave between steps, and come back: what is left of the devices' memory may
 * lie in pieces. */
struct ChangingRun {
    std::string devices;
    int64_t n_rows, n_columns;
    int n_fields;
    uint64_t order; /* the seed of who comes and goes */
};

Fields random_fields(const ChangingRun &run) {
    Random random(7);
    Fields made(static_cast<size_t>(run.n_fields));
    for (std::vector<uint32_t> &field : made) {
        field.resize(static_cast<size_t>(run.n_rows * run.n_columns));
        for (uint32_t &element : field)
            element = static_cast<uint32_t>(random.number(0, 1 << 30));
    }
    return made;
}

/** A queue whose fields come and go. */
class ChangingFields {
  public:
    ChangingFields(const ChangingRun &run, Fields *fields)
        : run_(run), random_(run.order), array_(fields->size()), is_on_(fields->size()) {
        const int64_t extents[] = {run.n_rows, run.n_columns};
        const polytile_implementation implementation = step_on_gpus();
        const polytile_share_options share = {};
        expect_ok(polytile_context_create(&ctx_));
        expect_ok(polytile_queue_create_shared(ctx_, run.devices.c_str(), &share, &queue_));
        expect_ok(polytile_kernel_create(ctx_,
                                         "step[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
                                         &implementation, &kernel_));
        for (size_t f = 0; f < array_.size(); f++)
            expect_ok(polytile_array_wrap(ctx_, ("F" + std::to_string(f)).c_str(), POLYTILE_U32, 2,
                                          extents, (*fields)[f].data(), &array_[f]));
    }
    ~ChangingFields() { polytile_context_destroy(ctx_); }
    ChangingFields(const ChangingFields &) = delete;
    ChangingFields &operator=(const ChangingFields &) = delete;

    void run() {
        const int64_t n_phases = random_.number(2, 6);
        for (int64_t phase = 0; phase < n_phases && !testing::Test::HasFailure(); phase++)
            run_phase();
        expect_ok(polytile_queue_wait(queue_));
        for (size_t f = 0; f < array_.size(); f++)
            if (is_on_[f])
                expect_ok(polytile_queue_detach(queue_, 1, &array_[f]));
    }

  private:
    void expect_ok(polytile_status status) {
        EXPECT_EQ(status, POLYTILE_OK) << polytile_last_error(ctx_);
    }

    /** Two fields are there; of the others some leave. */
    void change_fields(size_t a, size_t b) {
        for (size_t f = 0; f < array_.size(); f++)
            if (is_on_[f] && f != a && f != b && random_.chance(50)) {
                expect_ok(polytile_queue_detach(queue_, 1, &array_[f]));
                is_on_[f] = false;
            }
        for (size_t f : {a, b})
            if (!is_on_[f]) {
                expect_ok(polytile_queue_attach(queue_, 1, &array_[f]));
                is_on_[f] = true;
            }
    }

    void run_phase() {
        const polytile_domain threads = {2, {{1, run_.n_rows - 2, 1}, {1, run_.n_columns - 2, 1}}};
        const auto a = static_cast<size_t>(random_.number(0, run_.n_fields - 1));
        auto b = static_cast<size_t>(random_.number(0, run_.n_fields - 1));
        b = b == a ? (a + 1) % array_.size() : b;
        change_fields(a, b);
        const int64_t n_steps = random_.number(1, 40);
        for (int64_t k = 0; k < n_steps; k++) {
            polytile_array *const turn[] = {array_[k % 2 ? b : a], array_[k % 2 ? a : b]};
            expect_ok(polytile_queue_launch(queue_, kernel_, &threads, 2, turn, nullptr));
        }
        if (random_.chance(40))
            expect_ok(polytile_queue_wait(queue_));
    }

    ChangingRun run_;
    Random random_;
    std::vector<polytile_array *> array_;
    std::vector<bool> is_on_;
    polytile_context *ctx_ = nullptr;
    polytile_queue *queue_ = nullptr;
    polytile_kernel *kernel_ = nullptr;
};

void compare_with_host(ChangingRun run, int n_devices, bool are_pinned, uint64_t seed) {
    Fields fields = random_fields(run), wanted = fields;
    FakeCuda cuda(seed, gpus(n_devices, true));
    cuda.add_kernel(step_on_gpus().cuda, step_on_gpus());
    for (const std::vector<uint32_t> &field : fields)
        if (are_pinned)
            cuda.host().declare(byte_range(field.data(), field.size() * sizeof field[0]),
                                cudaMemoryTypeHost);
    ChangingFields(run, &fields).run();
    run.devices = "host";
    ChangingFields(run, &wanted).run();
    for (size_t f = 0; f < fields.size(); f++)
        EXPECT_TRUE(fields[f] == wanted[f]) << "field " << f << " differs";
    EXPECT_EQ(cuda.violations(), "");
    EXPECT_EQ(cuda.leaks(), "");
}

/** Two fields fit a device, but not where a third one was between them: to bring elements of one
 * would push out the other, which the other device copies. */
TEST_F(GroupPulls, NobodyPullsWhereADeviceHasToMakeRoom) {
    const ChangingRun run = {devices_text(2, "(memory=32011B)"), 195, 24, 3, 4473979024215643362U};
    for (uint64_t seed = 1; seed <= 4 && !HasFailure(); seed++)
        compare_with_host(run, 2, seed % 2 == 0, seed);
    compare_with_host({devices_text(2, "(memory=66009B)"), 191, 36, 3, 1789883443673048478U}, 2,
                      true, 1);
}

TEST_F(GroupPulls, FieldsComeAndGo) {
    Random random(test_seed("GroupPulls.FieldsComeAndGo"));
    const int64_t n_rounds = scaled(20);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        const auto n_devices = static_cast<int>(random.one_of({2, 2, 3, 4}));
        ChangingRun run = {"", random.number(100, 200), random.number(20, 40),
                           static_cast<int>(random.one_of({3, 3, 4, 5})),
                           static_cast<uint64_t>(random.number(0, int64_t{1} << 62))};
        const int64_t tenth_bytes = run.n_rows * run.n_columns * 4 / 10;
        const int64_t limit_bytes = tenth_bytes * random.number(15, 10 * run.n_fields + 5);
        run.devices = devices_text(
            n_devices, random.chance(70) ? "(memory=" + std::to_string(limit_bytes) + "B)" : "");
        const auto seed = static_cast<uint64_t>(random.number(0, int64_t{1} << 62));
        compare_with_host(run, n_devices, random.chance(60), seed);
        if (HasFailure())
            ADD_FAILURE() << run.n_rows << " x " << run.n_columns << ", " << run.n_fields
                          << " fields, " << run.devices << ", order " << run.order << ", seed "
                          << seed;
    }
}

} // namespace
