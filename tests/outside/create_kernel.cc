#include "outside/create_kernel.h"

#include "outside/text.h"

#include <algorithm>
#include <deque>

namespace outside {

namespace {

polytile_affine to_affine(const Affine &affine) {
    polytile_affine result = {};
    result.constant = affine.constant;
    for (size_t k = 0; k < MAX_INDICES; k++)
        result.index[k] = affine.index[k];
    for (size_t k = 0; k < MAX_PARAMETERS; k++)
        result.parameter[k] = affine.parameter[k];
    return result;
}

/** Subscripts as calls take them, with what they look up, which must live as long. */
class Subscripts {
  public:
    explicit Subscripts(const std::vector<Subscript> &models) {
        for (const Subscript &model : models)
            add(model);
    }

    const polytile_subscript *data() const { return list.data(); }
    int size() const { return static_cast<int>(list.size()); }

  private:
    std::vector<polytile_subscript> list;
    std::deque<Subscripts> inner;
    std::deque<std::string> names;
    std::deque<polytile_index_elements> elements;

    void add(const Subscript &model);
    const polytile_index_elements *look_up(const std::vector<LookUp> &of);
};

const polytile_index_elements *Subscripts::look_up(const std::vector<LookUp> &of) {
    if (of.empty())
        return nullptr;
    inner.emplace_back(of[0].subscripts);
    names.push_back(operand_name(of[0].operand));
    elements.push_back({names.back().c_str(), inner.back().size(), inner.back().data()});
    return &elements.back();
}

void Subscripts::add(const Subscript &model) {
    polytile_subscript subscript = {};
    subscript.lo = to_affine(model.lo);
    subscript.hi = to_affine(model.is_single ? model.lo : model.hi);
    subscript.step = model.step;
    subscript.from_first = model.from_first;
    subscript.to_last = model.to_last;
    subscript.edge = model.edge;
    subscript.lo_of = look_up(model.lo_of);
    subscript.hi_of = model.is_single ? subscript.lo_of : look_up(model.hi_of);
    list.push_back(subscript);
}

polytile_status add(polytile_declaration *declaration, const Kernel &kernel, const Access &access) {
    const Subscripts subscripts(access.subscripts);
    if (access.role == POLYTILE_SCRATCH)
        return polytile_declaration_add_scratch(
            declaration, kernel.operands[static_cast<size_t>(access.operand)].type,
            operand_name(access.operand).c_str(), subscripts.size(), subscripts.data());
    return polytile_declaration_add(declaration, access.role, access.is_fresh,
                                    operand_name(access.operand).c_str(), subscripts.size(),
                                    subscripts.data());
}

/** Those that polytile_declaration_create() is given, which makes them i64. */
std::vector<const char *> first_parameters(const Kernel &kernel) {
    std::vector<const char *> names;
    for (const Parameter &parameter : kernel.parameters) {
        if (parameter.is_listed || parameter.type != POLYTILE_I64)
            break;
        names.push_back(parameter.name.c_str());
    }
    return names;
}

/** How many parameters a section must find declared. */
size_t n_needed(const Access &access) {
    size_t n = 0;
    for (const Subscript &subscript : access.subscripts)
        for (size_t k = 0; k < MAX_PARAMETERS; k++)
            if (subscript.lo.parameter[k] || subscript.hi.parameter[k])
                n = std::max(n, k + 1);
    return n;
}

/** Add parameters until there are n of them. */
polytile_status add_parameters(polytile_declaration *declaration, const Kernel &kernel, size_t n,
                               size_t &n_added) {
    polytile_status status = POLYTILE_OK;
    for (; n_added < n && status == POLYTILE_OK; n_added++)
        status = polytile_declaration_add_parameter(declaration, kernel.parameters[n_added].type,
                                                    kernel.parameters[n_added].name.c_str());
    return status;
}

polytile_status build(polytile_context *ctx, const Body &body, polytile_kernel **kernel) {
    static const char *const indices[] = {"i", "j", "k", "l"};
    const Kernel &model = body.kernel;
    const std::vector<const char *> parameters = first_parameters(model);
    size_t n_parameters = parameters.size();
    polytile_declaration *declaration = nullptr;
    polytile_status status = polytile_declaration_create(
        ctx, model.name.c_str(), model.n_indices, indices, static_cast<int>(parameters.size()),
        parameters.data(), &declaration);
    for (const Access &access : model.accesses) {
        if (status == POLYTILE_OK)
            status = add_parameters(declaration, model, n_needed(access), n_parameters);
        if (status == POLYTILE_OK)
            status = add(declaration, model, access);
    }
    if (status == POLYTILE_OK)
        status = add_parameters(declaration, model, model.parameters.size(), n_parameters);
    if (status == POLYTILE_OK)
        status = polytile_kernel_create_from(declaration, &body.implementation, kernel);
    polytile_declaration_destroy(declaration);
    return status;
}

} // namespace

polytile_status create_kernel(polytile_context *ctx, const Body &body, polytile_kernel **kernel) {
    if (body.kernel.is_built)
        return build(ctx, body, kernel);
    return polytile_kernel_create(ctx, declaration_text(body.kernel).c_str(), &body.implementation,
                                  kernel);
}

} // namespace outside
