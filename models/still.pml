/*
 * How the servers of several processes find out that no slot can go on in any of them.
 *
 * A process goes on, sends messages, and stops; a message may let it go on again. It tells the first
 * process that it stands still, with how many messages it has sent and got. When all do so, and as
 * many are got as sent, the first one asks again; if all say the same, it ends the launch. What one
 * process sends another one comes in order.
 *
 * Checked: when the launch is ended, no process goes on, and no message is under way. It is ended
 * once that is so.
 */

#ifndef N_MESSAGES
#define N_MESSAGES 4 /* of all processes together */
#endif
#define N         3
#define NOT_ASKED 255

mtype = { message, report, question, answer };

/* [from * N + to]: what it is; whether the sender stands still; its counts. */
chan line[9 /* N * N */] = [6] of { mtype, bool, byte, byte };

bool goes_on[N];
byte sent[N], got[N], n_left = N_MESSAGES;
bool is_over;

/* What each process has told. */
bool is_told[N];
byte sent_told[N], got_told[N];

/* What the first process knows. */
bool is_still[N];
byte sent_known[N], got_known[N];
byte n_answers = NOT_ASKED;
bool is_sure;

#define IS_NEWS(p) (!is_told[p] || sent_told[p] != sent[p] || got_told[p] != got[p])

inline note_told(p) {
    is_told[p] = !goes_on[p];
    sent_told[p] = sent[p];
    got_told[p] = got[p]
}

inline know(p, still, n_sent, n_got) {
    is_still[p] = still;
    sent_known[p] = n_sent;
    got_known[p] = n_got
}

inline end_launch() {
    assert(!goes_on[0] && !goes_on[1] && !goes_on[2]);
    assert(sent[0] + sent[1] + sent[2] == got[0] + got[1] + got[2]);
    is_over = true
}

#ifdef NO_SUMS
#define ARE_SUMS_EQUAL true
#else
#define ARE_SUMS_EQUAL                                                                             \
    (sent_known[0] + sent_known[1] + sent_known[2] == got_known[0] + got_known[1] + got_known[2])
#endif

/* Ask all others; the first process's own answer is what it is now. */
inline ask_if_still() {
    if
    :: n_answers == NOT_ASKED && is_still[0] && is_still[1] && is_still[2] && ARE_SUMS_EQUAL ->
#ifdef NO_QUESTION
       end_launch()
#else
       n_answers = 1;
       is_sure = !goes_on[0] && sent[0] == sent_known[0] && got[0] == got_known[0];
       know(0, !goes_on[0], sent[0], got[0]);
       note_told(0);
       line[1]!question(false, 0, 0);
       line[2]!question(false, 0, 0)
#endif
    :: else
    fi
}

inline take_report(p, n_sent, n_got) {
#ifdef REPORTS_ARE_DROPPED
    if
    :: n_answers == NOT_ASKED -> know(p, true, n_sent, n_got)
    :: else
    fi;
#else
    is_sure = false;
    know(p, true, n_sent, n_got);
#endif
    ask_if_still()
}

inline take_answer(p, still, n_sent, n_got) {
#ifdef COUNTS_MAY_CHANGE
    is_sure = is_sure && still;
#else
    is_sure = is_sure && still && is_still[p] && n_sent == sent_known[p] && n_got == got_known[p];
#endif
    know(p, still, n_sent, n_got);
    n_answers++;
    if
    :: n_answers == N && is_sure -> n_answers = NOT_ASKED; end_launch()
    :: n_answers == N && !is_sure -> n_answers = NOT_ASKED; ask_if_still()
    :: else
    fi
}

inline take(p, from) {
    if
    :: what == message ->
       got[p]++;
       if
       :: goes_on[p] = true; is_told[p] = false
       :: true /* it is not what the slots wait for */
       fi
    :: what == report -> take_report(from, n_sent, n_got)
    :: what == question ->
       note_told(p);
       line[p * N]!answer(!goes_on[p], sent[p], got[p])
    :: what == answer -> take_answer(from, still, n_sent, n_got)
    fi
}

proctype process(byte p) {
    mtype what;
    bool still;
    byte n_sent, n_got;
    do
    :: atomic { is_over -> break }
    :: atomic {
           !is_over && goes_on[p] && n_left > 0 ->
           n_left--;
           sent[p]++;
           if
           :: line[p * N + (p + 1) % N]!message(false, 0, 0)
           :: line[p * N + (p + 2) % N]!message(false, 0, 0)
           fi
       }
    :: atomic { !is_over && goes_on[p] -> goes_on[p] = false }
    :: atomic {
           !is_over && !goes_on[p] && IS_NEWS(p) ->
           note_told(p);
           if
           :: p == 0 -> take_report(0, sent[0], got[0])
           :: else -> line[p * N]!report(true, sent[p], got[p])
           fi
       }
    :: atomic {
           !is_over && nempty(line[(p + 1) % N * N + p]) ->
           line[(p + 1) % N * N + p]?what, still, n_sent, n_got;
           take(p, (p + 1) % N);
           what = 0; still = false; n_sent = 0; n_got = 0
       }
    :: atomic {
           !is_over && nempty(line[(p + 2) % N * N + p]) ->
           line[(p + 2) % N * N + p]?what, still, n_sent, n_got;
           take(p, (p + 2) % N);
           what = 0; still = false; n_sent = 0; n_got = 0
       }
    od
}

init {
    atomic {
        goes_on[0] = true;
        goes_on[1] = true;
        goes_on[2] = true;
        run process(0);
        run process(1);
        run process(2)
    }
}
