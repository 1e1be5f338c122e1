#include "distribute/mpi/world.h"
#include "queue/queue_test.h"
#include "support/environment.h"

#include <atomic>
#include <cmath>
#include <numeric>

#include <polytile/kernel.h>
#include <polytile/mpi.h>

/* Rows that members of several ranks take from one counter. Each rank compares results with those
 * of one process, bit by bit. */

extern "C" {
#include "distribute/mpi/transport_mpi.h"

polytile_status __real_pti_mpi_is_one_machine(polytile_context *ctx, MPI_Comm comm, bool *is);
}

namespace {

/** Ranks believe that they are of several machines. */
bool are_apart = false;

} // namespace

extern "C" polytile_status __wrap_pti_mpi_is_one_machine(polytile_context *ctx, MPI_Comm comm,
                                                         bool *is) {
    const polytile_status status = __real_pti_mpi_is_one_machine(ctx, comm, is);
    *is = *is && !are_apart;
    return status;
}

namespace {

POLYTILE_KERNEL(root, (i, j), (const float, x, 2), (float, y, 2)) {
    PT_AT(y, i, j) = sqrtf(PT_AT(x, i, j)) + (float)(i + j);
}

POLYTILE_KERNEL(transposed, (i, j), (const float, x, 2), (float, y, 2)) {
    PT_AT(y, j, i) = PT_AT(x, i, j);
}

POLYTILE_KERNEL(grow, (i, j), (const float, x, 2), (float, y, 2)) {
    PT_AT(y, i, j) = PT_AT(y, i, j) * PT_AT(x, i, j) + 1;
}

POLYTILE_KERNEL(between, (i, j), (const float, x, 2), (float, y, 2)) {
    PT_AT(y, i, j) = PT_AT(x, i - 1, j) - PT_AT(x, i + 1, j);
}

POLYTILE_KERNEL(total, (i, j), (const float, x, 2), (float, s, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(x, i, j));
}

POLYTILE_KERNEL(columns, (i, j), (const float, x, 2), (float, c, 1)) {
    PT_SUM(PT_AT(c, j), PT_AT(x, i, j));
}

POLYTILE_KERNEL(rows, (i, j), (const float, x, 2), (float, r, 1)) {
    PT_SUM(PT_AT(r, i), PT_AT(x, i, j));
}

POLYTILE_KERNEL(both, (i, j), (const float, x, 2), (float, y, 2), (float, c, 1)) {
    PT_AT(y, i, j) = PT_AT(x, i, j) / 3;
    PT_SUM(PT_AT(c, j), PT_AT(x, i, j));
}

struct Case {
    const char *declaration;
    const polytile_implementation *implementation;
    std::vector<Lengths> written;
};

int64_t take_by_size(const polytile_work *work, int unit, void *) {
    return unit == 0 ? work->rows_left / 3 + 1 : 2;
}

int64_t take_nonsense(const polytile_work *work, int unit, void *) {
    return unit == 0 ? INT64_MIN : work->rows_left % 3 == 0 ? INT64_MAX / 2 : 0;
}

/** Each rank answers something else, and none keeps to it. */
int64_t take_at_random(const polytile_work *, int, void *user) {
    const int64_t answers[] = {0, 0, 0, -1, INT64_MIN, 1, 3, 1000, INT64_MAX};
    return answers[static_cast<Random *>(user)->number(0, 8)];
}

int64_t take_nothing(const polytile_work *, int, void *) {
    return 0;
}

class MpiPolicies : public testing::TestWithParam<bool> {
  protected:
    enum { N = 97, M = 13 };

    void SetUp() override {
        are_apart = GetParam();
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        add_policy("by_size", take_by_size);
        add_policy("nonsense", take_nonsense);
        add_policy("nothing", take_nothing);
        add_policy("at_random", take_at_random, &random);
    }
    void TearDown() override {
        polytile_context_destroy(ctx);
        are_apart = false;
    }

    void add_policy(const char *name, decltype(polytile_policy::take) take, void *user = nullptr) {
        polytile_policy policy = {};
        policy.name = name;
        policy.take = take;
        policy.user = user;
        ASSERT_EQ(polytile_policy_register(ctx, &policy), POLYTILE_OK) << error();
    }
    std::string error() const { return polytile_last_error(ctx); }

    polytile_queue *open_over_ranks(const char *devices, const char *policy) const {
        polytile_share_options share = {};
        share.policy = policy;
        polytile_queue *queue = nullptr;
        EXPECT_EQ(polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, devices, &share, &queue),
                  POLYTILE_OK)
            << error();
        return queue;
    }
    /** Two devices of this process, which do not differ. */
    polytile_queue *open_within() const {
        polytile_share_options share = {};
        share.policy = "self(1)";
        polytile_queue *queue = nullptr;
        EXPECT_EQ(
            polytile_queue_create_shared(ctx, "host(threads=1),host(threads=1)", &share, &queue),
            POLYTILE_OK)
            << error();
        return queue;
    }
    polytile_array *wrap(const char *name, std::vector<float> &elements,
                         const Lengths &lengths) const {
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx, name, POLYTILE_F32, static_cast<int>(lengths.size()),
                                      lengths.data(), elements.data(), &array),
                  POLYTILE_OK)
            << error();
        return array;
    }
    polytile_kernel *create(const char *declaration,
                            const polytile_implementation *implementation) const {
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx, declaration, implementation, &kernel), POLYTILE_OK)
            << error();
        return kernel;
    }

    /** What is written by a launch over n rows on a queue, which ends. */
    std::vector<std::vector<float>> run(const Case &of, int64_t n_rows, polytile_queue *queue) {
        std::vector<float> x(N * M);
        Random drawn(7);
        for (float &element : x)
            element = 1 / static_cast<float>(drawn.number(1, 1000));
        Arrays arrays = {wrap("x", x, {N, M})};
        std::vector<std::vector<float>> written;
        for (const Lengths &lengths : of.written)
            written.emplace_back(
                std::accumulate(lengths.begin(), lengths.end(), int64_t{1}, std::multiplies<>()),
                0.1F);
        for (size_t k = 0; k < written.size(); k++)
            arrays.push_back(wrap(k == 0 ? "y" : "z", written[k], of.written[k]));
        polytile_kernel *kernel = create(of.declaration, of.implementation);
        const polytile_domain threads = {2, {{0, n_rows - 1, 1}, {0, M - 1, 1}}};
        EXPECT_EQ(attach(queue, arrays), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_queue_launch(queue, kernel, &threads, static_cast<int>(arrays.size()),
                                        arrays.data(), nullptr),
                  POLYTILE_OK)
            << error();
        EXPECT_EQ(detach(queue, arrays), POLYTILE_OK) << error();
        polytile_queue_destroy(queue);
        return written;
    }

    polytile_context *ctx = nullptr;
    Random random{static_cast<uint64_t>(world_rank() + 1)};
};

INSTANTIATE_TEST_SUITE_P(Machines, MpiPolicies, testing::Values(false, true),
                         [](const testing::TestParamInfo<bool> &of) {
                             return of.param ? "Several" : "One";
                         });

TEST_P(MpiPolicies, GiveTheBitsOfOneProcess) {
    const Case cases[] = {
        {"root[i, j]: in x[i, j]; out y[i, j]", &root_kernel, {{N, M}}},
        {"transposed[i, j]: in x[i, j]; out y[j, i]", &transposed_kernel, {{M, N}}},
        {"grow[i, j]: in x[i, j]; inout y[i, j]", &grow_kernel, {{N, M}}},
        {"total[i, j]: in x[i, j]; sum s[0]", &total_kernel, {{1}}},
        {"total[i, j]: in x[i, j]; out sum s[0]", &total_kernel, {{1}}},
        {"columns[i, j]: in x[i, j]; sum c[j]", &columns_kernel, {{M}}},
        {"columns[i, j]: in x[i, j]; out sum c[j]", &columns_kernel, {{M}}},
        {"rows[i, j]: in x[i, j]; sum r[i]", &rows_kernel, {{N}}},
        {"both[i, j]: in x[i, j]; out y[i, j]; sum c[j]", &both_kernel, {{N, M}, {M}}},
    };
    for (const Case &of : cases) {
        const auto expected = run(of, N, open_within());
        for (const char *devices : {"host(threads=1)", "host(threads=1,memory=8KiB)",
                                    "host(threads=1),host(threads=1,memory=8KiB)"})
            for (const char *policy :
                 {"self(1)", "self(7)", "guided", "by_size", "nonsense", "nothing", "at_random"})
                EXPECT_EQ(run(of, N, open_over_ranks(devices, policy)), expected)
                    << of.declaration << " on " << devices << " by " << policy;
    }
}

/** Some ranks, or all but one, get nothing. */
TEST_P(MpiPolicies, LaunchesMayHaveFewerRowsThanRanks) {
    const Case of = {"root[i, j]: in x[i, j]; out y[i, j]", &root_kernel, {{N, M}}};
    for (int64_t n_rows : {1, 2, 3}) {
        const auto expected = run(of, n_rows, open_within());
        for (const char *policy : {"self(1)", "self(5)", "guided", "at_random"})
            EXPECT_EQ(run(of, n_rows, open_over_ranks("host(threads=1)", policy)), expected)
                << n_rows << " rows by " << policy;
    }
}

/** What rows wrote lies apart until something needs it. */
TEST_P(MpiPolicies, RowsComeTogetherWhereLaunchesReadThem) {
    polytile_queue *queue = open_over_ranks("host(threads=1)", "self(3)");
    std::vector<float> x(N * M, 4), y(N * M, -1), z(N * M, -1), c(M, 0);
    polytile_array *in = wrap("x", x, {N, M}), *mid = wrap("y", y, {N, M}),
                   *out = wrap("z", z, {N, M}), *sum = wrap("c", c, {M});
    polytile_kernel *root = create("root[i, j]: in x[i, j]; out y[i, j]", &root_kernel);
    polytile_kernel *transpose = create("transposed[i, j]: in x[i, j]; out y[i, j]", &root_kernel);
    polytile_kernel *grow = create("grow[i, j]: in x[i, j]; inout y[i, j]", &grow_kernel);
    polytile_kernel *columns = create("columns[i, j]: in x[i, j]; sum c[j]", &columns_kernel);
    const polytile_domain all = {2, {{0, N - 1, 1}, {0, M - 1, 1}}};
    const polytile_domain some = {2, {{5, N - 8, 1}, {0, M - 1, 1}}};
    const auto launch = [&](polytile_kernel *kernel, const polytile_domain &threads,
                            const Arrays &arrays, bool waits) {
        EXPECT_EQ(polytile_queue_launch(queue, kernel, &threads, 2, arrays.data(), nullptr),
                  POLYTILE_OK)
            << error();
        if (waits)
            EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    };
    ASSERT_EQ(attach(queue, {in, mid, out, sum}), POLYTILE_OK) << error();
    for (bool waits : {true, false}) {
        launch(root, all, {in, mid}, waits);
        launch(transpose, all, {mid, out}, waits);
        launch(grow, some, {in, out}, waits);
        launch(columns, all, {out, sum}, waits);
        launch(root, all, {in, mid}, waits);
        launch(root, some, {out, mid}, waits);
    }
    EXPECT_EQ(detach(queue, {mid, out, sum}), POLYTILE_OK) << error();
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < M; j++) {
            const float first = 2 + static_cast<float>(i + j);
            float second = sqrtf(first) + static_cast<float>(i + j), last = first;
            if (i >= 5 && i <= N - 8) {
                second = second * 4 + 1;
                last = sqrtf(second) + static_cast<float>(i + j);
            }
            EXPECT_EQ(z[i * M + j], second) << i << " " << j;
            EXPECT_EQ(y[i * M + j], last) << i << " " << j;
        }
    polytile_queue_destroy(queue);
}

/** Owners compute what is used again, in supersteps that are kept. Members' arrays that a dealt
 * launch makes move what these send. */
TEST_P(MpiPolicies, SuperstepsThatAreKeptGoOnAfterRowsWereDealtOut) {
    for (const char *policy : {"guided", "self(1)"}) {
        polytile_queue *queue = open_over_ranks("host(threads=1)", policy);
        std::vector<float> x(N * M), y(N * M, 1), w(N * M, 4), v(N * M, -1);
        std::iota(x.begin(), x.end(), 0.f);
        std::vector<float> expected[] = {x, y};
        polytile_array *one = wrap("x", x, {N, M}), *other = wrap("y", y, {N, M}),
                       *in = wrap("w", w, {N, M}), *out = wrap("v", v, {N, M});
        polytile_kernel *between =
            create("between[i, j]: in x[i-1:i+1, j]; out y[i, j]", &between_kernel);
        polytile_kernel *root = create("root[i, j]: in x[i, j]; out y[i, j]", &root_kernel);
        const polytile_domain inner = {2, {{1, N - 2, 1}, {0, M - 1, 1}}};
        const polytile_domain all = {2, {{0, N - 1, 1}, {0, M - 1, 1}}};
        const auto launch = [&](polytile_kernel *kernel, const polytile_domain &threads,
                                const Arrays &arrays) {
            EXPECT_EQ(polytile_queue_launch(queue, kernel, &threads, 2, arrays.data(), nullptr),
                      POLYTILE_OK)
                << error();
        };
        ASSERT_EQ(attach(queue, {one, other, in, out}), POLYTILE_OK) << error();
        for (int turn = 0; turn < 8; turn++) {
            launch(between, inner, {one, other});
            launch(between, inner, {other, one});
            ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
            for (int k = 0; k < 2; k++)
                for (size_t e = M; e < (N - 1) * M; e++)
                    expected[1 - k][e] = expected[k][e - M] - expected[k][e + M];
            if (turn != 4)
                continue;
            launch(root, all, {in, out});
            ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        }
        ASSERT_EQ(detach(queue, {one, other, in, out}), POLYTILE_OK) << error();
        EXPECT_EQ(x, expected[0]);
        EXPECT_EQ(y, expected[1]);
        EXPECT_EQ(v[0], 2);
        polytile_queue_destroy(queue);
    }
}

/** Rows of one rank take long. */
struct Rows {
    static int run(const polytile_sub_kernel *launch) {
        auto *of = static_cast<Rows *>(launch->user);
        const polytile_range &range = launch->threads->range[0];
        const polytile_view &view = launch->views[0];
        for (int64_t i = range.lo; i <= range.hi; i++) {
            usleep(of->row_us);
            *reinterpret_cast<float *>(static_cast<char *>(view.origin) +
                                       i * view.stride_bytes[0]) = static_cast<float>(i);
        }
        of->n_rows += static_cast<int>(range.hi - range.lo + 1);
        return of->n_rows > of->fails_after ? 42 : 0;
    }

    useconds_t row_us = 100;
    std::atomic<int> n_rows{0};
    int fails_after = INT32_MAX;
};

class MpiTakenRows : public MpiPolicies {
  protected:
    enum { N_ROWS = 240 };

    void open(const char *policy) {
        queue = open_over_ranks("host(threads=1)", policy);
        implementation.host_launcher = Rows::run;
        implementation.user = &taken;
        y.assign(N_ROWS, -1);
        array = wrap("y", y, {N_ROWS});
        kernel = create("slow[i]: out y[i]", &implementation);
        ASSERT_EQ(attach(queue, {array}), POLYTILE_OK) << error();
    }
    polytile_status launch() {
        return polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N_ROWS), 1, &array, nullptr);
    }
    int sum_of_ranks(int n) {
        int sum = 0;
        MPI_Request request;
        MPI_Iallreduce(&n, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        world_wait(&request);
        return sum;
    }
    void expect_all_rows() const {
        for (int i = 0; i < N_ROWS; i++)
            EXPECT_EQ(y[i], static_cast<float>(i)) << i;
    }

    const int last = world_size() - 1;
    Rows taken;
    polytile_implementation implementation = {};
    polytile_queue *queue = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *array = nullptr;
    std::vector<float> y;
};

INSTANTIATE_TEST_SUITE_P(Machines, MpiTakenRows, testing::Values(false, true),
                         [](const testing::TestParamInfo<bool> &of) {
                             return of.param ? "Several" : "One";
                         });

TEST_P(MpiTakenRows, ASlowRankTakesFewer) {
    for (const char *policy : {"self(1)", "guided"}) {
        taken.n_rows = 0;
        taken.row_us = world_rank() == last ? 4000 : 100;
        open(policy);
        EXPECT_EQ(launch(), POLYTILE_OK) << error();
        EXPECT_EQ(detach(queue, {array}), POLYTILE_OK) << error();
        EXPECT_EQ(sum_of_ranks(taken.n_rows), int{N_ROWS}) << policy;
        if (world_size() > 1 && world_rank() == last)
            EXPECT_LT(taken.n_rows, N_ROWS / world_size()) << policy;
        expect_all_rows();
        polytile_queue_destroy(queue);
        polytile_kernel_destroy(kernel);
        polytile_array_destroy(array);
    }
}

TEST_P(MpiTakenRows, ARankWhoseDeviceFailsEndsTheLaunchOnAll) {
    for (const char *policy : {"self(1)", "guided", "nothing"}) {
        open(policy);
        const bool is_dealt = std::string(policy) != "nothing"; /* else the fastest has all */
        const bool may_fail = !is_dealt || world_rank() == last;
        taken.n_rows = 0;
        taken.row_us = may_fail ? 100 : 4000; /* some rows are left when that rank begins */
        taken.fails_after = may_fail ? 2 : INT32_MAX;
        EXPECT_EQ(launch(), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE) << policy;
        EXPECT_EQ(error().substr(0, 5), "rank ") << error();
        EXPECT_NE(error().find("42"), std::string::npos) << error();
        EXPECT_FALSE(polytile_array_is_complete(array));
        const int n_rows = sum_of_ranks(taken.n_rows);
        if (is_dealt)
            EXPECT_LT(n_rows, int{N_ROWS}) << policy;
        taken.row_us = 100;
        taken.fails_after = INT32_MAX;
        EXPECT_EQ(launch(), POLYTILE_OK) << error();
        EXPECT_EQ(detach(queue, {array}), POLYTILE_OK) << error();
        EXPECT_TRUE(polytile_array_is_complete(array));
        expect_all_rows();
        polytile_queue_destroy(queue);
        polytile_kernel_destroy(kernel);
        polytile_array_destroy(array);
    }
}

/** A launch of no rows is refused on all ranks, as in one process, and the next one runs. */
TEST_P(MpiTakenRows, LaunchesOfNoRowsAreRefusedOnAllRanks) {
    open("self(1)");
    EXPECT_EQ(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(0), 1, &array, nullptr),
              POLYTILE_INVALID);
    EXPECT_EQ(error(), "rank 0: slow: the launch domain 0:-1 of i is empty");
    EXPECT_EQ(launch(), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {array}), POLYTILE_OK) << error();
    expect_all_rows();
    polytile_queue_destroy(queue);
}

/** To free what ranks have in common takes all of them. */
TEST_P(MpiTakenRows, ARankThatEndsItsQueueAloneWaitsForNobody) {
    open("self(1)");
    if (world_size() == 1)
        return;
    if (world_rank() == last) {
        polytile_queue_destroy(queue);
        world_most(0);
        return;
    }
    EXPECT_EQ(launch(), POLYTILE_INVALID);
    world_most(0);
    polytile_queue_destroy(queue);
}

/** What was written before the failure still lies apart. */
TEST_P(MpiTakenRows, AFailureLeavesRowsOfEarlierLaunches) {
    open("self(1)");
    std::vector<float> z(N_ROWS, -1);
    polytile_array *other = wrap("z", z, {N_ROWS});
    ASSERT_EQ(attach(queue, {other}), POLYTILE_OK) << error();
    EXPECT_EQ(launch(), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    taken.fails_after = 0;
    EXPECT_EQ(polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(N_ROWS), 1, &other, nullptr),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    EXPECT_TRUE(polytile_array_is_complete(array));
    EXPECT_EQ(detach(queue, {array}), POLYTILE_OK) << error();
    expect_all_rows();
    polytile_queue_destroy(queue);
}

} // namespace
