#include "launch/tuning/table.h"

#include <stdlib.h>
#include <string.h>

static const char *const coalescing_words[] = {"def", "full", "medium", "scatter", NULL};
static const char *const level_words[] = {"def", "none", "low", "medium", "high", NULL};
const char *const pti_cache_words[] = {"none", "shared", "l1", "equal", NULL};

const struct pti_trait_text pti_trait_texts[PTI_N_TRAITS] = {
    [PTI_COALESCING] = {"coalescing", coalescing_words},
    [PTI_ARITHMETIC] = {"arithmetic", level_words},
    [PTI_EVICTIONS] = {"evictions", level_words},
    [PTI_REUSE] = {"reuse", level_words},
};

pti_traits pti_traits_of(const polytile_character *character) {
    if (character == NULL)
        return (pti_traits){{0}};
    return (pti_traits){{
        [PTI_COALESCING] = (int)character->coalescing,
        [PTI_ARITHMETIC] = (int)character->arithmetic,
        [PTI_EVICTIONS] = (int)character->evictions,
        [PTI_REUSE] = (int)character->reuse,
    }};
}

void pti_tuning_table_free(pti_tuning_table *table) {
    if (table == NULL)
        return;
    free(table->architecture);
    free(table->row);
    free(table);
}

int pti_tuning_block_dims(int n_indices) {
    return n_indices < PTI_TUNING_MAX_BLOCK_DIMS ? n_indices : PTI_TUNING_MAX_BLOCK_DIMS;
}

static bool has_capability(const pti_tuning_architecture *architecture, int capability) {
    for (int k = 0; k < architecture->n_capabilities; k++) {
        if (architecture->capability[k] == capability)
            return true;
    }
    return false;
}

/** Return how much a row says about a kernel; -1: it is for others. */
static int score_row(const pti_tuning_table *table, const pti_tuning_row *row,
                     const pti_tuning_query *query) {
    enum { NAME = 100, TRAIT = 10, DIMS = 1 };
    int score = row->n_dims == pti_tuning_block_dims(query->n_indices) ? DIMS : 0;
    if (!has_capability(&table->architecture[row->architecture], query->capability))
        return -1;
    if (row->kernel[0] != '\0' && strcmp(row->kernel, query->kernel) != 0)
        return -1;
    for (int t = 0; t < PTI_N_TRAITS; t++) {
        int level = row->traits.level[t];
        if (level != 0 && level != query->traits.level[t])
            return -1;
        score += level != 0 ? TRAIT : 0;
    }
    return score + (row->kernel[0] != '\0' ? NAME : 0);
}

const pti_tuning_row *pti_tuning_table_find(const pti_tuning_table *table,
                                            const pti_tuning_query *query) {
    const pti_tuning_row *best = NULL;
    int most = -1;
    for (int k = 0; k < table->n_rows; k++) {
        int score = score_row(table, &table->row[k], query);
        if (score > most) {
            most = score;
            best = &table->row[k];
        }
    }
    return best;
}
