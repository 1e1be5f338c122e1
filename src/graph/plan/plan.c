#include "graph/plan/plan.h"

#include "base/checked.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

static void destroy_graph_plan(pti_object *object) {
    polytile_graph_plan *plan = (polytile_graph_plan *)object;
    for (int64_t s = 0; s < plan->n_strings; s++)
        free(plan->string[s]);
    free(plan->string);
    free(plan->actor);
    free(plan->turn);
    free(plan->level);
    free((void *)plan->array);
    free(plan->unit);
    free(plan->memory);
    free(plan->channel);
    free(plan->edge);
    free(plan->lane);
    free(plan->task);
    pti_dot_free(plan->dot);
    free(plan->part);
    pti_expansion_free(&plan->expansion);
    pti_periodic_free(&plan->schedule);
    pti_text_free(&plan->notes);
    free(plan);
}

/** Find a word in a list; NULL is the first one. */
static bool find_word(const char *word, const char *const *words, int n, int *found) {
    for (*found = 0; *found < n; (*found)++)
        if (word == NULL || strcmp(words[*found], word) == 0)
            return true;
    return false;
}

static polytile_status read_options(pti_planning *planning, const polytile_graph_options *options) {
    static const char *const objectives[] = {"period", "latency", "memory"};
    static const polytile_graph_options none = {0};
    int objective;
    options = options == NULL ? &none : options;
    if (!find_word(options->objective, objectives, 3, &objective))
        return pti_fail(planning->ctx, POLYTILE_INVALID,
                        "%s: there is no objective \"%s\"; use period, latency or memory",
                        planning->graph->dot->source, options->objective);
    planning->strategy = pti_graph_strategy_find(options->strategy);
    if (planning->strategy == NULL)
        return pti_fail(planning->ctx, POLYTILE_INVALID,
                        "%s: there is no strategy \"%s\" for graphs; use best or paper",
                        planning->graph->dot->source, options->strategy);
    planning->objective = (pti_map_objective)objective;
    planning->overlap = !options->no_overlap;
    planning->keeps_map = options->keep_map;
    planning->in_turn = options->in_turn;
    planning->may_cut = options->in_superblocks;
    planning->in_parts = options->in_parts;
    if (options->in_parts &&
        (options->keep_map || options->in_turn || !planning->strategy->may_spread))
        return pti_fail(planning->ctx, POLYTILE_INVALID,
                        "%s: domains are split only by strategy \"best\", where the mapping is not "
                        "to be kept and frames do not go in turn",
                        planning->graph->dot->source);
    if (options->in_turn &&
        (options->keep_map || options->no_overlap || !planning->strategy->may_spread))
        return pti_fail(
            planning->ctx, POLYTILE_INVALID,
            "%s: frames in turn are looked for only with overlap, by strategy \"best\", "
            "and where the mapping is not to be kept",
            planning->graph->dot->source);
    return pti_check_reserved(planning->ctx, planning->graph->dot->source, "polytile_graph_options",
                              options->reserved);
}

static void forget_planning(pti_planning *planning) {
    pti_net_free(&planning->net);
    pti_net_free(&planning->round);
    free(planning->n_on);
    free(planning->on);
    free(planning->seconds);
    free(planning->allowed);
    pti_planning_forget_cuts(planning);
    if (planning->split != NULL)
        planning->graph = planning->whole;
    pti_graph_free_split(planning->split);
    planning->split = NULL;
    planning->net = planning->round = (pti_net){0};
    planning->n_on = planning->on = NULL;
    planning->seconds = NULL;
    planning->allowed = NULL;
}

static polytile_status plan_once(pti_planning *planning) {
    pti_mapping mapping = {0};
    pti_outcome outcome = {0};
    polytile_status status;
    planning->plan->n_parts = 0;
    PTI_TRY(pti_planning_split_actors(planning));
    PTI_TRY(pti_planning_find_net(planning));
    PTI_TRY(pti_planning_check_actors(planning));
    PTI_TRY(pti_planning_choose(planning, &mapping, &outcome));
    PTI_TRY(pti_planning_write(planning, &mapping, &outcome));
    pti_planning_hand_over(planning, &outcome);
done:
    pti_outcome_free(&outcome);
    free(mapping.unit);
    forget_planning(planning);
    return status;
}

/** Where frames fit one by one, but not what has to live at once, all units with memories of their
 * own run superblocks, if they may. */
static polytile_status plan_graph(pti_planning *planning, const polytile_graph_options *options) {
    polytile_status status;
    PTI_TRY(read_options(planning, options));
    status = plan_once(planning);
    if (status == POLYTILE_NO_FIT && planning->may_cut) {
        pti_text_free(&planning->plan->notes);
        planning->plan->notes = (pti_text){0};
        planning->cuts_all = true;
        status = plan_once(planning);
    }
    if (status == POLYTILE_OK)
        pti_clear_error(planning->ctx);
done:
    return status;
}

static polytile_status allocate_plan(pti_planning *planning) {
    planning->plan = calloc(1, sizeof *planning->plan);
    if (planning->plan == NULL)
        return pti_fail_memory(planning->ctx, "a graph's plan", sizeof *planning->plan);
    planning->plan->object.context = planning->ctx;
    return POLYTILE_OK;
}

/** Plan once more, as another plan. */
static polytile_status make_another(pti_planning *planning) {
    polytile_status status;
    PTI_TRY(allocate_plan(planning));
    PTI_TRY(plan_once(planning));
done:
    return status;
}

static void end_plan(polytile_graph_plan *plan) {
    if (plan != NULL)
        destroy_graph_plan(&plan->object);
}

polytile_status polytile_graph_plan_create(const polytile_graph *graph,
                                           const polytile_machine *machine,
                                           const polytile_graph_options *options,
                                           polytile_graph_plan **plan) {
    const double begin_s = pti_now_s();
    if (plan != NULL)
        *plan = NULL;
    PTI_ENTER(graph, graph->object.context, "graph");
    pti_planning planning = {.ctx = graph->object.context, .graph = graph, .machine = machine};
    if (machine == NULL || plan == NULL)
        return pti_fail(planning.ctx, POLYTILE_INVALID,
                        "%s: planning needs a machine and a place for a "
                        "plan",
                        graph->dot->source);
    if (machine->object.context != planning.ctx)
        return pti_fail(planning.ctx, POLYTILE_INVALID,
                        "%s: the machine is of another context; read it in the graph's",
                        graph->dot->source);
    polytile_status status = allocate_plan(&planning);
    if (status == POLYTILE_OK)
        status = plan_graph(&planning, options);
    if (status == POLYTILE_OK && planning.in_parts && planning.objective == PTI_OBJECTIVE_PERIOD &&
        planning.plan->n_turns == 1)
        status = pti_planning_split_longest(&planning, make_another, end_plan);
    if (status != POLYTILE_OK) {
        end_plan(planning.plan);
        return status;
    }
    planning.plan->plan_s = pti_now_s() - begin_s;
    pti_object_adopt(planning.ctx, &planning.plan->object, destroy_graph_plan);
    *plan = planning.plan;
    return POLYTILE_OK;
}

void polytile_graph_plan_destroy(polytile_graph_plan *plan) {
    pti_object_release(plan == NULL ? NULL : &plan->object);
}

/** Add up what a frame moves, on average over the turns. */
static void sum_bytes(const polytile_graph_plan *plan, polytile_graph_summary *summary) {
    for (int t = 0; t < plan->expansion.tasks.n_tasks; t++) {
        const pti_task_note *note = &plan->expansion.task[t];
        if (note->kind != PTI_TASK_MOVE)
            continue;
        const bool is_from_host = plan->memory[note->from].is_host;
        const bool is_to_host = plan->memory[note->to].is_host;
        int64_t *sum = is_from_host == is_to_host ? &summary->p2p_bytes
                       : is_to_host               ? &summary->d2h_bytes
                                                  : &summary->h2d_bytes;
        *sum += note->n_bytes;
    }
    summary->h2d_bytes /= plan->n_turns;
    summary->d2h_bytes /= plan->n_turns;
    summary->p2p_bytes /= plan->n_turns;
    for (int m = 0; m < plan->n_memories; m++)
        if (!plan->memory[m].is_host)
            summary->device_bytes = pti_max(summary->device_bytes, plan->memory[m].n_bytes);
}

void polytile_graph_plan_get_summary(const polytile_graph_plan *plan,
                                     polytile_graph_summary *summary) {
    if (summary == NULL)
        return;
    memset(summary, 0, sizeof *summary);
    summary->bound = "";
    if (plan == NULL)
        return;
    summary->period_s = plan->period_s;
    summary->bound_s = plan->bound_s;
    summary->bound = plan->bound;
    summary->latency_s = plan->latency_s;
    summary->frames_in_flight = plan->frames_in_flight;
    summary->n_actors = plan->n_actors;
    for (int c = 0; c < plan->n_channels; c++)
        summary->n_channels += !plan->channel[c].is_order;
    summary->mapping_is_exact = plan->mapping_is_exact;
    summary->channels_are_least = plan->channels_are_least;
    summary->plan_seconds = plan->plan_s;
    sum_bytes(plan, summary);
}

const char *polytile_graph_plan_get_notes(const polytile_graph_plan *plan) {
    return plan == NULL || plan->notes.data == NULL ? "" : plan->notes.data;
}
