#include "outside/run.h"

#include "outside/create_kernel.h"
#include "outside/flaw.h"
#include "outside/runner.h"
#include "outside/text.h"
#include "outside/wild_policy.h"

#include <algorithm>
#include <cstdlib>

namespace outside {

std::string reason(polytile_status status, const std::string &text) {
    std::string short_text;
    for (char c : text.substr(0, text.find('\n'))) {
        const bool is_digit = c >= '0' && c <= '9';
        if (!is_digit)
            short_text += c;
        else if (short_text.empty() || short_text.back() != '#')
            short_text += '#';
    }
    return std::string(polytile_status_text(status)) + ": " + short_text;
}

static OpenQueue open_ranks = nullptr;
static void (*tell_failure)(const Outcome &outcome) = nullptr;

void set_ranks(OpenQueue open, void (*failed)(const Outcome &outcome)) {
    open_ranks = open;
    tell_failure = failed;
}

void Runner::fail(const std::string &kind, const std::string &what) {
    if (outcome.failure.empty())
        outcome.failure = kind + ": " + what;
    if (tell_failure)
        tell_failure(outcome);
    is_over = true;
}

bool Runner::succeeds(polytile_status status, const char *call) {
    if (status != POLYTILE_OK)
        fail("call", std::string(call) + ": " + polytile_status_text(status) + ": " +
                         polytile_last_error(ctx));
    return status == POLYTILE_OK;
}

/** The device or the queue. One that cannot be is a refusal of all launches. */
bool Runner::open_place() {
    const std::string text = program.device.empty() ? device_text(program.devices) : program.device;
    polytile_status status;
    polytile_share_options share = {};
    share.layout = program.layout.empty() ? nullptr : program.layout.c_str();
    share.policy = program.policy.empty() ? nullptr : program.policy.c_str();
    share.grid = program.grid.empty() ? nullptr : program.grid.c_str();
    share.launches_per_exchange = program.launches_per_exchange;
    if (!program.has_queue)
        status = polytile_device_open(ctx, text.c_str(), &device);
    else if (open_ranks)
        status = open_ranks(ctx, program, program.is_shared ? &share : nullptr, &queue);
    else if (program.is_shared)
        status = polytile_queue_create_shared(ctx, text.c_str(), &share, &queue);
    else
        status = polytile_queue_create(ctx, text.c_str(), &queue);
    if (status != POLYTILE_OK)
        outcome.refusals.push_back("open: " + reason(status, polytile_last_error(ctx)));
    return status == POLYTILE_OK;
}

void Runner::create_arrays() {
    for (const Array &array : program.arrays) {
        polytile_array *handle = nullptr;
        const polytile_domain domain = to_domain(array.shape.box);
        hosts.emplace_back();
        expected.push_back(array.is_internal ? zeros(array.shape)
                                             : contents(array.shape, array.seed));
        if (!array.is_internal) {
            hosts.back() = std::make_unique<HostMemory>(array);
            const Integers &strides = hosts.back()->stride_bytes();
            if (array.memory.order.empty())
                succeeds(polytile_array_wrap_domain(ctx, array.name.c_str(), array.shape.type,
                                                    &domain, hosts.back()->data(), &handle),
                         "polytile_array_wrap_domain");
            else
                succeeds(polytile_array_wrap_strides(ctx, array.name.c_str(), array.shape.type,
                                                     &domain, strides.data(), hosts.back()->data(),
                                                     &handle),
                         "polytile_array_wrap_strides");
        }
        arrays.push_back(handle);
    }
    is_held.resize(arrays.size());
    is_touched.resize(arrays.size());
    is_doubtful.resize(arrays.size());
    history.resize(arrays.size());
    for (size_t k = 0; k < arrays.size(); k++)
        remember(k, true);
}

/** The library tells a kernel's operands as the model declares them, scratch among the views
 * alone. */
void Runner::compare_operands(const Kernel &model, const polytile_kernel *kernel) {
    int n_arrays = 0, n_views = 0;
    bool is_equal = true;
    for (const Shape &shape : model.operands) {
        const char *view = polytile_kernel_get_view_name(kernel, n_views);
        const std::string name = operand_name(n_views++);
        is_equal &= view && name == view;
        if (shape.is_scratch)
            continue;
        const char *array = polytile_kernel_get_array_name(kernel, n_arrays++);
        is_equal &= array && name == array;
    }
    if (!is_equal || polytile_kernel_get_n_views(kernel) != n_views ||
        polytile_kernel_get_n_arrays(kernel) != n_arrays)
        fail("operands", model.name + " has others than declared");
}

/** The library tells a kernel's parameters as the model declares them. */
void Runner::compare_parameters(const Kernel &model, const polytile_kernel *kernel) {
    const std::vector<int> declared = declared_parameters(model);
    const int n = polytile_kernel_get_n_parameters(kernel);
    bool is_equal = n == static_cast<int>(declared.size());
    for (int k = 0; k < n && is_equal; k++) {
        const auto &parameter =
            model.parameters[static_cast<size_t>(declared[static_cast<size_t>(k)])];
        is_equal = parameter.name == polytile_kernel_get_parameter_name(kernel, k) &&
                   parameter.type == polytile_kernel_get_parameter_type(kernel, k);
    }
    if (!is_equal)
        fail("parameters", model.name + " has others than declared");
}

void Runner::create_kernels() {
    for (const Kernel &kernel : program.kernels) {
        const std::string wrong = kernel.flaw == Flaw::none ? "" : try_flaw(ctx, kernel);
        if (!wrong.empty())
            fail("flaw", wrong);
        bodies.push_back(std::make_unique<Body>(kernel));
        kernels.push_back(nullptr);
        if (create_kernel(ctx, *bodies.back(), &kernels.back()) != POLYTILE_OK)
            fail("declaration", polytile_last_error(ctx));
        else {
            compare_parameters(kernel, kernels.back());
            compare_operands(kernel, kernels.back());
        }
    }
}

bool Runner::open() {
    setenv("POLYTILE_CHECK", program.check.c_str(), 1);
    if (polytile_context_create(&ctx) != POLYTILE_OK) {
        fail("call", "polytile_context_create");
        return false;
    }
    if (!succeeds(register_wild_policies(ctx), "polytile_policy_register") || !open_place())
        return false;
    create_arrays();
    create_kernels();
    return !is_over;
}

std::vector<polytile_array *> Runner::list(const std::vector<int> &numbers) const {
    std::vector<polytile_array *> handles;
    for (int number : numbers)
        if (number != NO_ARRAY)
            handles.push_back(arrays[static_cast<size_t>(number)]);
    return handles;
}

/** Add what an array holds to what it held, or begin with it. */
void Runner::remember(size_t array, bool is_new) {
    if (is_new)
        history[array].clear();
    history[array].push_back(expected[array]);
}

void Runner::compare(size_t array) {
    const Array &model = program.arrays[array];
    if (is_over || model.is_internal)
        return;
    const std::string difference = hosts[array]->difference(model, expected[array]);
    if (!difference.empty())
        fail("wrong", difference);
}

void Runner::compare_all() {
    for (size_t k = 0; k < arrays.size(); k++)
        compare(k);
}

void Runner::compare_views() {
    for (const auto &body : bodies) {
        const std::lock_guard<std::mutex> guard(body->mutex);
        if (!body->wrong.empty())
            outcome.failure = "view: " + body->kernel.name + ": " + body->wrong;
    }
}

/** After an error that came late: what nothing wrote is as before. */
void Runner::finish() {
    if (program.has_queue && queue)
        end_queue();
    check_notices();
    const bool is_told = is_over && outcome.failure.empty();
    is_over = is_over && !is_told;
    for (size_t k = 0; k < arrays.size(); k++)
        if (!is_told || !is_touched[k])
            compare(k);
    compare_views();
}

Outcome Runner::run() {
    if (open()) {
        for (const Step &next : program.steps)
            if (!is_over)
                step(next);
        finish();
    }
    return outcome;
}

Outcome run_program(const Program &program) {
    return Runner(program).run();
}

} // namespace outside
