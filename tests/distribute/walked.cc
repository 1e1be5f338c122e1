#include "distribute/walked.h"

#include <algorithm>
#include <tuple>

extern "C" {
#include "access/set/boxes.h"
#include "distribute/group/run.h"
#include "distribute/members/member_box.h"
#include "distribute/show/ranks_plan.h"

void __real_pti_group_run_list(const pti_list_run *run);
void __wrap_pti_group_run_list(const pti_list_run *run);
void __real_pti_member_copy(const polytile_array *from, const polytile_array *to,
                            const polytile_domain *box);
void __wrap_pti_member_copy(const polytile_array *from, const polytile_array *to,
                            const polytile_domain *box);
}

static auto key_of(const Moved &of) {
    return std::tie(of.from, of.to, of.array, of.is_message, of.n_bytes);
}

bool Moved::operator==(const Moved &other) const {
    return key_of(*this) == key_of(other);
}

bool Moved::operator<(const Moved &other) const {
    return key_of(*this) < key_of(other);
}

void PrintTo(const Moved &moved, std::ostream *out) {
    *out << moved.from << (moved.is_message ? " sends " : " to ") << moved.to << " "
         << moved.n_bytes << " bytes of " << moved.array << "; ";
}

void PrintTo(const MovedBy &moved, std::ostream *out) {
    *out << "before: ";
    for (const Moved &of : moved.before)
        PrintTo(of, out);
    *out << "after: ";
    for (const Moved &of : moved.after)
        PrintTo(of, out);
    *out << moved.combined_bytes << " bytes combined\n";
}

namespace {

bool is_noting = false;             /* no test notes what several threads do */
const pti_group *walking = nullptr; /* whose list it is */
std::vector<MovedBy> noted;
std::map<std::string, int64_t> copied;

void note(const pti_list_run *run, const pti_joint_op *op, MovedBy *moved) {
    if (op->kind != PTI_JOINT_SEND && op->kind != PTI_JOINT_COPY && op->kind != PTI_JOINT_COMBINE)
        return;
    const polytile_array *array = run->group->array[op->array].array;
    const int64_t n_bytes = pti_boxes_count(&op->boxes) * array->element_bytes;
    const bool sends = op->kind == PTI_JOINT_SEND;
    if (op->kind == PTI_JOINT_COMBINE) {
        moved->combined_bytes += n_bytes;
        return;
    }
    const Moved of = {sends ? op->member : op->peer, sends ? op->peer : op->member, array->name,
                      sends, n_bytes};
    (op->launch == 0 ? moved->before : moved->after).push_back(of);
}

/** Whether an array is a member's of the group that walks: partial results are not. */
bool is_members(const polytile_array *array) {
    if (walking == nullptr)
        return false;
    polytile_array *const *end =
        walking->member_arrays + walking->n_arrays * walking->transport->n_local;
    return std::find(walking->member_arrays, const_cast<polytile_array **>(end), array) != end;
}

void sort(MovedBy *moved) {
    std::sort(moved->before.begin(), moved->before.end());
    std::sort(moved->after.begin(), moved->after.end());
}

} // namespace

/** Of arrays that end there are messages alone, if any. */
static bool is_empty(const MovedBy &moved) {
    return moved.before.empty() && moved.after.empty();
}

void __wrap_pti_group_run_list(const pti_list_run *run) {
    if (is_noting) {
        noted.emplace_back();
        for (int k = run->first_op; k < run->list->n_ops; k++)
            note(run, &run->list->op[k], &noted.back());
        sort(&noted.back());
        if (run->prepared == nullptr && is_empty(noted.back()))
            noted.pop_back();
    }
    if (is_noting)
        walking = run->group;
    __real_pti_group_run_list(run);
    if (is_noting)
        walking = nullptr;
}

void __wrap_pti_member_copy(const polytile_array *from, const polytile_array *to,
                            const polytile_domain *box) {
    if (is_noting && is_members(from) && is_members(to))
        copied[from->name] += pti_box_count(box) * from->element_bytes;
    __real_pti_member_copy(from, to, box);
}

void begin_noting() {
    is_noting = true;
    noted.clear();
    copied.clear();
}

std::vector<MovedBy> end_noting() {
    is_noting = false;
    return noted;
}

std::map<std::string, int64_t> copied_bytes() {
    return copied;
}

static Moved move_of(const polytile_ranks_plan *plan, const pti_members_plan_flow &flow) {
    return {flow.from, flow.to, plan->launches.arrays->operand[flow.array].name,
            flow.from_process != flow.to_process, flow.n_bytes};
}

std::vector<MovedBy> planned_moves(const polytile_ranks_plan *plan, int process) {
    std::vector<MovedBy> all;
    for (int s = 0; s < plan->members.n_supersteps; s++) {
        const pti_members_plan_step &step = plan->members.step[plan->members.step[s].same_as];
        const pti_members_plan_flow *flow = plan->members.step_flow + step.first_flow;
        MovedBy moved;
        moved.combined_bytes = step.combined_bytes;
        for (int f = 0; f < step.n_before + step.n_after; f++)
            if (flow[f].from_process == process)
                (f < step.n_before ? moved.before : moved.after).push_back(move_of(plan, flow[f]));
        sort(&moved);
        if (step.n_launches > 0 || !is_empty(moved))
            all.push_back(moved);
    }
    return all;
}

std::map<std::string, int64_t> planned_copies(const polytile_ranks_plan *plan, int process) {
    std::map<std::string, int64_t> copies;
    for (int f = 0; f < plan->members.n_flows; f++) {
        const pti_members_plan_flow &flow = plan->members.flow[f];
        if (flow.from_process == process && flow.to_process == process &&
            !plan->is_attached[flow.array])
            copies[plan->launches.arrays->operand[flow.array].name] += flow.n_bytes;
    }
    return copies;
}
