/*
 * The program's thread and the queue's: one mutex, and two condition variables, "work" and "done".
 *
 * The program calls what it likes a few times, then destroys the queue with work in flight. A
 * waiting thread may wake up once without being woken. The program ends, so that a thread that is
 * never woken shows as a state in which nothing can go on.
 */

#ifndef N_CALLS
#define N_CALLS 6
#endif

bool locked, stops, paused, runs;
bool waits_for_work, waits_for_done, woke_by_itself, has_ended;
byte n_queued, n_enqueued, n_done;

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }

/* Gives the mutex away and sleeps, in one step; takes it again when woken. */
inline sleep(flag) {
    atomic { locked = false; flag = true }
    if
    :: !flag
    :: atomic { !woke_by_itself -> woke_by_itself = true; flag = false }
    fi;
    lock()
}

#define MUST_SLEEP ((n_queued == 0 || paused) && !stops)

inline take_work() {
    lock();
#ifdef NO_RECHECK
    if
    :: MUST_SLEEP -> sleep(waits_for_work)
    :: else
    fi;
#else
    do
    :: MUST_SLEEP -> sleep(waits_for_work)
    :: else -> break
    od;
#endif
    ends = (stops && n_queued == 0);
#ifdef NO_DRAIN
    ends = stops;
#endif
    if
    :: ends
    :: else ->
        assert(n_queued > 0 && !paused);
        n_queued--;
        runs = true
    fi;
    unlock()
}

active proctype queue_thread() {
    bool ends;
    do
    :: take_work();
        if
        :: ends -> break
        :: else
        fi;
        lock();
        runs = false;
        n_done++;
#ifndef NO_SIGNAL_OF_DONE
        waits_for_done = false;
#endif
        unlock()
    od;
    has_ended = true
}

inline enqueue() {
#ifdef SIGNAL_BEFORE_CHANGE
    waits_for_work = false;
    lock();
    n_queued++;
    n_enqueued++;
    unlock()
#else
    lock();
    n_queued++;
    n_enqueued++;
    waits_for_work = false;
    unlock()
#endif
}

inline set_paused(value) {
    lock();
    paused = value;
    waits_for_work = false;
    unlock()
}

/* Waiting ends a pause. */
inline wait() {
    lock();
#ifndef WAIT_KEEPS_PAUSE
    paused = false;
#endif
    waits_for_work = false;
#ifdef TEST_WITHOUT_MUTEX
    unlock();
    do
    :: n_queued > 0 || runs -> lock(); sleep(waits_for_done); unlock()
    :: else -> break
    od;
    lock();
#else
    do
    :: n_queued > 0 || runs -> sleep(waits_for_done)
    :: else -> break
    od;
#endif
    assert(n_done == n_enqueued);
    unlock()
}

/* Busy with other things until all is done, which takes no further call. */
inline be_elsewhere() { !paused -> n_done == n_enqueued }

inline destroy() {
    lock();
    stops = true;
    paused = false;
    waits_for_work = false;
    unlock();
    has_ended;
    assert(n_done == n_enqueued)
}

active proctype program() {
    byte n_calls;
    do
    :: n_calls < N_CALLS ->
        n_calls++;
        if
        :: enqueue()
        :: set_paused(true)
        :: set_paused(false)
        :: wait()
        :: be_elsewhere()
        fi
    :: break
    od;
    destroy()
}
