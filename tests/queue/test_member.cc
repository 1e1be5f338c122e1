#include "queue/program.h"
#include "queue/queue_test.h"
#include "support/environment.h"
#include "support/scale.h"

#include <polytile/kernel.h>

extern "C" {
#include "access/array/array.h"
#include "launch/peers/peers_state.h"
#include "queue/calls/calls.h"
#include "queue/member.h"
}

namespace {

/** A set of boxes of lines, each lo to hi. */
class Boxes {
  public:
    Boxes(std::initializer_list<polytile_domain> boxes) {
        for (const polytile_domain &box : boxes)
            pti_boxes_add(&set, &box);
    }
    ~Boxes() { pti_boxes_free(&set); }
    Boxes(const Boxes &) = delete;
    Boxes &operator=(const Boxes &) = delete;
    pti_boxes set = {};
};

/** What a queue does as one of several, in place and on devices with memory. */
class QueueMember : public QueueTest, public testing::WithParamInterface<const char *> {
  protected:
    void SetUp() override {
        environment.set("POLYTILE_CHECK", "plan");
        QueueTest::SetUp();
        queue = open_one();
    }

    polytile_queue *open_one() {
        polytile_queue *made = nullptr;
        EXPECT_EQ(pti_queue_open(ctx, GetParam(), &made), POLYTILE_OK) << error();
        return made;
    }
    bool is_in_place() const { return std::string(GetParam()) == "host"; }
    /** Whether all arrays of a test fit the device. */
    bool fits() const { return std::string(GetParam()) == "host(memory=1MiB)"; }

    void share(polytile_queue *with, polytile_array *array) {
        EXPECT_EQ(pti_queue_attach_shared(with, array), POLYTILE_OK) << error();
    }
    void fetch(polytile_array *array, const Boxes &boxes) {
        EXPECT_EQ(pti_queue_fetch(array->queue, array, &boxes.set), POLYTILE_OK) << error();
    }
    void renew(polytile_array *array, const Boxes &boxes) {
        EXPECT_EQ(pti_queue_invalidate(array->queue, array, &boxes.set), POLYTILE_OK) << error();
    }
    void wait_for(polytile_array *array) {
        EXPECT_EQ(pti_queue_wait_for_elements(array->queue, array), POLYTILE_OK) << error();
    }

    static polytile_domain range(int64_t lo, int64_t hi) { return box({lo}, {hi}); }

    Environment environment;
    polytile_queue *queue = nullptr;
    /* arrays may be attached to them until the context ends */
    std::vector<float> memory = std::vector<float>(100, 1), other = std::vector<float>(100, 1);
};

INSTANTIATE_TEST_SUITE_P(Devices, QueueMember,
                         testing::Values("host", "host(memory=768B)", "host(memory=1MiB)"));

TEST_P(QueueMember, SeveralHoldOneMemoryAndEachWritesItsPart) {
    polytile_queue *second = open_one();
    polytile_array *x = wrap("x", memory), *same = wrap("x", memory);
    polytile_kernel *doubling = scale();
    share(queue, x);
    share(second, same);
    ASSERT_EQ(launch(queue, doubling, range(0, 49), {x}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(second, doubling, range(50, 99), {same}), POLYTILE_OK) << error();
    ASSERT_EQ(launch(second, doubling, range(50, 99), {same}), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(detach(second, {same}), POLYTILE_OK) << error();
    for (size_t k = 0; k < 100; k++)
        ASSERT_EQ(memory[k], k < 50 ? 2 : 4) << k;
}

/** A box of a launch that was proved is cut, and kept, as a launch is; over an array that contains
 * no more than it touches, and whose ends no section of the whole knows. */
TEST_P(QueueMember, BoxesOfAProvedLaunchAreOnlyCut) {
    const polytile_domain half = range(0, 49), all = line(100), box = range(10, 19);
    polytile_kernel *doubling = scale();
    polytile_array *x = wrap("x", memory), *part = nullptr;
    ASSERT_EQ(polytile_array_wrap_domain(ctx, "x", POLYTILE_F32, &half, memory.data(), &part),
              POLYTILE_OK);
    pti_prepared whole = {};
    const pti_value no_values[1] = {};
    ASSERT_EQ(pti_instance_create(doubling, &all, &x, 0, nullptr, &whole.instance), POLYTILE_OK);
    const pti_box_launch launch = {doubling, &whole, no_values, nullptr};
    share(queue, part);
    for (int k = 0; k < 3; k++)
        ASSERT_EQ(pti_queue_launch_box(queue, &launch, &box, &part), POLYTILE_OK) << error();
    EXPECT_EQ(queue->n_prepared, 1);
    EXPECT_EQ(detach(queue, {part}), POLYTILE_OK) << error();
    for (size_t k = 0; k < 100; k++)
        ASSERT_EQ(memory[k], k >= 10 && k < 20 ? 8 : 1) << k;
    pti_instance_free(whole.instance);
}

TEST_P(QueueMember, SharingChecksTheArrayAllTheSame) {
    polytile_array *x = wrap("x", memory), *described = nullptr;
    const polytile_domain all = line(100);
    share(queue, x);
    EXPECT_EQ(pti_queue_attach_shared(queue, x), POLYTILE_INVALID);
    expect_says({"array x is attached already"});
    ASSERT_EQ(polytile_array_describe(ctx, "d", POLYTILE_F32, &all, &described), POLYTILE_OK);
    EXPECT_EQ(pti_queue_attach_shared(queue, described), POLYTILE_INVALID);
    expect_says({"array d is only described"});
}

TEST_P(QueueMember, FetchedElementsAreThereAndTheArrayStays) {
    polytile_array *x = wrap("x", memory);
    polytile_kernel *doubling = scale();
    share(queue, x);
    ASSERT_EQ(launch(queue, doubling, line(100), {x}), POLYTILE_OK) << error();
    fetch(x, {range(0, 9), range(90, 99)});
    wait_for(x);
    for (const size_t k : {0U, 9U, 90U, 99U})
        EXPECT_EQ(memory[k], 2) << k;
    if (fits()) {
        EXPECT_EQ(memory[10], 1) << "nobody asked for it";
        EXPECT_EQ(report(queue, true).d2h_bytes, 20 * 4);
    }
    ASSERT_EQ(launch(queue, doubling, line(100), {x}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    if (fits()) {
        EXPECT_EQ(report(queue).h2d_bytes, 0);
    }
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(memory, std::vector<float>(100, 4));
}

TEST_P(QueueMember, LaunchesBehindAnInvalidationReadWhatTheHostGot) {
    polytile_array *x = wrap("x", memory);
    polytile_kernel *doubling = scale();
    share(queue, x);
    ASSERT_EQ(launch(queue, doubling, line(100), {x}), POLYTILE_OK) << error();
    renew(x, {range(0, 0), range(99, 99)});
    wait_for(x);
    memory[0] = memory[99] = 5;
    renew(x, {range(0, 0), range(99, 99)});
    ASSERT_EQ(launch(queue, doubling, line(100), {x}), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    for (size_t k = 0; k < 100; k++)
        ASSERT_EQ(memory[k], k == 0 || k == 99 ? 10 : 4) << k;
}

TEST_P(QueueMember, NothingOldComesBackOverWhatTheHostGot) {
    polytile_array *x = wrap("x", memory);
    share(queue, x);
    ASSERT_EQ(launch(queue, scale(), line(100), {x}), POLYTILE_OK) << error();
    renew(x, {range(40, 59)});
    wait_for(x);
    std::fill(memory.begin() + 40, memory.begin() + 60, 7.0F);
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    for (size_t k = 0; k < 100; k++)
        ASSERT_EQ(memory[k], k >= 40 && k < 60 ? 7 : 2) << k;
}

TEST_P(QueueMember, NoElementsAreFetchedOrRenewedAtOnce) {
    polytile_array *x = wrap("x", memory);
    share(queue, x);
    fetch(x, {});
    renew(x, {});
    wait_for(x);
}

TEST_P(QueueMember, InternalArraysLieOverADomainAndHaveHostMemoryForTheirElements) {
    polytile_array *t = nullptr, *x = wrap("x", memory);
    const polytile_domain part = range(-10, 89);
    share(queue, x);
    ASSERT_EQ(pti_queue_create_array_over(queue, "t", POLYTILE_F32, &part, &t), POLYTILE_OK);
    EXPECT_EQ(polytile_array_get_domain(t)->range[0].lo, -10);
    EXPECT_EQ(polytile_array_get_data(t), nullptr);
    auto *host = static_cast<float *>(pti_queue_get_spill(queue, t));
    ASSERT_NE(host, nullptr);
    EXPECT_EQ(host[0], 0);
    host[0] = host[10] = 3;
    renew(t, {range(-10, -10), range(0, 0)});
    ASSERT_EQ(launch(queue, create("scale[i]: inout x[i]", &scale_kernel), range(-10, 89), {t}),
              POLYTILE_OK)
        << error();
    fetch(t, {range(-10, 0)});
    wait_for(t);
    EXPECT_EQ(pti_queue_get_spill(queue, t), host);
    for (size_t k = 0; k <= 10; k++)
        EXPECT_EQ(host[k], k == 0 || k == 10 ? 6 : 0) << k;
    ASSERT_EQ(launch(queue, create("add[i]: in x[i], y[i]; out z[i]", &add_kernel), range(0, 89),
                     {t, t, x}),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(memory[0], 12);
    EXPECT_EQ(memory[1], 0);
    EXPECT_EQ(memory[90], 1);
}

TEST_P(QueueMember, FetchingAnInternalArrayGivesItHostMemory) {
    polytile_array *t = make_internal(queue, "t", {100});
    fetch(t, {range(0, 99)});
    wait_for(t);
    EXPECT_NE(t->data, nullptr);
    EXPECT_EQ(static_cast<float *>(t->data)[99], 0);
}

/** What the host got does not depend on what failed. */
TEST_P(QueueMember, InvalidationsHoldAlthoughSomethingFails) {
    Gate gate;
    gate.let_return(3);
    polytile_array *t = make_internal(queue, "t", {100}), *u = make_internal(queue, "u", {100});
    polytile_array *x = wrap("x", memory), *y = wrap("y", other);
    share(queue, x);
    share(queue, y);
    static_cast<float *>(pti_queue_get_spill(queue, t))[5] = 8;
    static_cast<float *>(pti_queue_get_spill(queue, u))[5] = 9;
    polytile_kernel *copying = create("add[i]: in x[i], y[i]; out z[i]", &add_kernel);
    polytile_queue_pause(queue);
    ASSERT_EQ(launch(queue, gated(gate), line(100), {y}), POLYTILE_OK) << error();
    renew(t, {range(5, 5)});
    polytile_queue_resume(queue);
    gate.wait_for_a_launch();
    pti_queue_wait_all(queue);
    renew(u, {range(5, 5)});
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    expect_says({"gated", "returned 3"});
    ASSERT_EQ(launch(queue, copying, line(100), {t, u, x}), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    EXPECT_EQ(memory[5], 17);
    EXPECT_EQ(memory[6], 0);
}

/** What was dirty before is saved unless the failed launch needs its place, and in no case over
 * what the host got since. */
TEST_P(QueueMember, AFailureSavesNothingOverWhatTheHostGot) {
    Gate gate;
    gate.let_return(3);
    polytile_array *x = wrap("x", memory), *y = wrap("y", other);
    share(queue, x);
    share(queue, y);
    ASSERT_EQ(launch(queue, scale(), line(100), {x}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    std::fill(memory.begin(), memory.begin() + 10, 7.0F);
    polytile_queue_pause(queue);
    renew(x, {range(0, 9)});
    ASSERT_EQ(launch(queue, gated(gate), line(100), {y}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_DEVICE);
    const bool is_saved = is_in_place() || fits();
    EXPECT_EQ(polytile_array_is_complete(x), is_saved) << error();
    EXPECT_EQ(detach(queue, {x}), POLYTILE_OK) << error();
    for (size_t k = 0; k < (is_saved ? 100 : 10); k++)
        ASSERT_EQ(memory[k], k < 10 ? 7 : 2) << k;
}

TEST_P(QueueMember, EvictionsBehindAnInvalidationBringNothingOldBack) {
    polytile_array *x = wrap("x", memory), *y = wrap("y", other);
    polytile_kernel *doubling = scale();
    share(queue, x);
    ASSERT_EQ(launch(queue, doubling, line(100), {x}), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    share(queue, y);
    polytile_queue_pause(queue);
    memory[0] = 5;
    renew(x, {range(0, 0)});
    ASSERT_EQ(launch(queue, doubling, line(100), {y}), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, {x, y}), POLYTILE_OK) << error();
    EXPECT_EQ(memory[0], 5);
    EXPECT_EQ(memory[1], 2);
}

POLYTILE_KERNEL(member_star, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) =
        PT_AT(A, i - 1, j) + PT_AT(A, i + 1, j) + PT_AT(A, i, j - 1) + PT_AT(A, i, j + 1);
}

/** Two rows of a resident field come and go each step and nothing else; nothing is planned. */
TEST_P(QueueMember, AStencilExchangesTwoRowsAStep) {
    const int64_t n_rows = 60, n_columns = 40;
    memory.resize(n_rows * n_columns, 1);
    other.resize(n_rows * n_columns, 1);
    polytile_array *fields[2] = {};
    const polytile_domain domain = box({100, 0}, {100 + n_rows - 1, n_columns - 1});
    for (int f = 0; f < 2; f++) {
        ASSERT_EQ(polytile_array_wrap_domain(ctx, f == 0 ? "A" : "B", POLYTILE_F32, &domain,
                                             f == 0 ? memory.data() : other.data(), &fields[f]),
                  POLYTILE_OK);
        share(queue, fields[f]);
    }
    const int64_t first = 100, last = 100 + n_rows - 1;
    polytile_kernel *star = create(
        "member_star[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]", &member_star_kernel);
    const Boxes sent = {box({first + 1, 0}, {first + 1, n_columns - 1}),
                        box({last - 1, 0}, {last - 1, n_columns - 1})};
    const Boxes received = {box({first, 1}, {first, n_columns - 2}),
                            box({last, 1}, {last, n_columns - 2})};
    const auto step = [&](int k) {
        polytile_array *from = fields[k % 2], *to = fields[1 - k % 2];
        renew(from, received);
        ASSERT_EQ(launch(queue, star, box({first + 1, 1}, {last - 1, n_columns - 2}), {from, to}),
                  POLYTILE_OK)
            << error();
        fetch(to, sent);
        wait_for(to);
    };
    polytile_queue_pause(queue);
    for (int k = 0; k < 10; k++)
        step(k);
    report(queue, true);
    const int64_t n_hits = fits() ? pti_residency_n_hits(queue->residency) : 0;
    for (int k = 0; k < 20; k++)
        step(k);
    const polytile_report told = report(queue);
    if (fits()) {
        EXPECT_EQ(told.h2d_bytes, 20 * 2 * (n_columns - 2) * 4);
        EXPECT_EQ(told.d2h_bytes, 20 * 2 * (n_columns - 2) * 4);
        EXPECT_GE(pti_residency_n_hits(queue->residency) - n_hits, 18);
    }
}

struct RandomMember {
    const char *device;
    int64_t n_rounds;
};

void PrintTo(const RandomMember &of, std::ostream *out) {
    *out << of.device;
}

class QueueMemberRandom : public testing::TestWithParam<RandomMember> {};

INSTANTIATE_TEST_SUITE_P(
    Devices, QueueMemberRandom,
    testing::Values(RandomMember{"host", 40}, RandomMember{"host(memory=512B)", 40},
                    RandomMember{"host(memory=2500B)", 60}, RandomMember{"host(memory=9KiB)", 60},
                    RandomMember{"host(memory=14KiB)", 60}, RandomMember{"host(memory=1MiB)", 60}));

TEST_P(QueueMemberRandom, FetchesAndInvalidationsKeepTheirOrder) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("QueueMemberRandom"));
    const int64_t n_rounds = scaled(GetParam().n_rounds);
    int64_t n_run = 0;
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        Program::Options options;
        options.n = random.one_of({5, 16, 24});
        options.n_steps = static_cast<int>(random.one_of({5, 30, 100}));
        options.exchanges_percent = 25;
        Program program(GetParam().device, options, &random);
        program.run();
        n_run += program.n_launched() > 0;
    }
    EXPECT_GE(n_run, least_count(n_rounds, 0.8));
}

/** A queue that a linked device copies from: it keeps one array of two, which it wrote. */
class RefusedPull : public QueueTest {
  protected:
    void SetUp() override {
        QueueTest::SetUp();
        queue = open("host(memory=768B)");
        polytile_device *both[] = {queue->device, &other};
        peers = pti_peers_create(2, both);
        kept = wrap("x", memory);
        pulled = wrap("y", more);
        ASSERT_EQ(attach(queue, {kept, pulled}), POLYTILE_OK) << error();
        ASSERT_EQ(launch(queue, scale(), line(100), {kept}), POLYTILE_OK) << error();
        ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        ASSERT_EQ(peers->peer[0].n_newer, 1);
        pti_boxes_append(&whole, &kept->domain);
    }
    void TearDown() override {
        polytile_queue_destroy(queue);
        pti_peers_free(peers);
        pti_boxes_free(&whole);
        QueueTest::TearDown();
    }

    bool says(const char *text) const {
        return std::string(polytile_last_error(ctx)).find(text) != std::string::npos;
    }

    std::vector<float> memory = std::vector<float>(100, 1), more = std::vector<float>(100, 1);
    polytile_device other = {};
    polytile_queue *queue = nullptr;
    polytile_array *kept = nullptr, *pulled = nullptr;
    pti_peers *peers = nullptr;
    pti_boxes whole = {};
};

TEST_F(RefusedPull, BringsOtherElementsToTheHost) {
    ASSERT_EQ(pti_queue_pull(queue, pulled, &whole), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_INTERNAL);
    EXPECT_TRUE(says("others were to come to the host; please report it")) << error();
}

TEST_F(RefusedPull, OverwritesWhatOthersCopy) {
    polytile_queue_pause(queue);
    ASSERT_EQ(pti_queue_invalidate(queue, kept, &whole), POLYTILE_OK) << error();
    ASSERT_EQ(pti_queue_pull(queue, pulled, &whole), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_INTERNAL);
    EXPECT_TRUE(says("y: to get elements of other devices, it was to lie where other devices copy "
                     "from; please report it"))
        << error();
}

} // namespace
