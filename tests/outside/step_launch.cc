#include "outside/runner.h"

#include "outside/text.h"

#include <algorithm>

namespace outside {

namespace {

polytile_launch_options to_options(const Options &options) {
    polytile_launch_options result = {};
    result.plan.limit_bytes = options.limit_bytes;
    result.plan.strategy = options.strategy.empty() ? nullptr : options.strategy.c_str();
    result.plan.n_buffers = options.n_buffers;
    result.plan.block = options.block.empty() ? nullptr : options.block.data();
    result.plan.launches_per_pass = options.launches_per_pass;
    return result;
}

/** What the contract answers to a mistake. */
bool is_answer(Mistake mistake, polytile_status status) {
    if (mistake == Mistake::renamed)
        return status == POLYTILE_INVALID || status == POLYTILE_DECLARATION;
    return status == (mistake == Mistake::left_out ? POLYTILE_DECLARATION : POLYTILE_INVALID);
}

bool is_within(const polytile_domain &part, const Box &box) {
    for (size_t d = 0; d < box.size(); d++)
        if (part.range[d].lo < box[d].lo || part.range[d].hi > box[d].hi ||
            part.range[d].hi < part.range[d].lo || part.range[d].step != 1)
            return false;
    return part.n_dims == static_cast<int>(box.size());
}

} // namespace

/** Superblocks are disjoint and cover the domain, memory keeps to the limit, bounds hold. */
void Runner::check_plan(const Launch &launch, const polytile_plan *plan, int64_t limit_bytes) {
    polytile_plan_summary summary;
    std::vector<int> n_runs(static_cast<size_t>(count(launch.domain)));
    polytile_plan_get_summary(plan, &summary);
    if (limit_bytes && summary.peak_device_bytes > limit_bytes)
        return fail("plan", "the peak exceeds the limit");
    if (summary.h2d_bytes + summary.d2h_bytes < summary.lower_bound_bytes)
        return fail("plan", "less moves than the lower bound");
    for (int64_t k = 0; k < summary.n_kernels; k++) {
        polytile_domain part;
        if (!succeeds(polytile_plan_get_superblock(plan, k, &part), "polytile_plan_get_superblock"))
            return;
        if (!is_within(part, launch.domain))
            return fail("plan", "a superblock leaves the domain");
        Box box;
        for (int d = 0; d < part.n_dims; d++)
            box.push_back({part.range[d].lo, part.range[d].hi});
        for_each_thread(box, [&](const int64_t *thread) {
            n_runs[static_cast<size_t>(position(launch.domain, thread))]++;
        });
    }
    if (std::any_of(n_runs.begin(), n_runs.end(), [](int n) { return n != 1; }))
        fail("plan", "a thread is not in one superblock");
}

/** A call with a mistake is refused by its name; the launches that follow show that it changed
 * nothing. */
void Runner::try_mistake(const Step &step, polytile_status status,
                         const std::vector<std::string> &names) {
    const Launch &launch = step.launch;
    const Kernel &kernel = program.kernels[static_cast<size_t>(launch.kernel)];
    const Values values = values_in(kernel, launch, launch.values, expected);
    const std::string text = status == POLYTILE_OK ? "" : polytile_last_error(ctx);
    if (status == POLYTILE_OK)
        return fail("mistake", "it is accepted");
    const Verdict verdict = judge(kernel, values, launch.domain, &launch.arrays);
    if (!verdict.is_right() || verdict.may_be_refused() ||
        (status == POLYTILE_NO_FIT && has_limit(launch.options)))
        return;
    const bool is_named = std::any_of(
        names.begin(), names.end(), [&](const std::string &name) { return mentions(text, name); });
    if (!is_answer(launch.mistake, status) || !is_named || !mentions(text, kernel.name))
        fail("mistake", reason(status, "") + text);
}

/** The given run of a plan, or one before all with a mistake. */
polytile_status Runner::run_plan_once(const Step &step, polytile_plan *plan, int run,
                                      Mistake mistake) {
    const Launch &launch = step.launch;
    const auto number = static_cast<size_t>(launch.kernel);
    const std::vector<polytile_array *> handles = list(launch.arrays);
    const auto &values = run ? step.later[static_cast<size_t>(run) - 1] : launch.values;
    polytile_launch_options options = {};
    Given given(program.kernels[number], values, mix(launch.seed, static_cast<uint64_t>(run)),
                Leave::subscripts);
    std::vector<std::string> names;
    if (mistake != Mistake::none)
        names = given.spoil(launch);
    given.put_into(options);
    const polytile_status status = polytile_plan_run(
        plan, device, kernels[number], static_cast<int>(handles.size()), handles.data(),
        options.n_parameters || launch.seed % 2 ? &options : nullptr);
    if (mistake != Mistake::none)
        try_mistake(step, status, names);
    return status;
}

polytile_status Runner::run_plan(const Step &step, polytile_plan *plan) {
    const Launch &launch = step.launch;
    const Kernel &kernel = program.kernels[static_cast<size_t>(launch.kernel)];
    polytile_status status = POLYTILE_OK;
    if (launch.mistake != Mistake::none)
        run_plan_once(step, plan, 0, launch.mistake);
    for (int k = 0; k < step.times && status == POLYTILE_OK && !is_over; k++) {
        if (k)
            interpret(kernel, launch,
                      k == 1 ? launch.values : step.later[static_cast<size_t>(k) - 2], expected);
        status = run_plan_once(step, plan, k, Mistake::none);
    }
    return status;
}

polytile_status Runner::call_plan_run(const Step &step, const polytile_launch_options &options) {
    const polytile_domain domain = to_domain(step.launch.domain);
    const std::vector<polytile_array *> handles = list(step.launch.arrays);
    polytile_plan *plan = nullptr;
    polytile_launch_options within = options;
    const int64_t limit_bytes = polytile_device_get_limit(device);
    if (limit_bytes && (!within.plan.limit_bytes || within.plan.limit_bytes > limit_bytes))
        within.plan.limit_bytes = limit_bytes;
    polytile_status status =
        polytile_plan_create(kernels[static_cast<size_t>(step.launch.kernel)], &domain,
                             static_cast<int>(handles.size()), handles.data(), &within, &plan);
    if (status != POLYTILE_OK)
        return status;
    check_plan(step.launch, plan, within.plan.limit_bytes);
    if (!is_over)
        status = run_plan(step, plan);
    polytile_plan_destroy(plan);
    return status;
}

polytile_status Runner::call(const Step &step, const polytile_launch_options &options) {
    const Launch &launch = step.launch;
    const polytile_kernel *kernel = kernels[static_cast<size_t>(launch.kernel)];
    const polytile_domain domain = to_domain(launch.domain);
    const std::vector<polytile_array *> handles = list(launch.arrays);
    switch (step.act) {
    case Act::run:
        return polytile_run(device, kernel, &domain, static_cast<int>(handles.size()),
                            handles.data(), &options);
    case Act::plan_run:
        return call_plan_run(step, options);
    case Act::check:
        return polytile_check(kernel, &domain, static_cast<int>(handles.size()), handles.data(),
                              &options);
    case Act::check_run:
        return polytile_check_run(device, kernel, &domain, static_cast<int>(handles.size()),
                                  handles.data(), &options, nullptr);
    default:
        return launch.by_name
                   ? polytile_queue_launch(queue, kernel, &domain, POLYTILE_BY_NAME, &options)
                   : polytile_queue_launch(queue, kernel, &domain, static_cast<int>(handles.size()),
                                           handles.data(), &options);
    }
}

/** Call with the launch's parameters, or with its mistake; what they were is lost after the
 * call. */
polytile_status Runner::call_launch(const Step &step, Mistake mistake) {
    const Launch &launch = step.launch;
    const Kernel &kernel = program.kernels[static_cast<size_t>(launch.kernel)];
    const bool is_plan = step.act == Act::plan_run || step.act == Act::check;
    Given given(kernel, launch.values, launch.seed, is_plan ? Leave::bodies : Leave::none);
    std::vector<std::string> names;
    polytile_launch_options options = to_options(launch.options);
    if (mistake != Mistake::none)
        names = given.spoil(launch);
    given.put_into(options);
    const polytile_status status = call(step, options);
    given.overwrite();
    if (mistake != Mistake::none)
        try_mistake(step, status, names);
    return status;
}

void Runner::check_report(const Launch &launch) {
    polytile_report report;
    int64_t limit_bytes = polytile_device_get_limit(device);
    if (launch.options.limit_bytes && (!limit_bytes || launch.options.limit_bytes < limit_bytes))
        limit_bytes = launch.options.limit_bytes;
    polytile_device_get_report(device, &report);
    if (limit_bytes && report.peak_device_bytes > limit_bytes)
        fail("report", "the peak exceeds the limit");
}

void Runner::check_queue_report() {
    polytile_report report;
    int64_t limit_bytes = 0;
    bool is_limited = program.device.empty();
    for (const Device &member : program.devices) {
        limit_bytes += member.memory_bytes;
        is_limited &= member.memory_bytes > 0;
    }
    polytile_queue_get_report(queue, false, &report);
    if (is_limited && report.peak_device_bytes > limit_bytes)
        fail("report", "the peak exceeds the limit");
}

void Runner::step_launch(const Step &step) {
    const Launch &launch = step.launch;
    const Kernel &kernel = program.kernels[static_cast<size_t>(launch.kernel)];
    if (launch.mistake != Mistake::none && step.act != Act::plan_run) {
        call_launch(step, launch.mistake);
        if (!program.has_queue)
            compare_all();
    }
    if (is_over)
        return;
    const polytile_status status = call_launch(step, Mistake::none);
    if (is_over)
        return;
    if (step.act == Act::check && status == POLYTILE_NO_FIT)
        return fail("refused", "polytile_check: NO_FIT");
    if (!judge_status(launch, status)) {
        if (!program.has_queue)
            compare_all();
        return;
    }
    if (step.act == Act::check)
        return;
    if (step.act == Act::check_run)
        return compare_all();
    outcome.n_accepted++;
    touch(launch);
    interpret(kernel, launch, step.later.empty() ? launch.values : step.later.back(), expected);
    for (int array : launch.arrays)
        if (array != NO_ARRAY)
            remember(static_cast<size_t>(array), false);
    if (program.has_queue)
        return;
    check_report(launch);
    compare_views();
    compare_all();
}

} // namespace outside
