#include "access/proof.h"
#include "partition/window/launches.h"
#include "partition/window/plan.h"

#include <stdlib.h>

/* The public proofs: what every plan requires of its launches, and what no plan can know by itself.
 */

polytile_status polytile_check(const polytile_kernel *kernel, const polytile_domain *domain,
                               int n_arrays, polytile_array *const *arrays,
                               const polytile_launch_options *options) {
    PTI_ENTER(kernel, kernel->object.context, "kernel");
    pti_instance *instance = NULL;
    polytile_status status;
    PTI_TRY(pti_plan_bind(kernel, domain, n_arrays, arrays, options, &instance));
    PTI_TRY(pti_prove_inside(kernel, instance));
done:
    pti_instance_free(instance);
    return status;
}

/**
 * Launches under proof, one of each kind, in the order in which kinds come.
 *
 * What was written stays written, so that a kind reads nothing without a value if its first launch
 * does not, and later launches of it write nothing new.
 */
typedef struct prover {
    const pti_chain_request *request;
    pti_launches launches;
    int n_proved;
    pti_proved_launch *proved; /* owned, as below */
    int n_blank;
    pti_blank_array *blank; /* scratch arrays that launches touch */
} prover;

/** False when memory runs out. */
static bool allocate_prover(prover *of) {
    const pti_launches *launches = &of->launches;
    of->proved = calloc((size_t)launches->n_kinds + 1, sizeof *of->proved);
    of->blank = calloc((size_t)launches->arrays->n_operands + 1, sizeof *of->blank);
    if (of->proved == NULL || of->blank == NULL)
        return false;
    for (int a = 0; a < launches->arrays->n_operands; a++)
        if (launches->is_scratch[a])
            of->blank[of->n_blank++] =
                (pti_blank_array){.array = a, .name = launches->arrays->operand[a].name};
    return true;
}

/** The first launch of the next kind. */
static polytile_status prove_kind(prover *of, int launch) {
    const pti_launch_kind *kind = &of->launches.of_kind[of->n_proved];
    pti_proved_launch *proved = &of->proved[of->n_proved++];
    polytile_status status;
    *proved = (pti_proved_launch){.kernel = of->request->launch[launch].kernel,
                                  .call = {kind->instance, kind->array}};
    PTI_TRY(pti_prove_inside(proved->kernel, proved->call.instance));
    for (int b = 0; b < of->n_blank; b++)
        PTI_TRY(pti_prove_initialised(of->n_proved, of->proved, &of->blank[b]));
    for (int b = 0; b < of->n_blank; b++)
        pti_note_written(proved, &of->blank[b]);
done:
    if (status != POLYTILE_OK)
        pti_place_error(of->request->ctx, launch, of->request->n_launches);
    return status;
}

static polytile_status prove_launches(prover *of) {
    polytile_status status;
    PTI_TRY(pti_launches_bind(of->request, &of->launches));
    PTI_TRY(allocate_prover(of) ? POLYTILE_OK
                                : pti_fail_memory(of->request->ctx, "launches", PTI_UNKNOWN_BYTES));
    for (int l = 0; l < of->launches.n_launches; l++)
        if (of->launches.kind[l] == of->n_proved)
            PTI_TRY(prove_kind(of, l));
done:
    return status;
}

static void free_prover(prover *of) {
    for (int b = 0; b < of->n_blank; b++)
        pti_boxes_free(&of->blank[b].written);
    free(of->blank);
    free(of->proved);
    pti_launches_free(&of->launches);
}

polytile_status polytile_check_chain(int n_launches, const polytile_chain_launch *launches,
                                     int n_scratch, polytile_array *const *scratch,
                                     const polytile_plan_options *options) {
    pti_chain_request request = {.n_launches = n_launches,
                                 .launch = launches,
                                 .n_scratch = n_scratch,
                                 .scratch = scratch,
                                 .options = options};
    prover of = {.request = &request};
    polytile_status status;
    PTI_TRY(pti_chain_request_complete(__func__, &request));
    PTI_TRY(prove_launches(&of));
done:
    free_prover(&of);
    return status;
}
