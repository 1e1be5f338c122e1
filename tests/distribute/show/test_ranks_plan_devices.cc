#include "distribute/walked.h"
#include "launch/looked_up.h"
#include "support/environment.h"
#include "support/random_chain.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <deque>

#include <polytile/polytile.h>

extern "C" {
#include "distribute/show/ranks_plan.h"
#include "support/chain_launch.h"
}

/* What a plan over the devices of one process tells, beside what a queue over them really does. */

namespace {

int do_nothing(const polytile_sub_kernel *) {
    return 0;
}

/** What kernels compute does not matter here. */
polytile_implementation idle() {
    polytile_implementation idle = {};
    idle.host_launcher = do_nothing;
    return idle;
}

/** A program's launches, as it makes them on a queue, and as it has them planned. */
class Planned {
  public:
    Planned(const char *devices, const polytile_share_options &share) : share_(share) {
        EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        EXPECT_EQ(polytile_queue_create_shared(ctx, devices, &share, &queue_), POLYTILE_OK)
            << error();
        devices_ = devices;
    }
    ~Planned() {
        polytile_ranks_plan_destroy(plan);
        polytile_context_destroy(ctx);
    }
    Planned(const Planned &) = delete;
    Planned &operator=(const Planned &) = delete;

    void add_array(polytile_type type, const std::vector<int64_t> &extents, bool is_internal) {
        const std::string name = "f" + std::to_string(arrays_.size());
        const int n_dims = static_cast<int>(extents.size());
        polytile_array *array = nullptr;
        if (is_internal) {
            EXPECT_EQ(polytile_queue_create_array(queue_, name.c_str(), type, n_dims,
                                                  extents.data(), &array),
                      POLYTILE_OK)
                << error();
            scratch_.push_back(array);
        } else {
            size_t n_bytes = 8;
            for (const int64_t extent : extents)
                n_bytes *= static_cast<size_t>(extent);
            memory_.emplace_back(n_bytes);
            EXPECT_EQ(polytile_array_wrap(ctx, name.c_str(), type, n_dims, extents.data(),
                                          memory_.back().data(), &array),
                      POLYTILE_OK)
                << error();
            EXPECT_EQ(polytile_queue_attach(queue_, 1, &array), POLYTILE_OK) << error();
        }
        arrays_.push_back(array);
    }
    void add_index_array(const std::vector<int64_t> &values) {
        add_array(POLYTILE_I64, {static_cast<int64_t>(values.size())}, false);
        std::memcpy(memory_.back().data(), values.data(), values.size() * sizeof values[0]);
    }
    void add_kernel(const std::string &declaration) {
        const polytile_implementation nothing = idle();
        kernels_.push_back(nullptr);
        EXPECT_EQ(polytile_kernel_create(ctx, declaration.c_str(), &nothing, &kernels_.back()),
                  POLYTILE_OK)
            << error();
        text_ += declaration + "\n";
    }
    void add_launch(size_t kernel, const polytile_domain &threads, const std::vector<int> &fields) {
        operands_.emplace_back();
        for (const int field : fields)
            operands_.back().push_back(arrays_[static_cast<size_t>(field)]);
        launches_.push_back(chain_launch(kernels_[kernel], threads, operands_.back().data()));
    }

    polytile_status make_plan() {
        polytile_ranks_request request = {};
        request.n_launches = static_cast<int>(launches_.size());
        request.launches = launches_.data();
        request.n_scratch = static_cast<int>(scratch_.size());
        request.scratch = scratch_.data();
        request.device = devices_;
        request.share = share_;
        return polytile_ranks_plan_create(&request, &plan);
    }
    polytile_status run() {
        polytile_status status = POLYTILE_OK;
        begin_noting();
        for (const polytile_chain_launch &launch : launches_)
            if (status == POLYTILE_OK)
                status = polytile_queue_launch(queue_, launch.kernel, &launch.domain,
                                               launch.n_arrays, launch.arrays, nullptr);
        if (status == POLYTILE_OK)
            status = polytile_queue_wait(queue_);
        moved = end_noting();
        return status;
    }

    std::string error() const { return polytile_last_error(ctx); }
    const std::string &text() const { return text_; }
    std::string print() const {
        char *text = nullptr;
        EXPECT_EQ(polytile_ranks_plan_to_string(plan, POLYTILE_TEXT, &text), POLYTILE_OK);
        const std::string copy = text == nullptr ? "" : text;
        std::free(text);
        return copy;
    }

    polytile_context *ctx = nullptr;
    polytile_ranks_plan *plan = nullptr;
    std::vector<MovedBy> moved;

  private:
    const char *devices_;
    polytile_share_options share_;
    polytile_queue *queue_ = nullptr;
    std::deque<std::vector<char>> memory_;
    std::vector<polytile_array *> arrays_, scratch_;
    std::vector<polytile_kernel *> kernels_;
    std::deque<std::vector<polytile_array *>> operands_;
    std::vector<polytile_chain_launch> launches_;
    std::string text_;
};

polytile_type unsigned_of(int64_t n_bytes) {
    return n_bytes == 1   ? POLYTILE_U8
           : n_bytes == 2 ? POLYTILE_U16
           : n_bytes == 4 ? POLYTILE_U32
                          : POLYTILE_U64;
}

void draw_launches(Random &random, Planned *of) {
    RandomChain chain(&random, RandomChainShape());
    for (const RandomChain::Field &field : chain.fields())
        of->add_array(unsigned_of(field.element_bytes), field.extents, random.chance(30));
    for (const RandomChain::Kernel &kernel : chain.kernels())
        of->add_kernel(kernel.generic.declaration());
    for (int64_t n = random.number(1, 6); n > 0; n--)
        for (const RandomChain::Launch &launch : chain.step()) {
            std::vector<int> fields;
            for (const FieldUse &use : chain.kernels()[static_cast<size_t>(launch.kernel)].uses)
                fields.push_back(use.field);
            of->add_launch(static_cast<size_t>(launch.kernel), launch.threads, fields);
        }
}

void expect_as_planned(Planned *of) {
    const polytile_status planned = of->make_plan();
    const std::string error = of->error();
    const polytile_status status = of->run();
    EXPECT_EQ(planned, status) << error << " / " << of->error();
    if (planned != POLYTILE_OK || status != POLYTILE_OK)
        return;
    EXPECT_EQ(of->moved, planned_moves(of->plan, 0)) << of->print();
    EXPECT_EQ(copied_bytes(), planned_copies(of->plan, 0)) << of->print();
}

const polytile_domain eight = {1, {{0, 7, 1}}};

/** Over two fields of eight elements in turn, four times. */
void launch_in_turn(Planned *of, const char *declaration, bool is_internal) {
    of->add_array(POLYTILE_F32, {8}, false);
    of->add_array(POLYTILE_F32, {8}, is_internal);
    of->add_kernel(declaration);
    for (int step = 0; step < 4; step++)
        of->add_launch(0, eight, {step % 2, 1 - step % 2});
}

TEST(DevicesPlan, CountsWhatOneDeviceHasAndAnotherNeeds) {
    for (const bool is_internal : {false, true}) {
        Planned of("host,host", {});
        launch_in_turn(&of, "near[i]: in A[i-1:i+1]; out B[i]", is_internal);
        expect_as_planned(&of);
        EXPECT_EQ(of.plan->members.n_supersteps, 4);
        EXPECT_EQ(of.plan->members.exchanged_bytes, 3 * 2 * 4);
        EXPECT_EQ(copied_bytes().count("f1"), is_internal ? 1U : 0U);
    }
}

TEST(DevicesPlan, HasLongerSuperstepsWhereAllFits) {
    Planned of("host(memory=1MiB),host(memory=1MiB)", {});
    of.add_array(POLYTILE_F32, {4096}, false);
    of.add_array(POLYTILE_F32, {4096}, false);
    of.add_kernel("near[i]: in A[i-1:i+1]; out B[i]");
    for (int step = 0; step < 4; step++)
        of.add_launch(0, {1, {{0, 4095, 1}}}, {step % 2, 1 - step % 2});
    expect_as_planned(&of);
    EXPECT_EQ(of.plan->members.n_supersteps, 1);
    EXPECT_EQ(of.plan->members.exchanged_bytes, 0);
}

TEST(DevicesPlan, RunsLaunchesWithScratchOneByOne) {
    Planned of("host(memory=1MiB),host(memory=1MiB)", {});
    launch_in_turn(&of, "near[i]: scratch f32 w[i, 0:3]; in A[i-1:i+1]; out B[i]", false);
    expect_as_planned(&of);
    EXPECT_EQ(of.plan->members.n_supersteps, 4);
}

TEST(DevicesPlan, RefusesRowsThatDevicesTakeAsTheyComeFree) {
    const struct {
        const char *layout, *policy;
        polytile_status status;
    } cases[] = {{nullptr, nullptr, POLYTILE_UNSUPPORTED},
                 {"block", nullptr, POLYTILE_OK},
                 {nullptr, "equal", POLYTILE_UNSUPPORTED},
                 {nullptr, "guided", POLYTILE_UNSUPPORTED},
                 {"block", "equal", POLYTILE_UNSUPPORTED}};
    for (const auto &c : cases) {
        polytile_share_options share = {};
        share.layout = c.layout;
        share.policy = c.policy;
        Planned of("host,host", share);
        of.add_array(POLYTILE_F32, {8}, false);
        of.add_array(POLYTILE_F32, {1}, false);
        of.add_kernel("total[i]: in A[i]; sum s[0]");
        of.add_launch(0, eight, {0, 1});
        EXPECT_EQ(of.make_plan(), c.status) << of.error();
    }
}

/** Devices with and without room for what is computed twice, or with no memory of their own. */
const char *const lists[] = {"host,host",
                             "host(memory=1MiB),host(memory=1MiB)",
                             "host(memory=1MiB)+host(memory=16KiB)+host(memory=1MiB)",
                             "host(memory=24KiB),host(memory=24KiB)",
                             "host,host(memory=64KiB),host,host(memory=64KiB)",
                             "host(memory=40KiB),host(memory=32KiB),host(memory=40KiB)"};

TEST(DevicesPlan, TellsWhatTravelsOfRandomLaunches) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("DevicesPlan.TellsWhatTravelsOfRandomLaunches"));
    for (int64_t n = scaled(150); n > 0 && !testing::Test::HasFailure(); n--) {
        const std::string layouts[] = {"block", "block(dim=0)", "cyclic(1)", "cyclic(3)"};
        const std::string layout = layouts[random.number(0, 3)];
        polytile_share_options share = {};
        share.layout = layout.c_str();
        share.launches_per_exchange = random.one_of({0, 0, 1, 3});
        const char *devices = lists[random.number(0, 5)];
        SCOPED_TRACE(std::string(devices) + " " + layout);
        Planned of(devices, share);
        draw_launches(random, &of);
        SCOPED_TRACE(of.text());
        expect_as_planned(&of);
    }
}

/** The arrays of a product, as its operands are. */
void add_matrix(const looked_up::Matrix &matrix, Planned *of) {
    of->add_array(POLYTILE_F32, {static_cast<int64_t>(matrix.V.size())}, false);
    of->add_index_array(matrix.P);
    of->add_array(POLYTILE_F32, {static_cast<int64_t>(matrix.x.size())}, false);
    of->add_index_array(matrix.K);
    of->add_array(POLYTILE_F32, {matrix.n_rows}, false);
    of->add_index_array(matrix.R);
}

/** Products by rows and by entries, gathers, and what makes x anew of a product. All arrays are
 * used, since a plan knows of no others, which take room from a queue. */
void draw_launches_that_look_up(Random &random, Planned *of) {
    enum { V, P, X, K, Y, R };
    const looked_up::Matrix matrix(random.one_of({2, 17, 127, 400}), random.one_of({5, 97, 300}),
                                   &random);
    add_matrix(matrix, of);
    of->add_kernel(looked_up::declarations[looked_up::ROWS]);
    of->add_kernel(looked_up::declarations[looked_up::ENTRIES]);
    of->add_kernel("take[e]: in x[K[e]], y[R[e]]; out V[e]");
    of->add_kernel("feed[i]: in y[i]; out x[i]");
    const std::vector<std::vector<int>> operands = {
        {V, P, X, K, Y}, {V, X, K, Y, R}, {X, K, Y, R, V}, {Y, X}};
    const int64_t n_fed = std::min(matrix.n_rows, static_cast<int64_t>(matrix.x.size()));
    const int64_t n_entries = std::max<int64_t>(matrix.n_entries, 1);
    const int64_t n_threads[] = {matrix.n_rows, n_entries, n_entries, n_fed};
    for (int64_t n = 0, n_launches = random.number(2, 7); n < n_launches; n++) {
        const auto k = static_cast<size_t>(n < 2 ? n : random.number(0, 3));
        of->add_launch(k, {1, {{0, n_threads[k] - 1, 1}}}, operands[k]);
    }
}

TEST(DevicesPlan, TellsWhatTravelsOfLaunchesThatLookUp) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("DevicesPlan.TellsWhatTravelsOfLaunchesThatLookUp"));
    for (int64_t n = scaled(150); n > 0 && !testing::Test::HasFailure(); n--) {
        const std::string layouts[] = {"block", "cyclic(16)", "cyclic(31)"};
        const std::string layout = layouts[random.number(0, 2)];
        polytile_share_options share = {};
        share.layout = layout.c_str();
        share.launches_per_exchange = random.one_of({0, 0, 1, 3});
        const char *devices = lists[random.number(0, 5)];
        SCOPED_TRACE(std::string(devices) + " " + layout);
        Planned of(devices, share);
        draw_launches_that_look_up(random, &of);
        SCOPED_TRACE(of.text());
        expect_as_planned(&of);
    }
}

} // namespace
