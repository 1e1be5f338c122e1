#include <polytile/declaration.h>
#include <polytile/polytile.h>

#include "support/c_test.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *text, *name;
    int n_indices, n_arrays;
    const char *last_array;
} declarations[] = {
    {"add[i]: in x[i], y[i]; out z[i]", "add", 1, 3, "z"},
    {"jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]", "jacobi", 2, 2, "B"},
    {"matmul[i, j]: in A[i, :], B[:, j]; out C[i, j]", "matmul", 2, 3, "C"},
    {"gemm[i, j, k]: in A[i, k], B[k, j]; sum C[i, j]", "gemm", 3, 3, "C"},
    {"dot[i]: in x[i], y[i]; out sum s[0]", "dot", 1, 3, "s"},
    {"coarsen[i]: in fine[2*i:2*i+2]; out coarse[i]", "coarsen", 1, 2, "coarse"},
    {"odd[i]: in x[1:n-1:2]; out y[i]", "odd", 1, 2, "y"},
    {"lower[i]: in L[i, 0:i], x[0:i]; out y[i]", "lower", 1, 3, "y"},
    {"hankel[i, j]: in h[i+j]; out H[i, j]", "hankel", 2, 2, "H"},
    {"any[i, j]: in {[i, j] -> A[a, b] : a = i and 0 <= b <= j}; out B[i, j]", "any", 2, 2, "B"},
    {" k\n[ i ] :\tinout\nsum [ i ] ", "k", 1, 1, "sum"},
    {"k[i]: in x[2i], x[-2i+9], x[2*(i+1)]; out y[i]", "k", 1, 2, "y"},
    {"k[i]: in x[::2], x[i:], x[:i]; out min y[0]; prod z[0]; max w[0]", "k", 1, 4, "w"},
    {"k[i]: in {[x] -> A[a] : (a mod 3 = x or a % 5 = 0) and exists b : a = 2b}; out y[i]", "k", 1,
     2, "y"},
    {"k[i]: in [n] -> {[i] -> A[i, n]}; out y[i]", "k", 1, 2, "y"},
    {"k[i]: in b[i]; out a[i]; in b[i+1], c[i]", "k", 1, 3, "c"},
    {"saxpy[i](f32 a): in x[i]; inout y[i]", "saxpy", 1, 2, "y"},
    {"k[i](u8 n, f16 f32): in x[i+n]; out y[i]", "k", 1, 2, "y"},
    {"k[a,b,c,d,e,f,g,h]: out x[a,b,c,d,e,f,g,h]", "k", 8, 1, "x"},
};

TEST_TABLE(ApiDeclaration, IsReadAsTheGrammarSays, declarations) {
    polytile_kernel *kernel = NULL;
    if (!CHECK_OK(polytile_kernel_create(ctx, row->text, NULL, &kernel)))
        return;
    CHECK_TEXT(polytile_kernel_get_name(kernel), row->name);
    CHECK_EQUAL(polytile_kernel_get_n_indices(kernel), row->n_indices);
    CHECK_EQUAL(polytile_kernel_get_n_arrays(kernel), row->n_arrays);
    CHECK_TEXT(polytile_kernel_get_array_name(kernel, row->n_arrays - 1), row->last_array);
}

/* Texts with what the message points out; the caret stands where the column is. */
static const struct {
    const char *text;
    int column;
    const char *says;
} wrong_declarations[] = {
    {"k[i]: in x[i*i]; out y[i]", 13, "affine"},
    {"k[i]: in x[i/2]; out y[i]", 13, ""},
    {"k[i]: in x[idx(i)]; out y[i]", 12, "idx"},
    {"k[i]: in x[i mod 2]; out y[i]", 14, ""},
    {"k[i, i]: out y[i]", 6, "i"},
    {"k[i]: in A[i], A[i, i]; out y[i]", 0, "A"},
    {"k[i]: in x[0:9:0]; out y[i]", 16, "step"},
    {"k[i]: in x[0:9:-1]; out y[i]", 16, ""},
    {"k[i]: in x[9223372036854775808]; out y[i]", 12, "64 bits"},
    {"k[i]: in x[9223372036854775807*2*i]; out y[i]", 0, "64 bits"},
    {"k[i]: up x[i]", 7, "up"},
    {"k[i]: in x[i", 13, ""},
    {"k[i] in x[i]", 6, ""},
    {"k[i]: in x[i]; ", 0, ""},
    {"k[]: in x[0]", 3, ""},
    {"k: in x[0]", 2, ""},
    {"", 1, ""},
    {"2k[i]: in x[i]", 1, ""},
    {"k[i]: out out x[i]", 0, ""},
    {"k[i]: fresh sum x[i]", 7, ""},
    {"k[a,b,c,d,e,f,g,h,i]: out x[a]", 0, "8"},
    {"k[i]: out x[i,i,i,i,i,i,i,i,i]", 0, "8"},
    {"k[i]: in x[a+b+c+d+e+f+g+h+j+k+l+m+n+o+p+q+r]; out y[i]", 44, "16"},
    {"k[i](): out y[i]", 6, "f64"},
    {"k[i](a): out y[i]", 6, "i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64, bf16"},
    {"k[i](c64 a): out y[i]", 10, "give them as two parameters"},
    {"k[i](f32_i64 a): out y[i]", 14, "give them as two parameters"},
    {"k[i](f32): out y[i]", 9, "parameter"},
    {"k[i](float a): out y[i]", 6, "'float'"},
    {"k[i](f32 a, f64 a): out y[i]", 17, "'a'"},
    {"k[i](f32 i): out y[i]", 10, "'i'"},
    {"k[i](f32 y): out y[i]", 18, "'y'"},
    {"k[i](f32 a): out y[i+a]", 22, "a is f32: subscripts take integers"},
    {"k[i]: in {[i, j] -> A[j]}; out y[i]", 0, ""},
    {"k[i]: in x[i] trailing", 15, ""},
};

/* The column of the caret in the last line of a text, from 1 on; 0 without one. */
static int column_of_caret(const char *text) {
    const char *line = strrchr(text, '\n');
    const size_t n_spaces = line == NULL ? 0 : strspn(line + 1, " ");
    return line != NULL && line[1 + n_spaces] == '^' ? (int)n_spaces - 1 : 0;
}

TEST_TABLE(ApiDeclaration, ThatIsWrongIsShownWithACaret, wrong_declarations) {
    char column[32];
    polytile_kernel *kernel = NULL;
    CHECK_REFUSED(polytile_kernel_create(ctx, row->text, NULL, &kernel), POLYTILE_DECLARATION,
                  row->says);
    CHECK(kernel == NULL);
    const int caret = column_of_caret(polytile_last_error(ctx));
    if (!CHECK(caret > 0))
        CHECK_TEXT(polytile_last_error(ctx), "with a caret");
    snprintf(column, sizeof column, "(column %d)", row->column > 0 ? row->column : caret);
    CHECK_CONTAINS(polytile_last_error(ctx), column);
    if (row->column > 0)
        CHECK_EQUAL(caret, row->column);
}

TEST_CASE(ApiDeclaration, IsShownAsTheDocumentationSays) {
    polytile_kernel *kernel = NULL;
    CHECK_STATUS(polytile_kernel_create(ctx, "k[i]: in x[i*i]; out y[i]", NULL, &kernel),
                 POLYTILE_DECLARATION);
    CHECK_TEXT(polytile_last_error(ctx),
               "k: not affine: one factor of a product must be an integer constant (column 13)\n"
               "  k[i]: in x[i*i]; out y[i]\n"
               "              ^");
}

TEST_CASE(ApiDeclaration, IsCopied) {
    char text[] = "k[i]: in x[i]; out y[i]";
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_kernel_create(ctx, text, NULL, &kernel));
    memset(text, '#', sizeof text - 1);
    CHECK_TEXT(polytile_kernel_get_name(kernel), "k");
    CHECK_TEXT(polytile_kernel_get_array_name(kernel, 1), "y");
}

TEST_CASE(ApiDeclaration, NamesArraysInTheOrderInWhichTheyAppear) {
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_kernel_create(ctx, "k[i]: in c[i], a[i], c[i+1]; out b[i]; in a[i+1]", NULL,
                                    &kernel));
    CHECK_EQUAL(polytile_kernel_get_n_arrays(kernel), 3);
    CHECK_TEXT(polytile_kernel_get_array_name(kernel, 0), "c");
    CHECK_TEXT(polytile_kernel_get_array_name(kernel, 1), "a");
    CHECK_TEXT(polytile_kernel_get_array_name(kernel, 2), "b");
    CHECK(polytile_kernel_get_array_name(kernel, 3) == NULL);
    CHECK_EQUAL(polytile_kernel_get_array_role(kernel, 3), POLYTILE_IN);
    CHECK(polytile_kernel_get_array_name(kernel, -1) == NULL);
}

TEST_CASE(ApiDeclaration, NamesScratchAmongItsViewsOnly) {
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_kernel_create(ctx, "k[i]: scratch f32 w[i]; out b[i]", NULL, &kernel));
    CHECK_EQUAL(polytile_kernel_get_n_arrays(kernel), 1);
    CHECK_EQUAL(polytile_kernel_get_n_views(kernel), 2);
    CHECK_TEXT(polytile_kernel_get_view_name(kernel, 0), "w");
    CHECK_TEXT(polytile_kernel_get_view_name(kernel, 1), "b");
    CHECK(polytile_kernel_get_view_name(kernel, 2) == NULL);
    CHECK(polytile_kernel_get_view_name(kernel, -1) == NULL);
}

TEST_CASE(ApiDeclaration, NamesItsParameters) {
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_kernel_create(ctx, "k[i]: in x[i+m:i+n], x[i+m]; out y[i]", NULL, &kernel));
    CHECK_EQUAL(polytile_kernel_get_n_parameters(kernel), 2);
    CHECK_TEXT(polytile_kernel_get_parameter_name(kernel, 0), "m");
    CHECK_TEXT(polytile_kernel_get_parameter_name(kernel, 1), "n");
    CHECK(polytile_kernel_get_parameter_name(kernel, 2) == NULL);
    CHECK(polytile_kernel_get_parameter_name(kernel, -1) == NULL);
}

static const struct {
    const char *text;
    polytile_type type;
} typed_parameters[] = {
    {"i8", POLYTILE_I8},   {"i16", POLYTILE_I16}, {"i32", POLYTILE_I32}, {"i64", POLYTILE_I64},
    {"u8", POLYTILE_U8},   {"u16", POLYTILE_U16}, {"u32", POLYTILE_U32}, {"u64", POLYTILE_U64},
    {"f16", POLYTILE_F16}, {"f32", POLYTILE_F32}, {"f64", POLYTILE_F64}, {"bf16", POLYTILE_BF16},
};

TEST_TABLE(ApiDeclaration, GivesItsParametersTypes, typed_parameters) {
    char text[64];
    polytile_kernel *kernel = NULL;
    snprintf(text, sizeof text, "k[i](%s a): in x[i+n]; out y[i]", row->text);
    if (!CHECK_OK(polytile_kernel_create(ctx, text, NULL, &kernel)))
        return;
    CHECK_EQUAL(polytile_kernel_get_n_parameters(kernel), 2);
    CHECK_TEXT(polytile_kernel_get_parameter_name(kernel, 0), "a");
    CHECK_TEXT(polytile_kernel_get_parameter_name(kernel, 1), "n");
    CHECK_EQUAL(polytile_kernel_get_parameter_type(kernel, 0), row->type);
    CHECK_EQUAL(polytile_kernel_get_parameter_type(kernel, 1), POLYTILE_I64);
    CHECK_EQUAL(polytile_kernel_get_parameter_type(kernel, 2), POLYTILE_BYTES(0));
    CHECK_EQUAL(polytile_kernel_get_parameter_type(kernel, -1), POLYTILE_BYTES(0));
    CHECK_EQUAL(polytile_kernel_get_parameter_type(NULL, 0), POLYTILE_BYTES(0));
}

TEST_CASE(ApiDeclaration, NeedsATextAndAPlaceForTheKernel) {
    polytile_kernel *kernel = NULL;
    CHECK_REFUSED(polytile_kernel_create(ctx, NULL, NULL, &kernel), POLYTILE_INVALID, "NULL");
    CHECK_REFUSED(polytile_kernel_create(ctx, "k[i]: out x[i]", NULL, NULL), POLYTILE_INVALID,
                  "NULL");
    CHECK_REFUSED(polytile_kernel_create(NULL, "k[i]: out x[i]", NULL, &kernel), POLYTILE_INVALID,
                  "NULL");
}

TEST_CASE(ApiDeclaration, OfNoKernelHasNothing) {
    CHECK_TEXT(polytile_kernel_get_name(NULL), "");
    CHECK_EQUAL(polytile_kernel_get_n_indices(NULL), 0);
    CHECK_EQUAL(polytile_kernel_get_n_arrays(NULL), 0);
    CHECK(polytile_kernel_get_array_name(NULL, 0) == NULL);
    CHECK_EQUAL(polytile_kernel_get_n_views(NULL), 0);
    CHECK(polytile_kernel_get_view_name(NULL, 0) == NULL);
    CHECK_EQUAL(polytile_kernel_get_n_parameters(NULL), 0);
    CHECK(polytile_kernel_get_parameter_name(NULL, 0) == NULL);
    polytile_kernel_destroy(NULL);
    polytile_declaration_destroy(NULL);
}

static const char *const roles[] = {
#define WORD(name, text) text,
    POLYTILE_ROLES(WORD)
#undef WORD
};

TEST_TABLE(ApiDeclaration, HasAWordForEachRole, roles) {
    char text[64];
    polytile_kernel *kernel = NULL;
    const char *type = strcmp(*row, "scratch") == 0 ? "f32 " : "";
    snprintf(text, sizeof text, "k[i]: in y[i]; %s %sx[i]", *row, type);
    CHECK_OK(polytile_kernel_create(ctx, text, NULL, &kernel));
}

/* By calls. */

static polytile_declaration *begin(polytile_context *ctx, int n_parameters) {
    const char *indices[] = {"i", "j"}, *parameters[] = {"n", "m"};
    polytile_declaration *declaration = NULL;
    CHECK_OK(polytile_declaration_create(ctx, "jacobi", 2, indices, n_parameters, parameters,
                                         &declaration));
    return declaration;
}

static const polytile_affine i = {.index = {1, 0}}, j = {.index = {0, 1}};
static const polytile_affine i_less_1 = {-1, {1, 0}, {0}}, i_plus_1 = {1, {1, 0}, {0}};
static const polytile_affine j_less_1 = {-1, {0, 1}, {0}}, j_plus_1 = {1, {0, 1}, {0}};

static int64_t superblocks_of(polytile_context *ctx, polytile_kernel *kernel) {
    polytile_array *arrays[2] = {NULL};
    polytile_plan *plan = NULL;
    polytile_plan_summary summary = {0};
    const polytile_launch_options options = {.plan.limit_bytes = 4096};
    CHECK_OK(polytile_array_describe(ctx, "A", POLYTILE_F32, POLYTILE_EXTENTS(64, 64), &arrays[0]));
    CHECK_OK(polytile_array_describe(ctx, "B", POLYTILE_F32, POLYTILE_EXTENTS(64, 64), &arrays[1]));
    CHECK_OK(
        polytile_plan_create(kernel, POLYTILE_INTERIOR(1, 64, 64), 2, arrays, &options, &plan));
    polytile_plan_get_summary(plan, &summary);
    CHECK(summary.n_kernels > 1);
    return summary.h2d_bytes;
}

TEST_CASE(ApiDeclaration, ByCallsIsTheSameAsByText) {
    const polytile_subscript rows[] = {
        {i_less_1, i_plus_1, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL},
        {j, j, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL}};
    const polytile_subscript point[] = {{i, i, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL},
                                        {j, j, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL}};
    polytile_declaration *declaration = begin(ctx, 0);
    polytile_kernel *by_calls = NULL, *by_text = NULL;
    CHECK_OK(polytile_declaration_add(declaration, POLYTILE_IN, false, "A", 2, rows));
    CHECK_OK(polytile_declaration_add(declaration, POLYTILE_OUT, false, "B", 2, point));
    CHECK_OK(polytile_kernel_create_from(declaration, NULL, &by_calls));
    CHECK_OK(
        polytile_kernel_create(ctx, "jacobi[i, j]: in A[i-1:i+1, j]; out B[i, j]", NULL, &by_text));
    CHECK_TEXT(polytile_kernel_get_name(by_calls), "jacobi");
    CHECK_EQUAL(polytile_kernel_get_n_indices(by_calls), 2);
    CHECK_EQUAL(polytile_kernel_get_n_arrays(by_calls), 2);
    CHECK_EQUAL(superblocks_of(ctx, by_calls), superblocks_of(ctx, by_text));
}

TEST_CASE(ApiDeclaration, ByCallsHasEdges) {
    polytile_subscript rows[] = {
        {i_less_1, i_plus_1, 1, false, false, POLYTILE_EDGE_WRAP, NULL, NULL},
        {j_less_1, j_plus_1, 1, false, false, POLYTILE_EDGE_CLAMP, NULL, NULL}};
    const polytile_subscript point[] = {{i, i, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL},
                                        {j, j, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL}};
    polytile_declaration *declaration = begin(ctx, 0);
    polytile_kernel *by_calls = NULL, *by_text = NULL;
    CHECK_OK(polytile_declaration_add(declaration, POLYTILE_IN, false, "A", 2, rows));
    CHECK_OK(polytile_declaration_add(declaration, POLYTILE_OUT, false, "B", 2, point));
    CHECK_REFUSED(polytile_declaration_add(declaration, POLYTILE_OUT, false, "C", 2, rows),
                  POLYTILE_DECLARATION, "subscript 2 of C clamps");
    CHECK_REFUSED(polytile_declaration_add_scratch(declaration, POLYTILE_F32, "w", 2, rows),
                  POLYTILE_DECLARATION, "scratch ends nowhere");
    rows[0].edge = (polytile_edge)9;
    CHECK_REFUSED(polytile_declaration_add(declaration, POLYTILE_IN, false, "A", 2, rows),
                  POLYTILE_DECLARATION, "the edge 9 of subscript 1 of A");
    CHECK_OK(polytile_kernel_create_from(declaration, NULL, &by_calls));
    CHECK_OK(polytile_kernel_create(
        ctx, "jacobi[i, j]: in A[wrap(i-1:i+1), clamp(j-1:j+1)]; out B[i, j]", NULL, &by_text));
    CHECK_EQUAL(superblocks_of(ctx, by_calls), superblocks_of(ctx, by_text));
}

TEST_CASE(ApiDeclaration, ByCallsCanBeUsedOnWhenAKernelIsMade) {
    const polytile_subscript point[] = {{i, i, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL},
                                        {j, j, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL}};
    polytile_declaration *declaration = begin(ctx, 0);
    polytile_kernel *first = NULL, *second = NULL;
    CHECK_OK(polytile_declaration_add(declaration, POLYTILE_IN, false, "A", 2, point));
    CHECK_OK(polytile_kernel_create_from(declaration, NULL, &first));
    CHECK_OK(polytile_declaration_add(declaration, POLYTILE_OUT, false, "B", 2, point));
    CHECK_OK(polytile_kernel_create_from(declaration, NULL, &second));
    polytile_declaration_destroy(declaration);
    CHECK_EQUAL(polytile_kernel_get_n_arrays(first), 1);
    CHECK_EQUAL(polytile_kernel_get_n_arrays(second), 2);
}

TEST_CASE(ApiDeclaration, ByCallsGivesScratchItsType) {
    const polytile_subscript point[] = {{i, i, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL},
                                        {j, j, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL}};
    polytile_declaration *declaration = begin(ctx, 0);
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_declaration_add_scratch(declaration, POLYTILE_F32, "w", 2, point));
    CHECK_OK(polytile_declaration_add(declaration, POLYTILE_OUT, false, "A", 2, point));
    CHECK_REFUSED(polytile_declaration_add(declaration, POLYTILE_IN, false, "w", 2, point),
                  POLYTILE_DECLARATION, "w");
    CHECK_REFUSED(polytile_declaration_add_scratch(declaration, POLYTILE_F32, "A", 2, point),
                  POLYTILE_DECLARATION, "A");
    CHECK_OK(polytile_kernel_create_from(declaration, NULL, &kernel));
    CHECK_EQUAL(polytile_kernel_get_n_arrays(kernel), 1);
    CHECK_EQUAL(polytile_kernel_get_n_views(kernel), 2);
}

static const struct {
    polytile_role role;
    bool fresh;
    const char *array;
    int n_subscripts;
    int64_t step;
    const char *says;
} wrong_sections[] = {
    {POLYTILE_IN, false, "", 2, 1, "name"},  {POLYTILE_IN, false, "A", 1, 1, "A"},
    {POLYTILE_IN, false, "C", 0, 1, "C"},    {POLYTILE_IN, false, "C", 9, 1, "8"},
    {POLYTILE_IN, false, "C", 2, 0, "step"}, {POLYTILE_IN, false, "C", 2, -3, "step"},
    {POLYTILE_IN, true, "C", 2, 1, "C"},     {POLYTILE_OUT, true, "C", 2, 1, "C"},
    {POLYTILE_INOUT, true, "C", 2, 1, "C"},  {(polytile_role)99, false, "C", 2, 1, "99"},
};

TEST_TABLE(ApiDeclaration, ByCallsRefusesASectionThatCannotBe, wrong_sections) {
    const polytile_subscript point[] = {{i, i, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL},
                                        {j, j, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL}};
    polytile_subscript subscripts[9] = {{i, i, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL}};
    polytile_declaration *declaration = begin(ctx, 0);
    polytile_kernel *kernel = NULL;
    subscripts[0].step = row->step;
    for (int k = 1; k < 9; k++)
        subscripts[k] = point[1];
    CHECK_OK(polytile_declaration_add(declaration, POLYTILE_OUT, false, "A", 2, point));
    CHECK_REFUSED(polytile_declaration_add(declaration, row->role, row->fresh, row->array,
                                           row->n_subscripts, subscripts),
                  POLYTILE_DECLARATION, row->says);
    CHECK_OK(polytile_kernel_create_from(declaration, NULL, &kernel));
    CHECK_EQUAL(polytile_kernel_get_n_arrays(kernel), 1);
}

TEST_CASE(ApiDeclaration, HasAtMost1024Sections) {
    polytile_declaration *declaration = begin(ctx, 0);
    for (int64_t k = 0; k < 1024; k++) {
        const polytile_affine at = {k, {0}, {0}};
        const polytile_subscript subscript = {at,   at,  1, false, false, POLYTILE_EDGE_CLIP,
                                              NULL, NULL};
        CHECK_OK(polytile_declaration_add(declaration, POLYTILE_IN, false, "A", 1, &subscript));
    }
    const polytile_subscript subscript = {i, i, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL};
    CHECK_REFUSED(polytile_declaration_add(declaration, POLYTILE_IN, false, "A", 1, &subscript),
                  POLYTILE_DECLARATION, "1024");
}

static const struct {
    const char *name;
    int n_indices;
    const char *indices[9];
    int n_parameters;
    const char *parameters[17];
    const char *says;
} wrong_beginnings[] = {
    {"k", 0, {NULL}, 0, {NULL}, "at least one index"},
    {"k", 9, {"a", "b", "c", "d", "e", "f", "g", "h", "i"}, 0, {NULL}, "8"},
    {"k", 1, {"i"}, 17, {"a", "b", "c", "d", "e", "f", "g", "h", "n"}, "16"},
    {"k", 2, {"i", "i"}, 0, {NULL}, "i"},
    {"k", 1, {"n"}, 1, {"n"}, "n"},
    {"k", 1, {""}, 0, {NULL}, ""},
    {"", 1, {"i"}, 0, {NULL}, ""},
    {NULL, 1, {"i"}, 0, {NULL}, ""},
};

TEST_TABLE(ApiDeclaration, ByCallsBeginsWithNamesThatDiffer, wrong_beginnings) {
    polytile_declaration *declaration = NULL;
    const polytile_status status =
        polytile_declaration_create(ctx, row->name, row->n_indices, row->indices, row->n_parameters,
                                    row->parameters, &declaration);
    CHECK(status == POLYTILE_DECLARATION || status == POLYTILE_INVALID);
    CHECK_CONTAINS(polytile_last_error(ctx), row->says);
    CHECK(polytile_last_error(ctx)[0] != '\0');
    CHECK(declaration == NULL);
}

TEST_CASE(ApiDeclaration, ByCallsWithoutSectionsIsNoKernel) {
    polytile_kernel *kernel = NULL;
    const polytile_status status = polytile_kernel_create_from(begin(ctx, 0), NULL, &kernel);
    CHECK_STATUS(status, POLYTILE_DECLARATION);
    CHECK(kernel == NULL);
}

TEST_CASE(ApiDeclaration, ByCallsTakesParametersWithTypes) {
    const polytile_affine i_plus_c = {.index = {1}, .parameter = {0, 0, 1}};
    const polytile_subscript point = {i, i, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL};
    const polytile_subscript shifted = {i_plus_c, i_plus_c,           1,    false,
                                        false,    POLYTILE_EDGE_CLIP, NULL, NULL};
    polytile_declaration *declaration = begin(ctx, 1);
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_declaration_add_parameter(declaration, POLYTILE_F32, "a"));
    CHECK_OK(polytile_declaration_add_parameter(declaration, POLYTILE_U8, "c"));
    CHECK_OK(polytile_declaration_add(declaration, POLYTILE_IN, false, "x", 1, &shifted));
    CHECK_OK(polytile_declaration_add(declaration, POLYTILE_OUT, false, "y", 1, &point));
    CHECK_OK(polytile_kernel_create_from(declaration, NULL, &kernel));
    CHECK_EQUAL(polytile_kernel_get_n_parameters(kernel), 3);
    CHECK_TEXT(polytile_kernel_get_parameter_name(kernel, 2), "c");
    CHECK_EQUAL(polytile_kernel_get_parameter_type(kernel, 0), POLYTILE_I64);
    CHECK_EQUAL(polytile_kernel_get_parameter_type(kernel, 1), POLYTILE_F32);
    CHECK_EQUAL(polytile_kernel_get_parameter_type(kernel, 2), POLYTILE_U8);
}

static const struct {
    polytile_type type;
    const char *name, *says;
} wrong_parameters[] = {
    {POLYTILE_F32, "", "identifier"},
    {POLYTILE_F32, NULL, "identifier"},
    {POLYTILE_F32, "2a", "'2a'"},
    {POLYTILE_F32, "i", "'i' is an index"},
    {POLYTILE_F32, "n", "'n' is a parameter"},
    {POLYTILE_F32, "x", "'x' is an array"},
    {POLYTILE_C128 + 1, "a", "f32, f64"},
    {POLYTILE_BYTES(4), "a", "f32, f64"},
    {POLYTILE_C64, "a", "c64 has two; give them as two parameters"},
    {POLYTILE_INDEXED(POLYTILE_I8), "a", "i8_i64 has two"},
};

TEST_TABLE(ApiDeclaration, ByCallsRefusesAParameterThatCannotBe, wrong_parameters) {
    const polytile_subscript point = {i, i, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL};
    polytile_declaration *declaration = begin(ctx, 1);
    CHECK_OK(polytile_declaration_add(declaration, POLYTILE_OUT, false, "x", 1, &point));
    CHECK_REFUSED(polytile_declaration_add_parameter(declaration, row->type, row->name),
                  POLYTILE_DECLARATION, row->says);
    CHECK_OK(polytile_declaration_add_parameter(declaration, POLYTILE_F32, "a"));
}

TEST_CASE(ApiDeclaration, ByCallsHasAtMost16Parameters) {
    char name[8];
    polytile_declaration *declaration = begin(ctx, 2);
    for (int p = 2; p < POLYTILE_MAX_PARAMETERS; p++) {
        snprintf(name, sizeof name, "p%d", p);
        CHECK_OK(polytile_declaration_add_parameter(declaration, POLYTILE_I32, name));
    }
    CHECK_REFUSED(polytile_declaration_add_parameter(declaration, POLYTILE_F32, "a"),
                  POLYTILE_DECLARATION, "'a' is one more than the 16");
}

TEST_CASE(ApiDeclaration, ByCallsTakesIntegersAloneInSubscripts) {
    const polytile_affine at = {.parameter = {0, 1}};
    const polytile_subscript subscript = {at, at, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL};
    const polytile_subscript point = {i, i, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL};
    polytile_declaration *declaration = begin(ctx, 1);
    CHECK_OK(polytile_declaration_add_parameter(declaration, POLYTILE_F64, "a"));
    CHECK_REFUSED(polytile_declaration_add(declaration, POLYTILE_IN, false, "x", 1, &subscript),
                  POLYTILE_DECLARATION, "a is f64: subscripts take integers", "x");
    CHECK_REFUSED(polytile_declaration_add(declaration, POLYTILE_IN, false, "a", 1, &point),
                  POLYTILE_DECLARATION, "'a' is a parameter already");
}

TEST_CASE(ApiDeclaration, ByCallsMayBeNull) {
    CHECK_REFUSED(polytile_declaration_add_parameter(NULL, POLYTILE_F32, "a"), POLYTILE_INVALID,
                  "declaration is NULL");
    const polytile_subscript point = {i, i, 1, false, false, POLYTILE_EDGE_CLIP, NULL, NULL};
    polytile_kernel *kernel = NULL;
    CHECK_REFUSED(polytile_declaration_add(NULL, POLYTILE_IN, false, "A", 1, &point),
                  POLYTILE_INVALID, "declaration is NULL");
    CHECK_REFUSED(polytile_kernel_create_from(NULL, NULL, &kernel), POLYTILE_INVALID,
                  "declaration is NULL");
    CHECK_REFUSED(polytile_declaration_add(begin(ctx, 2), POLYTILE_IN, false, "A", 1, NULL),
                  POLYTILE_INVALID, "NULL");
    CHECK_REFUSED(polytile_declaration_add(begin(ctx, 2), POLYTILE_IN, false, NULL, 1, &point),
                  POLYTILE_INVALID, "name", "NULL");
}

static const struct {
    const char *text;
    polytile_role roles[3]; /* of as many arrays as there are */
} uses[] = {
    {"k[i]: in x[i], y[i]; out z[i]", {POLYTILE_IN, POLYTILE_IN, POLYTILE_OUT}},
    {"k[i]: in x[i], x[i+1]; inout y[i]; sum s[0]", {POLYTILE_IN, POLYTILE_INOUT, POLYTILE_SUM}},
    {"k[i]: in x[2*i]; out x[2*i+1], y[i], y[i+9]; out max m[0]",
     {POLYTILE_INOUT, POLYTILE_OUT, POLYTILE_MAX}},
    {"k[i]: scratch f32 w[i, 0:3]; out z[i]; prod p[0]; min q[0]",
     {POLYTILE_OUT, POLYTILE_PROD, POLYTILE_MIN}},
};

TEST_TABLE(ApiDeclaration, TellsWhatAKernelDoesWithAnArray, uses) {
    polytile_kernel *kernel = NULL;
    CHECK_OK(polytile_kernel_create(ctx, row->text, NULL, &kernel));
    for (int a = 0; a < polytile_kernel_get_n_arrays(kernel); a++)
        CHECK_EQUAL(polytile_kernel_get_array_role(kernel, a), row->roles[a]);
}
