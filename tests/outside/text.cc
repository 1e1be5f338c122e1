#include "outside/text.h"

#include <algorithm>
#include <cctype>

namespace outside {

namespace {

const char *const act_names[] = {
    "run",    "plan and run", "check",  "check run", "launch",   "wait",    "wait_for",
    "pause",  "resume",       "test",   "notify",    "progress", "cancel",  "discard",
    "attach", "detach",       "change", "look",      "create",   "destroy", "report"};

const char *const flaw_names[] = {"",
                                  "17 parameters",
                                  "a name twice",
                                  "a parameter named as an index",
                                  "a parameter named as an array",
                                  "a real parameter in a subscript",
                                  "another type in the body",
                                  "an unknown parameter in the body"};

const char *const mistake_names[] = {"",      "left out", "unknown",    "renamed",
                                     "twice", "beyond",   "other value"};

std::string numbers(const Integers &values) {
    std::string text;
    for (int64_t value : values)
        text += (text.empty() ? "" : ",") + std::to_string(value);
    return text;
}

std::string options_text(const Options &options) {
    std::string text;
    if (options.limit_bytes)
        text += " limit " + std::to_string(options.limit_bytes);
    if (!options.strategy.empty())
        text += " strategy " + options.strategy;
    if (options.n_buffers)
        text += " buffers " + std::to_string(options.n_buffers);
    if (!options.block.empty())
        text += " block " + numbers(options.block);
    if (options.launches_per_pass)
        text += " launches_per_pass " + std::to_string(options.launches_per_pass);
    return text;
}

std::string memory_text(const Memory &memory) {
    std::string text = memory.order.empty() ? "" : " in order";
    for (size_t d : memory.order)
        text += " " + std::to_string(d);
    return memory.gaps.empty() ? text : text + " gaps " + numbers(memory.gaps);
}

std::string versions_text(const Array &array) {
    std::string text;
    for (const Integers &version : array.shape.versions)
        text += (text.empty() ? " holds " : " or ") + numbers(version);
    return array.shape.versions.empty()
               ? text
               : text + " (first: version " +
                     std::to_string(array.seed % array.shape.versions.size()) + ")";
}

std::string array_text(const Array &array) {
    return array.name + ":" + std::string(type_name(array.shape.type)) + "[" +
           box_text(array.shape.box) + "]" + (array.is_internal ? " internal" : "") +
           memory_text(array.memory) + versions_text(array);
}

std::string names(const Program &program, const std::vector<int> &arrays) {
    std::string text;
    for (int array : arrays)
        if (array != NO_ARRAY)
            text += (text.empty() ? "" : ",") + program.arrays[static_cast<size_t>(array)].name;
    return text;
}

std::string kernel_text(const Kernel &kernel) {
    std::string text = declaration_text(kernel);
    if (kernel.names_taken) {
        text += "  (body takes";
        for (int k : kernel.taken)
            text += " " + kernel.parameters[static_cast<size_t>(k)].name;
        text += ")";
    }
    if (kernel.flaw != Flaw::none)
        text += std::string("  (before: ") + flaw_names[static_cast<int>(kernel.flaw)] + ")";
    text += kernel.is_launcher ? "  (launcher)" : "";
    text += kernel.tells_shapes ? "  (tells shapes)" : "";
    return text + (kernel.is_built ? "  (built by calls)" : "");
}

std::string values_text(const Kernel &kernel, const std::vector<Number> &values) {
    std::string text;
    for (size_t k = 0; k < values.size(); k++)
        text += (k ? ", " : " with ") + kernel.parameters[k].name + " = " + number_text(values[k]);
    return text;
}

std::string mistake_text(const Kernel &kernel, const Launch &launch) {
    const std::string text = mistake_names[static_cast<int>(launch.mistake)];
    if (launch.mistake == Mistake::unknown)
        return text;
    return text + " " + kernel.parameters[launch.mistaken].name +
           (launch.mistake < Mistake::beyond ? "" : " = " + number_text(launch.wrong));
}

std::string launch_text(const Program &program, const Step &step) {
    const Launch &launch = step.launch;
    const Kernel &kernel = program.kernels[static_cast<size_t>(launch.kernel)];
    std::string text = " " + kernel.name + " over " + box_text(launch.domain) + " on " +
                       names(program, launch.arrays) + (launch.by_name ? " (by name)" : "") +
                       options_text(launch.options) + values_text(kernel, launch.values);
    for (const std::vector<Number> &values : step.later)
        text += ", then" + values_text(kernel, values);
    if (launch.mistake != Mistake::none)
        text += " (before: " + mistake_text(kernel, launch) + ")";
    return text;
}

std::string step_text(const Program &program, const Step &step) {
    std::string text = act_names[static_cast<int>(step.act)];
    if (step.act <= Act::launch)
        text += launch_text(program, step);
    if (!step.arrays.empty())
        text += " " + names(program, step.arrays);
    return step.times > 1 ? text + " " + std::to_string(step.times) + " times" : text;
}

std::string place_text(const Program &program) {
    std::string text = (program.has_queue ? "queue over " : "device ") +
                       (program.device.empty() ? device_text(program.devices) : program.device);
    if (program.is_shared)
        text += ", layout " + (program.layout.empty() ? "NULL" : program.layout);
    if (!program.policy.empty())
        text += ", policy " + program.policy;
    if (!program.grid.empty())
        text += ", grid " + program.grid;
    if (program.launches_per_exchange)
        text += ", launches_per_exchange " + std::to_string(program.launches_per_exchange);
    return program.check.empty() ? text : text + ", POLYTILE_CHECK=" + program.check;
}

} // namespace

std::string device_text(const std::vector<Device> &devices) {
    std::string text;
    for (const Device &device : devices) {
        std::string options;
        if (device.memory_bytes)
            options = "memory=" + std::to_string(device.memory_bytes) + "B";
        if (device.n_threads)
            options +=
                (options.empty() ? "" : ",") + ("threads=" + std::to_string(device.n_threads));
        text += (text.empty() ? "host" : ",host") + (options.empty() ? "" : "(" + options + ")");
    }
    return text;
}

std::vector<std::string> names_in(const std::string &text) {
    const auto is_part = [](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    std::vector<std::string> found;
    for (size_t at = 0; at < text.size();) {
        size_t end = at + 1;
        const bool is_number = isdigit(static_cast<unsigned char>(text[at])) != 0;
        while (
            end < text.size() && is_part(text[at]) &&
            (is_number ? isdigit(static_cast<unsigned char>(text[end])) != 0 : is_part(text[end])))
            end++;
        if (is_part(text[at]) && !is_number)
            found.push_back(text.substr(at, end - at));
        at = end;
    }
    return found;
}

bool mentions(const std::string &text, const std::string &name) {
    const std::vector<std::string> found = names_in(text);
    return std::find(found.begin(), found.end(), name) != found.end();
}

std::string box_text(const Box &box) {
    std::string text;
    for (const Range &range : box)
        text +=
            (text.empty() ? "" : ",") + std::to_string(range.lo) + ":" + std::to_string(range.hi);
    return text;
}

std::string program_text(const Program &program) {
    static const char *const ends[] = {"detach all", "detach each", "destroy the queue",
                                       "destroy the context"};
    std::string text = "  " + place_text(program) + "\n";
    for (const Array &array : program.arrays)
        text += "  array " + array_text(array) + "\n";
    for (const Kernel &kernel : program.kernels)
        text += "  kernel " + kernel_text(kernel) + "\n";
    for (size_t k = 0; k < program.steps.size(); k++)
        text += "  " + std::to_string(k) + " " + step_text(program, program.steps[k]) + "\n";
    return program.has_queue ? text + "  end: " + ends[static_cast<int>(program.end)] + "\n" : text;
}

} // namespace outside
