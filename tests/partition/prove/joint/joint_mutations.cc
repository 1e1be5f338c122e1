#include "partition/prove/joint/joint_mutations.h"

JointMutant::JointMutant(const pti_joint_schedule &right) : schedule_(right) {
    for (int k = 0; k < right.n_lists; k++) {
        const pti_joint_list &list = right.list[k];
        lists_.push_back(list);
        ops_.emplace_back(list.op, list.op + list.n_ops);
        waits_.emplace_back(list.wait, list.wait + list.n_waits);
    }
}

JointMutant::~JointMutant() {
    for (pti_boxes &boxes : boxes_)
        pti_boxes_free(&boxes);
}

const pti_joint_schedule &JointMutant::schedule() {
    for (size_t k = 0; k < lists_.size(); k++) {
        lists_[k].n_ops = static_cast<int>(ops_[k].size());
        lists_[k].op = ops_[k].data();
        lists_[k].n_waits = static_cast<int>(waits_[k].size());
        lists_[k].wait = waits_[k].data();
    }
    schedule_.list = lists_.data();
    return schedule_;
}

pti_joint_op *JointMutant::AnyOp(Random *random, size_t *list, size_t *number) {
    *list = static_cast<size_t>(random->number(0, static_cast<int64_t>(lists_.size()) - 1));
    Ops &ops = ops_[*list];
    if (ops.empty())
        return nullptr;
    *number = static_cast<size_t>(random->number(0, static_cast<int64_t>(ops.size()) - 1));
    return &ops[*number];
}

pti_boxes *JointMutant::OwnBoxes(pti_joint_op *op) {
    boxes_.emplace_back();
    pti_boxes_copy(&boxes_.back(), &op->boxes);
    return &boxes_.back();
}

const char *JointMutant::ChangeBox(pti_joint_op *op, Random *random) {
    if (op->boxes.n_boxes == 0)
        return "";
    pti_boxes *boxes = OwnBoxes(op);
    const int64_t b = random->number(0, boxes->n_boxes - 1);
    polytile_range &range = boxes->box[b].range[random->number(0, boxes->box[b].n_dims - 1)];
    const char *what = "a box is moved";
    if (range.lo < range.hi && random->chance(70)) {
        what = "a box is smaller";
        (random->chance(50) ? range.lo : range.hi) += range.step * (random->chance(50) ? 1 : 0);
        if (range.lo == op->boxes.box[b].range[0].lo)
            range.hi -= range.step;
    } else {
        const int64_t by = random->one_of({-1, 1});
        range.lo += by;
        range.hi += by;
    }
    op->boxes = *boxes;
    return what;
}

const char *JointMutant::ChangeNumber(pti_joint_op *op, Random *random) {
    switch (random->number(0, 3)) {
    case 0:
        op->member = static_cast<int>(random->number(0, schedule_.n_members - 1));
        return "another member";
    case 1:
        op->peer = static_cast<int>(random->number(0, schedule_.n_members - 1));
        return "another peer";
    case 2:
        op->array = static_cast<int>(random->number(0, schedule_.n_arrays - 1));
        return "another array";
    default:
        op->launch += static_cast<int>(random->one_of({-1, 1}));
        return "another version";
    }
}

const char *JointMutant::DropWait(pti_joint_op *op, size_t list, Random *random) {
    if (op->n_waits == 0)
        return "";
    if (random->chance(50)) {
        op->n_waits = 0;
        return "all waits of an operation are dropped";
    }
    const int64_t dropped = random->number(0, op->n_waits - 1);
    std::vector<pti_joint_wait> &waits = waits_[list];
    const int first = static_cast<int>(waits.size());
    for (int w = 0; w < op->n_waits; w++)
        if (w != dropped)
            waits.push_back(waits[static_cast<size_t>(op->first_wait + w)]);
    op->first_wait = first;
    op->n_waits--;
    return "a wait is dropped";
}

/** Both ends of it. */
const char *JointMutant::DropMessage(const pti_joint_op &op, size_t list, size_t number) {
    if (op.kind != PTI_JOINT_SEND)
        return "";
    const pti_joint_op sent = op;
    ops_[list].erase(ops_[list].begin() + static_cast<std::ptrdiff_t>(number));
    for (Ops &ops : ops_)
        for (size_t k = 0; k < ops.size(); k++)
            if (ops[k].kind == PTI_JOINT_RECEIVE && ops[k].member == sent.peer &&
                ops[k].peer == sent.member && ops[k].array == sent.array &&
                ops[k].launch == sent.launch) {
                ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(k));
                return "a message is dropped";
            }
    return "a message is dropped";
}

std::string JointMutant::Change(Random *random) {
    size_t list = 0, number = 0;
    pti_joint_op *op = AnyOp(random, &list, &number);
    if (op == nullptr)
        return "";
    Ops &ops = ops_[list];
    const auto at = ops.begin() + static_cast<std::ptrdiff_t>(number);
    const std::string kind = pti_joint_word(op->kind);
    switch (random->number(0, 8)) {
    case 0:
        ops.erase(at);
        return kind + " is dropped";
    case 1:
        ops.insert(at, ops[number]);
        return kind + " is doubled";
    case 2:
    case 3:
        return ChangeBox(op, random);
    case 4:
        return ChangeNumber(op, random);
    case 5:
    case 6:
        return DropWait(op, list, random);
    case 7:
        return DropMessage(ops[number], list, number);
    default: {
        const size_t to =
            static_cast<size_t>(random->number(0, static_cast<int64_t>(ops.size()) - 1));
        const pti_joint_op moved = ops[number];
        ops.erase(at);
        ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(to), moved);
        return kind + " is elsewhere";
    }
    }
}
