#include "partition/show/words.h"

#include "access/array/type.h"
#include "access/declare/declaration.h"
#include "access/footprint/footprint.h"
#include "access/pieces/shear.h"
#include "access/pieces/split.h"
#include "access/set/box_text.h"
#include "base/plural.h"
#include <polytile/size.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/** Words to be written, of which it is known that they are short enough, as a text: it never grows.
 */
static pti_text text_in(pti_words *words) {
    words->text[0] = '\0';
    return (pti_text){.data = words->text, .capacity = sizeof words->text};
}

pti_words pti_words_of(const char *format, ...) {
    pti_words words;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words.text, sizeof words.text, format, arguments);
    va_end(arguments);
    return words;
}

pti_words pti_words_size(int64_t n_bytes) {
    pti_words words;
    polytile_size_format(n_bytes, words.text);
    return words;
}

pti_words pti_words_number(int64_t number) {
    pti_words digits = pti_words_of("%" PRId64, number), words;
    int length = (int)strlen(digits.text), sign = number < 0;
    char *end = words.text;
    for (int k = 0; k < length; k++) {
        if (k > sign && (length - k) % 3 == 0)
            *end++ = ',';
        *end++ = digits.text[k];
    }
    *end = '\0';
    return words;
}

pti_words pti_words_count(int64_t count, const char *noun) {
    return pti_words_of("%s %s%s", pti_words_number(count).text, noun, pti_plural(count, "", "s"));
}

pti_words pti_words_extents(int n_dims, const int64_t *extents) {
    pti_words words;
    pti_text text = text_in(&words);
    for (int d = 0; d < n_dims; d++)
        pti_text_add(&text, "%s%" PRId64, d == 0 ? "" : "x", extents[d]);
    return words;
}

pti_words pti_words_blocks(int n_dims, const int64_t *extents) {
    bool is_one = true;
    for (int d = 0; d < n_dims; d++)
        is_one &= extents[d] == 1;
    return pti_words_of("%s block%s", pti_words_extents(n_dims, extents).text, is_one ? "" : "s");
}

pti_words pti_words_box(const polytile_domain *box) {
    pti_words words;
    pti_text text = text_in(&words);
    pti_box_write(&text, box);
    return words;
}

pti_words pti_words_seconds(double seconds) {
    if (seconds >= 1)
        return pti_words_of("%.3g s", seconds);
    if (seconds >= 1e-3)
        return pti_words_of("%.3g ms", seconds * 1e3);
    return pti_words_of("%.3g us", seconds * 1e6);
}

pti_words pti_words_type(polytile_type type) {
    pti_words words;
    pti_type_format(type, words.text);
    return words;
}

pti_words pti_words_ratio(const polytile_plan_summary *summary) {
    double moved = (double)summary->h2d_bytes + (double)summary->d2h_bytes;
    return pti_words_of("%.3f", moved / (double)summary->lower_bound_bytes);
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
                         pti_role_word(s->role));
        *said |= role;
    }
}

static pti_words words_of_roles(const pti_instance *instance, int operand) {
    pti_words words;
    pti_text text = text_in(&words);
    said_roles said = 0;
    add_roles(&text, instance, operand, &said);
    return words;
}

/** ", piece 2" of an operand whose array has several, else nothing. */
static pti_words words_of_piece(const pti_instance *instance, int operand) {
    const int array = pti_operand_array(instance, operand);
    int number = 1;
    if (pti_instance_count_pieces(instance, array) == 1)
        return pti_words_of("%s", "");
    for (int o = 0; o < operand; o++)
        number += pti_operand_array(instance, o) == array;
    return pti_words_of(", piece %d", number);
}

pti_words pti_words_operand(const pti_instance *instance, int operand) {
    const pti_operand *of = &instance->operand[operand];
    return pti_words_of("%s %s, %s%s", of->name, pti_words_type(of->type).text,
                        words_of_roles(instance, operand).text,
                        words_of_piece(instance, operand).text);
}

pti_words pti_words_array_roles(const polytile_plan *plan, int array) {
    pti_words words;
    pti_text text = text_in(&words);
    said_roles said = 0;
    if (plan->chain == NULL)
        return words_of_roles(plan->instance, array);
    const pti_launches *launches = &plan->chain->launches;
    for (const pti_launch_kind *kind = launches->of_kind;
         kind < launches->of_kind + launches->n_kinds; kind++)
        for (int o = 0; o < kind->instance->n_operands; o++)
            if (kind->array[o] == array)
                add_roles(&text, kind->instance, o, &said);
    if (launches->is_scratch[array])
        pti_text_add(&text, ", scratch");
    return words;
}

/** Return the lane of a superblock; -1: there is only one. */
static int find_lane(const pti_schedule *schedule, int64_t superblock) {
    for (int64_t k = 0; schedule->n_lanes > 1 && k < schedule->n_ops; k++)
        if (schedule->op[k].kind == PTI_LAUNCH && schedule->op[k].superblock == superblock)
            return schedule->op[k].lane;
    return -1;
}

pti_words pti_words_superblock(const pti_schedule *schedule, int64_t superblock) {
    const polytile_domain threads = pti_schedule_asked_superblock(schedule, superblock);
    const int lane = find_lane(schedule, superblock);
    return lane < 0 ? pti_words_of("superblock %" PRId64 ": threads %s", superblock,
                                   pti_words_box(&threads).text)
                    : pti_words_of("superblock %" PRId64 " in lane %d: threads %s", superblock,
                                   lane, pti_words_box(&threads).text);
}

/** Return whether a launch before has a kernel of the same name, so that it is not listed again. */
static bool has_name_of_earlier(const pti_launches *launches, int kind) {
    int k = 0;
    while (k < kind && strcmp(launches->of_kind[k].instance->kernel_name,
                              launches->of_kind[kind].instance->kernel_name) != 0)
        k++;
    return k < kind;
}

void pti_write_kernels(pti_text *text, const pti_launches *launches) {
    for (int k = 0; k < launches->n_kinds; k++)
        if (!has_name_of_earlier(launches, k))
            pti_text_add(text, "%s%s", k == 0 ? "" : ", ",
                         launches->of_kind[k].instance->kernel_name);
}

const char *pti_slab_index(const pti_fusion_group *interleaved) {
    const pti_cut_launch *largest = &interleaved->chain.launch[0];
    for (int l = 1; l < interleaved->chain.n_launches; l++) {
        const pti_cut_launch *cut = &interleaved->chain.launch[l];
        if (pti_box_count(&cut->call.instance->threads) >
            pti_box_count(&largest->call.instance->threads))
            largest = cut;
    }
    return largest->call.instance->index_name[largest->index];
}

int64_t pti_superblock_device_bytes(const pti_schedule *schedule, int64_t superblock) {
    int64_t bytes = 0;
    int launch = pti_schedule_launch_at(schedule, superblock);
    const int64_t *placed = pti_schedule_placements(schedule, launch, superblock);
    int n_operands = schedule->launch[launch].call.instance->n_operands;
    for (int o = 0; o < n_operands && !schedule->in_place; o++)
        if (placed[o] >= 0 && !pti_schedule_is_placed_before(placed, o))
            bytes += schedule->placement[placed[o]].layout.size_bytes;
    return bytes;
}

/** Return what one superblock holds of an array. */
static pti_pieces_held held_by(const pti_instance *instance, int array,
                               const polytile_domain *threads) {
    pti_pieces_held held = {0};
    polytile_domain hull = pti_box_empty(instance->operand[array].domain.n_dims);
    for (int o = 0; o < instance->n_operands; o++) {
        if (pti_operand_array(instance, o) != array)
            continue;
        const polytile_domain piece = pti_footprint_hull(instance, o, PTI_TOUCHES, threads);
        held.n_pieces++;
        held.held_bytes += pti_box_count(&piece) * instance->operand[o].element_bytes;
        const polytile_domain around = pti_operand_unsheared(&instance->operand[o], &piece);
        hull = pti_box_coarse_union(&hull, &around);
    }
    held.hull_bytes = pti_box_count(&hull) * instance->operand[array].element_bytes;
    return held;
}

/** Find what one of some superblocks holds of an array by one name, that of which the hull is
 * largest. */
static void find_widest(const pti_instance *instance, int name, int64_t n_superblocks,
                        const polytile_domain *superblock, pti_pieces_held *widest) {
    for (int64_t k = 0; k < n_superblocks; k++) {
        const pti_pieces_held held = held_by(instance, name, &superblock[k]);
        if (held.hull_bytes > widest->hull_bytes)
            *widest = held;
    }
}

/** Find the widest pieces of an array in launches that run one after the other; those that are
 * interleaved have arrays in one piece. */
static void find_widest_of_kinds(const pti_launches *launches, int array, pti_pieces_held *widest) {
    for (int k = 0; k < launches->n_kinds; k++) {
        const pti_launch_kind *kind = &launches->of_kind[k];
        const pti_instance *instance = kind->ways.call[kind->way].instance;
        for (int a = 0; a < pti_instance_n_arrays(instance); a++)
            if (kind->array[a] == array && pti_instance_count_pieces(instance, a) > 1)
                find_widest(instance, a, kind->partition.n_superblocks, kind->partition.superblock,
                            widest);
    }
}

pti_pieces_held pti_pieces_held_of(const polytile_plan *plan, int array) {
    pti_pieces_held widest = {.n_pieces = 1};
    if (plan->chain == NULL)
        find_widest(plan->instance, array, plan->schedule->n_superblocks,
                    plan->schedule->superblock, &widest);
    else
        find_widest_of_kinds(&plan->chain->launches, array, &widest);
    return widest;
}
