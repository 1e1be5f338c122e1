#ifndef POLYTILE_DISTRIBUTE_DEAL_LAUNCH_H
#define POLYTILE_DISTRIBUTE_DEAL_LAUNCH_H

#include "distribute/members/state.h"
#include "distribute/policy/deal.h"
#include "distribute/share/row_pieces.h"

/* distribute/deal: launches whose rows a policy deals out to members, of this process or of
 * several. launch.c says when that is done, and what holds before and after. This is what the files
 * share. */

/* fetch.c */

/** Find whether the host's memory has the newest version of all that a launch touches, and every
 * member knows that. Errors: NO_MEMORY. */
polytile_status pti_group_find_on_host(const pti_group *group, const pti_prepared *prepared,
                                       bool *is_on_host);

/** Bring the newest version of all that a launch touches to the host's memory, and note that. No
 * member runs anything. Errors: NO_MEMORY, those of members. */
polytile_status pti_group_fetch_touched(pti_group *group, const pti_prepared *prepared);

/** Bring to the host's memory what local members' devices have newer, where all members have all
 * that a launch touches: each may have computed it for itself. Errors: NO_MEMORY, of members. */
polytile_status pti_group_bring_touched(const pti_group *group, const pti_prepared *prepared);

/* reduce.c */

/** Pieces with their partial results. */
typedef struct pti_dealt_sums {
    pti_row_pieces pieces;
    polytile_array **partial; /* [piece * n_sums + sum]: NULL until the piece is taken; owned */
} pti_dealt_sums;

/** Queue one piece on a local member, with partial results that come to the host. Errors:
 * NO_MEMORY, those of launches. */
polytile_status pti_dealt_sums_launch(pti_group *group, const pti_recorded *recorded,
                                      pti_dealt_sums *sums, int64_t piece, int local);

/** Have a place for the partial results of all pieces. Errors: NO_MEMORY. */
polytile_status pti_dealt_sums_allocate(const pti_group *group, pti_dealt_sums *sums);

/** Combine all partial results with what was on the host, in the order of the pieces, and let
 * members know. Nothing runs. Errors: NO_MEMORY. */
polytile_status pti_dealt_sums_combine(pti_group *group, const pti_recorded *recorded,
                                       const pti_dealt_sums *sums);

/** Take the partial results from the members' queues, and free them. status: a failure before,
 * whose text stays. */
polytile_status pti_dealt_sums_end(pti_group *group, pti_dealt_sums *sums, polytile_status status);

/* units.c */

/** Describe local members as units that run rows of a launch, or pieces in place of rows: n_local
 * of them. */
void pti_group_describe_units(const pti_group *group, const pti_recorded *recorded, bool are_rows,
                              polytile_unit *units);

/** Keep the speeds at which they ran for later launches. */
void pti_group_note_speeds(const pti_group *group, const pti_recorded *recorded,
                           const pti_deal *deal);

/* meet.c: what processes tell each other. */

/** Why rows of a launch cannot be dealt out to members of several processes, as one of them finds
 * it. */
typedef enum pti_deal_obstacle {
    PTI_DEAL_NO_OBSTACLE,
    PTI_DEAL_NO_ROOM,  /* a device has no room for it */
    PTI_DEAL_NOT_HERE, /* not all that it uses is on every host */
    PTI_DEAL_N_OBSTACLES
} pti_deal_obstacle;

/**
 * Tell the other processes of a launch that is about to be dealt out; collective.
 *
 * own: a failure of this process. *obstacle: its own obstacle, then one for all.
 * Errors  Those of gathering; the same decision on all processes.
 * Owns    The caller frees *told, where texts of units are, with pti_gathered_free().
 */
polytile_status pti_deal_meet(const pti_group *group, const pti_recorded *recorded, bool are_rows,
                              polytile_status own, pti_deal_obstacle *obstacle, pti_gathered *told);

/** The members of all processes as units, as these have told. */
void pti_deal_list_units(const pti_group *group, const pti_gathered *told, polytile_unit *units);

/* run.c */

/**
 * Deal out the rows of a launch to local members, by the group's policy. Results are on the host
 * afterwards. The sums are ended.
 *
 * What it touches is on the host before, and no member runs anything. told: of members of other
 * processes, which take rows, too; NULL: there are none.
 * Errors  Of any member: what was to be written is left incomplete; NO_MEMORY.
 */
polytile_status pti_group_deal_rows(pti_group *group, const pti_recorded *recorded,
                                    pti_dealt_sums *sums, const pti_gathered *told);

/* run.c and the files below: a launch while its rows are dealt out. */

/** The member of rows that none runs to the end. */
enum { PTI_NOBODY = -1 };

/** Rows that a member took. */
typedef struct pti_taken_piece {
    pti_rows rows;
    int local;         /* the member, or PTI_NOBODY of this process */
    int process;       /* whose member it is */
    int64_t last_item; /* of its queue, for this piece */
} pti_taken_piece;

/** The pieces that a member has, oldest first. */
typedef struct pti_member_pieces {
    int n_pieces;
    int64_t piece[PTI_DEAL_MAX_PIECES];
    int64_t n_rows; /* of all its pieces, as are the numbers of these */
    int64_t n_taken;
    int64_t first_kept; /* of the rows of which its device keeps something */
    int n_kept;         /* launches since then */
} pti_member_pieces;

/** One launch while it runs. */
typedef struct pti_dealt_launch {
    pti_group *group;
    const pti_recorded *recorded;
    pti_dealt_sums *sums;
    pti_deal deal; /* of rows, or of pieces in place of them */
    int64_t n_pieces;
    int64_t capacity;
    pti_taken_piece *piece;    /* in the order of their rows; owned, as is the next */
    pti_member_pieces *member; /* of each local one */
    double begin_s;            /* when the launch began: times of the deal count from there */
    bool has_failed;
} pti_dealt_launch;

/** Return whether members of other processes take rows, too. */
static inline bool pti_dealt_is_spread(const pti_dealt_launch *dealt) {
    return pti_transport_count_processes(dealt->group->transport) > 1;
}

/** Threads of rows. */
polytile_domain pti_dealt_threads(const pti_dealt_launch *dealt, pti_rows rows);

/** Return how many of a piece's rows a member runs as one launch. While it runs, the results of the
 * launch before it come to the host. */
int64_t pti_dealt_find_part(const pti_dealt_launch *dealt, int local, int64_t n_rows);

/** Queue that results of rows come to the host; where kernels run on the host's memory they are
 * there. Errors: NO_MEMORY. */
polytile_status pti_dealt_fetch(const pti_dealt_launch *dealt, int local, pti_rows rows);

/** Queue that a member's device forgets what some rows touch, which is on the host, except for what
 * does not depend on rows. Errors: NO_MEMORY. */
polytile_status pti_dealt_forget(const pti_dealt_launch *dealt, int local, pti_rows rows);

/** Queue that a member's device forgets what others computed, or what failed. Errors: NO_MEMORY. */
polytile_status pti_dealt_forget_others(const pti_dealt_launch *dealt, int local);

/** Return whether rows write elements of an operand where they are on the host. */
bool pti_dealt_writes_on_host(const pti_dealt_launch *dealt, int operand);

/** Add what rows write of an operand. */
void pti_dealt_add_written(const pti_dealt_launch *dealt, pti_rows rows, int operand,
                           pti_boxes *written);

/* spread.c: launches dealt out to members of several processes. */

/**
 * All processes are done, and learn who took what: the launch has the pieces of all of them, and
 * arrays lie apart that it has written. Collective.
 *
 * own: the status of this process. Errors: of gathering; INTERNAL: a row that was not run once. The
 * same on all processes.
 */
polytile_status pti_dealt_meet_after(pti_dealt_launch *dealt, polytile_status own);

/** Give all processes all partial results, by the pieces that all of them have; collective. Errors:
 * of gathering, as above; then, of this process alone, NO_MEMORY. */
polytile_status pti_dealt_sums_spread(const pti_dealt_launch *dealt);

/* launch.c */

/** Run a recorded launch by dealing out its rows, if that is asked for and can be done; else the
 * log says why not. *is_done: the launch is done, and all before it. Of several processes all call
 * it, also those that have failed, and all decide alike; *is_done is also true if it has failed.
 * Errors: of any member; NO_MEMORY. */
polytile_status pti_group_deal_launch(pti_group *group, int at, bool *is_done);

#endif
