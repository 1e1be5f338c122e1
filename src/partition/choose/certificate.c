#include "partition/choose/certificate.h"

#include "access/footprint/affine.h"
#include "access/footprint/indirection.h"
#include "base/checked.h"
#include "base/text.h"
#include "partition/cut/fit.h"
#include <polytile/size.h>

#include <stdio.h>
#include <string.h>

enum { N_POSITIONS = 4, SIZE_BYTES = 32 };

/** One of the positions to look at along an index: the ends, the middle, and, as the last block may
 * be small, the one before it. */
static int64_t position_to_look_at(int number, int64_t n_blocks) {
    const int64_t positions[N_POSITIONS] = {0, (n_blocks - 1) / 2, pti_max(n_blocks - 2, 0),
                                            n_blocks - 1};
    return positions[number];
}

/** Return how many blocks are looked at: all, if what index arrays hold says which needs most and
 * they are not too many. */
static int64_t count_looked_at(const pti_problem *problem, bool *all) {
    enum { MOST_BLOCKS = 1 << 20 };
    const int64_t n_blocks = pti_grid_n_superblocks(&problem->grid, pti_one_block);
    int64_t n_corners = 1;
    for (int d = 0; d < problem->instance->n_indices; d++)
        n_corners *= N_POSITIONS;
    *all = problem->instance->inspection != NULL && n_blocks <= MOST_BLOCKS;
    return *all ? n_blocks : n_corners;
}

/** Return the block that needs most, among some along each index. */
static polytile_domain worst_block(const pti_problem *problem, int64_t *operand_bytes,
                                   int64_t *sum) {
    const pti_instance *instance = problem->instance;
    polytile_domain worst = {0};
    bool all;
    const int64_t n_looked_at = count_looked_at(problem, &all);
    *sum = -1;
    for (int64_t k = 0; k < n_looked_at; k++) {
        int64_t position[POLYTILE_MAX_DIMS], rest = k;
        int64_t bytes[PTI_MAX_OPERANDS];
        for (int d = 0; d < instance->n_indices; d++) {
            const int64_t n_blocks = problem->grid.n_blocks[d], n = all ? n_blocks : N_POSITIONS;
            position[d] = all ? rest % n : position_to_look_at((int)(rest % n), n_blocks);
            rest /= n;
        }
        polytile_domain threads = pti_grid_superblock(&problem->grid, pti_one_block, position);
        int64_t needed = pti_piece_bytes(instance, &threads, bytes);
        if (needed > *sum) {
            *sum = needed;
            worst = threads;
            memcpy(operand_bytes, bytes, sizeof bytes);
        }
    }
    return worst;
}

static void add_extents(pti_text *text, int n_dims, const int64_t *extents) {
    for (int d = 0; d < n_dims; d++)
        pti_text_add(text, "%s%lld", d == 0 ? "" : "x", (long long)extents[d]);
}

static bool block_fits(const pti_problem *problem, const int64_t *block, int n_buffers) {
    pti_problem smaller =
        pti_problem_of(problem->instance, problem->link, block, problem->limit_bytes);
    return pti_fit_block(&smaller, n_buffers);
}

/** Find a smaller block that fits; false when not even one thread does. */
static bool smaller_block(const pti_problem *problem, int64_t *block, int n_buffers) {
    int n_dims = problem->instance->n_indices;
    memcpy(block, problem->grid.block, (size_t)n_dims * sizeof *block);
    while (pti_grid_halve_block(n_dims, block)) {
        if (block_fits(problem, block, n_buffers))
            return true;
    }
    return false;
}

/** Return the operand with the largest share of a block. */
static int largest_operand(const pti_instance *instance, const int64_t *operand_bytes) {
    int largest = 0;
    for (int a = 1; a < instance->n_operands; a++)
        largest = operand_bytes[a] > operand_bytes[largest] ? a : largest;
    return largest;
}

/** Return whether every thread uses all of a dimension, which then no index names. */
static bool uses_whole_dimension(const pti_section *section, int d, polytile_range range) {
    const pti_subscript *subscript = &section->subscript[d];
    bool moves = pti_section_is_indirect(section, d);
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        moves |= pti_subscript_names(subscript, k);
    return !moves && range.lo < range.hi && subscript->lo.constant <= range.lo &&
           subscript->hi.constant >= range.hi;
}

/** Return a dimension of an operand that every thread uses whole, -1 if there is none; *all: they
 * use all of the operand. */
static int whole_dimension(const pti_instance *instance, int operand, bool *all) {
    const pti_operand *of = &instance->operand[operand];
    int found = -1;
    *all = false;
    for (int s = of->first_section; s < of->first_section + of->n_sections && !*all; s++) {
        const pti_section *section = &instance->section[s];
        int n_whole = 0;
        for (int d = section->n_dims - 1; d >= 0; d--) {
            bool is_one = of->domain.range[d].lo == of->domain.range[d].hi;
            if (uses_whole_dimension(section, d, of->domain.range[d]))
                found = d;
            n_whole += is_one || uses_whole_dimension(section, d, of->domain.range[d]);
        }
        *all = n_whole == section->n_dims;
    }
    return found;
}

/** Say what lets an operand be split that threads use whole. An array of which all may be touched
 * is often one in which threads look elements up, which no index follows. */
static void add_split_advice(pti_text *text, const pti_instance *instance, int operand) {
    bool all;
    int dimension = whole_dimension(instance, operand, &all);
    const char *name = instance->operand[operand].name;
    if (dimension >= 0 && all)
        pti_text_add(text,
                     "; every thread may touch all of %s, so all of it has to fit; where threads "
                     "go through it in order, let one more index name it (as k in gemm[i, j, k]), "
                     "and it can be split",
                     name);
    else if (dimension >= 0)
        pti_text_add(text,
                     "; dimension %d of %s is used whole by every thread: an index of its own in "
                     "the declaration (as k in gemm[i, j, k]) would let it be split",
                     dimension, name);
}

/** Return the unit that a size is written in. */
static int64_t unit_of(int64_t bytes) {
    const int64_t largest_unit = INT64_C(1) << 40;
    int64_t unit = 1;
    while (unit < largest_unit && bytes / unit >= 1024)
        unit *= 1024;
    return unit;
}

/** Return whether two sizes differ by less than the two digits after the point show. */
static bool read_alike(int64_t one, int64_t other) {
    int64_t distance = one < other ? other - one : one - other;
    return distance > 0 && distance <= unit_of(pti_max(one, other)) / 100;
}

/** Return a count of bytes in words; one that is too large to be counted says so. */
static const char *size_words(int64_t bytes, bool in_bytes, char *buffer) {
    if (bytes == INT64_MAX)
        return "more bytes than 64 bits count";
    if (!in_bytes)
        return polytile_size_format(bytes, buffer);
    snprintf(buffer, SIZE_BYTES, "%lld B", (long long)bytes);
    return buffer;
}

int64_t pti_advisable(int64_t bytes) {
    int64_t quarter = pti_max(unit_of(bytes) / 4, 1);
    return bytes > INT64_MAX - quarter ? bytes : pti_ceil_div(bytes, quarter) * quarter;
}

int64_t pti_certificate_limit(const pti_problem *problem, int n_buffers) {
    int64_t bytes[PTI_MAX_OPERANDS] = {0};
    int64_t sum, enough;
    worst_block(problem, bytes, &sum);
    if (sum == INT64_MAX || pti_mul_overflows(sum, n_buffers, &enough) ||
        enough >= PTI_LARGEST_ADVICE)
        return 0;
    return pti_advisable(enough);
}

static void add_limit_advice(pti_text *text, int64_t advised_bytes) {
    char size[SIZE_BYTES];
    if (advised_bytes > 0)
        pti_text_add(text, "; a limit of about %s would do",
                     polytile_size_format(advised_bytes, size));
    else if (advised_bytes == 0)
        pti_text_add(text, "; no limit would do: let threads touch less, or cut the arrays");
}

static void add_advice_to_fit(pti_text *text, const pti_problem *problem, int n_buffers,
                              const int64_t *operand_bytes) {
    int64_t block[POLYTILE_MAX_DIMS];
    int largest = largest_operand(problem->instance, operand_bytes);
    int n_dims = problem->instance->n_indices;
    if (n_buffers > 1 && pti_fit_block(problem, 1))
        pti_text_add(text, "; one buffer would fit");
    if (problem->instance->is_team) {
        pti_text_add(text,
                     "; the slots of a team kernel run all at once: launch fewer, or let each "
                     "touch less");
        return;
    }
    if (smaller_block(problem, block, n_buffers)) {
        pti_text_add(text, "; a block of ");
        add_extents(text, n_dims, block);
        pti_text_add(text, " would fit");
    }
    add_split_advice(text, problem->instance, largest);
}

polytile_status pti_certificate(polytile_context *ctx, const pti_problem *problem, int n_buffers,
                                int64_t advised_bytes) {
    const pti_instance *instance = problem->instance;
    int64_t bytes[PTI_MAX_OPERANDS] = {0};
    int64_t sum;
    char size[SIZE_BYTES];
    pti_text text = {0};
    polytile_domain worst = worst_block(problem, bytes, &sum);
    bool in_bytes = read_alike(sum, problem->limit_bytes);
    int64_t extents[POLYTILE_MAX_DIMS];
    for (int d = 0; d < instance->n_indices; d++)
        extents[d] = worst.range[d].hi - worst.range[d].lo + 1;
    pti_text_add(&text, "%s: one ", instance->kernel_name);
    add_extents(&text, instance->n_indices, extents);
    pti_text_add(&text, "%s block needs %s", instance->n_indices == 1 ? "-thread" : "",
                 size_words(sum, in_bytes, size));
    if (n_buffers > 1)
        pti_text_add(&text, " in each of %d buffers", n_buffers);
    for (int a = 0; a < instance->n_operands; a++)
        pti_text_add(&text, "%s%s %s", a == 0 ? " (" : ", ", instance->operand[a].name,
                     size_words(bytes[a], in_bytes, size));
    pti_text_add(&text, "); the limit is %s", size_words(problem->limit_bytes, in_bytes, size));
    add_advice_to_fit(&text, problem, n_buffers, bytes);
    add_limit_advice(&text, advised_bytes);
    polytile_status status = text.failed ? pti_fail_memory(ctx, "certificate", PTI_UNKNOWN_BYTES)
                                         : pti_fail(ctx, POLYTILE_NO_FIT, "%s", text.data);
    pti_text_free(&text);
    return status;
}
