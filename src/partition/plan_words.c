#include "partition/plan_words.h"

#include <polytile/size.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add_range(pti_text *text, polytile_range range) {
    pti_text_add(text, "%" PRId64, range.lo);
    if (range.hi != range.lo)
        pti_text_add(text, ":%" PRId64, range.hi);
    if (range.hi != range.lo && range.step != 1)
        pti_text_add(text, ":%" PRId64, range.step);
}

void pti_words_box(pti_text *text, const polytile_domain *box) {
    pti_text_add(text, "[");
    for (int d = 0; d < box->n_dims; d++) {
        pti_text_add(text, d == 0 ? "" : ", ");
        add_range(text, box->range[d]);
    }
    pti_text_add(text, "]");
}

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
    static const char *const words[] = {
#define TYPE_WORD(name, word, bytes) word,
        POLYTILE_TYPES(TYPE_WORD)
#undef TYPE_WORD
    };
    if (type < 0)
        pti_text_add(text, "%d B", -type);
    else
        pti_text_add(text, "%s", words[type]);
}

static const char *role_word(polytile_role role) {
    static const char *const words[] = {
#define ROLE_WORD(name, word) word,
        POLYTILE_ROLES(ROLE_WORD)
#undef ROLE_WORD
    };
    return words[role];
}

static bool role_seen_before(const pti_section *first, const pti_section *section) {
    for (const pti_section *s = first; s < section; s++)
        if (s->role == section->role && s->fresh == section->fresh)
            return true;
    return false;
}

void pti_words_roles(pti_text *text, const pti_instance *instance, int operand) {
    const pti_operand *of = &instance->operand[operand];
    const pti_section *first = &instance->section[of->first_section];
    for (const pti_section *s = first; s < first + of->n_sections; s++)
        if (!role_seen_before(first, s))
            pti_text_add(text, "%s%s%s", s == first ? "" : ", ", s->fresh ? "out " : "",
                         role_word(s->role));
}

void pti_words_operand(pti_text *text, const pti_instance *instance, int operand) {
    pti_text_add(text, "%s ", instance->operand[operand].name);
    pti_words_type(text, instance->operand[operand].type);
    pti_text_add(text, ", ");
    pti_words_roles(text, instance, operand);
}

double pti_box_volume(const polytile_domain *box) {
    double volume = 1;
    for (int d = 0; d < box->n_dims; d++) {
        polytile_range r = box->range[d];
        volume *= r.hi < r.lo ? 0 : (double)((r.hi - r.lo) / r.step + 1);
    }
    return volume;
}

int64_t pti_superblock_device_bytes(const pti_schedule *schedule, int64_t superblock) {
    int64_t bytes = 0;
    for (int k = 0; k < schedule->instance->n_operands && !schedule->in_place; k++) {
        const pti_placement *placement = pti_schedule_placement(schedule, superblock, k);
        bytes += placement == NULL ? 0 : placement->layout.size_bytes;
    }
    return bytes;
}
