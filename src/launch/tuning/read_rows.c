#include "launch/tuning/reader.h"

#include <stdlib.h>
#include <string.h>

static bool read_kernel(pti_reader *r, const pti_member *m, const json_t *value,
                        pti_tuning_row *row) {
    if (!pti_reader_string(r, m->name, value, PTI_TUNING_NAME_BYTES - 1))
        return false;
    strcpy(row->kernel, json_string_value(value));
    return true;
}

static bool read_architecture(pti_reader *r, const pti_member *m, const json_t *value,
                              pti_tuning_row *row) {
    if (!pti_reader_string(r, m->name, value, PTI_TUNING_NAME_BYTES - 1))
        return false;
    for (int k = 0; k < r->table->n_architectures; k++) {
        row->architecture = k;
        if (strcmp(r->table->architecture[k].name, json_string_value(value)) == 0)
            return true;
    }
    return pti_reader_refuse(r, "\"%s\" is none of the table's \"architectures\"",
                             pti_reader_show(json_string_value(value)).text);
}

static bool read_trait(pti_reader *r, const pti_member *m, const json_t *value,
                       pti_tuning_row *row) {
    return pti_reader_word(r, m->name, value, pti_trait_texts[m->trait].words,
                           &row->traits.level[m->trait]);
}

static bool read_cache(pti_reader *r, const pti_member *m, const json_t *value,
                       pti_tuning_row *row) {
    int number;
    if (!pti_reader_word(r, m->name, value, pti_cache_words, &number))
        return false;
    row->cache = (pti_cache_preference)number;
    return true;
}

bool pti_read_source(pti_reader *r, const pti_member *m, const json_t *value, pti_tuning_row *row) {
    (void)row;
    return pti_reader_string(r, m->name, value, PTI_TUNING_MAX_SOURCE_BYTES);
}

static bool check_block(pti_reader *r, const pti_tuning_row *row) {
    int64_t n_threads = 1;
    for (int d = 0; d < row->n_dims; d++)
        n_threads *= row->block[d];
    if (n_threads > PTI_TUNING_MAX_BLOCK_THREADS)
        return pti_reader_refuse(r, "the block has %lld threads; it may have %d",
                                 (long long)n_threads, PTI_TUNING_MAX_BLOCK_THREADS);
    if (row->n_dims == PTI_TUNING_MAX_BLOCK_DIMS && row->block[0] > PTI_TUNING_MAX_BLOCK_PLANES)
        return pti_reader_refuse(
            r,
            "the block has %lld threads along the first of its three dimensions; it "
            "may have %d",
            (long long)row->block[0], PTI_TUNING_MAX_BLOCK_PLANES);
    return true;
}

static bool read_block(pti_reader *r, const pti_member *m, const json_t *value,
                       pti_tuning_row *row) {
    size_t n_dims = json_array_size(value);
    if (!json_is_array(value) || n_dims < 1 || n_dims > PTI_TUNING_MAX_BLOCK_DIMS)
        return pti_reader_refuse(r, "\"%s\" is not an array of 1 to %d numbers", m->name,
                                 PTI_TUNING_MAX_BLOCK_DIMS);
    row->n_dims = (int)n_dims;
    for (size_t d = 0; d < n_dims; d++) {
        const json_t *number = json_array_get(value, d);
        row->block[d] = json_integer_value(number);
        pti_reader_enter(r, NULL, d);
        if (!json_is_integer(number))
            return pti_reader_refuse(r, "a number of \"%s\" is not a whole number", m->name);
        if (row->block[d] < 1 || row->block[d] > PTI_TUNING_MAX_BLOCK_THREADS)
            return pti_reader_refuse(r, "a number of \"%s\" is %lld; it may be 1 to %d", m->name,
                                     (long long)row->block[d], PTI_TUNING_MAX_BLOCK_THREADS);
        pti_reader_pop(r);
    }
    return check_block(r, row);
}

static bool read_coarsening(pti_reader *r, const pti_member *m, const json_t *value,
                            pti_tuning_row *row) {
    const json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 1 || number > PTI_TUNING_MAX_COARSENING)
        return pti_reader_refuse(r, "\"%s\" is no whole number from 1 to %d", m->name,
                                 PTI_TUNING_MAX_COARSENING);
    row->coarsening = (int)number;
    return true;
}

static const pti_member row_members[] = {
    {"kernel", read_kernel, false, 0},
    {"architecture", read_architecture, true, 0},
    {"coalescing", read_trait, false, PTI_COALESCING},
    {"arithmetic", read_trait, false, PTI_ARITHMETIC},
    {"evictions", read_trait, false, PTI_EVICTIONS},
    {"reuse", read_trait, false, PTI_REUSE},
    {"block", read_block, true, 0},
    {"cache", read_cache, false, 0},
    {"coarsening", read_coarsening, false, 0},
    {"source", pti_read_source, false, 0},
};

static bool have_same_key(const pti_tuning_row *one, const pti_tuning_row *other) {
    return one->architecture == other->architecture && one->n_dims == other->n_dims &&
           strcmp(one->kernel, other->kernel) == 0 &&
           memcmp(&one->traits, &other->traits, sizeof one->traits) == 0;
}

static bool read_row(pti_reader *r, json_t *value) {
    pti_tuning_table *table = r->table;
    pti_tuning_row *row = &table->row[table->n_rows];
    if (!pti_reader_object(r, "a row", row_members, sizeof row_members / sizeof *row_members, value,
                           row))
        return false;
    for (int k = 0; k < table->n_rows; k++) {
        if (have_same_key(&table->row[k], row))
            return pti_reader_refuse(r,
                                     "the row is for the same kernels, architecture and number of "
                                     "dimensions as row %d",
                                     k + 1);
    }
    table->n_rows++;
    return true;
}

bool pti_read_rows(pti_reader *r, const pti_member *m, const json_t *value, pti_tuning_row *row) {
    (void)row;
    if (!pti_reader_array(r, m->name, value, 0, PTI_TUNING_MAX_ROWS))
        return false;
    r->table->row = calloc(json_array_size(value) + 1, sizeof *r->table->row);
    if (r->table->row == NULL)
        return pti_reader_no_memory(r, "rows");
    for (size_t k = 0; k < json_array_size(value); k++) {
        pti_reader_enter(r, NULL, k);
        if (!read_row(r, json_array_get(value, k)))
            return false;
        pti_reader_pop(r);
    }
    return true;
}
