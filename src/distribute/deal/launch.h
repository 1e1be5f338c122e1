#ifndef POLYTILE_DISTRIBUTE_DEAL_LAUNCH_H
#define POLYTILE_DISTRIBUTE_DEAL_LAUNCH_H

#include "distribute/members/state.h"
#include "distribute/policy/deal.h"
#include "distribute/share/row_pieces.h"

/* distribute/deal: launches whose rows a policy deals out to the members of this process. launch.c
 * says when that is done, and what holds before and after. This is what the files share. */

/* fetch.c */

/** Whether the host's memory has the newest version of all that a launch touches, and every member
 * knows that. Errors: NO_MEMORY. */
polytile_status pti_group_find_on_host(const pti_group *group, const pti_prepared *prepared,
                                       bool *is_on_host);

/** Bring it there, and note that. No member runs anything. Errors: NO_MEMORY, those of members. */
polytile_status pti_group_fetch_touched(pti_group *group, const pti_prepared *prepared);

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

/* run.c */

/**
 * Deal out the rows of a launch to local members, by the group's policy. Results are on the host
 * afterwards. The sums are ended.
 *
 * What it touches is on the host before, and no member runs anything.
 * Errors  Of any member: what was to be written is left incomplete; NO_MEMORY.
 */
polytile_status pti_group_deal_rows(pti_group *group, const pti_recorded *recorded,
                                    pti_dealt_sums *sums);

/* run.c and written.c: a launch while its rows are dealt out. */

/** The member of rows that none runs to the end. */
enum { PTI_NOBODY = -1 };

/** Rows that a member took. */
typedef struct pti_taken_piece {
    pti_rows rows;
    int local;         /* the member, or PTI_NOBODY */
    int64_t last_item; /* of its queue, for this piece */
} pti_taken_piece;

/** The pieces that a member has, oldest first. */
typedef struct pti_member_pieces {
    int n_pieces;
    int64_t piece[PTI_DEAL_MAX_PIECES];
    int64_t n_rows; /* of all its pieces, as are the numbers of these */
    int64_t n_taken;
    int64_t first_kept; /* of the rows of which its device keeps something */
    int n_kept;         /* pieces since then */
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
    bool has_failed;
} pti_dealt_launch;

/** Threads of rows. */
polytile_domain pti_dealt_threads(const pti_dealt_launch *dealt, pti_rows rows);

/** Queue that results of rows come to the host; where kernels run on the host's memory they are
 * there.
 * Errors: NO_MEMORY. */
polytile_status pti_dealt_fetch(const pti_dealt_launch *dealt, int local, pti_rows rows);

/** Queue that a member's device forgets all of some rows, which is on the host, but what does not
 * depend on rows. Errors: NO_MEMORY. */
polytile_status pti_dealt_forget(const pti_dealt_launch *dealt, int local, pti_rows rows);

/** Queue that a member's device forgets what others computed, or what failed. Errors: NO_MEMORY. */
polytile_status pti_dealt_forget_others(const pti_dealt_launch *dealt, int local);

/* launch.c */

/** Run a recorded launch by dealing out its rows, if that is asked for and can be done: *is_done;
 * else the log says why not. All before the launch is done then, and so is the launch. Errors: of
 * any member; NO_MEMORY. */
polytile_status pti_group_deal_launch(pti_group *group, int at, bool *is_done);

#endif
