#include "support/launch.h"

#include <sstream>

polytile_domain domain_of(const std::string &text) {
    polytile_domain domain = {};
    const bool has_ends = text.find(':') != std::string::npos;
    std::istringstream dims(text);
    std::string dim;
    while (std::getline(dims, dim, has_ends ? ',' : 'x')) {
        std::istringstream numbers(dim);
        polytile_range range = {0, 0, 1};
        char colon;
        if (has_ends)
            numbers >> range.lo >> colon >> range.hi >> colon >> range.step;
        else
            numbers >> range.hi;
        range.hi -= has_ends ? 0 : 1;
        range.step = range.step == 0 ? 1 : range.step;
        domain.range[domain.n_dims++] = range;
    }
    return domain;
}

polytile_status Launch::make(const std::string &declaration, const std::string &threads,
                             const std::map<std::string, std::string> &arrays,
                             const Options &options) {
    polytile_status status = polytile_context_create(&ctx_);
    if (status == POLYTILE_OK)
        status = polytile_kernel_create(ctx_, declaration.c_str(), nullptr, &kernel_);
    std::vector<polytile_array *> operands;
    for (int a = 0; status == POLYTILE_OK && a < polytile_kernel_get_n_arrays(kernel_); a++) {
        const char *name = polytile_kernel_get_array_name(kernel_, a);
        operands.push_back(nullptr);
        if (arrays.count(name) == 0)
            continue;
        const polytile_domain domain = domain_of(arrays.at(name));
        const polytile_type type =
            options.types.count(name) ? options.types.at(name) : polytile_type{POLYTILE_F32};
        status = polytile_array_describe(ctx_, name, type, &domain, &operands.back());
    }
    if (status != POLYTILE_OK)
        return status;
    std::vector<polytile_parameter> parameters;
    for (const auto &[name, value] : options.parameters)
        parameters.push_back(POLYTILE_PARAMETER(name.c_str(), value));
    const polytile_domain domain = domain_of(threads);
    return pti_instance_create(kernel_, &domain, operands.data(),
                               static_cast<int>(parameters.size()), parameters.data(), &instance_);
}

Launch::Launch(const std::string &declaration, const std::string &threads,
               const std::map<std::string, std::string> &arrays, const Options &options)
    : status_(make(declaration, threads, arrays, options)) {}

Launch::~Launch() {
    pti_instance_free(instance_);
    polytile_context_destroy(ctx_);
}

int Launch::operand(const std::string &name) const {
    int p = instance_->n_operands - 1;
    while (p >= 0 && name != instance_->operand[p].name)
        p--;
    return p;
}
