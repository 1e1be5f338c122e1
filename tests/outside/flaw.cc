#include "outside/flaw.h"

#include "outside/create_kernel.h"
#include "outside/text.h"

#include <algorithm>

namespace outside {

namespace {

Parameter listed(const std::string &name, polytile_type type) {
    Parameter parameter;
    parameter.name = name;
    parameter.type = type;
    parameter.is_listed = true;
    return parameter;
}

/** Add parameters until there is one too many. */
std::string add_too_many(Kernel &kernel) {
    while (kernel.parameters.size() <= POLYTILE_MAX_PARAMETERS)
        kernel.parameters.push_back(
            listed("more" + std::to_string(kernel.parameters.size()), POLYTILE_F32));
    return kernel.parameters[static_cast<size_t>(declared_parameters(kernel).back())].name;
}

std::string add_named(Kernel &kernel, const std::string &name) {
    if (kernel.parameters.size() >= POLYTILE_MAX_PARAMETERS)
        kernel.parameters.pop_back();
    kernel.parameters.push_back(listed(name, POLYTILE_U8));
    return name;
}

/** Make an integer that subscripts name a number with a fraction. */
std::string make_real(Kernel &kernel) {
    for (size_t k = 0; k < kernel.parameters.size(); k++)
        if (is_named(kernel, k)) {
            kernel.parameters[k].type = POLYTILE_F64;
            kernel.parameters[k].is_listed = true;
            return kernel.parameters[k].name;
        }
    return "";
}

/** Change the declaration; the name that is wrong. */
std::string spoil(Kernel &kernel) {
    switch (kernel.flaw) {
    case Flaw::one_more:
        return add_too_many(kernel);
    case Flaw::twice:
        kernel.parameters.resize(std::min<size_t>(kernel.parameters.size(), 14));
        add_named(kernel, "again");
        return add_named(kernel, "again");
    case Flaw::as_index:
        return add_named(kernel, "i");
    case Flaw::as_array:
        return add_named(kernel, "A");
    default:
        return make_real(kernel);
    }
}

/** Change what the body takes; the name that is wrong. */
std::string spoil_body(Body &body) {
    if (body.kernel.flaw == Flaw::body_name) {
        body.parameters.push_back({"nowhere", 4, POLYTILE_FLOAT_NUMBER});
        body.implementation.parameters = body.parameters.data();
        body.implementation.n_parameters = static_cast<int>(body.parameters.size());
        return "nowhere";
    }
    body.parameters[0].bytes = body.parameters[0].bytes == 8 ? 4 : 8;
    return body.names[0];
}

} // namespace

std::string try_flaw(polytile_context *ctx, const Kernel &kernel) {
    Kernel wrong = kernel;
    polytile_kernel *created = nullptr;
    const bool is_of_body = kernel.flaw == Flaw::body_name || kernel.flaw == Flaw::body_type;
    std::string name = is_of_body ? "" : spoil(wrong);
    wrong.names_taken = is_of_body;
    Body body(wrong);
    if (is_of_body)
        name = spoil_body(body);
    const polytile_status status = create_kernel(ctx, body, &created);
    const std::string text = status == POLYTILE_OK ? "" : polytile_last_error(ctx);
    if (status != POLYTILE_DECLARATION)
        return std::string("not refused as a declaration, but ") + polytile_status_text(status) +
               ": " + text;
    return mentions(text, name) ? "" : "the error has no " + name + ": " + text;
}

} // namespace outside
