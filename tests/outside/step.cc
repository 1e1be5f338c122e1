#include "outside/runner.h"

#include "outside/text.h"

#include <algorithm>

namespace outside {

namespace {

bool is_refusal_of_wrong(const Verdict &verdict, polytile_status status) {
    return (verdict.is_unsuited && status == POLYTILE_INVALID) || status == POLYTILE_DECLARATION ||
           status == POLYTILE_CONFLICT || status == POLYTILE_NO_FIT;
}

} // namespace

bool Runner::has_limit(const Options &options) const {
    return options.limit_bytes || !program.device.empty() ||
           std::any_of(program.devices.begin(), program.devices.end(),
                       [](const Device &member) { return member.memory_bytes > 0; });
}

/** A launch may change the arrays that it writes. */
void Runner::touch(const Launch &launch) {
    const Kernel &kernel = program.kernels[static_cast<size_t>(launch.kernel)];
    for (size_t k = 0; k < launch.arrays.size(); k++)
        if (launch.arrays[k] != NO_ARRAY && is_written(kernel, static_cast<int>(k)))
            is_touched[static_cast<size_t>(launch.arrays[k])] = true;
}

/** Whether a launch was accepted; what the contract does not let happen is a failure. */
bool Runner::judge_status(const Launch &launch, polytile_status status) {
    const Kernel &kernel = program.kernels[static_cast<size_t>(launch.kernel)];
    const Verdict verdict = judge(kernel, values_in(kernel, launch, launch.values, expected),
                                  launch.domain, &launch.arrays);
    const std::string text = polytile_last_error(ctx);
    if (verdict.is_unclear) {
        touch(launch);
        is_over = true;
        return false;
    }
    if (status == POLYTILE_OK && !verdict.is_right())
        fail("accepted", kernel.name + " over " + box_text(launch.domain) + ": " +
                             (verdict.is_unsuited   ? "a role does not suit its elements"
                              : verdict.is_conflict ? "there is a conflict"
                                                    : "a section lies outside of its array"));
    if (status == POLYTILE_OK)
        return verdict.is_right();
    const bool is_right =
        status == POLYTILE_UNSUPPORTED ||
        (status == POLYTILE_DECLARATION && verdict.may_be_refused()) ||
        (verdict.is_right() ? status == POLYTILE_NO_FIT && has_limit(launch.options)
                            : is_refusal_of_wrong(verdict, status));
    if (!is_right)
        fail("refused", reason(status, "") + text);
    outcome.refusals.push_back((verdict.is_right() ? "" : "wrong: ") + reason(status, text));
    return false;
}

/** An error of launches that were accepted: over several devices memory may turn out not to
 * suffice, nothing else. */
void Runner::judge_late(polytile_status status, const char *call) {
    const std::string text = polytile_last_error(ctx);
    if (status == POLYTILE_OK)
        return;
    if (status != POLYTILE_NO_FIT || (n_members(program) == 1 && program.device.empty()))
        fail("late", std::string(call) + ": " + reason(status, "") + text);
    outcome.refusals.push_back("late: " + reason(status, text));
    is_over = true;
}

void Runner::step_arrays(const Step &step) {
    const std::vector<polytile_array *> handles = list(step.arrays);
    const auto n = static_cast<int>(handles.size());
    if (step.act == Act::attach)
        succeeds(polytile_queue_attach(queue, n, handles.data()), "polytile_queue_attach");
    else if (step.act == Act::discard)
        succeeds(polytile_queue_discard(queue, n, handles.data()), "polytile_queue_discard");
    else if (step.act == Act::detach)
        judge_late(polytile_queue_detach(queue, n, handles.data()), "polytile_queue_detach");
    for (int number : step.arrays) {
        const auto k = static_cast<size_t>(number);
        const Array &array = program.arrays[k];
        Integers extents;
        for (const Range &range : array.shape.box)
            extents.push_back(range.count());
        if (step.act == Act::look)
            compare(k);
        is_doubtful[k] = is_doubtful[k] || step.act == Act::discard;
        if (step.act == Act::change) {
            hosts[k]->change(expected[k] = contents(array.shape, step.seed));
            remember(k, true);
        }
        if (step.act == Act::create) {
            expected[k] = zeros(array.shape);
            remember(k, true);
            succeeds(polytile_queue_create_array(queue, array.name.c_str(), array.shape.type,
                                                 static_cast<int>(extents.size()), extents.data(),
                                                 &arrays[k]),
                     "polytile_queue_create_array");
        }
        if (step.act == Act::destroy)
            polytile_array_destroy(arrays[k]);
        is_held[k] = step.act == Act::attach || step.act == Act::create || step.act == Act::discard;
    }
}

void Runner::step(const Step &step) {
    switch (step.act) {
    case Act::run:
    case Act::plan_run:
    case Act::check:
    case Act::check_run:
    case Act::launch:
        return step_launch(step);
    case Act::wait:
        return judge_late(polytile_queue_wait(queue), "polytile_queue_wait");
    case Act::wait_for:
        return judge_late(
            polytile_queue_wait_for(queue, arrays[static_cast<size_t>(step.arrays[0])]),
            "polytile_queue_wait_for");
    case Act::pause:
        return polytile_queue_pause(queue);
    case Act::resume:
        return polytile_queue_resume(queue);
    case Act::report:
        return check_queue_report();
    case Act::test:
        return step_test(step);
    case Act::progress:
        return step_progress();
    case Act::notify:
        return step_notify(step);
    case Act::cancel:
        return step_cancel(step);
    default:
        step_arrays(step);
    }
}

/** Whether the devices of a queue are shared by speed without asking. */
static bool are_different(const std::vector<Device> &devices) {
    return std::any_of(devices.begin(), devices.end(), [&](const Device &device) {
        return device.memory_bytes != devices[0].memory_bytes ||
               device.n_threads != devices[0].n_threads;
    });
}

/** Whether a launch asks for blocks, of which one may not fit the share of a member. */
static bool has_blocks(const Program &program) {
    return std::any_of(program.steps.begin(), program.steps.end(),
                       [](const Step &step) { return !step.launch.options.block.empty(); });
}

/** Whether a member may turn out to lack memory, which a wait alone tells: one by speed, or one of
 * several with memory for some pieces, if nothing is detached either. */
bool Runner::may_lack_memory() const {
    const bool is_destroyed = program.end == End::destroy || program.end == End::destroy_context;
    const bool is_late = program.n_ranks > 1 || has_blocks(program);
    const bool is_tight =
        n_members(program) > 1 &&
        std::any_of(program.devices.begin(), program.devices.end(), [&](const Device &member) {
            return member.memory_bytes > 0 && (member.memory_bytes < 4096 || is_late);
        });
    const bool is_by_speed =
        program.layout == "weighted" ||
        (program.layout.empty() && (program.policy == "weighted" || program.policy == "guided")) ||
        (program.layout.empty() && program.policy.empty() && are_different(program.devices));
    return is_by_speed || (is_destroyed && is_tight);
}

/** Bring all arrays home, in one of the ways there are. */
void Runner::end_queue() {
    std::vector<polytile_array *> held;
    for (size_t k = 0; k < arrays.size(); k++)
        if (is_held[k] && !program.arrays[k].is_internal)
            held.push_back(arrays[k]);
    if (may_lack_memory())
        judge_late(polytile_queue_wait(queue), "polytile_queue_wait");
    if (program.end == End::detach_all && !held.empty())
        judge_late(polytile_queue_detach(queue, static_cast<int>(held.size()), held.data()),
                   "polytile_queue_detach");
    if (program.end == End::detach_each)
        for (polytile_array *array : held)
            judge_late(polytile_queue_detach(queue, 1, &array), "polytile_queue_detach");
    if (program.end != End::destroy_context)
        polytile_queue_destroy(queue);
    for (size_t k = 0; k < arrays.size() && program.end != End::destroy_context; k++)
        if (!program.arrays[k].is_internal && !is_over && !is_doubtful[k] &&
            !polytile_array_is_complete(arrays[k]))
            fail("incomplete", program.arrays[k].name);
    if (program.end == End::destroy_context) {
        polytile_context_destroy(ctx);
        ctx = nullptr;
    }
}

} // namespace outside
