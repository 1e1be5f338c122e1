/*
 * How the server finds out that no slot can go on, where slots on linked GPUs count by themselves.
 *
 * Each GPU has a slot, and a count to which the slots of others add. A slot that waits for its count
 * says so by an entry. Who adds may be seen to do so later, but not after its own next entry. Each
 * GPU has a thread; all take entries, and each asks its own GPU alone for the count. When all slots
 * wait, by what was asked so far, a thread asks, unless it has since the last entry. When all have,
 * and no slot goes on by that, the launch is ended.
 *
 * Checked: when it is ended, no slot goes on, now or ever. It is ended once that is so.
 */

#ifndef N_SIGNALS
#define N_SIGNALS 3 /* of all slots together */
#endif
#define N     3
#define NEVER 255

bool runs[N];             /* the slot has what it waited for */
bool has_told[N];         /* that it waits */
byte wanted[N], count[N]; /* of its signal */
byte n_left = N_SIGNALS;
byte flies[N] = NEVER; /* the slot to which this one has added, which is not seen yet */
chan entry[N] = [2] of { byte };
bool is_over;

/* What the server knows. */
byte wanted_noted[N]; /* 0: the slot does not wait */
byte asked[N];        /* the count, when it was asked for last */
byte asked_at[N] = NEVER;
byte n_entries;

#define WAITS(p)       (wanted_noted[p] != 0 && asked[p] < wanted_noted[p])
#define DO_ALL_WAIT    (WAITS(0) && WAITS(1) && WAITS(2))
#define IS_OLD(p)      (asked_at[p] != n_entries)
#define IS_STUCK(p)    (!runs[p] && count[p] < wanted[p] && flies[p] == NEVER)
#define HAS_ENTRY(p)   (nempty(entry[p]))

#if defined(NO_NUMBERS)
#define ARE_ALL_KNOWN (asked_at[0] != NEVER && asked_at[1] != NEVER && asked_at[2] != NEVER)
#elif defined(OWN_COUNT_ALONE)
#define ARE_ALL_KNOWN true
#else
#define ARE_ALL_KNOWN (!IS_OLD(0) && !IS_OLD(1) && !IS_OLD(2))
#endif

#ifdef ASKED_ONCE
#define HAS_TO_ASK(p) (asked_at[p] == NEVER)
#else
#define HAS_TO_ASK(p) IS_OLD(p)
#endif

#ifdef RELAXED_COMMIT
#define MAY_TELL(p) true
#else
#define MAY_TELL(p) (flies[p] == NEVER)
#endif

proctype slot(byte p) {
    do
    :: atomic { is_over -> break }
    :: atomic {
           !is_over && runs[p] && n_left > 0 && flies[p] == NEVER ->
           n_left--;
           if
           :: flies[p] = (p + 1) % N
           :: flies[p] = (p + 2) % N
           fi
       }
    :: atomic { !is_over && flies[p] != NEVER -> count[flies[p]]++; flies[p] = NEVER }
    :: atomic { !is_over && runs[p] -> runs[p] = false; wanted[p]++; has_told[p] = false }
    :: atomic { !is_over && !runs[p] && count[p] >= wanted[p] -> runs[p] = true }
    :: atomic {
           !is_over && !runs[p] && !has_told[p] && MAY_TELL(p) ->
           has_told[p] = true;
           entry[p]!wanted[p]
       }
    od
}

proctype server(byte p) {
    do
    :: atomic { is_over -> break }
    :: atomic { !is_over && HAS_ENTRY(0) -> entry[0]?wanted_noted[0]; n_entries++ }
    :: atomic { !is_over && HAS_ENTRY(1) -> entry[1]?wanted_noted[1]; n_entries++ }
    :: atomic { !is_over && HAS_ENTRY(2) -> entry[2]?wanted_noted[2]; n_entries++ }
    :: atomic {
           !is_over && DO_ALL_WAIT && HAS_TO_ASK(p) -> asked[p] = count[p]; asked_at[p] = n_entries
       }
    :: atomic {
           !is_over && DO_ALL_WAIT && asked_at[p] != NEVER && ARE_ALL_KNOWN ->
           assert(IS_STUCK(0) && IS_STUCK(1) && IS_STUCK(2));
           is_over = true
       }
    od
}

init {
    atomic {
        runs[0] = true;
        runs[1] = true;
        runs[2] = true;
        run slot(0);
        run slot(1);
        run slot(2);
        run server(0);
        run server(1);
        run server(2)
    }
}
