#include <polytile/isl.h>

#include "access/declare/kernel.h"
#include "access/isl/relations.h"
#include "base/list.h"
#include "base/plural.h"

#include <isl/mat.h>
#include <isl/space.h>
#include <isl/val.h>
#include <stdlib.h>
#include <string.h>

/* isl maps as relations of a declaration, row by row, and back. */

/** Relations from the basic maps that isl hands over. */
typedef struct map_reader {
    const polytile_declaration *declaration;
    int n_dims;
    int n_parameters;
    int parameter[POLYTILE_MAX_PARAMETERS]; /* the declaration's, by the map's */
    pti_relation **relation;                /* owned */
    int n_relations;
    polytile_status status;
} map_reader;

static isl_stat stop_reading(map_reader *reader, polytile_status status) {
    reader->status = status;
    return isl_stat_error;
}

/** Read one entry of a row, and go to the next column. */
static polytile_status read_matrix_entry(__isl_keep isl_mat *rows, int row, int *column,
                                         int64_t *value) {
    isl_val *held = isl_mat_get_element_val(rows, row, (*column)++);
    isl_val *least = held ? isl_val_int_from_si(isl_val_get_ctx(held), INT64_MIN) : NULL;
    isl_val *most = held ? isl_val_int_from_si(isl_val_get_ctx(held), INT64_MAX) : NULL;
    isl_bool is_below = isl_val_lt(held, least), is_above = isl_val_gt(held, most);
    polytile_status status = POLYTILE_OK;
    if (is_below == isl_bool_error || is_above == isl_bool_error)
        status = POLYTILE_NO_MEMORY;
    else if (is_below == isl_bool_true || is_above == isl_bool_true)
        status = POLYTILE_OVERFLOW;
    else
        *value = isl_val_get_num_si(held);
    isl_val_free(held);
    isl_val_free(least);
    isl_val_free(most);
    return status;
}

/** Read n entries of a row from a column on, which becomes the one after them. */
static polytile_status read_entries(__isl_keep isl_mat *rows, int row, int *column, int64_t *values,
                                    int n) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; status == POLYTILE_OK && k < n; k++)
        status = read_matrix_entry(rows, row, column, &values[k]);
    return status;
}

/** Read a row of columns: constant, the map's parameters, indices, elements, divisions. */
static polytile_status take_row(const map_reader *reader, __isl_keep isl_mat *rows, int row,
                                int n_exists, pti_constraint *constraint) {
    polytile_status status = POLYTILE_OK;
    int column = 0;
    PTI_TRY(read_matrix_entry(rows, row, &column, &constraint->constant));
    for (int p = 0; p < reader->n_parameters; p++)
        PTI_TRY(
            read_matrix_entry(rows, row, &column, &constraint->parameter[reader->parameter[p]]));
    PTI_TRY(read_entries(rows, row, &column, constraint->index, reader->declaration->n_indices));
    PTI_TRY(read_entries(rows, row, &column, constraint->element, reader->n_dims));
    PTI_TRY(read_entries(rows, row, &column, constraint->exists, n_exists));
done:
    return status;
}

/** Add the rows of a matrix, which it frees, to the relation being read. */
static isl_stat read_matrix_rows(map_reader *reader, __isl_take isl_mat *rows,
                                 bool are_equalities) {
    pti_relation *relation = reader->relation[reader->n_relations - 1];
    isl_stat done = rows == NULL ? stop_reading(reader, POLYTILE_NO_MEMORY) : isl_stat_ok;
    int n_rows = rows == NULL ? 0 : (int)isl_mat_rows(rows);
    for (int row = 0; done == isl_stat_ok && row < n_rows; row++) {
        pti_constraint constraint = {.is_equality = are_equalities};
        polytile_status status = take_row(reader, rows, row, relation->n_exists, &constraint);
        if (status != POLYTILE_OK)
            done = stop_reading(reader, status);
        else if (!pti_relation_add(relation, &constraint))
            done = stop_reading(reader, POLYTILE_NO_MEMORY);
    }
    isl_mat_free(rows);
    return done;
}

static bool append_empty_relation(map_reader *reader) {
    pti_relation *relation = pti_relation_new();
    if (relation == NULL || !PTI_RESIZE(reader->relation, reader->n_relations + 1)) {
        pti_relation_free(relation);
        return false;
    }
    reader->relation[reader->n_relations++] = relation;
    return true;
}

/** Append the relation that a basic map is. */
static isl_stat read_basic_map(__isl_take isl_basic_map *piece, void *user) {
    map_reader *reader = user;
    isl_stat done = isl_stat_ok;
    int n_exists = (int)isl_basic_map_dim(piece, isl_dim_div);
    if (n_exists > POLYTILE_MAX_DIMS)
        done = stop_reading(reader, POLYTILE_UNSUPPORTED);
    else if (!append_empty_relation(reader))
        done = stop_reading(reader, POLYTILE_NO_MEMORY);
    if (done == isl_stat_ok) {
        reader->relation[reader->n_relations - 1]->n_exists = n_exists;
        done =
            read_matrix_rows(reader,
                             isl_basic_map_equalities_matrix(piece, isl_dim_cst, isl_dim_param,
                                                             isl_dim_in, isl_dim_out, isl_dim_div),
                             true);
    }
    if (done == isl_stat_ok)
        done = read_matrix_rows(reader,
                                isl_basic_map_inequalities_matrix(piece, isl_dim_cst, isl_dim_param,
                                                                  isl_dim_in, isl_dim_out,
                                                                  isl_dim_div),
                                false);
    isl_basic_map_free(piece);
    return done;
}

/** Match each parameter of the map with one of the declaration's. */
static polytile_status match_parameters(map_reader *reader, __isl_keep isl_map *map,
                                        pti_text *why) {
    const polytile_declaration *declaration = reader->declaration;
    int n_parameters = (int)isl_map_dim(map, isl_dim_param);
    for (int p = 0; p < n_parameters; p++) {
        const char *name = isl_map_get_dim_name(map, isl_dim_param, (unsigned)p);
        int position = name == NULL ? -1
                                    : pti_find_name(name, declaration->n_parameters,
                                                    declaration->parameter_name);
        if (position < 0) {
            pti_text_add(why, "the map has a parameter %s that the declaration does not have",
                         name == NULL ? "without a name" : name);
            return POLYTILE_DECLARATION;
        }
        reader->parameter[reader->n_parameters++] = position;
    }
    return POLYTILE_OK;
}

static polytile_status check_shape(map_reader *reader, __isl_keep isl_map *map, pti_text *why) {
    int n_indices = (int)isl_map_dim(map, isl_dim_in);
    reader->n_dims = (int)isl_map_dim(map, isl_dim_out);
    if (n_indices != reader->declaration->n_indices) {
        pti_text_add(why, "the map has %d input %s, the kernel has %d %s", n_indices,
                     pti_plural(n_indices, "dimension", "dimensions"),
                     reader->declaration->n_indices,
                     pti_plural(reader->declaration->n_indices, "index", "indices"));
        return POLYTILE_DECLARATION;
    }
    if (reader->n_dims < 1 || reader->n_dims > POLYTILE_MAX_DIMS) {
        pti_text_add(why, "the map has %d output dimensions; there may be 1 to %d", reader->n_dims,
                     POLYTILE_MAX_DIMS);
        return POLYTILE_DECLARATION;
    }
    return POLYTILE_OK;
}

static void write_map_error(const map_reader *reader, pti_text *why) {
    if (reader->status == POLYTILE_OVERFLOW)
        pti_text_add(why, "a coefficient of the map exceeds 64 bits");
    else if (reader->status == POLYTILE_UNSUPPORTED)
        pti_text_add(why,
                     "a piece of the map has more than %d existentially quantified variables; "
                     "split it or project them out",
                     POLYTILE_MAX_DIMS);
    else
        pti_text_add(why, "out of host memory");
}

static polytile_status read_map(map_reader *reader, __isl_keep isl_map *map, pti_text *why) {
    polytile_status status = check_shape(reader, map, why);
    if (status == POLYTILE_OK)
        status = match_parameters(reader, map, why);
    if (status != POLYTILE_OK)
        return status;
    if (isl_map_foreach_basic_map(map, read_basic_map, reader) != isl_stat_ok) {
        if (reader->status == POLYTILE_OK)
            reader->status = POLYTILE_NO_MEMORY;
        write_map_error(reader, why);
        return reader->status;
    }
    if (reader->n_relations == 0) {
        pti_text_add(why, "the map is empty: no thread touches anything");
        return POLYTILE_DECLARATION;
    }
    return POLYTILE_OK;
}

/** Remove the accesses, and the array, that were added since a declaration was as before. */
static void remove_added_accesses(polytile_declaration *declaration,
                                  const polytile_declaration *before) {
    while (declaration->n_accesses > before->n_accesses)
        pti_relation_free(declaration->access[--declaration->n_accesses].relation);
    while (declaration->n_arrays > before->n_arrays)
        free(declaration->array_name[--declaration->n_arrays]);
    declaration->n_constraints = before->n_constraints;
    memcpy(declaration->is_in_subscripts, before->is_in_subscripts,
           sizeof declaration->is_in_subscripts);
}

/** Add each relation as an access, which then owns it. */
static polytile_status add_relations(polytile_declaration *declaration, map_reader *reader,
                                     const char *array, pti_access access, pti_text *why) {
    const polytile_declaration before = *declaration;
    access.n_dims = reader->n_dims;
    for (int d = 0; d < access.n_dims; d++)
        access.subscript[d] = (polytile_subscript){.step = 1, .from_first = true, .to_last = true};
    for (int r = 0; r < reader->n_relations; r++) {
        access.relation = reader->relation[r];
        polytile_status status = pti_declaration_add_access(declaration, array, &access, why);
        if (status != POLYTILE_OK) {
            remove_added_accesses(declaration, &before);
            return status;
        }
        reader->relation[r] = NULL;
    }
    return POLYTILE_OK;
}

polytile_status polytile_declaration_add_isl_map(polytile_declaration *declaration,
                                                 polytile_role role, bool fresh, const char *array,
                                                 __isl_keep isl_map *map) {
    PTI_ENTER(declaration, declaration->object.context, "declaration");
    polytile_context *ctx = declaration->object.context;
    if (array == NULL || map == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the %s of an access is NULL", declaration->name,
                        array == NULL ? "array's name" : "map");
    map_reader reader = {.declaration = declaration};
    pti_access access = {.role = role, .fresh = fresh};
    pti_text why = {0};
    polytile_status status = read_map(&reader, map, &why);
    if (status == POLYTILE_OK)
        status = add_relations(declaration, &reader, array, access, &why);
    if (status != POLYTILE_OK)
        pti_fail(ctx, status, "%s: %s: %s", declaration->name, array,
                 why.data ? why.data : "out of host memory");
    for (int r = 0; r < reader.n_relations; r++)
        pti_relation_free(reader.relation[r]);
    free(reader.relation);
    pti_text_free(&why);
    return status;
}

int polytile_kernel_get_n_accesses(const polytile_kernel *kernel) {
    return kernel == NULL ? 0 : kernel->declaration->n_accesses;
}

int polytile_kernel_get_access_array(const polytile_kernel *kernel, int access) {
    bool is_there = access >= 0 && access < polytile_kernel_get_n_accesses(kernel);
    return is_there ? kernel->declaration->access[access].array : -1;
}

static __isl_give isl_map *name_parameters(__isl_take isl_map *map,
                                           const polytile_declaration *declaration) {
    for (int p = 0; p < declaration->n_parameters; p++)
        map = isl_map_set_dim_name(map, isl_dim_param, (unsigned)p, declaration->parameter_name[p]);
    return map;
}

polytile_status polytile_kernel_copy_isl_map(const polytile_kernel *kernel, int access,
                                             isl_ctx *isl, isl_map **map) {
    if (map != NULL)
        *map = NULL;
    PTI_ENTER(kernel, kernel->object.context, "kernel");
    polytile_context *ctx = kernel->object.context;
    const polytile_declaration *declaration = kernel->declaration;
    if (isl == NULL || map == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the %s is NULL", declaration->name,
                        isl == NULL ? "isl context" : "place for the result");
    if (access < 0 || access >= declaration->n_accesses)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: there is no access %d; it has 0 to %d",
                        declaration->name, access, declaration->n_accesses - 1);
    *map = name_parameters(pti_declared_relation(isl, declaration, &declaration->access[access]),
                           declaration);
    return *map == NULL ? pti_fail_memory(ctx, declaration->name, PTI_UNKNOWN_BYTES) : POLYTILE_OK;
}
