#include "distribute/mpi/window.h"

#include "distribute/mpi/calls.h"

#include <stdlib.h>

/* To free a window all ranks meet, which those that end alone cannot. Their windows are values that
 * MPI_COMM_SELF has: MPI frees them when it ends, which all ranks do together, the newest first. */

struct pti_mpi_window {
    MPI_Win window;
    int key; /* of the value */
    bool is_locked;
};

static int free_window(MPI_Comm comm, int key, void *value, void *unused) {
    pti_mpi_window *of = value;
    (void)comm;
    (void)key;
    (void)unused;
    if (of->is_locked)
        MPI_Win_unlock_all(of->window);
    MPI_Win_free(&of->window);
    free(of);
    return MPI_SUCCESS;
}

polytile_status pti_mpi_window_begin(polytile_context *ctx, pti_mpi_window **window) {
    polytile_status status = POLYTILE_OK;
    pti_mpi_window *made = calloc(1, sizeof *made);
    *window = NULL;
    if (made == NULL)
        return pti_fail_memory(ctx, "a counter of rows over ranks", sizeof *made);
    PTI_MPI_TRY(ctx, MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_window, &made->key, NULL));
    *window = made;
    made = NULL;
done:
    free(made);
    return status;
}

polytile_status pti_mpi_window_open(polytile_context *ctx, MPI_Win made, pti_mpi_window *window) {
    polytile_status status = POLYTILE_OK;
    window->window = made;
    PTI_MPI_TRY(ctx, MPI_Comm_set_attr(MPI_COMM_SELF, window->key, window));
    PTI_MPI_TRY(ctx, MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN));
    PTI_MPI_TRY(ctx, MPI_Win_lock_all(MPI_MODE_NOCHECK, made));
    window->is_locked = true;
done:
    return status;
}

void pti_mpi_window_give_up(pti_mpi_window *window) {
    int key, is_set = 0;
    void *value;
    if (window == NULL)
        return;
    key = window->key;
    MPI_Comm_get_attr(MPI_COMM_SELF, key, &value, &is_set);
    if (!is_set)
        free(window);
    MPI_Comm_free_keyval(&key);
}

void pti_mpi_window_end(pti_mpi_window *window, bool together) {
    int key;
    if (!pti_mpi_is_up()) /* it ended, and the window with it */
        return;
    key = window->key;
    if (together)
        MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Comm_free_keyval(&key);
}
