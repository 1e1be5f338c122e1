#include "distribute/deal/launch.h"

#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* The end of a launch whose rows were dealt out to members of several processes: all learn who took
 * which rows, and get all partial results. What rows write stays with the process that ran them
 * until something needs it, or the array leaves. */

/* Who took what. */

static polytile_status fail_pieces(const pti_dealt_launch *dealt, int64_t n_pieces) {
    return pti_fail_memory(dealt->group->ctx, dealt->recorded->prepared->instance->kernel_name,
                           (double)n_pieces * (double)sizeof(pti_taken_piece));
}

/** This process's pieces as rows, one after the other; NULL: memory ran out. */
static pti_rows *list_rows(const pti_dealt_launch *dealt) {
    pti_rows *rows = calloc((size_t)dealt->n_pieces + 1, sizeof *rows);
    for (int64_t p = 0; rows != NULL && p < dealt->n_pieces; p++)
        rows[p] = dealt->piece[p].rows;
    return rows;
}

static int compare_pieces(const void *one, const void *other) {
    const int64_t a = ((const pti_taken_piece *)one)->rows.first;
    const int64_t b = ((const pti_taken_piece *)other)->rows.first;
    return (a > b) - (a < b);
}

/** Add the pieces of another process. False: memory ran out. */
static bool add_pieces_of_process(pti_dealt_launch *dealt, int process, const char *bytes,
                                  int64_t n_bytes) {
    for (int64_t at = 0; at < n_bytes; at += (int64_t)sizeof(pti_rows)) {
        pti_taken_piece piece = {.local = PTI_NOBODY, .process = process};
        memcpy(&piece.rows, bytes + at, sizeof piece.rows);
        if (!PTI_GROW(dealt->piece, dealt->n_pieces, &dealt->capacity))
            return false;
        dealt->piece[dealt->n_pieces++] = piece;
    }
    return true;
}

static bool add_pieces_of_others(pti_dealt_launch *dealt, const pti_gathered *all) {
    const pti_transport *transport = dealt->group->transport;
    bool has_memory = true;
    for (int q = 0; q < pti_transport_count_processes(transport) && has_memory; q++) {
        int64_t n_bytes;
        const char *bytes = pti_gathered_of(all, q, &n_bytes);
        if (q != pti_transport_process(transport))
            has_memory = add_pieces_of_process(dealt, q, bytes, n_bytes);
    }
    return has_memory;
}

/** Pieces, in the order of their rows, are all rows of the launch, each once. */
static polytile_status check_pieces(const pti_dealt_launch *dealt) {
    int64_t end = 0;
    for (int64_t p = 0; p < dealt->n_pieces && dealt->piece[p].rows.first == end; p++)
        end += dealt->piece[p].rows.count;
    if (end == dealt->deal.work.n_rows)
        return POLYTILE_OK;
    return pti_fail(dealt->group->ctx, POLYTILE_INTERNAL,
                    "%s: row %lld of %lld was run by no rank, or by several",
                    dealt->recorded->prepared->instance->kernel_name, (long long)end,
                    (long long)dealt->deal.work.n_rows);
}

/** Have the pieces of all processes. Errors: NO_MEMORY, of this process alone; INTERNAL, on all. */
static polytile_status take_over_pieces(pti_dealt_launch *dealt, const pti_gathered *all) {
    if (!add_pieces_of_others(dealt, all))
        return fail_pieces(dealt, 2 * dealt->n_pieces);
    if (dealt->n_pieces > 0)
        qsort(dealt->piece, (size_t)dealt->n_pieces, sizeof *dealt->piece, compare_pieces);
    return check_pieces(dealt);
}

/* Arrays that lie apart. */

/** Have what each process wrote of an operand. Errors: NO_MEMORY. */
static polytile_status add_made(const pti_dealt_launch *dealt, int operand,
                                pti_group_array *array) {
    const int n_processes = pti_transport_count_processes(dealt->group->transport);
    bool has_failed;
    array->is_apart = true;
    if (array->made == NULL)
        array->made = calloc((size_t)n_processes, sizeof *array->made);
    has_failed = array->made == NULL;
    for (int64_t p = 0; p < dealt->n_pieces && !has_failed; p++) {
        pti_boxes *made = &array->made[dealt->piece[p].process];
        pti_dealt_add_written(dealt, dealt->piece[p].rows, operand, made);
        has_failed = made->failed;
    }
    return has_failed ? fail_pieces(dealt, dealt->n_pieces) : POLYTILE_OK;
}

/** Nothing lies apart of the arrays that the launch writes. */
static void forget_written(const pti_dealt_launch *dealt) {
    const pti_prepared *prepared = dealt->recorded->prepared;
    for (int a = 0; a < prepared->n_arrays; a++)
        if (pti_dealt_writes_on_host(dealt, a))
            pti_group_forget_made(dealt->group, prepared->position[a]);
}

static polytile_status note_made(const pti_dealt_launch *dealt) {
    const pti_prepared *prepared = dealt->recorded->prepared;
    polytile_status status = POLYTILE_OK;
    forget_written(dealt);
    for (int a = 0; a < prepared->n_arrays; a++)
        if (pti_dealt_writes_on_host(dealt, a))
            PTI_TRY(add_made(dealt, a, &dealt->group->array[prepared->position[a]]));
done:
    return status;
}

polytile_status pti_dealt_meet_after(pti_dealt_launch *dealt, polytile_status own) {
    pti_transport *transport = dealt->group->transport;
    pti_rows *rows = list_rows(dealt);
    pti_gathered all = {0};
    polytile_status status;
    if (rows == NULL && own == POLYTILE_OK)
        own = fail_pieces(dealt, dealt->n_pieces);
    PTI_TRY(transport->functions->gather(transport, own, rows,
                                         dealt->n_pieces * (int64_t)sizeof *rows, &all));
    status = take_over_pieces(dealt, &all);
    if (status == POLYTILE_OK)
        status = note_made(dealt);
    status = transport->functions->agree(transport, status);
    if (status != POLYTILE_OK)
        forget_written(dealt);
done:
    pti_gathered_free(&all);
    free(rows);
    return status;
}

/* Partial results. */

/** Bytes of one piece's partial results. */
static int64_t count_piece_bytes(const pti_row_pieces *pieces) {
    int64_t n_bytes = 0;
    for (int s = 0; s < pieces->n_sums; s++)
        n_bytes += pieces->sum[s].layout.size_bytes;
    return n_bytes;
}

/** Copy the partial results of this process's pieces, in their order. Returns where they end. */
static char *copy_own(const pti_dealt_sums *sums, char *to) {
    const int n_sums = sums->pieces.n_sums;
    for (int64_t k = 0; k < sums->pieces.n_pieces * n_sums; k++) {
        const size_t n_bytes = (size_t)sums->pieces.sum[k % n_sums].layout.size_bytes;
        if (sums->partial[k] == NULL)
            continue;
        memcpy(to, sums->partial[k]->data, n_bytes);
        to += n_bytes;
    }
    return to;
}

/** Have one partial result of another process. */
static polytile_status make_copy(const pti_dealt_launch *dealt, const pti_row_sum *sum,
                                 const char *bytes, polytile_array **made) {
    const pti_operand *operand = &dealt->recorded->prepared->instance->operand[sum->operand];
    void *memory = malloc((size_t)sum->layout.size_bytes);
    polytile_status status;
    if (memory == NULL)
        return pti_fail_memory(dealt->group->ctx, operand->name, (double)sum->layout.size_bytes);
    memcpy(memory, bytes, (size_t)sum->layout.size_bytes);
    PTI_TRY(polytile_array_wrap_domain(dealt->group->ctx, operand->name, operand->type, &sum->box,
                                       memory, made));
    memory = NULL;
done:
    free(memory);
    return status;
}

static polytile_status make_copies(const pti_dealt_launch *dealt, int64_t piece,
                                   const char *bytes) {
    const pti_dealt_sums *sums = dealt->sums;
    polytile_status status = POLYTILE_OK;
    for (int s = 0; s < sums->pieces.n_sums; s++) {
        PTI_TRY(make_copy(dealt, &sums->pieces.sum[s], bytes,
                          &sums->partial[piece * sums->pieces.n_sums + s]));
        bytes += sums->pieces.sum[s].layout.size_bytes;
    }
done:
    return status;
}

/** Have all that another process gave: its pieces are in their order. */
static polytile_status take_over_partials(const pti_dealt_launch *dealt, int process,
                                          const char *bytes) {
    const int64_t piece_bytes = count_piece_bytes(&dealt->sums->pieces);
    polytile_status status = POLYTILE_OK;
    for (int64_t k = 0; k < dealt->n_pieces; k++) {
        const pti_taken_piece *taken = &dealt->piece[k];
        for (int64_t p = 0; taken->process == process && p < taken->rows.count; p++) {
            PTI_TRY(make_copies(dealt, taken->rows.first + p, bytes));
            bytes += piece_bytes;
        }
    }
done:
    return status;
}

/** Return how many pieces of sums this process has. */
static int64_t count_own(const pti_dealt_launch *dealt) {
    const int own = pti_transport_process(dealt->group->transport);
    int64_t n_own = 0;
    for (int64_t k = 0; k < dealt->n_pieces; k++)
        n_own += dealt->piece[k].process == own ? dealt->piece[k].rows.count : 0;
    return n_own;
}

static polytile_status gather_partials(const pti_dealt_launch *dealt, pti_gathered *all) {
    pti_transport *transport = dealt->group->transport;
    const int64_t n_bytes = count_own(dealt) * count_piece_bytes(&dealt->sums->pieces);
    char *bytes = malloc((size_t)n_bytes + 1);
    polytile_status status = pti_dealt_sums_allocate(dealt->group, dealt->sums);
    if (bytes == NULL && status == POLYTILE_OK)
        status = pti_fail_memory(dealt->group->ctx, "partial results", (double)n_bytes);
    if (status == POLYTILE_OK)
        copy_own(dealt->sums, bytes);
    status = transport->functions->gather(transport, status, bytes, n_bytes, all);
    free(bytes);
    return status;
}

polytile_status pti_dealt_sums_spread(const pti_dealt_launch *dealt) {
    const pti_transport *transport = dealt->group->transport;
    pti_gathered all = {0};
    polytile_status status = POLYTILE_OK;
    if (dealt->sums->pieces.n_sums == 0)
        return POLYTILE_OK;
    PTI_TRY(gather_partials(dealt, &all));
    for (int q = 0; q < pti_transport_count_processes(transport); q++) {
        int64_t n_bytes;
        const char *bytes = pti_gathered_of(&all, q, &n_bytes);
        if (q != pti_transport_process(transport))
            PTI_TRY(take_over_partials(dealt, q, bytes));
    }
done:
    pti_gathered_free(&all);
    return status;
}
