#include "base/crash.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/** Signals that a thread raises by what it does. */
static const struct {
    int number;
    const char *name;
} watched[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}};
enum { N_WATCHED = sizeof watched / sizeof *watched };

static _Thread_local const pti_crash_note *volatile runs;
static _Thread_local sigjmp_buf *volatile escapes;

/** Other signals by which a body may end on values that its program never had. */
static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGXCPU};
enum { N_CAUGHT = sizeof caught / sizeof *caught };

/** How many catch, and the handlers from before, while anybody does. */
static pthread_mutex_t catching = PTHREAD_MUTEX_INITIALIZER;
static int n_catching;
static struct sigaction put_aside[N_CAUGHT];

/** Only the first of several threads that crash together writes a line. */
static bool has_told; /* atomic */

/** A text of limited length, built from calls that a handler may make. */
typedef struct line {
    size_t length;
    char text[512];
} line;

static void add_text(line *to, const char *text) {
    for (; *text != '\0' && to->length < sizeof to->text; text++)
        to->text[to->length++] = *text;
}

static const char *name_of_signal(int number) {
    const char *name = "a signal";
    for (int k = 0; k < N_WATCHED; k++) {
        if (watched[k].number == number)
            name = watched[k].name;
    }
    return name;
}

static void write_crash_line(const pti_crash_note *note, int number) {
    line of = {0};
    add_text(&of, "polytile: ");
    add_text(&of, note->name);
    add_text(&of, ": ended by ");
    add_text(&of, name_of_signal(number));
    add_text(&of, ": ");
    add_text(&of, note->advice);
    add_text(&of, "\n");
    ssize_t n_written = write(STDERR_FILENO, of.text, of.length);
    (void)n_written;
}

/** Return whether a fault raised the signal, not kill() or its like. What faulted does so again. */
static bool is_fault(const siginfo_t *info) {
    return info->si_code > 0;
}

static void end_as_without(int number, const siginfo_t *info) {
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigemptyset(&usual.sa_mask);
    sigaction(number, &usual, NULL);
    if (!is_fault(info))
        raise(number);
}

static void handle_fault(int number, siginfo_t *info, void *context) {
    int error = errno;
    const pti_crash_note *note = runs;
    (void)context;
    if (note != NULL && is_fault(info) && !__atomic_test_and_set(&has_told, __ATOMIC_SEQ_CST))
        write_crash_line(note, number);
    end_as_without(number, info);
    errno = error;
}

static bool is_free(int number) {
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
           now.sa_handler == SIG_DFL;
}

void pti_crash_install(void) {
    struct sigaction ours = {.sa_sigaction = handle_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    for (int k = 0; k < N_WATCHED; k++) {
        if (is_free(watched[k].number))
            sigaction(watched[k].number, &ours, NULL);
    }
}

void pti_crash_watch(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, pti_crash_install);
}

const pti_crash_note *pti_crash_enter(const pti_crash_note *note) {
    const pti_crash_note *before = runs;
    runs = note;
    return before;
}

/** Return whether the thread that a signal reached, or its timer, has raised it. */
static bool is_crash(int number, const siginfo_t *info) {
    if (number == SIGXCPU)
        return info->si_code == SI_TIMER;
    return is_fault(info) || (number == SIGABRT && info->si_code == SI_TKILL);
}

/** Handle a signal as if nobody caught it. */
static void handle_as_before(int number, siginfo_t *info, void *context) {
    const struct sigaction *to = put_aside;
    for (int k = 0; k < N_CAUGHT; k++) {
        if (caught[k] == number)
            to = &put_aside[k];
    }
    if ((to->sa_flags & SA_SIGINFO) != 0)
        to->sa_sigaction(number, info, context);
    else if (to->sa_handler == SIG_DFL || (to->sa_handler == SIG_IGN && is_fault(info)))
        end_as_without(number, info);
    else if (to->sa_handler != SIG_IGN)
        to->sa_handler(number);
}

/** Leave the crashed code, or handle the signal as usual; a timer that comes late ends nothing. */
static void escape_or_handle(int number, siginfo_t *info, void *context) {
    const int error = errno;
    sigjmp_buf *escape = escapes;
    if (escape != NULL && is_crash(number, info))
        siglongjmp(*escape, 1);
    if (number != SIGXCPU || !is_crash(number, info))
        handle_as_before(number, info, context);
    errno = error;
}

/** Restore a handler, unless the program has set another one meanwhile. */
static void restore_handler(int number, const struct sigaction *to) {
    struct sigaction now;
    if (sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
        now.sa_sigaction == escape_or_handle)
        sigaction(number, to, NULL);
}

void pti_crash_catch(void) {
    struct sigaction ours = {.sa_sigaction = escape_or_handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    pthread_mutex_lock(&catching);
    for (int k = 0; n_catching == 0 && k < N_CAUGHT; k++) {
        sigaction(caught[k], NULL, &put_aside[k]);
        sigaction(caught[k], &ours, NULL);
    }
    n_catching++;
    pthread_mutex_unlock(&catching);
}

void pti_crash_let_go(void) {
    pthread_mutex_lock(&catching);
    n_catching--;
    for (int k = 0; n_catching == 0 && k < N_CAUGHT; k++)
        restore_handler(caught[k], &put_aside[k]);
    pthread_mutex_unlock(&catching);
}

void pti_crash_set_escape(sigjmp_buf *escape) {
    escapes = escape;
}
