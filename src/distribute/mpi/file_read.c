#include "distribute/file/array_file.h"
#include "distribute/mpi/file_rounds.h"

/** Check the file on every rank: on another machine it may be another one, or none. */
static polytile_status prepare_read(pti_file_rounds *rounds) {
    const pti_spread *spread = rounds->spread;
    polytile_context *ctx = pti_spread_context(spread);
    polytile_status status;
    PTI_TRY(pti_array_file_inspect(ctx, rounds->path, spread->array, &rounds->offset_bytes));
    PTI_TRY(pti_file_rounds_prepare(rounds));
done:
    return status;
}

polytile_status pti_spread_read(const pti_spread *spread, const char *path, bool *has_begun) {
    pti_file_rounds rounds = {.spread = spread, .path = path, .file = MPI_FILE_NULL};
    polytile_status status;
    *has_begun = false;
    PTI_TRY(pti_spread_agree(spread, prepare_read(&rounds)));
    PTI_TRY(pti_file_rounds_open(&rounds));
    *has_begun = true;
    PTI_TRY(pti_file_rounds_move(&rounds));
done:
    pti_file_rounds_end(&rounds);
    return status;
}
