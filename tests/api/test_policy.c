#include <polytile/policy.h>

#include "support/c_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t take_one(const polytile_work *work, int unit, void *user) {
    (void)user;
    return work->rows_left > unit ? 1 : 0;
}

/** The plug-in of TuCCompi, figure 11: so many rows at a time to what is fast, one to the
 * others. */
static int64_t take_as_in_figure_11(const polytile_work *work, int unit, void *user) {
    const int64_t *mk = user;
    return strncmp(work->units[unit].device, "cuda", strlen("cuda")) == 0 ? *mk : 1;
}

static void weigh_by_number(const polytile_work *work, double *weights, void *user) {
    (void)user;
    CHECK_RESERVED(*work);
    for (int u = 0; u < work->n_units; u++) {
        CHECK_RESERVED(work->units[u]);
        weights[u] = u + 1;
    }
}

TEST_CASE(ApiPolicy, IsRegisteredByItsName) {
    int64_t mk = 4;
    CHECK_OK(polytile_policy_register(
        ctx, &(polytile_policy){.name = "mk", .take = take_as_in_figure_11, .user = &mk}));
    CHECK_OK(polytile_policy_register(
        ctx, &(polytile_policy){.name = "more", .weigh = weigh_by_number}));
    CHECK_REFUSED(polytile_policy_register(ctx, &(polytile_policy){.name = "mk", .take = take_one}),
                  POLYTILE_INVALID, "there is one of this name");
}

static const struct {
    polytile_policy policy;
    const char *why;
} wrong[] = {
    {{.take = take_one}, "a name has letters"},
    {{.name = "", .take = take_one}, "a name has letters"},
    {{.name = "4you", .take = take_one}, "a name has letters"},
    {{.name = "a(1)", .take = take_one}, "a name has letters"},
    {{.name = "guided", .take = take_one}, "there is one of this name"},
    {{.name = "pool", .take = take_one}, "there is one of this name"},
    {{.name = "none"}, "give one of weigh and take"},
    {{.name = "both", .take = take_one, .weigh = weigh_by_number}, "give not both weigh and take"},
    {{.name = "late", .take = take_one, .reserved = {0, 0, 0, 1}}, "reserved"},
};

TEST_TABLE(ApiPolicy, IsRefusedWithTheReason, wrong) {
    CHECK_REFUSED(polytile_policy_register(ctx, &row->policy), POLYTILE_INVALID, row->why);
}

static const double speeds[] = {2, 1};

TEST_CASE(ApiPolicy, IsSimulatedBeforeItIsUsed) {
    static const char *const policies[] = {"more", "equal"};
    polytile_simulation *simulation = NULL;
    polytile_simulated_policy policy;
    polytile_simulated_unit unit;
    char *text = NULL;
    SPOIL(policy);
    SPOIL(unit);
    CHECK_OK(polytile_policy_register(
        ctx, &(polytile_policy){.name = "more", .weigh = weigh_by_number}));
    CHECK_OK(polytile_simulation_create(
        ctx,
        &(polytile_simulation_request){
            .n_units = 2, .speeds = speeds, .n_rows = 12, .n_policies = 2, .policies = policies},
        &simulation));
    CHECK(polytile_simulation_get_lower_bound(simulation) == 4);
    CHECK_OK(polytile_simulation_get_policy(simulation, 0, &policy));
    CHECK_TEXT(policy.policy, "more");
    CHECK(policy.makespan_s == 8);
    CHECK_EQUAL(policy.n_pieces, 2);
    CHECK_RESERVED(policy);
    CHECK_OK(polytile_simulation_get_unit(simulation, 1, 1, &unit));
    CHECK_EQUAL(unit.n_rows, 6);
    CHECK(unit.busy_s == 6);
    CHECK_RESERVED(unit);
    CHECK_OK(polytile_simulation_to_string(simulation, POLYTILE_TEXT, &text));
    CHECK(strstr(text, "more") != NULL);
    free(text);
    CHECK_REFUSED(polytile_simulation_get_policy(simulation, 2, &policy), POLYTILE_INVALID,
                  "no policy 2");
    CHECK_REFUSED(polytile_simulation_get_unit(simulation, 0, -1, &unit), POLYTILE_INVALID,
                  "no unit -1");
    polytile_simulation_destroy(simulation);
}

static const double wrong_speeds[] = {1, 0}, wrong_costs[] = {1, 2, -3}, no_costs[] = {1, NAN},
                    large_costs[] = {1e308, 1e308};
static const int two_and_one[] = {2, 1}, none_and_two[] = {0, 2};
static const char *const unknown[] = {"fair"}, *const for_three[] = {"self(1,2,3)"};

static const struct {
    polytile_simulation_request request;
    polytile_status status;
    const char *why;
} requests[] = {
    {{.n_units = 0, .n_rows = 1}, POLYTILE_INVALID, "0 units"},
    {{.n_units = 2000, .speeds = speeds, .n_rows = 1}, POLYTILE_INVALID, "2000 units"},
    {{.n_units = 2, .n_rows = 1}, POLYTILE_INVALID, "speeds is NULL"},
    {{.n_units = 2, .speeds = wrong_speeds, .n_rows = 1}, POLYTILE_INVALID, "speed 2 of 2 is 0"},
    {{.n_units = 2, .speeds = speeds}, POLYTILE_INVALID, "0 rows"},
    {{.n_units = 2, .speeds = speeds, .n_rows = 1 << 25}, POLYTILE_INVALID, "33554432 rows"},
    {{.n_units = 2, .speeds = speeds, .n_rows = 3, .costs = wrong_costs},
     POLYTILE_INVALID,
     "row 2 costs -3"},
    {{.n_units = 2, .speeds = speeds, .n_rows = 2, .costs = no_costs},
     POLYTILE_INVALID,
     "row 1 costs nan"},
    {{.n_units = 2, .speeds = speeds, .n_rows = 2, .costs = large_costs},
     POLYTILE_OVERFLOW,
     "costs of 2 rows"},
    {{.n_units = 2, .speeds = speeds, .n_rows = 2, .n_nodes = 2, .node_units = two_and_one},
     POLYTILE_INVALID,
     "3 units together"},
    {{.n_units = 2, .speeds = speeds, .n_rows = 2, .n_nodes = 2, .node_units = none_and_two},
     POLYTILE_INVALID,
     "node 1 of 2 has 0 units"},
    {{.n_units = 2, .speeds = speeds, .n_rows = 2, .n_nodes = -1}, POLYTILE_INVALID, "-1 nodes"},
    {{.n_units = 2, .speeds = speeds, .n_rows = 2, .n_policies = 1}, POLYTILE_INVALID, "list them"},
    {{.n_units = 2, .speeds = speeds, .n_rows = 2, .n_policies = 1, .policies = unknown},
     POLYTILE_INVALID,
     "\"fair\": give one of equal"},
    {{.n_units = 2, .speeds = speeds, .n_rows = 2, .n_policies = 1, .policies = for_three},
     POLYTILE_INVALID,
     "has 3 numbers, for 2 units"},
};

TEST_TABLE(ApiPolicy, IsSimulatedOnlyOnWhatMakesSense, requests) {
    polytile_simulation *simulation = NULL;
    CHECK_REFUSED(polytile_simulation_create(ctx, &row->request, &simulation), row->status,
                  row->why);
    CHECK(simulation == NULL);
}
