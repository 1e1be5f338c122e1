#ifndef POLYTILE_TESTS_DISTRIBUTE_JOINT_PROGRAM_H
#define POLYTILE_TESTS_DISTRIBUTE_JOINT_PROGRAM_H

#include <memory>
#include <string>
#include <vector>

#include "distribute/shared_program.h"

extern "C" {
#include "distribute/exchange/joint_plan.h"
}

struct FreeJoint {
    void operator()(pti_joint_schedule *schedule) const { pti_joint_free(schedule); }
};

using JointSchedule = std::unique_ptr<pti_joint_schedule, FreeJoint>;

/** The supersteps of a program as joint schedules, one after the other: of ranks with a member
 * each, of members of one process, or of ranks with several members each. Members of a process have
 * the same memory of some arrays. */
class JointProgram {
  public:
    JointProgram(const SharedProgram &program, int n_members, Random *random);
    /** Of ranks with as many members each, which have the same memory of all arrays. */
    JointProgram(const SharedProgram &program, int n_members, int n_local);
    ~JointProgram() { pti_copies_free(&copies_); }
    JointProgram(const JointProgram &) = delete;
    JointProgram &operator=(const JointProgram &) = delete;

    /** The next superstep; nullptr: there is none. */
    JointSchedule Next(Random *random);

    /** Whether members of a process share memory; else each is a rank. */
    bool is_within() const { return is_within_; }
    int n_ranks() const { return n_members_ / n_local_; }
    /** Let a member have a copy of some elements of others from the beginning. */
    void give(int array, int member, const polytile_domain &box) {
        pti_boxes_assign(pti_copies_get(&copies_, array, member), &box);
    }
    /** What was drawn. */
    std::string text() const;

  private:
    void make_arrays();
    void find_what_runs_once();
    /** Elements of other ranks that a member has from before. */
    void draw_copies(int array, int member, Random *random);
    void lend(const pti_joint_request &request);

    const SharedProgram &program_;
    int n_members_;
    int n_local_; /* of each process */
    bool is_within_;
    bool keeps_;
    std::unique_ptr<bool[]> is_shared_, is_lent_; /* of each array */
    std::vector<std::string> names_;
    std::vector<pti_shared_launch> launches_;
    size_t first_ = 0;
    pti_copies copies_ = {};
};

#endif
