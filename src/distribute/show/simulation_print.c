#include "distribute/policy/simulate.h"
#include "distribute/show/simulation.h"
#include "partition/show/json_write.h"

#include <inttypes.h>

polytile_status polytile_simulation_to_string(const polytile_simulation *simulation,
                                              polytile_format format, char **text) {
    static pti_printer *const printers[PTI_N_FORMATS] = {
        [POLYTILE_TEXT] = pti_simulation_write_text,
        [POLYTILE_JSON] = pti_simulation_write_json,
        [POLYTILE_SVG] = pti_simulation_draw,
    };
    return pti_print(__func__, "simulation", simulation == NULL ? NULL : &simulation->object,
                     printers, format, text);
}

/* Text: a table. */

static void add_policy(pti_text *text, const polytile_simulation *simulation,
                       const pti_simulated *simulated) {
    double over =
        simulation->lower_bound_s > 0 ? simulated->makespan_s / simulation->lower_bound_s : 1;
    pti_text_add(text, "  %-20s %14.6g s  %8.3f  %10" PRId64 "  ", simulated->policy,
                 simulated->makespan_s, over, simulated->n_pieces);
    for (int u = 0; u < simulation->n_units; u++)
        pti_text_add(text, "%s%" PRId64, u == 0 ? "" : ",", simulated->unit[u].n_rows);
    pti_text_add(text, "\n");
}

void pti_simulation_write_text(pti_text *text, const pti_object *object) {
    const polytile_simulation *simulation = (const polytile_simulation *)object;
    pti_text_add(text, "%s on %s, at least %.6g s\n",
                 pti_words_count(simulation->n_rows, "row").text,
                 pti_words_count(simulation->n_units, "unit").text, simulation->lower_bound_s);
    pti_text_add(text, "  %-20s %16s  %8s  %10s  %s\n", "policy", "until all is done", "of least",
                 "pieces", "rows of each unit");
    for (int k = 0; k < simulation->n_policies; k++)
        add_policy(text, simulation, &simulation->of[k]);
}

/* JSON. */

static json_t *json_units(const polytile_simulation *simulation, const pti_simulated *simulated) {
    json_t *units = json_array();
    for (int u = 0; u < simulation->n_units; u++) {
        const pti_json_member members[] = {
            {"rows", json_integer(simulated->unit[u].n_rows)},
            {"busy_s", pti_json_real(simulated->unit[u].busy_s)},
            {NULL, NULL},
        };
        units = pti_json_append(units, pti_json_extend(json_object(), members));
    }
    return units;
}

static json_t *json_policies(const polytile_simulation *simulation) {
    json_t *policies = json_array();
    for (int k = 0; k < simulation->n_policies; k++) {
        const pti_simulated *simulated = &simulation->of[k];
        const pti_json_member members[] = {
            {"policy", pti_json_name(simulated->policy)},
            {"makespan_s", pti_json_real(simulated->makespan_s)},
            {"pieces", json_integer(simulated->n_pieces)},
            {"units", json_units(simulation, simulated)},
            {NULL, NULL},
        };
        policies = pti_json_append(policies, pti_json_extend(json_object(), members));
    }
    return policies;
}

void pti_simulation_write_json(pti_text *text, const pti_object *object) {
    const polytile_simulation *simulation = (const polytile_simulation *)object;
    const pti_json_member members[] = {
        {"lower_bound_s", pti_json_real(simulation->lower_bound_s)},
        {"n_rows", json_integer(simulation->n_rows)},
        {NULL, NULL},
    };
    json_t *policies = json_policies(simulation);
    size_t k;
    json_t *policy;
    pti_text_add(text, "{\n");
    pti_json_write_members(text, pti_json_extend(json_object(), members));
    pti_text_add(text, "  \"policies\": [");
    text->failed |= policies == NULL;
    json_array_foreach(policies, k, policy) pti_json_write_entry(text, json_incref(policy), k == 0);
    pti_text_add(text, "\n  ]\n}\n");
    json_decref(policies);
}
