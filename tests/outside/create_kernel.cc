#include "outside/create_kernel.h"

#include "outside/text.h"

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

polytile_status add(polytile_declaration *declaration, const Access &access) {
    std::vector<polytile_subscript> subscripts;
    for (const Subscript &subscript : access.subscripts)
        subscripts.push_back({to_affine(subscript.lo),
                              to_affine(subscript.is_single ? subscript.lo : subscript.hi),
                              subscript.step, subscript.from_first, subscript.to_last});
    return polytile_declaration_add(declaration, access.role, access.is_fresh,
                                    operand_name(access.operand).c_str(),
                                    static_cast<int>(subscripts.size()), subscripts.data());
}

polytile_status build(polytile_context *ctx, const Body &body, polytile_kernel **kernel) {
    static const char *const indices[] = {"i", "j", "k", "l"};
    static const char *const parameters[] = {"p", "q"};
    const Kernel &model = body.kernel;
    polytile_declaration *declaration;
    polytile_status status = polytile_declaration_create(
        ctx, model.name.c_str(), model.n_indices, indices,
        static_cast<int>(model.parameters.size()), parameters, &declaration);
    for (const Access &access : model.accesses)
        if (status == POLYTILE_OK)
            status = add(declaration, access);
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
