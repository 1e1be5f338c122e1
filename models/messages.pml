/*
 * The ring of a team kernel's messages: slots put entries, the server takes and answers them.
 *
 * Stores of a slot stand in a buffer, from which they reach memory in any order, but for a release
 * store, before which all earlier ones of the slot do. A slot has up to two requests under way. The
 * server may end the launch at any time, and then serves no more.
 *
 * Checked: the server takes from each place the entry that a slot has put there, whole, once and in
 * order; an answer's data is there when the answer is; each slot comes to its end.
 */

#ifndef N_REQUESTS
#define N_REQUESTS 3 /* of each slot */
#endif
#define N_SLOTS     2
#define N_ENTRIES   2
#define N_UNDER_WAY 2
#define N_PLACES    6 /* N_SLOTS * 3 */

#ifdef NO_WRAP_COUNT
#define NUMBER(place) 1
#else
#define NUMBER(place) ((place) + 1)
#endif

/* Memory that all see. */
byte head, n_taken;
byte entry_data[N_ENTRIES], entry_commit[N_ENTRIES];
byte reply_data[4 /* N_SLOTS * N_UNDER_WAY */], reply_commit[N_SLOTS];
bool ending;

/* What each place is to have: for the assertions alone. */
byte expected[N_PLACES];

/* Stores of a slot under way: of its requests with even and with odd numbers. */
typedef store {
    bool has_data, has_commit;
    byte place, value, request
};
store stores[4 /* N_SLOTS * N_UNDER_WAY */];

#define VALUE(slot, request) (1 + (slot)*N_REQUESTS + (request))
#define OWN(slot, request)   (2 * (slot) + (request) % 2)

#define IS_OLDER(other, mine)                                                                      \
    (stores[other].request < stores[mine].request &&                                               \
     (stores[other].has_data || stores[other].has_commit))

/* Stores reach memory. */
proctype buffer(byte slot) {
    byte k;
end:
    do
    :: atomic { stores[2 * slot].has_data -> k = 2 * slot }
       d_step { entry_data[stores[k].place % N_ENTRIES] = stores[k].value; stores[k].has_data = false; k = 0 }
    :: atomic { stores[2 * slot + 1].has_data -> k = 2 * slot + 1 }
       d_step { entry_data[stores[k].place % N_ENTRIES] = stores[k].value; stores[k].has_data = false; k = 0 }
    :: atomic {
#ifdef RELAXED_COMMIT
           stores[2 * slot].has_commit ->
#else
           stores[2 * slot].has_commit && !stores[2 * slot].has_data && !IS_OLDER(2 * slot + 1, 2 * slot) ->
#endif
           k = 2 * slot;
           entry_commit[stores[k].place % N_ENTRIES] = NUMBER(stores[k].place);
           stores[k].has_commit = false;
           k = 0
       }
    :: atomic {
#ifdef RELAXED_COMMIT
           stores[2 * slot + 1].has_commit ->
#else
           stores[2 * slot + 1].has_commit && !stores[2 * slot + 1].has_data && !IS_OLDER(2 * slot, 2 * slot + 1) ->
#endif
           k = 2 * slot + 1;
           entry_commit[stores[k].place % N_ENTRIES] = NUMBER(stores[k].place);
           stores[k].has_commit = false;
           k = 0
       }
    od
}

/* A wait ends with what it waits for, or with the launch. */
#ifdef DROPPED_ABORT
#define WAIT_FOR(condition) (condition)
#else
#define WAIT_FOR(condition) ((condition) || ending)
#endif

#define HAS_CREDIT(place) ((place) < N_ENTRIES || n_taken + N_ENTRIES > (place))

inline put(who, number, at) {
    d_step {
        at = head;
        expected[at] = VALUE(who, number);
        head++
    }
#ifndef NO_CREDIT
    WAIT_FOR(HAS_CREDIT(at));
    if
    :: !HAS_CREDIT(at) -> goto ended
    :: else
    fi;
#endif
    atomic {
        !stores[OWN(who, number)].has_data && !stores[OWN(who, number)].has_commit ->
        stores[OWN(who, number)].place = at;
        stores[OWN(who, number)].value = VALUE(who, number);
        stores[OWN(who, number)].request = number;
        stores[OWN(who, number)].has_data = true;
        stores[OWN(who, number)].has_commit = true
    }
}

inline await_reply(who, number) {
    WAIT_FOR(reply_commit[who] > number);
    if
    :: reply_commit[who] > number -> assert(reply_data[OWN(who, number)] == VALUE(who, number))
    :: else -> goto ended
    fi
}

proctype slot(byte me) {
    byte n_put, n_done, place;
    do
    :: n_put < N_REQUESTS && n_put < n_done + N_UNDER_WAY ->
        put(me, n_put, place);
        n_put++
    :: n_done < n_put ->
        await_reply(me, n_done);
        n_done++
    :: n_done == N_REQUESTS -> break
    od;
ended:
    skip
}

inline answer(value) {
    d_step {
        owner = (value - 1) / N_REQUESTS;
        request = (value - 1) % N_REQUESTS
    }
#ifdef REPLY_BEFORE_DATA
    reply_commit[owner]++;
    reply_data[OWN(owner, request)] = value
#else
    reply_data[OWN(owner, request)] = value;
    reply_commit[owner]++
#endif
}

proctype server() {
    byte place, value, owner, request;
    do
    :: place == N_SLOTS * N_REQUESTS || ending -> break
    :: place < N_SLOTS * N_REQUESTS && !ending ->
#ifdef READ_BEFORE_COMMIT
        value = entry_data[place % N_ENTRIES];
#endif
        if
        :: entry_commit[place % N_ENTRIES] == NUMBER(place)
        :: ending = true; break
        fi;
#ifdef CREDIT_BEFORE_READ
        n_taken = place + 1;
#endif
#ifndef READ_BEFORE_COMMIT
        value = entry_data[place % N_ENTRIES];
#endif
        assert(value == expected[place]);
#ifndef CREDIT_BEFORE_READ
        n_taken = place + 1;
#endif
        answer(value);
        place++
    od
}

init {
    atomic {
        run slot(0);
        run slot(1);
        run buffer(0);
        run buffer(1);
        run server()
    }
}
