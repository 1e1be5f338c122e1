#include "compile/source.h"

#include "access/array/type.h"
#include "compile/body_edges.h"
#include <polytile/kernel_tile_launch.h>

#include <string.h>

/** The C type of elements or parameters of each type: on the host, and on GPUs. */
static const struct {
    const char *host, *cuda;
} names_of_types[] = {
    [POLYTILE_I8] = {"int8_t", "int8_t"},      [POLYTILE_I16] = {"int16_t", "int16_t"},
    [POLYTILE_I32] = {"int32_t", "int32_t"},   [POLYTILE_I64] = {"int64_t", "int64_t"},
    [POLYTILE_U8] = {"uint8_t", "uint8_t"},    [POLYTILE_U16] = {"uint16_t", "uint16_t"},
    [POLYTILE_U32] = {"uint32_t", "uint32_t"}, [POLYTILE_U64] = {"uint64_t", "uint64_t"},
    [POLYTILE_F16] = {"_Float16", "__half"},   [POLYTILE_F32] = {"float", "float"},
    [POLYTILE_F64] = {"double", "double"},     [POLYTILE_BF16] = {"__bf16", "__nv_bfloat16"},
    [POLYTILE_C64] = {"pt_c64", "pt_c64"},     [POLYTILE_C128] = {"pt_c128", "pt_c128"},
};

enum { MAX_ARRAYS = 8 };

/** Names that a source needs for something else: the words of C and C++, and types. */
static const char *const taken[] = {
    "alignas",  "alignof",  "and",       "asm",       "auto",     "bool",          "break",
    "case",     "catch",    "char",      "class",     "const",    "continue",      "decltype",
    "default",  "delete",   "do",        "double",    "else",     "enum",          "explicit",
    "export",   "extern",   "false",     "float",     "for",      "friend",        "goto",
    "if",       "inline",   "int",       "int16_t",   "int32_t",  "int64_t",       "int8_t",
    "long",     "mutable",  "namespace", "new",       "noexcept", "not",           "nullptr",
    "operator", "or",       "private",   "protected", "public",   "register",      "restrict",
    "return",   "short",    "signed",    "sizeof",    "static",   "static_assert", "struct",
    "switch",   "template", "this",      "throw",     "true",     "try",           "typedef",
    "typeid",   "typename", "typeof",    "uint16_t",  "uint32_t", "uint64_t",      "uint8_t",
    "union",    "unsigned", "using",     "virtual",   "void",     "volatile",      "wchar_t",
    "while",    "xor"};

static bool is_name_taken(const char *name) {
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++)
        if (strcmp(taken[k], name) == 0)
            return true;
    return strncmp(name, "pt_", 3) == 0 || strncmp(name, "PT_", 3) == 0 ||
           strncmp(name, "polytile", 8) == 0 || strncmp(name, "POLYTILE", 8) == 0 || name[0] == '_';
}

static polytile_status check_parameter_names(polytile_context *ctx,
                                             const polytile_declaration *declaration, int n,
                                             char *const *names) {
    for (int k = 0; k < n; k++)
        if (is_name_taken(names[k]))
            return pti_fail(
                ctx, POLYTILE_DECLARATION,
                "%s: a body in C cannot use the name %s, which C or polytile has taken; "
                "declare another one",
                declaration->name, names[k]);
    return POLYTILE_OK;
}

polytile_status pti_source_check(polytile_context *ctx, const polytile_declaration *declaration) {
    polytile_status status;
    if (declaration->n_arrays > MAX_ARRAYS)
        return pti_fail(ctx, POLYTILE_DECLARATION,
                        "%s: %d arrays are declared and a body takes at most %d; join some, or "
                        "write a launcher",
                        declaration->name, declaration->n_arrays, MAX_ARRAYS);
    PTI_TRY(
        check_parameter_names(ctx, declaration, declaration->n_indices, declaration->index_name));
    PTI_TRY(
        check_parameter_names(ctx, declaration, declaration->n_arrays, declaration->array_name));
    PTI_TRY(check_parameter_names(ctx, declaration, declaration->n_parameters,
                                  declaration->parameter_name));
done:
    return status;
}

static void add_type(pti_text *source, pti_target target, polytile_type type) {
    char text[PTI_TYPE_TEXT_BYTES];
    if (type < 0)
        pti_text_add(source, "pt_bytes_%lld", (long long)polytile_type_get_bytes(type));
    else if (pti_type_indexed(type) >= 0)
        pti_text_add(source, "pt_%s", pti_type_format(type, text));
    else
        pti_text_add(source, "%s",
                     pti_target_is_host(target) ? names_of_types[type].host
                                                : names_of_types[type].cuda);
}

/** Define the types of elements of which only the bytes are known, each once. */
static void add_byte_types(pti_text *source, int n, const polytile_type *types) {
    for (int k = 0; k < n; k++) {
        bool is_new = types[k] < 0;
        for (int before = 0; before < k; before++)
            is_new = is_new && types[before] != types[k];
        const long long n_bytes = (long long)polytile_type_get_bytes(types[k]);
        if (is_new)
            pti_text_add(source, "typedef struct { unsigned char byte[%lld]; } pt_bytes_%lld;\n",
                         n_bytes, n_bytes);
    }
}

/** Define the types of values with an index that C has no name for, each once. */
static void add_indexed_types(pti_text *source, pti_target target, int n,
                              const polytile_type *types) {
    static const polytile_type unnamed[] = {POLYTILE_F16, POLYTILE_BF16};
    for (size_t u = 0; u < sizeof unnamed / sizeof *unnamed; u++) {
        bool has = false;
        for (int k = 0; k < n; k++)
            has = has || types[k] == POLYTILE_INDEXED(unnamed[u]);
        if (!has)
            continue;
        pti_text_add(source,
                     pti_target_is_host(target) ? "typedef struct { " : "typedef pt_indexed<");
        add_type(source, target, unnamed[u]);
        pti_text_add(source,
                     pti_target_is_host(target) ? " value; _Alignas(8) int64_t index; } " : "> ");
        add_type(source, target, POLYTILE_INDEXED(unnamed[u]));
        pti_text_add(source, ";\n");
    }
}

static bool is_only_read(const polytile_declaration *declaration, int array) {
    bool is = true;
    for (int k = 0; k < declaration->n_accesses; k++)
        is = is &&
             (declaration->access[k].array != array || declaration->access[k].role == POLYTILE_IN);
    return is;
}

/** Return the bytes of all parameters. */
static int64_t parameter_bytes(const polytile_declaration *declaration) {
    int64_t n_bytes = 0;
    for (int p = 0; p < declaration->n_parameters; p++)
        n_bytes += polytile_type_get_bytes(declaration->parameter_type[p]);
    return n_bytes;
}

bool pti_source_has_tiles(const pti_body_text *body, const polytile_type *types) {
    const polytile_declaration *declaration = body->declaration;
    bool has = declaration->n_indices == 2 && declaration->n_arrays >= 2 &&
               declaration->n_arrays <= POLYTILE_TILE_ARRAYS &&
               parameter_bytes(declaration) <= POLYTILE_TILE_PARAMETER_BYTES;
    int n_written = 0;
    for (int a = 0; a < declaration->n_arrays; a++) {
        has = has && declaration->array_n_dims[a] == 2 && types[a] == types[0];
        n_written += !is_only_read(declaration, a);
    }
    return has && n_written == 1;
}

static bool wraps_anywhere(const pti_access *access) {
    bool does = false;
    for (int d = 0; d < access->n_dims; d++)
        does = does || access->subscript[d].edge == POLYTILE_EDGE_WRAP;
    return does;
}

bool pti_source_goes_round(const pti_body_text *body, const polytile_type *types) {
    bool goes = false;
    for (int k = 0; k < body->declaration->n_accesses; k++)
        goes = goes || wraps_anywhere(&body->declaration->access[k]);
    return goes && pti_source_has_tiles(body, types);
}

static void add_element_macros(pti_text *source, const polytile_declaration *declaration) {
    for (int a = 0; a < declaration->n_arrays; a++)
        pti_text_add(source, "#define %s(...) PT_AT(%s, __VA_ARGS__)\n", declaration->array_name[a],
                     declaration->array_name[a]);
}

/** Append "(i, j), (const float, A, 2), (float, a)", the arguments of POLYTILE_KERNEL(). */
static void add_arguments(pti_text *source, const pti_body_text *body, pti_target target,
                          const polytile_type *types) {
    const polytile_declaration *declaration = body->declaration;
    pti_text_add(source, "(");
    for (int d = 0; d < declaration->n_indices; d++)
        pti_text_add(source, "%s%s", d == 0 ? "" : ", ", declaration->index_name[d]);
    pti_text_add(source, ")");
    for (int a = 0; a < declaration->n_arrays; a++) {
        pti_text_add(source, ", (%s", is_only_read(declaration, a) ? "const " : "");
        add_type(source, target, types[a]);
        pti_text_add(source, ", %s, %d)", declaration->array_name[a], declaration->array_n_dims[a]);
    }
    for (int p = 0; p < declaration->n_parameters; p++) {
        pti_text_add(source, ", (");
        add_type(source, target, declaration->parameter_type[p]);
        pti_text_add(source, ", %s)", declaration->parameter_name[p]);
    }
}

/** The line after the body is empty: a backslash at its end would join it to the next one. */
void pti_source_add_kernel(pti_text *source, const pti_body_text *body, pti_target target,
                           const polytile_type *types) {
    const bool is_host = pti_target_is_host(target);
    add_byte_types(source, body->declaration->n_arrays, types);
    add_indexed_types(source, target, body->declaration->n_arrays, types);
    add_element_macros(source, body->declaration);
    pti_text_add(source, "%s(pt_body, ", is_host ? "POLYTILE_KERNEL" : "PT_TEXT_KERNEL");
    add_arguments(source, body, target, types);
    pti_text_add(source, ") {\n#line 1 \"" PTI_BODY_FILE "\"\n");
    pti_body_add_expanded(source, body->declaration, body->text);
    pti_text_add(source, "\n\n}\n#line 1 \"" PTI_REST_FILE "\"\n");
    if (is_host)
        pti_text_add(source,
                     "__attribute__((visibility(\"default\"))) const polytile_implementation "
                     "*" PTI_HOST_SYMBOL "(void);\n"
                     "const polytile_implementation *" PTI_HOST_SYMBOL "(void) {\n"
                     "    return &pt_body_kernel;\n}\n");
}

static const char host_prelude[] = "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n"
                                   "#include <stdlib.h>\n";

/** NVRTC knows neither typeof nor builtins of gcc. */
static const char cuda_prelude[] = "#include <stdint.h>\n"
                                   "#define PT_CUDA_LINKAGE extern \"C\"\n"
                                   "template <class T> struct pt_bare { typedef T type; };\n"
                                   "template <class T> struct pt_bare<T &> { typedef T type; };\n"
                                   "#define __typeof__(x) pt_bare<decltype(x)>::type\n"
                                   "#define __builtin_memcpy memcpy\n";

static const char cuda_macros[] = "#define PT_TEXT_KERNEL(kernel, indices, ...) \\\n"
                                  "    PT_EACH(PT_DECLARE, kernel, __VA_ARGS__) \\\n"
                                  "    PT_BODY(kernel, indices, __VA_ARGS__); \\\n"
                                  "    PT_CUDA_FUNCTION(kernel, indices, __VA_ARGS__) \\\n"
                                  "    PT_CUDA_TILES_FUNCTION(kernel, indices, __VA_ARGS__) \\\n"
                                  "    PT_BODY(kernel, indices, __VA_ARGS__)\n";

void pti_source_add_headers(pti_text *source, const pti_body_text *body, pti_target target,
                            const polytile_type *types) {
    const bool is_host = pti_target_is_host(target);
    if (!is_host && pti_source_goes_round(body, types))
        pti_text_add(source, "#define POLYTILE_PERIODIC_TILES 1\n");
    pti_text_add(source, "%s%.*s\n%s", is_host ? host_prelude : cuda_prelude,
                 (int)pti_kernel_headers_bytes, (const char *)pti_kernel_headers_text,
                 is_host ? "" : cuda_macros);
}

bool pti_source_has(const pti_body_text *body, const polytile_type *types, polytile_scalar type) {
    bool has = false;
    for (int a = 0; a < body->declaration->n_arrays; a++)
        has |= types[a] == (polytile_type)type || pti_type_indexed(types[a]) == (int)type;
    for (int p = 0; p < body->declaration->n_parameters; p++)
        has |= body->declaration->parameter_type[p] == (polytile_type)type;
    return has;
}
