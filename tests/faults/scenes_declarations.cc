#include "faults/host_scenes.h"

#include <isl/map.h>
#include <isl/options.h>
#include <polytile/isl.h>

/* Scenes of declarations. */

namespace {

/** What a kernel that was declared tells of itself. */
bool tells_of_itself(const polytile_kernel *kernel) {
    bool is_named = *polytile_kernel_get_name(kernel) != '\0';
    for (int a = 0; a < polytile_kernel_get_n_arrays(kernel); a++)
        is_named = is_named && *polytile_kernel_get_array_name(kernel, a) != '\0' &&
                   polytile_kernel_get_array_role(kernel, a) != POLYTILE_SCRATCH;
    for (int v = 0; v < polytile_kernel_get_n_views(kernel); v++)
        is_named = is_named && *polytile_kernel_get_view_name(kernel, v) != '\0';
    for (int p = 0; p < polytile_kernel_get_n_parameters(kernel); p++)
        is_named = is_named && *polytile_kernel_get_parameter_name(kernel, p) != '\0' &&
                   polytile_kernel_get_parameter_type(kernel, p) == POLYTILE_I64;
    for (int k = 0; k < polytile_kernel_get_n_accesses(kernel); k++)
        is_named = is_named && polytile_kernel_get_access_array(kernel, k) >= 0;
    return is_named && polytile_kernel_get_n_indices(kernel) > 0;
}

polytile_status declare_texts(Stage &stage) {
    for (const char *text : {
             jacobi_text,
             in_braces,
             "dot[i]: in x[i], y[i]; out sum s[0]",
             "odd[i]: in x[1:n-1:2]; out y[i]",
             "hankel[i, j]: in h[i+j]; out H[i, j]",
             "step[i]: in {[i] -> x[a] : exists e : a = 3*e and i <= a <= i + 6}; out y[i]",
         }) {
        polytile_kernel *kernel = nullptr;
        SCENE_TRY(create(stage, text, nullptr, &kernel));
        if (!tells_of_itself(kernel))
            return POLYTILE_INTERNAL;
        const polytile_character character = {POLYTILE_COALESCING_FULL,
                                              POLYTILE_LEVEL_LOW,
                                              POLYTILE_LEVEL_LOW,
                                              POLYTILE_LEVEL_HIGH,
                                              {}};
        SCENE_TRY(polytile_kernel_characterise(kernel, &character));
    }
    return POLYTILE_OK;
}

polytile_status declare_by_calls(Stage &stage) {
    const char *const indices[] = {"i", "j"};
    const char *const parameters[] = {"n"};
    polytile_declaration *declaration = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_subscript row = {}, whole = {};
    row.lo.index[0] = row.hi.index[0] = 1;
    row.step = whole.step = 1;
    whole.from_first = whole.to_last = true;
    const polytile_subscript subscripts[] = {row, whole};
    SCENE_TRY(
        polytile_declaration_create(stage.ctx, "built", 2, indices, 1, parameters, &declaration));
    SCENE_TRY(polytile_declaration_add_parameter(declaration, POLYTILE_F32, "a"));
    SCENE_TRY(polytile_declaration_add(declaration, POLYTILE_IN, false, "A", 2, subscripts));
    SCENE_TRY(polytile_declaration_add(declaration, POLYTILE_SUM, true, "s", 1, &row));
    SCENE_TRY(polytile_declaration_add_scratch(declaration, POLYTILE_F32, "w", 1, &row));
    SCENE_TRY(polytile_kernel_create_from(declaration, nullptr, &kernel));
    polytile_declaration_destroy(declaration);
    polytile_kernel_destroy(kernel);
    return POLYTILE_OK;
}

/** A kernel's isl map handed to another declaration, in an isl context of the program's own. */
polytile_status pass_isl_map(Stage &stage, isl_ctx *isl) {
    const char *const indices[] = {"i", "j"};
    polytile_kernel *kernel = nullptr, *copy = nullptr;
    polytile_declaration *declaration = nullptr;
    isl_map *map = nullptr;
    SCENE_TRY(create(stage, in_braces, nullptr, &kernel));
    SCENE_TRY(
        polytile_declaration_create(stage.ctx, "built", 2, indices, 0, nullptr, &declaration));
    SCENE_TRY(polytile_kernel_copy_isl_map(kernel, 0, isl, &map));
    const polytile_status status =
        polytile_declaration_add_isl_map(declaration, POLYTILE_IN, false, "A", map);
    isl_map_free(map);
    SCENE_TRY(status);
    return polytile_kernel_create_from(declaration, nullptr, &copy);
}

polytile_status declare_isl_maps(Stage &stage) {
    isl_ctx *isl = isl_ctx_alloc();
    if (isl == nullptr)
        return POLYTILE_NO_MEMORY;
    isl_options_set_on_error(isl, ISL_ON_ERROR_CONTINUE);
    const polytile_status status = pass_isl_map(stage, isl);
    isl_ctx_free(isl);
    return status;
}

polytile_status declare_wrongly(Stage &stage) {
    polytile_kernel *kernel = nullptr;
    return create(stage, "add[i]: in x[i], y[i*i]; out z[i]", nullptr, &kernel);
}

} // namespace

std::vector<Scene> scenes_of_declarations() {
    const auto none = [](Stage &) {};
    return {
        {"DeclareTexts", none, declare_texts, POLYTILE_OK, {}},
        {"DeclareByCalls", none, declare_by_calls, POLYTILE_OK, {}},
        {"DeclareIslMaps", none, declare_isl_maps, POLYTILE_OK, {}},
        {"DeclareWrongly", none, declare_wrongly, POLYTILE_DECLARATION, {}},
    };
}
