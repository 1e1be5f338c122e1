#include "access/declare/lookups.h"

#include "base/list.h"

#include <stdlib.h>
#include <string.h>

void pti_lookups_free(pti_lookups *lookups) {
    for (int k = 0; k < lookups->n_lookups; k++) {
        free(lookups->lookup[k].name);
        pti_access_free(&lookups->lookup[k].access);
    }
    free(lookups->lookup);
    *lookups = (pti_lookups){0};
}

polytile_status pti_lookups_add(pti_lookups *lookups, const char *name, size_t offset,
                                int *position, pti_text *why) {
    if (lookups->n_lookups == PTI_MAX_LOOKUPS) {
        pti_text_add(why, "more than the %d elements of index arrays there may be in one section",
                     PTI_MAX_LOOKUPS);
        return POLYTILE_DECLARATION;
    }
    if (!PTI_RESIZE(lookups->lookup, lookups->n_lookups + 1))
        return pti_out_of_memory(why);
    pti_lookup *added = &lookups->lookup[lookups->n_lookups];
    *added = (pti_lookup){.name = strdup(name), .offset = offset, .access = {.exact = true}};
    if (added->name == NULL)
        return pti_out_of_memory(why);
    *position = lookups->n_lookups++;
    return POLYTILE_OK;
}

/** Return whether a thread has one element of a lookup. */
static bool is_one_element(const pti_lookup *lookup) {
    const pti_access *access = &lookup->access;
    bool is = true;
    for (int d = 0; d < access->n_dims; d++)
        is = is && (access->indirect != NULL && access->indirect->is_indirect[d]
                        ? pti_indirect_is_gather(access->indirect, d)
                        : pti_subscript_is_one_element(&access->subscript[d]));
    return is;
}

/** Return whether all that a lookup looks up in turn is one element a thread. */
static bool is_one_throughout(const pti_lookups *lookups, int at) {
    const pti_access *access = &lookups->lookup[at].access;
    bool is = is_one_element(&lookups->lookup[at]);
    for (int d = 0; access->indirect != NULL && is && d < access->n_dims; d++)
        is = !access->indirect->is_indirect[d] || access->indirect->lo[d].access < 0 ||
             is_one_throughout(lookups, access->indirect->lo[d].access);
    return is;
}

static bool may_be_indirect(const pti_lookups *lookups, const polytile_subscript *subscript,
                            const pti_indirect_end *lo, const pti_indirect_end *hi, pti_text *why) {
    const pti_indirect_end *const ends[] = {lo, hi};
    if (subscript->edge != POLYTILE_EDGE_CLIP || subscript->step != 1 || subscript->from_first ||
        subscript->to_last) {
        pti_text_add(why, "a subscript with an element of an index array has both ends, no step "
                          "and no edge such as wrap(...)");
        return false;
    }
    for (int e = 0; e < 2; e++)
        if (!pti_indirect_ends_are_equal(lo, hi) && ends[e]->access >= 0 &&
            !is_one_throughout(lookups, ends[e]->access)) {
            pti_text_add(why, "an end of a range holds one element of %s, not several",
                         lookups->lookup[ends[e]->access].name);
            return false;
        }
    return true;
}

polytile_status pti_lookups_set(const pti_lookups *lookups, pti_access *access, int dim,
                                const pti_indirect_end *lo, const pti_indirect_end *hi,
                                pti_text *why) {
    if (!may_be_indirect(lookups, &access->subscript[dim], lo, hi, why))
        return POLYTILE_DECLARATION;
    if (access->indirect == NULL) {
        access->indirect = calloc(1, sizeof *access->indirect);
        if (access->indirect == NULL)
            return pti_out_of_memory(why);
    }
    access->indirect->is_indirect[dim] = true;
    access->indirect->lo[dim] = *lo;
    access->indirect->hi[dim] = *hi;
    access->subscript[dim] = (polytile_subscript){.step = 1, .from_first = true, .to_last = true};
    access->exact = false;
    return POLYTILE_OK;
}

static bool subscripts_are_equal(const pti_access *a, const pti_access *b) {
    bool are = a->n_dims == b->n_dims;
    for (int d = 0; are && d < a->n_dims; d++) {
        const polytile_subscript *one = &a->subscript[d], *other = &b->subscript[d];
        are = one->step == other->step && one->edge == other->edge &&
              one->from_first == other->from_first && one->to_last == other->to_last &&
              one->lo.constant == other->lo.constant && one->hi.constant == other->hi.constant &&
              pti_terms_are_equal(&one->lo, &other->lo) &&
              pti_terms_are_equal(&one->hi, &other->hi);
    }
    return are;
}

static bool indirects_are_equal(const pti_indirect *a, const pti_indirect *b) {
    bool are = (a == NULL) == (b == NULL);
    for (int d = 0; are && a != NULL && d < POLYTILE_MAX_DIMS; d++)
        are = a->is_indirect[d] == b->is_indirect[d] &&
              (!a->is_indirect[d] || (pti_indirect_ends_are_equal(&a->lo[d], &b->lo[d]) &&
                                      pti_indirect_ends_are_equal(&a->hi[d], &b->hi[d])));
    return are;
}

static void place_end(pti_indirect_end *end, const int *position) {
    end->access = end->access < 0 ? -1 : position[end->access];
}

/** Return whether what an access looks up is what a lookup does, whose inner lookups are such
 * accesses; -1: none of them. */
static bool looks_up_same(const pti_indirect *indirect, const pti_indirect *wanted,
                          const int *same) {
    if (wanted == NULL)
        return indirect == NULL;
    pti_indirect placed = *wanted;
    bool are_known = true;
    for (int d = 0; d < POLYTILE_MAX_DIMS; d++) {
        if (!placed.is_indirect[d])
            continue;
        pti_indirect_end *const ends[] = {&placed.lo[d], &placed.hi[d]};
        for (int e = 0; e < 2; e++) {
            are_known = are_known && (ends[e]->access < 0 || same[ends[e]->access] >= 0);
            place_end(ends[e], same);
        }
    }
    return are_known && indirects_are_equal(indirect, &placed);
}

/** The one of the first accesses of a declaration that a lookup is; -1: none yet. */
static int find_same(const polytile_declaration *declaration, int n_accesses,
                     const pti_lookup *lookup, const int *same) {
    const int array = pti_find_name(lookup->name, declaration->n_arrays, declaration->array_name);
    for (int a = 0; a < n_accesses; a++) {
        const pti_access *access = &declaration->access[a];
        if (access->array == array && access->role == POLYTILE_IN && access->relation == NULL &&
            subscripts_are_equal(access, &lookup->access) &&
            looks_up_same(access->indirect, lookup->access.indirect, same))
            return a;
    }
    return -1;
}

/** Find for all lookups the read that has the same, inner ones first, which follow those around
 * them. */
static void find_all_same(const polytile_declaration *declaration, int n_accesses,
                          const pti_lookups *lookups, int *same) {
    for (int k = lookups->n_lookups - 1; k >= 0; k--)
        same[k] = find_same(declaration, n_accesses, &lookups->lookup[k], same);
}

static bool are_same_lookups(const pti_lookups *lookups, int one, int other);

/** Return whether two ends look up the same elements and add the same to what these hold. */
static bool ends_look_up_same(const pti_lookups *lookups, const pti_indirect_end *a,
                              const pti_indirect_end *b) {
    pti_indirect_end placed = *a;
    placed.access = b->access;
    return (a->access < 0) == (b->access < 0) && pti_indirect_ends_are_equal(&placed, b) &&
           (a->access < 0 || are_same_lookups(lookups, a->access, b->access));
}

/** Return whether two lookups of a section are of the same elements. */
static bool are_same_lookups(const pti_lookups *lookups, int one, int other) {
    const pti_lookup *a = &lookups->lookup[one], *b = &lookups->lookup[other];
    const pti_indirect *indirect = a->access.indirect, *with = b->access.indirect;
    bool are = strcmp(a->name, b->name) == 0 && subscripts_are_equal(&a->access, &b->access) &&
               (indirect == NULL) == (with == NULL);
    for (int d = 0; are && indirect != NULL && d < a->access.n_dims; d++)
        are = indirect->is_indirect[d] == with->is_indirect[d] &&
              (!indirect->is_indirect[d] ||
               (ends_look_up_same(lookups, &indirect->lo[d], &with->lo[d]) &&
                ends_look_up_same(lookups, &indirect->hi[d], &with->hi[d])));
    return are;
}

/** The first lookup of a section that is the same as one of it. */
static int find_first_same(const pti_lookups *lookups, int lookup) {
    int first = 0;
    while (first < lookup && !are_same_lookups(lookups, first, lookup))
        first++;
    return first;
}

static bool is_plain(const pti_lookup *lookup, pti_text *why) {
    bool is = true;
    for (int d = 0; d < lookup->access.n_dims; d++)
        is = is && lookup->access.subscript[d].edge == POLYTILE_EDGE_CLIP;
    if (!is)
        pti_text_add(why, "%s is an index array here, whose subscripts have no wrap or clamp",
                     lookup->name);
    return is;
}

static bool writes_array(const polytile_declaration *declaration, const pti_lookup *lookup,
                         pti_text *why) {
    const int array = pti_find_name(lookup->name, declaration->n_arrays, declaration->array_name);
    for (int a = 0; a < declaration->n_accesses; a++)
        if (declaration->access[a].array == array && declaration->access[a].role != POLYTILE_IN) {
            pti_text_add(why,
                         "%s stands inside a subscript, so its elements are known before the "
                         "launch; it can only be read, not '%s'",
                         lookup->name, pti_role_word(declaration->access[a].role));
            return true;
        }
    return false;
}

/** Add a lookup, unless the declaration has it, at *position; that is its access. */
static polytile_status add_lookup(polytile_declaration *declaration, pti_lookup *lookup,
                                  int *position, pti_text *why) {
    if (!is_plain(lookup, why) || writes_array(declaration, lookup, why))
        return POLYTILE_DECLARATION;
    if (*position >= 0)
        return POLYTILE_OK;
    *position = declaration->n_accesses;
    const polytile_status status =
        pti_declaration_add_access(declaration, lookup->name, &lookup->access, why);
    if (status == POLYTILE_OK)
        lookup->access.indirect = NULL;
    return status;
}

/** Let the ends of accesses name accesses, from the first one on. */
static void place_ends(polytile_declaration *declaration, int first, const int *position) {
    for (int a = first; a < declaration->n_accesses; a++)
        for (int d = 0; declaration->access[a].indirect != NULL && d < POLYTILE_MAX_DIMS; d++)
            if (declaration->access[a].indirect->is_indirect[d]) {
                place_end(&declaration->access[a].indirect->lo[d], position);
                place_end(&declaration->access[a].indirect->hi[d], position);
            }
}

/** Take out of a declaration all accesses and arrays but the first ones. What the first of those
 * accesses owns stays with its caller. */
static void truncate_accesses(polytile_declaration *declaration, int n_accesses, int n_arrays) {
    for (int a = n_accesses; a < declaration->n_accesses; a++)
        if (a > n_accesses)
            pti_access_free(&declaration->access[a]);
    for (int k = n_arrays; k < declaration->n_arrays; k++)
        free(declaration->array_name[k]);
    declaration->n_accesses = n_accesses;
    declaration->n_arrays = n_arrays;
}

/** Return whether the subscripts of some access hold what another one reads. */
static bool is_looked_up(const polytile_declaration *declaration, int looked_up) {
    bool is = false;
    for (int a = 0; a < declaration->n_accesses; a++) {
        const pti_indirect *indirect = declaration->access[a].indirect;
        for (int d = 0; indirect != NULL && d < POLYTILE_MAX_DIMS; d++)
            is = is || (indirect->is_indirect[d] && (indirect->lo[d].access == looked_up ||
                                                     indirect->hi[d].access == looked_up));
    }
    return is;
}

/** Drop the last access if it says again what is looked up: so what is written of a declaration is
 * that declaration when it is read. */
static void drop_again(polytile_declaration *declaration) {
    pti_access *last = &declaration->access[declaration->n_accesses - 1];
    bool is_again = false;
    for (int a = 0; a < declaration->n_accesses - 1 && !is_again; a++) {
        const pti_access *access = &declaration->access[a];
        is_again = access->array == last->array && access->role == POLYTILE_IN &&
                   last->role == POLYTILE_IN && access->relation == NULL &&
                   subscripts_are_equal(access, last) &&
                   indirects_are_equal(access->indirect, last->indirect) &&
                   is_looked_up(declaration, a);
    }
    if (!is_again)
        return;
    pti_access_free(last);
    declaration->n_accesses--;
}

polytile_status pti_lookups_add_access(polytile_declaration *declaration, const char *array,
                                       const pti_access *access, pti_lookups *lookups,
                                       size_t *offset, pti_text *why) {
    int position[PTI_MAX_LOOKUPS], first_same[PTI_MAX_LOOKUPS];
    const int first = declaration->n_accesses, n_arrays = declaration->n_arrays;
    polytile_status status = pti_declaration_add_access(declaration, array, access, why);
    if (status != POLYTILE_OK)
        return status;
    find_all_same(declaration, first, lookups, position);
    for (int k = 0; k < lookups->n_lookups; k++)
        first_same[k] = find_first_same(lookups, k);
    for (int k = 0; k < lookups->n_lookups && status == POLYTILE_OK; k++) {
        if (first_same[k] < k)
            position[k] = position[first_same[k]];
        status = add_lookup(declaration, &lookups->lookup[k], &position[k], why);
        if (status != POLYTILE_OK)
            *offset = lookups->lookup[k].offset;
    }
    if (status != POLYTILE_OK) {
        truncate_accesses(declaration, first, n_arrays);
        return status;
    }
    place_ends(declaration, first, position);
    if (declaration->n_accesses == first + 1)
        drop_again(declaration);
    return POLYTILE_OK;
}
