#include "fuzz/fuzz.h"

#include <algorithm>
#include <cstring>

extern "C" {
#include "launch/tuning/table.h"
}

/* Tuning tables: what is accepted keeps to the limits of its header, whatever it is asked for. */

namespace {

bool is_name(const char *text) {
    return std::memchr(text, '\0', PTI_TUNING_NAME_BYTES) != nullptr;
}

void check_row(const pti_tuning_table *table, const pti_tuning_row &row) {
    require(is_name(row.kernel), "a kernel's name ends");
    require(row.architecture >= 0 && row.architecture < table->n_architectures,
            "a row's architecture is one of the table");
    require(row.n_dims >= 1 && row.n_dims <= PTI_TUNING_MAX_BLOCK_DIMS, "a block has dimensions");
    int64_t n_threads = 1;
    for (int d = 0; d < row.n_dims; d++) {
        require(row.block[d] >= 1 && row.block[d] <= PTI_TUNING_MAX_BLOCK_THREADS,
                "a block's extent is one");
        n_threads *= row.block[d];
    }
    require(n_threads <= PTI_TUNING_MAX_BLOCK_THREADS, "a block has at most 1024 threads");
    require(row.cache <= PTI_CACHE_EQUAL, "a preference is one");
    require(row.coarsening >= 0 && row.coarsening <= PTI_TUNING_MAX_COARSENING,
            "a number of neighbours is one");
}

void check_table(const pti_tuning_table *table) {
    require(table->n_architectures <= PTI_TUNING_MAX_ARCHITECTURES, "not too many architectures");
    require(table->n_rows <= PTI_TUNING_MAX_ROWS, "not too many rows");
    for (int a = 0; a < table->n_architectures; a++)
        require(is_name(table->architecture[a].name) &&
                    table->architecture[a].n_capabilities <= PTI_TUNING_MAX_CAPABILITIES,
                "an architecture's name ends, and its capabilities are not too many");
    for (int k = 0; k < table->n_rows; k++)
        check_row(table, table->row[k]);
}

/** Whatever is asked for, an answer is a row of the architecture and fits the kernel. */
void ask(const pti_tuning_table *table) {
    for (int capability : {0, 70, 80, 90}) {
        for (int n_indices = 1; n_indices <= 4; n_indices++) {
            pti_tuning_query query = {"k", {}, capability, n_indices};
            query.traits.level[PTI_REUSE] = n_indices;
            const pti_tuning_row *row = pti_tuning_table_find(table, &query);
            require(row == nullptr || row->kernel[0] == '\0' || std::strcmp(row->kernel, "k") == 0,
                    "a row for another kernel was found");
            require(row == nullptr || (row >= table->row && row < table->row + table->n_rows),
                    "a row of the table was found");
        }
    }
}

} // namespace

void fuzz_one(const uint8_t *bytes, size_t n_bytes) {
    pti_tuning_table *table = nullptr;
    pti_text why = {};
    int line = 0;
    const char *text = reinterpret_cast<const char *>(bytes);
    const polytile_status status = pti_tuning_table_read(text, n_bytes, &table, &line, &why);
    require((status == POLYTILE_OK) == (table != nullptr), "a table comes with success");
    require(status == POLYTILE_OK || status == POLYTILE_INVALID, "another error than INVALID");
    if (table != nullptr) {
        check_table(table);
        ask(table);
    } else {
        require(why.data != nullptr && why.length > 0, "a refusal says why");
        const auto n_lines = 1 + std::count(bytes, bytes + n_bytes, '\n');
        require(line >= 1 && line <= n_lines, "line " + std::to_string(line) + " is one of " +
                                                  std::to_string(n_lines) + ": " + why.data);
    }
    pti_text_free(&why);
    pti_tuning_table_free(table);
}
