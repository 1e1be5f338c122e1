#include "distribute/mpi/transport_mpi.h"
#include "distribute/mpi/window.h"

#include <string.h>

/* A counter that members of all ranks take rows from, and what they let each other see: words of 64
 * bits in a window of MPI's, which rank 0 has. */

/** The words: how many rows are taken, then those of each unit. */
enum { WORD_TAKEN = 0, FIRST_UNIT_WORD = 1, UNIT_WORDS = sizeof(pti_shown_unit) / sizeof(int64_t) };

_Static_assert(sizeof(pti_shown_unit) == UNIT_WORDS * sizeof(int64_t), "it consists of words");

/** Rank 0 waits at most so long before it is inside MPI again, where others need that. */
static const double serve_every_s = 100e-6;

/** A counter whose words all ranks use. */
typedef struct mpi_counter {
    pti_counter counter;
    polytile_context *ctx;
    MPI_Comm comm; /* the transport's */
    int rank;
    int n_words;
    pti_mpi_window *opened; /* owned as long as MPI is up; it has the next */
    MPI_Win window;
    int64_t *shared; /* the words, where all ranks reach them as memory; NULL: they do not */
    int64_t *own;    /* n_words: what is written next, or was read last; owned */
} mpi_counter;

static mpi_counter *of_counter(pti_counter *counter) {
    return (mpi_counter *)counter;
}

/* Words that all ranks reach as memory. */

static polytile_status take_shared(pti_counter *counter, int64_t n, int64_t *before) {
    *before = __atomic_fetch_add(&of_counter(counter)->shared[WORD_TAKEN], n, __ATOMIC_RELAXED);
    return POLYTILE_OK;
}

static void write_shared(mpi_counter *of, int first, int n_words, const int64_t *words) {
    for (int w = 0; w < n_words; w++)
        __atomic_store_n(&of->shared[first + w], words[w], __ATOMIC_RELAXED);
}

static polytile_status show_shared(pti_counter *counter, int unit, const pti_shown_unit *shown) {
    int64_t words[UNIT_WORDS];
    memcpy(words, shown, sizeof words);
    write_shared(of_counter(counter), FIRST_UNIT_WORD + unit * UNIT_WORDS, UNIT_WORDS, words);
    return POLYTILE_OK;
}

static polytile_status look_shared(pti_counter *counter, int64_t *n_taken, int n_units,
                                   pti_shown_unit *shown) {
    mpi_counter *of = of_counter(counter);
    for (int w = 0; w < of->n_words; w++)
        of->own[w] = __atomic_load_n(&of->shared[w], __ATOMIC_RELAXED);
    *n_taken = of->own[WORD_TAKEN];
    memcpy(shown, of->own + FIRST_UNIT_WORD, (size_t)n_units * sizeof *shown);
    return POLYTILE_OK;
}

static polytile_status clear_shared(pti_counter *counter) {
    mpi_counter *of = of_counter(counter);
    memset(of->own, 0, (size_t)of->n_words * sizeof *of->own);
    if (of->rank == 0)
        write_shared(of, 0, of->n_words, of->own);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return POLYTILE_OK;
}

/* Words of rank 0's that others reach by messages. */

static polytile_status take_remote(pti_counter *counter, int64_t n, int64_t *before) {
    mpi_counter *of = of_counter(counter);
    polytile_status status = POLYTILE_OK;
    PTI_MPI_TRY(of->ctx,
                MPI_Fetch_and_op(&n, before, MPI_INT64_T, 0, WORD_TAKEN, MPI_SUM, of->window));
    PTI_MPI_TRY(of->ctx, MPI_Win_flush(0, of->window));
done:
    return status;
}

static polytile_status write_remote(mpi_counter *of, int first, int n_words, const void *words) {
    polytile_status status = POLYTILE_OK;
    PTI_MPI_TRY(of->ctx, MPI_Accumulate(words, n_words, MPI_INT64_T, 0, first, n_words, MPI_INT64_T,
                                        MPI_REPLACE, of->window));
    PTI_MPI_TRY(of->ctx, MPI_Win_flush(0, of->window));
done:
    return status;
}

static polytile_status show_remote(pti_counter *counter, int unit, const pti_shown_unit *shown) {
    return write_remote(of_counter(counter), FIRST_UNIT_WORD + unit * UNIT_WORDS, UNIT_WORDS,
                        shown);
}

static polytile_status look_remote(pti_counter *counter, int64_t *n_taken, int n_units,
                                   pti_shown_unit *shown) {
    mpi_counter *of = of_counter(counter);
    polytile_status status = POLYTILE_OK;
    PTI_MPI_TRY(of->ctx, MPI_Get_accumulate(NULL, 0, MPI_INT64_T, of->own, of->n_words, MPI_INT64_T,
                                            0, 0, of->n_words, MPI_INT64_T, MPI_NO_OP, of->window));
    PTI_MPI_TRY(of->ctx, MPI_Win_flush(0, of->window));
    *n_taken = of->own[WORD_TAKEN];
    memcpy(shown, of->own + FIRST_UNIT_WORD, (size_t)n_units * sizeof *shown);
done:
    return status;
}

static polytile_status clear_remote(pti_counter *counter) {
    mpi_counter *of = of_counter(counter);
    memset(of->own, 0, (size_t)of->n_words * sizeof *of->own);
    return of->rank == 0 ? write_remote(of, 0, of->n_words, of->own) : POLYTILE_OK;
}

/** Probe once, so that MPI makes progress on other ranks' accesses to the counter. */
static polytile_status serve_remote(pti_counter *counter) {
    mpi_counter *of = of_counter(counter);
    polytile_status status = POLYTILE_OK;
    int is_there;
    PTI_MPI_TRY(of->ctx,
                MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, of->comm, &is_there, MPI_STATUS_IGNORE));
done:
    return status;
}

/* Both. */

static void close_counter(pti_counter *counter, bool together) {
    mpi_counter *of = of_counter(counter);
    pti_mpi_window_end(of->opened, together);
    free(of->own);
    free(of);
}

static const pti_counter_functions shared_functions = {
    .take = take_shared,
    .show = show_shared,
    .look = look_shared,
    .clear = clear_shared,
    .close = close_counter,
};

static const pti_counter_functions remote_functions = {
    .take = take_remote,
    .show = show_remote,
    .look = look_remote,
    .clear = clear_remote,
    .serve = serve_remote,
    .close = close_counter,
};

static polytile_status share_window(mpi_counter *of, MPI_Aint n_bytes) {
    polytile_status status = POLYTILE_OK;
    MPI_Aint n_shared;
    int unit_bytes;
    int64_t *memory;
    PTI_MPI_TRY(of->ctx, MPI_Win_allocate_shared(n_bytes, sizeof(int64_t), MPI_INFO_NULL, of->comm,
                                                 &memory, &of->window));
    PTI_MPI_TRY(of->ctx, MPI_Win_shared_query(of->window, 0, &n_shared, &unit_bytes, &of->shared));
done:
    return status;
}

static polytile_status allocate_window(mpi_counter *of, MPI_Aint n_bytes) {
    polytile_status status = POLYTILE_OK;
    int64_t *memory;
    PTI_MPI_TRY(of->ctx, MPI_Win_allocate(n_bytes, sizeof(int64_t), MPI_INFO_NULL, of->comm,
                                          &memory, &of->window));
done:
    return status;
}

/** Make the window, which all ranks may use from now on. */
static polytile_status open_window(mpi_counter *of, bool is_one) {
    const MPI_Aint n_bytes = of->rank == 0 ? of->n_words * (MPI_Aint)sizeof(int64_t) : 0;
    polytile_status status = POLYTILE_OK;
    PTI_TRY(is_one ? share_window(of, n_bytes) : allocate_window(of, n_bytes));
    PTI_TRY(pti_mpi_window_open(of->ctx, of->window, of->opened));
    of->counter.functions = is_one ? &shared_functions : &remote_functions;
    of->counter.serve_every_s = is_one || of->rank != 0 ? 0 : serve_every_s;
done:
    return status;
}

static mpi_counter *allocate_counter(const pti_mpi_transport *mpi) {
    mpi_counter *of = calloc(1, sizeof *of);
    if (of == NULL)
        return NULL;
    *of = (mpi_counter){.ctx = mpi->transport.ctx,
                        .comm = mpi->comm,
                        .rank = mpi->rank,
                        .n_words = FIRST_UNIT_WORD + mpi->transport.n_members * UNIT_WORDS,
                        .window = MPI_WIN_NULL};
    of->own = calloc((size_t)of->n_words, sizeof *of->own);
    if (of->own != NULL)
        return of;
    free(of);
    return NULL;
}

/** Free a counter that was not opened on all ranks; NULL does nothing. */
static void give_up_counter(mpi_counter *of) {
    if (of == NULL)
        return;
    pti_mpi_window_give_up(of->opened);
    free(of->own);
    free(of);
}

/** Do what each rank does by itself before all make the window; *is_one: all ranks are on one
 * machine. */
static polytile_status begin_counter(const pti_mpi_transport *mpi, mpi_counter **made,
                                     bool *is_one) {
    polytile_context *ctx = mpi->transport.ctx;
    polytile_status status;
    *made = allocate_counter(mpi);
    PTI_TRY(pti_mpi_is_one_machine(ctx, mpi->comm, is_one));
    if (*made == NULL)
        PTI_TRY(pti_fail_memory(ctx, "a counter of rows over ranks",
                                mpi->transport.n_members * (double)sizeof(pti_shown_unit)));
    PTI_TRY(pti_mpi_window_begin(ctx, &(*made)->opened));
done:
    return status;
}

polytile_status pti_mpi_counter_create(pti_transport *transport) {
    mpi_counter *made = NULL;
    bool is_one = false;
    polytile_status status = begin_counter(pti_mpi_of(transport), &made, &is_one);
    PTI_TRY(transport->functions->agree(transport, status));
    PTI_TRY(transport->functions->agree(transport, open_window(made, is_one)));
    transport->counter = &made->counter;
    return POLYTILE_OK;
done:
    give_up_counter(made);
    return status;
}
