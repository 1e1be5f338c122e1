#include "support/list.h"

#include <gtest/gtest.h>

extern "C" {
#include "partition/prove/check.h"
#include "partition/window/plan.h"
}

#include <functional>
#include <string>
#include <vector>

#include <polytile/polytile.h>

/* A schedule is data to the checker: each field of it that no schedule may have is refused by
 * name. */

namespace {

/** A right schedule of two launches, x to y and y to x, in a limit or in place. */
class Planned {
  public:
    explicit Planned(int64_t limit_bytes) {
        const polytile_domain nine = {1, {{0, 99, 1}}};
        polytile_context_create(&ctx_);
        polytile_kernel_create(ctx_, "copy[i]: in x[i]; out y[i]", nullptr, &kernel_);
        for (polytile_array *&array : arrays_)
            polytile_array_describe(ctx_, "a", POLYTILE_F32, &nine, &array);
        polytile_launch_options options = {};
        options.plan.limit_bytes = limit_bytes;
        options.plan.n_buffers = 1;
        options.plan.launches_per_pass = 1;
        EXPECT_EQ(polytile_plan_create(kernel_, &nine, LIST(arrays_), &options, &plan_),
                  POLYTILE_OK)
            << polytile_last_error(ctx_);
        schedule = *plan_->schedule;
        ops.assign(schedule.op, schedule.op + schedule.n_ops);
        superblocks.assign(schedule.superblock, schedule.superblock + schedule.n_superblocks);
        placements.assign(schedule.placement, schedule.placement + schedule.n_placements);
        schedule.op = ops.data();
        schedule.superblock = superblocks.data();
        schedule.placement = placements.data();
    }
    ~Planned() { polytile_context_destroy(ctx_); }
    Planned(const Planned &) = delete;
    Planned &operator=(const Planned &) = delete;

    /** "" if the checker takes it. */
    std::string objection() const {
        pti_text why = {};
        const bool holds = pti_schedule_check(&schedule, &why);
        const std::string kept = why.data == nullptr ? "" : why.data;
        pti_text_free(&why);
        EXPECT_EQ(holds, kept.empty());
        return kept;
    }

    pti_op &op_of(pti_op_kind kind) {
        size_t k = 0;
        while (ops[k].kind != kind)
            k++;
        return ops[k];
    }

    pti_schedule schedule = {};
    std::vector<pti_op> ops;
    std::vector<polytile_domain> superblocks;
    std::vector<pti_placement> placements;

  private:
    polytile_context *ctx_ = nullptr;
    polytile_kernel *kernel_ = nullptr;
    polytile_array *arrays_[2] = {};
    polytile_plan *plan_ = nullptr;
};

struct Change {
    const char *what;
    std::function<void(Planned &)> make;
    const char *says;
};

void expect_refused(int64_t limit_bytes, const std::vector<Change> &changes) {
    for (const Change &change : changes) {
        Planned planned(limit_bytes);
        ASSERT_EQ(planned.objection(), "");
        change.make(planned);
        const std::string objection = planned.objection();
        EXPECT_NE(objection.find(change.says), std::string::npos)
            << change.what << " gave: " << objection;
        EXPECT_NE(objection, "") << change.what;
    }
}

TEST(CheckShape, NumbersThatNoScheduleHasAreRefused) {
    static pti_invalidation invalidation = {};
    expect_refused(
        256,
        {
            {"arena", [](Planned &p) { p.schedule.arena_bytes = -1; }, "the arena of -1 B"},
            {"limit", [](Planned &p) { p.schedule.limit_bytes = -1; }, "the limit of -1 B"},
            {"launches", [](Planned &p) { p.schedule.n_launches = -1; }, "there are -1 launches"},
            {"superblocks", [](Planned &p) { p.schedule.n_superblocks = 0; }, "superblock"},
            {"waits", [](Planned &p) { p.ops[0].n_waits = -1; }, "waits that are not in the list"},
            {"first wait", [](Planned &p) { p.ops[0].first_wait = -1; },
             "waits that are not in the list"},
            {"many waits",
             [](Planned &p) { p.ops[0].n_waits = static_cast<int>(p.schedule.n_waits) + 1; },
             "waits that are not in the list"},
            {"late waits",
             [](Planned &p) {
                 p.ops.back().first_wait = p.schedule.n_waits;
                 p.ops.back().n_waits = 1;
             },
             "waits that are not in the list"},
            {"kind", [](Planned &p) { p.ops[0].kind = static_cast<pti_op_kind>(7); }, "of no kind"},
            {"gaps",
             [](Planned &p) {
                 p.superblocks[0].range[0].step = 3;
                 p.superblocks[0].range[0].hi = p.superblocks[0].range[0].lo + 3;
             },
             ""},
            {"lane", [](Planned &p) { p.op_of(PTI_UPLOAD).lane = 1; }, "no lane"},
            {"lane",
             [](Planned &p) {
                 p.schedule.n_lanes = 2;
                 p.op_of(PTI_UPLOAD).lane = 1;
             },
             "in a lane for launches"},
            {"negative lane", [](Planned &p) { p.op_of(PTI_LAUNCH).lane = -1; }, "no lane"},
            {"lanes", [](Planned &p) { p.schedule.n_lanes = PTI_MAX_LANES + 1; }, "33 lanes"},
            {"invalidation of no array",
             [](Planned &p) {
                 invalidation = {2, 0, {}};
                 p.schedule.invalidation = &invalidation;
                 p.schedule.n_invalidations = 1;
             },
             "invalidation 0 is of array 2, which there is not"},
            {"invalidation of no array",
             [](Planned &p) {
                 invalidation = {-1, 0, {}};
                 p.schedule.invalidation = &invalidation;
                 p.schedule.n_invalidations = 1;
             },
             "invalidation 0 is of array -1, which there is not"},
            {"invalidation before the start",
             [](Planned &p) {
                 invalidation = {0, -1, {}};
                 p.schedule.invalidation = &invalidation;
                 p.schedule.n_invalidations = 1;
             },
             "out of order or not there"},
            {"invalidation after the end",
             [](Planned &p) {
                 invalidation = {0, p.schedule.n_ops + 1, {}};
                 p.schedule.invalidation = &invalidation;
                 p.schedule.n_invalidations = 1;
             },
             "out of order or not there"},
            {"placements of another launch",
             [](Planned &p) { p.schedule.launch[0].first_placement = 1; },
             "launch 0 has placements from 1, where the next is 0"},
            {"placements left over", [](Planned &p) { p.schedule.n_launch_placements++; },
             "placements, where"},
            {"a second launch of the instance",
             [](Planned &p) {
                 static pti_schedule_launch twice[2];
                 twice[0] = twice[1] = p.schedule.launch[0];
                 p.schedule.launch = twice;
                 p.schedule.n_launches = 2;
             },
             "which is not the only one"},
            {"launch without an instance",
             [](Planned &p) {
                 static pti_schedule_launch none = {};
                 p.schedule.launch = &none;
                 p.schedule.n_launches = 1;
             },
             "launch 0 has no instance"},
        });
}

TEST(CheckShape, InPlaceNothingLiesOnADevice) {
    static bool dropped[2] = {};
    static pti_boxes unwritten[2] = {};
    static pti_invalidation invalidation = {};
    static pti_holding holding = {};
    expect_refused(0, {
                          {"dropped", [](Planned &p) { p.schedule.dropped = dropped; }, "in place"},
                          {"unwritten", [](Planned &p) { p.schedule.unwritten = unwritten; },
                           "in place nothing lies on a device"},
                          {"before",
                           [](Planned &p) {
                               p.schedule.before = &holding;
                               p.schedule.n_before = 1;
                           },
                           "in place nothing lies on a device"},
                          {"after",
                           [](Planned &p) {
                               p.schedule.after = &holding;
                               p.schedule.n_after = 1;
                           },
                           "in place nothing lies on a device"},
                          {"renewed",
                           [](Planned &p) {
                               p.schedule.invalidation = &invalidation;
                               p.schedule.n_invalidations = 1;
                           },
                           "in place there is nothing that the host could have newer"},
                      });
}

} // namespace
