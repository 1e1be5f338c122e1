#ifndef POLYTILE_PARTITION_PROVE_REPLAY_H
#define POLYTILE_PARTITION_PROVE_REPLAY_H

#include "access/set/bounding_box.h"
#include "access/set/boxes.h"
#include "partition/prove/needs/needs.h"
#include "partition/prove/needs/section_reach.h"
#include "partition/prove/shape/shape.h"

/*
 * The state of a schedule while it is replayed in list order.
 *
 * Replaying in one order is enough because the replay also proves that there is no race: any two
 * operations that use the same bytes or elements, one of them writing, are ordered by streams and
 * waits. Then every order in which a device may run them gives the same data.
 */

/** The newest operation of each stream that is certainly done, -1 for none: a vector clock. */
typedef struct pti_clock {
    int64_t *done;
} pti_clock;

/** Operations known to precede the current one. Clocks are kept only for those that some operation
 * waits for. */
typedef struct pti_waits {
    int n_streams;
    pti_stream stream; /* of the current operation, as is */
    const pti_clock *clock;
    int64_t awaited;  /* the last one of its stream that any operation waits for; -1: none */
    pti_clock newest; /* of those that are waited for */
    pti_clock of[PTI_MAX_STREAMS]; /* at the last operation of each stream */
    int64_t *kept;                 /* of each operation: its place in at, counted from 1; 0: none */
    int64_t *at;                   /* [n_streams] of each */
} pti_waits;

/**
 * The use of some memory by an operation, or by several of one stream.
 *
 * Other streams know of a stream only what they wait for. So operations between two that are waited
 * for are all done or none as far as others know, and their uses count as one.
 */
typedef struct pti_use {
    int64_t first_op, last_op;
    int64_t previous;      /* of the same memory and stream, -1 for none */
    bool writes;           /* some of it */
    pti_bounding_box ends; /* around all */
    int64_t number;        /* of those before it */
    int64_t skip_to; /* over as many uses before it as the largest power of two that divides the
                         number: the last of them */
    pti_bounding_box skip; /* around those */
} pti_use;

/** Some memory: of a resident, or of an operand's array on the host. */
typedef struct pti_memory {
    bool is_host;
    int64_t number;
} pti_memory;

/** The newest use of some memory in each stream, -1 for none. */
typedef struct pti_history {
    int64_t *newest;
} pti_history;

typedef enum pti_life { PTI_UNUSED, PTI_LIVE, PTI_OVERWRITTEN } pti_life;

/** What is known of elements in a placement, each a set of them; the rest may hold anything. */
typedef enum pti_content {
    PTI_VALID,    /* in their newest version */
    PTI_DIRTY,    /* valid, and newer than the host's; empty in place */
    PTI_IDENTITY, /* hold the identity of the first reducing role; those of the others follow */
    PTI_N_CONTENTS = PTI_IDENTITY + POLYTILE_ARGMAX - POLYTILE_SUM + 1
} pti_content;

/** What a placement holds; in place, what an operand's array holds. */
typedef struct pti_resident {
    int operand;
    pti_life life;
    bool is_kept;       /* after the schedule */
    pti_boxes *content; /* [PTI_N_CONTENTS] while it is live */
    pti_history history;
    pti_clock after; /* uses of what lay here before: every use comes after them */
    int64_t next;    /* live residents of the operand, -1 ends */
    int64_t previous;
} pti_resident;

/** Bytes of the arena with the resident that they belong to, or last belonged to. */
typedef struct pti_segment {
    int64_t first_byte;
    int64_t end_byte;
    int64_t resident;
} pti_segment;

/** What is known of an operand beside its residents. */
typedef struct pti_operand_state {
    int64_t first_resident; /* live, -1 for none */
    pti_history host;       /* of the host array, under transfers */
    pti_boxes unwritten;    /* elements that nobody wrote yet */
    pti_boxes zero;         /* elements that no launch wrote yet, of those */
    pti_boxes lost;         /* newer than the host's, and valid nowhere: something took the place */
    int combining;          /* the launch that combined is of */
    pti_boxes combined;     /* fresh reductions: elements that its threads have combined into */
    pti_boxes filled;       /* with an identity in place, and not written since */
} pti_operand_state;

typedef struct pti_replay {
    const pti_schedule *schedule;
    const pti_instance *instance;
    pti_text *why;
    pti_waits waits;
    int64_t n_residents;
    pti_resident *resident;
    int64_t n_contents; /* that residents had so far, at most as many as there are residents */
    pti_boxes *content; /* [n_contents * PTI_N_CONTENTS] */
    int64_t n_spare;
    pti_boxes **spare; /* contents of residents that are live no more, empty */
    pti_operand_state *operand;
    int64_t n_segments;
    pti_segment *segment; /* disjoint, by position */
    int64_t n_uses;
    int64_t uses_capacity;
    pti_use *use;
    int64_t spare_use; /* the first of those of residents that are live no more, -1 for none */
    pti_boxes used[PTI_N_USAGES], used_before[PTI_N_USAGES]; /* by operations that may race */
    pti_section_reaches reaches;
    pti_boxes reused;
    pti_boxes moved[PTI_N_CONTENTS]; /* by the current copy or fill */
    int64_t *clocks; /* the numbers of all histories and clocks but those in waits.at */
    bool failed;     /* an allocation */
} pti_replay;

/* replay.c */

/** Prepare a replay of a schedule whose shape was checked; free it even if this is false. */
bool pti_replay_begin(pti_replay *replay, const pti_schedule *schedule, pti_text *why);
void pti_replay_end(pti_replay *replay);

/** Go on to an operation, the one after the current one. */
void pti_replay_go_on(pti_replay *replay, int64_t op);

/** Where a placement's data is: a position in resident. */
int64_t pti_replay_resident(const pti_replay *replay, int64_t placement);

/** The set of elements that hold a reduction's identity. */
pti_content pti_identity_of(polytile_role reduction);

/** Write a violation's text, naming the operation, the array and, unless NULL, the box; returns
 * false. */
bool pti_replay_reject(pti_replay *replay, int64_t op, int operand, const polytile_domain *box,
                       const char *reason);

/**
 * Let an operation use a resident's memory: it takes over from what overlaps it if this is the
 * first use and that writes, and must come after all uses of what was ever there.
 */
bool pti_replay_enter(pti_replay *replay, int64_t op, int64_t resident, bool writes);

/** Let a resident be there from the start, in its own memory; false if another has some of it. */
bool pti_replay_place(pti_replay *replay, int64_t resident);

/** Return whether a resident holds every element of a box in one of some ways, 1 << pti_content
 * each; if not, *missing has one that it does not. */
bool pti_replay_knows(pti_replay *replay, int64_t resident, unsigned ways,
                      const polytile_domain *box, polytile_domain *missing);

/** Return whether the newest version of a part of the box is nowhere any more. */
bool pti_replay_is_lost(const pti_replay *replay, int operand, const polytile_domain *box);

/** Return whether a part of the box was written since it was on the host. */
bool pti_replay_host_is_stale(const pti_replay *replay, int operand, const polytile_domain *box);

/** The box was downloaded: nothing of it is dirty any more. */
void pti_replay_clean(pti_replay *replay, int operand, const polytile_domain *box);

/** Nothing is known any more of what a resident holds in the box; what was newest there only is
 * lost. */
void pti_replay_overwrite(pti_replay *replay, int64_t resident, const polytile_domain *box);

/** The box was written in one resident: it is the newest there and old in all others. */
void pti_replay_invalidate(pti_replay *replay, int64_t resident, const polytile_domain *box);

/** The host got the newest version of a box from elsewhere: what residents hold of it is old. */
void pti_replay_invalidate_host(pti_replay *replay, int operand, const polytile_domain *box);

/** Elements that a launch's threads have combined into so far. */
const pti_boxes *pti_replay_combined(const pti_replay *replay, int launch, int operand);

/* race.c */

/**
 * Record what an operation uses of some memory, which must not race with what another uses.
 *
 * Shapes  box: around all that it uses there, perhaps more; writes: some of that. Where that meets
 *         what another operation used, which is not certainly done, both are looked at exactly.
 */
bool pti_race_use(pti_replay *replay, int64_t op, pti_memory memory, const polytile_domain *box,
                  bool writes);

/** Enter a resident's memory, and record the use of a box there in the same way. */
bool pti_race_use_resident(pti_replay *replay, int64_t op, int64_t resident,
                           const polytile_domain *box, bool writes);

/* launch.c */

/** Replay a launch: it finds the newest version of all that it reads, and makes a newer one of what
 * it writes. */
bool pti_replay_launch(pti_replay *replay, int64_t op);

/* holdings.c: what lies on the device before a schedule and after it, and what nobody wrote.
 *
 * An element may be valid in several holdings, all then with the same, newest version; if one of
 * them says that it is dirty it is newer than the host's in all. So it is enough that one of the
 * holdings after the schedule keeps what the host lacks. */

/**
 * Put what is there before the first operation into a replay.
 *
 * Proves that each placement is held once and in memory of its own, that the boxes lie in it, that
 * what is dirty is valid, and that what nobody wrote is nowhere.
 */
bool pti_holdings_begin(pti_replay *replay);

/**
 * Compare what the schedule declares to be there after its last operation with what is.
 *
 * Proves that each placement is held once and still there, and that what is declared valid or
 * dirty is; and that everything newer than the host's is dirty in one that is held. In place: that
 * all that was filled was written.
 */
bool pti_holdings_end(pti_replay *replay);

#endif
