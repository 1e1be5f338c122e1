#include "partition/show/words.h"

#include "access/declare/type.h"
#include <polytile/size.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void pti_words_extents(pti_text *text, int n_dims, const int64_t *extents) {
    for (int d = 0; d < n_dims; d++)
        pti_text_add(text, "%s%" PRId64, d == 0 ? "" : "x", extents[d]);
}

char *pti_count_format(int64_t count, char *buffer) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRId64, count);
    int sign = count < 0;
    char *end = buffer;
    for (int k = 0; k < length; k++) {
        if (k > sign && (length - k) % 3 == 0)
            *end++ = ',';
        *end++ = digits[k];
    }
    *end = '\0';
    return buffer;
}

void pti_words_count(pti_text *text, int64_t count, const char *noun) {
    char buffer[32];
    pti_text_add(text, "%s %s%s", pti_count_format(count, buffer), noun, count == 1 ? "" : "s");
}

void pti_words_blocks(pti_text *text, int n_dims, const int64_t *extents) {
    bool is_one = true;
    for (int d = 0; d < n_dims; d++)
        is_one &= extents[d] == 1;
    pti_words_extents(text, n_dims, extents);
    pti_text_add(text, is_one ? " block" : " blocks");
}

void pti_words_ratio(pti_text *text, const polytile_plan_summary *summary) {
    double moved = (double)summary->h2d_bytes + (double)summary->d2h_bytes;
    pti_text_add(text, "%.3f", moved / (double)summary->lower_bound_bytes);
}

void pti_words_bound(pti_text *text, const polytile_plan_summary *summary) {
    char bytes[32];
    pti_text_add(text, "%.3f times %s, %s",
                 (double)summary->h2d_bytes / (double)summary->bound_bytes,
                 polytile_size_format(summary->bound_bytes, bytes), summary->bound);
}

void pti_words_seconds(pti_text *text, double seconds) {
    if (seconds >= 1)
        pti_text_add(text, "%.3g s", seconds);
    else if (seconds >= 1e-3)
        pti_text_add(text, "%.3g ms", seconds * 1e3);
    else
        pti_text_add(text, "%.3g us", seconds * 1e6);
}

void pti_words_type(pti_text *text, polytile_type type) {
    char word[PTI_TYPE_TEXT_BYTES];
    pti_text_add(text, "%s", pti_type_format(type, word));
}

static const char *role_word(polytile_role role) {
    static const char *const words[] = {
#define ROLE_WORD(name, word) word,
        POLYTILE_ROLES(ROLE_WORD)
#undef ROLE_WORD
    };
    return words[role];
}

/** Roles that were said, as bits: 2 * role, and 1 more where it starts from the identity. */
typedef unsigned said_roles;

static void add_roles(pti_text *text, const pti_instance *instance, int operand, said_roles *said) {
    const pti_operand *of = &instance->operand[operand];
    const pti_section *first = instance->section + of->first_section;
    for (const pti_section *s = first; s < first + of->n_sections; s++) {
        said_roles role = 1u << (2 * (unsigned)s->role + (s->fresh ? 1 : 0));
        if ((*said & role) == 0)
            pti_text_add(text, "%s%s%s", *said == 0 ? "" : ", ", s->fresh ? "out " : "",
                         role_word(s->role));
        *said |= role;
    }
}

void pti_words_roles(pti_text *text, const pti_instance *instance, int operand) {
    said_roles said = 0;
    add_roles(text, instance, operand, &said);
}

static void add_roles_of_kind(pti_text *text, const pti_launch_kind *kind, int array,
                              said_roles *said) {
    for (int o = 0; o < kind->instance->n_operands; o++)
        if (kind->array[o] == array)
            add_roles(text, kind->instance, o, said);
}

void pti_words_array_roles(pti_text *text, const polytile_plan *plan, int array) {
    said_roles said = 0;
    if (plan->chain == NULL) {
        pti_words_roles(text, plan->instance, array);
        return;
    }
    const pti_launches *launches = &plan->chain->launches;
    for (int k = 0; k < launches->n_kinds; k++)
        add_roles_of_kind(text, &launches->of_kind[k], array, &said);
    if (launches->is_scratch[array])
        pti_text_add(text, ", scratch");
}

static bool is_named_before(const pti_launches *launches, int kind) {
    int k = 0;
    while (k < kind && strcmp(launches->of_kind[k].instance->kernel_name,
                              launches->of_kind[kind].instance->kernel_name) != 0)
        k++;
    return k < kind;
}

void pti_words_kernels(pti_text *text, const pti_launches *launches) {
    for (int k = 0; k < launches->n_kinds; k++)
        if (!is_named_before(launches, k))
            pti_text_add(text, "%s%s", k == 0 ? "" : ", ",
                         launches->of_kind[k].instance->kernel_name);
}

const char *pti_words_slab_index(const pti_portion *turns) {
    const pti_cut_launch *largest = &turns->chain.launch[0].cut;
    for (int l = 1; l < turns->chain.n_launches; l++) {
        const pti_cut_launch *cut = &turns->chain.launch[l].cut;
        if (pti_box_count(&cut->instance->threads) > pti_box_count(&largest->instance->threads))
            largest = cut;
    }
    return largest->instance->index_name[largest->index];
}

void pti_words_operand(pti_text *text, const pti_instance *instance, int operand) {
    pti_text_add(text, "%s ", instance->operand[operand].name);
    pti_words_type(text, instance->operand[operand].type);
    pti_text_add(text, ", ");
    pti_words_roles(text, instance, operand);
}

int64_t pti_superblock_device_bytes(const pti_schedule *schedule, int64_t superblock) {
    int64_t bytes = 0;
    for (int k = 0; k < schedule->instance->n_operands && !schedule->in_place; k++) {
        const pti_placement *placement = pti_schedule_placement(schedule, superblock, k);
        bytes += placement == NULL ? 0 : placement->layout.size_bytes;
    }
    return bytes;
}
