#ifndef POLYTILE_TESTS_PARTITION_PROVE_JOINT_JOINT_MUTATIONS_H
#define POLYTILE_TESTS_PARTITION_PROVE_JOINT_JOINT_MUTATIONS_H

#include <deque>
#include <string>
#include <vector>

#include "support/random.h"

extern "C" {
#include "partition/schedule/joint.h"
}

/** A joint schedule with operations of its own, to be changed; it borrows all else. */
class JointMutant {
  public:
    explicit JointMutant(const pti_joint_schedule &right);
    ~JointMutant();
    JointMutant(const JointMutant &) = delete;
    JointMutant &operator=(const JointMutant &) = delete;

    /** Change something small; returns what, or "" if there is nothing of the kind drawn. */
    std::string Change(Random *random);

    const pti_joint_schedule &schedule();

  private:
    using Ops = std::vector<pti_joint_op>;

    pti_joint_op *AnyOp(Random *random, size_t *list, size_t *number);
    const char *ChangeBox(pti_joint_op *op, Random *random);
    const char *ChangeNumber(pti_joint_op *op, Random *random);
    const char *DropWait(pti_joint_op *op, size_t list, Random *random);
    const char *DropMessage(const pti_joint_op &op, size_t list, size_t number);
    pti_boxes *OwnBoxes(pti_joint_op *op);

    pti_joint_schedule schedule_;
    std::vector<pti_joint_list> lists_;
    std::vector<Ops> ops_;
    std::vector<std::vector<pti_joint_wait>> waits_;
    std::deque<pti_boxes> boxes_; /* of operations that were changed */
};

#endif
