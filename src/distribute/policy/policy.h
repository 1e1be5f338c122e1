#ifndef POLYTILE_DISTRIBUTE_POLICY_POLICY_H
#define POLYTILE_DISTRIBUTE_POLICY_POLICY_H

#include "base/context.h"
#include <polytile/policy.h>

/* distribute/policy: which unit runs which rows of a launch, and when. Here is the table of
 * policies: a new one is a file and a row. deal.h deals out one launch's rows, simulate.h does so
 * on units that are not there. Nothing here knows what a row is. */

typedef struct pti_policy pti_policy;

/** A row of the table: either split or take. */
typedef struct pti_policy_kind {
    const char *name;  /* in texts, before parentheses */
    const char *forms; /* for error texts */
    /** Read what stands between the parentheses; NULL: there are none. False if it is wrong. */
    bool (*parse)(const char *arguments, pti_policy *policy);
    /** Before the launch: how many rows each unit gets, in the units' order; all together n_rows of
     * them. Returns whether a plug-in's answer had to be clamped. */
    bool (*split)(const pti_policy *policy, const polytile_work *work, int64_t *rows);
    /** For a unit that is free: as polytile_policy.take. */
    int64_t (*take)(const pti_policy *policy, const polytile_work *work, int unit);
    bool looks_at_units;    /* take does, so it has to know what they have done */
    bool takes_one_for_all; /* one number between parentheses is each unit's */
} pti_policy_kind;

/** The most numbers between parentheses, and the most units that rows are dealt out to. */
enum { PTI_POLICY_MAX_NUMBERS = 64, PTI_DEAL_MAX_UNITS = 1024, PTI_POLICY_WRONG_BYTES = 80 };

/** A kind with its arguments. */
struct pti_policy {
    const pti_policy_kind *kind;
    /** weighted(W,W,...), self(N,N,...): one for each unit; 0: none is given; of self,
     * 1 is for all. */
    int n_numbers;
    double number[PTI_POLICY_MAX_NUMBERS];
    char wrong[PTI_POLICY_WRONG_BYTES]; /* while it is read: what is wrong with the numbers */
    bool by_node;                       /* equal(node) */
    struct pti_plug_in *plug_in;        /* a registered one; the context's, as long as that lives */
};

extern const pti_policy_kind pti_policy_equal;
extern const pti_policy_kind pti_policy_weighted;
extern const pti_policy_kind pti_policy_self;
extern const pti_policy_kind pti_policy_guided;

/**
 * From a text: "equal", "equal(node)", "weighted", "weighted(3,1)", "self(2)", "self(4,4,1)",
 * "guided", "pool", which is an old name of it, or that of a registered one.
 *
 * Errors  INVALID: an unknown one, naming what there is; numbers for another number of units.
 */
polytile_status pti_policy_parse(polytile_context *ctx, const char *text, int n_units,
                                 pti_policy *policy);

/** Return whether units that are free take rows; if not, each one's are known before the launch. */
bool pti_policy_is_dynamic(const pti_policy *policy);

/** Return whether a name is one of the library's own. */
bool pti_policy_is_own_name(const char *name);

/* plug_in.c: policies that programs register. */

/** A registered policy, which the context owns. */
typedef struct pti_plug_in {
    pti_object object;
    polytile_policy policy; /* its name is the plug-in's */
    pti_policy_kind kind;
    bool was_told; /* in the log, that its answers are clamped */
} pti_plug_in;

/** The plug-in that an object is; NULL: it is none. */
const pti_plug_in *pti_plug_in_of(const pti_object *object);

/** The plug-in of a name; NULL: there is none. */
pti_plug_in *pti_plug_in_find(const polytile_context *ctx, const char *name);

/** Give a context a policy that was checked. Errors: NO_MEMORY. */
polytile_status pti_plug_in_adopt(polytile_context *ctx, const polytile_policy *policy);

/** Say in the log, once, that what a policy answered had to be clamped. */
void pti_policy_tell_clamped(const polytile_context *ctx, const pti_policy *policy);

/* weights.c */

/** Read numbers with commas between them, each at least `least` and finite, at most
 * PTI_POLICY_MAX_NUMBERS. If that is false, policy->wrong says what is wrong. */
bool pti_policy_read_numbers(const char *arguments, double least, pti_policy *policy);

/** Split rows in proportion to weights, which are finite, at least 0 and not all 0: the first k
 * units have as many as their part of all weights, rounded. */
void pti_rows_by_weight(int64_t n_rows, int n_units, const double *weights, int64_t *rows);

/** Rows a second that a unit has run in this launch, or in those before; 0: not known. */
double pti_unit_rows_per_s(const polytile_unit *unit);

/** The unit with the most rows a second; of equals, or if none is known, the first. */
int pti_fastest_unit(const polytile_work *work);

#endif
