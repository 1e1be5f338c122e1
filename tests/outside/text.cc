#include "outside/text.h"

namespace outside {

namespace {

const char *const act_names[] = {"run",      "plan and run", "check",  "launch",  "wait",
                                 "wait_for", "pause",        "resume", "attach",  "detach",
                                 "change",   "look",         "create", "destroy", "report"};

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

std::string array_text(const Array &array) {
    return array.name + ":" + type_name(array.shape.type) + "[" + box_text(array.shape.box) + "]" +
           (array.is_internal ? " internal" : "");
}

std::string names(const Program &program, const std::vector<int> &arrays) {
    std::string text;
    for (int array : arrays)
        text += (text.empty() ? "" : ",") + program.arrays[static_cast<size_t>(array)].name;
    return text;
}

std::string kernel_text(const Kernel &kernel) {
    std::string text = declaration_text(kernel);
    for (size_t k = 0; k < kernel.parameters.size(); k++)
        text += (k ? ", q = " : "  with p = ") + std::to_string(kernel.parameters[k]);
    text += kernel.is_launcher ? "  (launcher)" : "";
    text += kernel.tells_shapes ? "  (tells shapes)" : "";
    return text + (kernel.is_built ? "  (built by calls)" : "");
}

std::string step_text(const Program &program, const Step &step) {
    std::string text = act_names[static_cast<int>(step.act)];
    const bool has_launch = step.act <= Act::launch;
    if (has_launch) {
        const Launch &launch = step.launch;
        text += " " + program.kernels[static_cast<size_t>(launch.kernel)].name + " over " +
                box_text(launch.domain) + " on " + names(program, launch.arrays) +
                (launch.by_name ? " (by name)" : "") + options_text(launch.options);
    }
    if (!step.arrays.empty())
        text += " " + names(program, step.arrays);
    return step.times > 1 ? text + " " + std::to_string(step.times) + " times" : text;
}

std::string place_text(const Program &program) {
    std::string text = (program.has_queue ? "queue over " : "device ") +
                       (program.device.empty() ? device_text(program.devices) : program.device);
    if (program.is_shared)
        text += ", layout " + (program.layout.empty() ? "NULL" : program.layout);
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
