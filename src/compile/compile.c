#include "compile/compile.h"

#include "access/declare/parse.h"
#include "compile/body.h"
#include "compile/entry.h"
#include "compile/load.h"
#include "compile/source.h"

#include <stdlib.h>
#include <string.h>

/** Code for certain types and a target. */
typedef struct specialisation {
    struct specialisation *next;
    pti_target target;
    polytile_type types[POLYTILE_MAX_DIMS]; /* one an array */
    pti_code code;                          /* not loaded yet; owned */
    bool is_loaded;
    pti_loaded loaded;
} specialisation;

/** A body with all that was compiled of it. It lasts until the context ends: launches that are
 * queued outlive a kernel. Kernels of the same text share one. */
typedef struct compiled_body {
    pti_object object;
    pti_body_text body;
    polytile_implementation implementation;
    specialisation *first; /* owned */
} compiled_body;

static void free_specialisations(compiled_body *of) {
    while (of->first != NULL) {
        specialisation *next = of->first->next;
        if (of->first->is_loaded)
            pti_unload(&of->first->loaded);
        free(of->first->code.bytes);
        free(of->first);
        of->first = next;
    }
}

static void free_text(pti_body_text *text) {
    pti_declaration_free((polytile_declaration *)(uintptr_t)text->declaration);
    free(text->declared);
    free(text->text);
}

static void destroy_body(pti_object *object) {
    compiled_body *of = (compiled_body *)object;
    free_specialisations(of);
    free_text(&of->body);
    free(of);
}

/* From a source to code. */

/** Include CUDA's headers of types that C++ lacks. */
static void add_cuda_headers(const pti_build *build, pti_text *source) {
    if (pti_source_has(build->body, build->types, POLYTILE_F16))
        pti_text_add(source, "#include <cuda_fp16.h>\n");
    if (pti_source_has(build->body, build->types, POLYTILE_BF16))
        pti_text_add(source, "#include <cuda_bf16.h>\n");
}

/** Make the source, and the recipe: all that decides what code is made of it. */
static polytile_status write_recipe(polytile_context *ctx, const pti_build *build, pti_text *source,
                                    pti_text *recipe) {
    polytile_status status;
    pti_text_add(recipe, "polytile %s, kernel from text\n", polytile_version());
    PTI_TRY(pti_compiler_for(build->target)->describe(ctx, build, recipe));
    if (!pti_target_is_host(build->target))
        add_cuda_headers(build, source);
    pti_source_add_headers(source, build->body, build->target, build->types);
    pti_source_add_kernel(source, build->body, build->target, build->types);
    if (source->failed)
        PTI_TRY(pti_fail_memory(ctx, build->body->declaration->name, (double)source->length));
    pti_text_add(recipe, "source of %zu bytes\n%s", source->length, source->data);
    if (recipe->failed)
        PTI_TRY(pti_fail_memory(ctx, build->body->declaration->name, (double)recipe->length));
done:
    return status;
}

/** Find code that was kept, or build it and keep it. */
static polytile_status make_code(polytile_context *ctx, const pti_build *build, pti_code *code) {
    const char *name = build->body->declaration->name;
    pti_text source = {0}, recipe = {0};
    polytile_status status;
    PTI_TRY(write_recipe(ctx, build, &source, &recipe));
    PTI_TRY(pti_entry_find(ctx, name, &recipe, code));
    if (code->bytes == NULL) {
        PTI_TRY(pti_compiler_for(build->target)->build(ctx, build, &source, code));
        pti_entry_keep(ctx, name, &recipe, code);
    }
done:
    pti_text_free(&source);
    pti_text_free(&recipe);
    return status;
}

/* Specialisations. */

static specialisation *find_specialisation(const compiled_body *of, pti_target target,
                                           const polytile_type *types) {
    const size_t n_bytes = (size_t)of->body.declaration->n_arrays * sizeof *types;
    specialisation *at = of->first;
    while (at != NULL &&
           (at->target.capability != target.capability || memcmp(at->types, types, n_bytes) != 0))
        at = at->next;
    return at;
}

/** Find the specialisation of a body for some types, or make it. */
static polytile_status find_or_compile(compiled_body *of, pti_target target,
                                       const polytile_type *types, specialisation **found) {
    polytile_context *ctx = of->object.context;
    const pti_build build = {&of->body, target, types};
    *found = find_specialisation(of, target, types);
    if (*found != NULL)
        return POLYTILE_OK;
    specialisation *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pti_fail_memory(ctx, of->body.declaration->name, sizeof *made);
    const polytile_status status = make_code(ctx, &build, &made->code);
    if (status != POLYTILE_OK) {
        free(made);
        return status;
    }
    made->target = target;
    memcpy(made->types, types, (size_t)of->body.declaration->n_arrays * sizeof *types);
    made->next = of->first;
    of->first = *found = made;
    return POLYTILE_OK;
}

static polytile_status load_specialisation(compiled_body *of, specialisation *found) {
    const pti_build build = {&of->body, found->target, found->types};
    if (found->is_loaded)
        return POLYTILE_OK;
    const polytile_status status =
        pti_load(of->object.context, &build, &found->code, &found->loaded);
    if (status != POLYTILE_OK)
        return status;
    found->is_loaded = true;
    free(found->code.bytes);
    found->code = (pti_code){0};
    return POLYTILE_OK;
}

/** The core asks for what runs a launch. */
static int specialise_body(const polytile_specialisation *wanted,
                           const polytile_implementation **implementation) {
    compiled_body *of = wanted->user;
    specialisation *found;
    polytile_status status;
    PTI_TRY(find_or_compile(of, (pti_target){wanted->cuda_capability}, wanted->types, &found));
    PTI_TRY(load_specialisation(of, found));
    *implementation = &found->loaded.implementation;
done:
    return (int)status;
}

/* Kernels. */

static bool is_same(const pti_body_text *one, const pti_body_text *other) {
    return one->contracts == other->contracts && strcmp(one->text, other->text) == 0 &&
           strcmp(one->declared, other->declared) == 0;
}

/** Find a body that was made of the same text before, or NULL. */
static compiled_body *find_body(const polytile_context *ctx, const pti_body_text *text) {
    pti_object *at = pti_get_newest(ctx);
    while (at != NULL &&
           (at->destroy != destroy_body || !is_same(&((compiled_body *)at)->body, text)))
        at = at->next;
    return (compiled_body *)at;
}

/** Make a body, which takes the declaration and the text; also on failure. */
static polytile_status make_body(polytile_context *ctx, pti_body_text *text, compiled_body **made) {
    *made = find_body(ctx, text);
    if (*made != NULL)
        return POLYTILE_OK;
    *made = calloc(1, sizeof **made);
    if (*made == NULL)
        return pti_fail_memory(ctx, text->declaration->name, sizeof **made);
    (*made)->body = *text;
    (*made)->implementation.specialise = specialise_body;
    (*made)->implementation.user = *made;
    *text = (pti_body_text){0};
    pti_object_adopt(ctx, &(*made)->object, destroy_body);
    return POLYTILE_OK;
}

/** Copy a body's text, and parse its declaration. */
static polytile_status copy_body_text(polytile_context *ctx, const char *declaration,
                                      const char *body, bool contracts, pti_body_text *text) {
    polytile_declaration *parsed = NULL;
    polytile_status status;
    PTI_TRY(pti_declaration_parse(ctx, declaration, &parsed));
    *text = (pti_body_text){parsed, strdup(declaration), strdup(body), contracts};
    if (text->declared == NULL || text->text == NULL)
        PTI_TRY(pti_fail_memory(ctx, parsed->name, (double)strlen(body)));
    PTI_TRY(pti_source_check(ctx, parsed));
    PTI_TRY(pti_body_check(ctx, parsed, body));
done:
    return status;
}

/** Let types be those of all views: scratch has its own. */
static polytile_status list_types(polytile_context *ctx, const polytile_declaration *declaration,
                                  const polytile_compile_options *options, polytile_type *types) {
    const int n_arrays = declaration->n_arrays - declaration->n_scratch;
    const polytile_type *given = options->types;
    if (options->n_types != n_arrays || given == NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: the options have %d types and the declaration %d arrays; give one "
                        "each, or none",
                        declaration->name, options->n_types, n_arrays);
    for (int k = 0; k < declaration->n_accesses; k++)
        types[declaration->access[k].array] = declaration->access[k].type;
    for (int a = 0; a < declaration->n_arrays; a++) {
        types[a] = declaration->is_scratch[a] ? types[a] : *given++;
        if (polytile_type_get_bytes(types[a]) <= 0)
            return pti_fail(ctx, POLYTILE_INVALID, "%s: the options' type of %s, %d, is none",
                            declaration->name, declaration->array_name[a], types[a]);
    }
    return POLYTILE_OK;
}

/** Compile for the types that the options name. */
static polytile_status compile_at_once(compiled_body *of, const polytile_compile_options *options) {
    polytile_type types[POLYTILE_MAX_DIMS];
    specialisation *found;
    polytile_status status = POLYTILE_OK;
    if (options->n_types == 0)
        return POLYTILE_OK;
    PTI_TRY(list_types(of->object.context, of->body.declaration, options, types));
    PTI_TRY(find_or_compile(of, (pti_target){options->cuda_capability}, types, &found));
done:
    return status;
}

static polytile_status check_call(polytile_context *ctx, const char *declaration, const char *body,
                                  const polytile_compile_options *options,
                                  polytile_kernel *const *kernel) {
    if (declaration == NULL || body == NULL || kernel == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "polytile_kernel_compile: the %s is NULL",
                        declaration == NULL ? "declaration"
                        : body == NULL      ? "body"
                                            : "place for the result");
    if (options->cuda_capability < 0)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "polytile_kernel_compile: the compute capability is %d; give 90 for 9.0, "
                        "or 0 for the host",
                        options->cuda_capability);
    return pti_check_reserved(ctx, "polytile_kernel_compile", "polytile_compile_options",
                              options->reserved);
}

polytile_status polytile_kernel_compile(polytile_context *ctx, const char *declaration,
                                        const char *body, const polytile_compile_options *options,
                                        polytile_kernel **kernel) {
    static const polytile_compile_options defaults = {0};
    pti_body_text text = {0};
    compiled_body *made;
    polytile_status status;
    if (kernel != NULL)
        *kernel = NULL;
    PTI_ENTER(ctx, ctx, "context");
    options = options == NULL ? &defaults : options;
    PTI_TRY(check_call(ctx, declaration, body, options, kernel));
    PTI_TRY(copy_body_text(ctx, declaration, body, options->contracts, &text));
    PTI_TRY(make_body(ctx, &text, &made));
    PTI_TRY(compile_at_once(made, options));
    PTI_TRY(polytile_kernel_create(ctx, declaration, &made->implementation, kernel));
done:
    free_text(&text);
    return status;
}
