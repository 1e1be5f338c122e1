#include "distribute/file/array_file.h"
#include "distribute/mpi/file_rounds.h"

#include <stdlib.h>

/** Begin the file on rank 0 for all. */
static polytile_status begin_file(const pti_spread *spread, const char *path, pti_part_file *part) {
    if (pti_spread_rank(spread) != 0)
        return POLYTILE_OK;
    return pti_array_file_begin(pti_spread_context(spread), path, spread->array, part);
}

static polytile_status commit_file(const pti_spread *spread, pti_part_file *part) {
    if (pti_spread_rank(spread) != 0)
        return POLYTILE_OK;
    return pti_array_file_commit(pti_spread_context(spread), part);
}

/** Check that this rank can write its part, before ranks open the file together. */
static polytile_status prepare_write(pti_file_rounds *rounds) {
    polytile_context *ctx = pti_spread_context(rounds->spread);
    polytile_status status;
    PTI_TRY(pti_array_file_probe(ctx, rounds->path, true));
    PTI_TRY(pti_file_rounds_prepare(rounds));
done:
    return status;
}

/** Write all elements into the file that rank 0 has begun. */
static polytile_status write_part(const pti_spread *spread, const char *part,
                                  int64_t offset_bytes) {
    pti_file_rounds rounds = {.spread = spread,
                              .path = part,
                              .writes = true,
                              .offset_bytes = offset_bytes,
                              .file = MPI_FILE_NULL};
    polytile_status status;
    PTI_TRY(pti_spread_agree(spread, prepare_write(&rounds)));
    PTI_TRY(pti_file_rounds_open(&rounds));
    PTI_TRY(pti_file_rounds_move(&rounds));
done:
    pti_file_rounds_end(&rounds);
    return status;
}

polytile_status pti_spread_write(const pti_spread *spread, const char *path) {
    char *name = NULL;
    pti_part_file part = {0};
    polytile_status status;
    PTI_TRY(pti_spread_agree(spread, pti_part_file_name(pti_spread_context(spread), path, &name)));
    PTI_TRY(pti_spread_agree(spread, begin_file(spread, path, &part)));
    PTI_TRY(write_part(spread, name, pti_array_file_offset(spread->array, path)));
    PTI_TRY(pti_spread_agree(spread, commit_file(spread, &part)));
done:
    pti_part_file_abandon(&part);
    free(name);
    return status;
}
