#include "distribute/mpi/file_rounds.h"

#include "distribute/mpi/calls.h"

#include <stdlib.h>
#include <string.h>

/* ROMIO, which MPICH and others use for files, reads what stands before a colon as a file system,
 * so names with one get the usual one. */
#ifdef ROMIO_VERSION
static const char before_colons[] = "ufs:";
#else
static const char before_colons[] = "";
#endif

/** Join the lines of MPI's text. */
static void join_lines(char *text) {
    for (; *text != '\0'; text++)
        if (*text == '\n')
            *text = ' ';
}

/** Check a call of MPI. Errors: IO, with MPI's text. */
static polytile_status check_call(const pti_file_rounds *r, const char *action, int code) {
    if (code == MPI_SUCCESS)
        return POLYTILE_OK;
    pti_mpi_text text = pti_mpi_text_of(code);
    join_lines(text.text);
    return pti_fail(pti_spread_context(r->spread), POLYTILE_IO, "%s: cannot %s: %s", r->path,
                    action, text.text);
}

/** Write the path as MPI understands it. */
static void write_name(const pti_file_rounds *r, pti_text *name) {
    bool has_colon = strchr(r->path, ':') != NULL;
    pti_text_add(name, "%s%s", has_colon ? before_colons : "", r->path);
}

polytile_status pti_file_rounds_prepare(pti_file_rounds *r) {
    const pti_spread *spread = r->spread;
    size_t n_runs = (size_t)spread->round_runs;
    write_name(r, &r->name);
    r->length = malloc(n_runs * sizeof *r->length);
    r->at = malloc(n_runs * sizeof *r->at);
    if (pti_rounds_begin(&spread->store, spread->round_bytes, spread->round_runs, &r->rounds) &&
        r->length != NULL && r->at != NULL && !r->name.failed)
        return POLYTILE_OK;
    return pti_fail_memory(pti_spread_context(spread), spread->array->name,
                           (double)spread->round_bytes);
}

/** A file that not all have opened stays open: closing would wait for the others. Views with gaps
 * are written by reading around them. */
polytile_status pti_file_rounds_open(pti_file_rounds *r) {
    int mode = r->writes ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
    int code =
        MPI_File_open(pti_spread_comm(r->spread), r->name.data, mode, MPI_INFO_NULL, &r->file);
    polytile_status status = pti_spread_agree(r->spread, check_call(r, "open", code));
    if (status != POLYTILE_OK)
        r->file = MPI_FILE_NULL;
    return status;
}

/** The state of a rank before a round, and all-reduced that of all. */
typedef struct round_state {
    int has_more;
    int has_failed;
} round_state;

/** All-reduce the states of a round. Errors: DEVICE. */
static polytile_status all_reduce_round_state(const pti_file_rounds *r, const round_state *mine,
                                              round_state *all) {
    polytile_context *ctx = pti_spread_context(r->spread);
    MPI_Request request = MPI_REQUEST_NULL;
    polytile_status status;
    PTI_MPI_TRY(
        ctx, MPI_Iallreduce(mine, all, 2, MPI_INT, MPI_MAX, pti_spread_comm(r->spread), &request));
    PTI_TRY(pti_mpi_wait(ctx, 1, &request));
done:
    return status;
}

/** Make a type of a round's runs; those that follow each other in the file are one. */
static int make_type(pti_file_rounds *r, MPI_Datatype *type) {
    int n = 0;
    for (int k = 0; k < r->rounds.n_runs; k++) {
        const pti_file_run *run = &r->rounds.run[k];
        if (n > 0 && r->at[n - 1] + r->length[n - 1] == run->at_bytes) {
            r->length[n - 1] += (int)run->n_bytes;
        } else {
            r->at[n] = (MPI_Aint)run->at_bytes;
            r->length[n++] = (int)run->n_bytes;
        }
    }
    int code = MPI_Type_create_hindexed(n, r->length, r->at, MPI_BYTE, type);
    return code == MPI_SUCCESS ? MPI_Type_commit(type) : code;
}

/** Set the view of this round's bytes, or of nothing if it has none or failed. */
static polytile_status set_view(pti_file_rounds *r) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    polytile_context *ctx = pti_spread_context(r->spread);
    pti_error first = {0};
    if (r->rounds.n_runs > 0)
        pti_error_keep(&first, ctx, check_call(r, "describe its part", make_type(r, &type)));
    bool is_empty = first.status != POLYTILE_OK || r->rounds.n_runs == 0;
    int code = MPI_File_set_view(r->file, r->offset_bytes, MPI_BYTE, is_empty ? MPI_BYTE : type,
                                 "native", MPI_INFO_NULL);
    pti_error_keep(&first, ctx, check_call(r, "see its part", code));
    if (type != MPI_DATATYPE_NULL)
        MPI_Type_free(&type);
    return pti_error_restore(ctx, &first);
}

/** Check how many bytes moved. Errors: IO (too few). */
static polytile_status check_n_moved(const pti_file_rounds *r, const MPI_Status *moved,
                                     int n_bytes) {
    int n_moved = 0;
    MPI_Get_count(moved, MPI_BYTE, &n_moved);
    if (n_moved == n_bytes)
        return POLYTILE_OK;
    return pti_fail(pti_spread_context(r->spread), POLYTILE_IO, "%s: only %d of %d bytes were %s",
                    r->path, n_moved, n_bytes, r->writes ? "written: is the disk full?" : "read");
}

static polytile_status write_round(pti_file_rounds *r, int n_bytes) {
    MPI_Status moved;
    polytile_status status;
    PTI_TRY(check_call(r, "write",
                       MPI_File_write_at_all(r->file, 0, pti_round_collect(&r->rounds), n_bytes,
                                             MPI_BYTE, &moved)));
    PTI_TRY(check_n_moved(r, &moved, n_bytes));
done:
    return status;
}

static polytile_status read_round(pti_file_rounds *r, int n_bytes) {
    MPI_Status moved;
    polytile_status status;
    PTI_TRY(check_call(
        r, "read",
        MPI_File_read_at_all(r->file, 0, pti_round_place(&r->rounds), n_bytes, MPI_BYTE, &moved)));
    PTI_TRY(check_n_moved(r, &moved, n_bytes));
    pti_round_spread(&r->rounds);
done:
    return status;
}

/** Move a round; a rank that cannot set its view moves nothing. */
static polytile_status move_round(pti_file_rounds *r) {
    polytile_context *ctx = pti_spread_context(r->spread);
    pti_error first = {0};
    polytile_status seen = pti_error_keep(&first, ctx, set_view(r));
    int n_bytes = seen == POLYTILE_OK ? (int)r->rounds.n_bytes : 0;
    pti_error_keep(&first, ctx, r->writes ? write_round(r, n_bytes) : read_round(r, n_bytes));
    return pti_error_restore(ctx, &first);
}

/** Move all rounds; returns this rank's error. */
static polytile_status move_rounds(pti_file_rounds *r) {
    polytile_status status, moved = POLYTILE_OK;
    round_state all = {0, 0};
    do {
        round_state mine = {.has_more = pti_rounds_next(&r->rounds),
                            .has_failed = moved != POLYTILE_OK};
        PTI_TRY(all_reduce_round_state(r, &mine, &all));
        if (all.has_more && !all.has_failed)
            moved = move_round(r);
    } while (all.has_more && !all.has_failed);
    status = moved;
done:
    return status;
}

polytile_status pti_file_rounds_move(pti_file_rounds *r) {
    polytile_status status;
    PTI_TRY(pti_spread_agree(r->spread, move_rounds(r)));
    PTI_TRY(pti_spread_agree(r->spread, check_call(r, "close", MPI_File_close(&r->file))));
done:
    return status;
}

void pti_file_rounds_end(pti_file_rounds *r) {
    if (r->file != MPI_FILE_NULL)
        MPI_File_close(&r->file);
    pti_rounds_end(&r->rounds);
    pti_text_free(&r->name);
    free(r->length);
    free(r->at);
}
