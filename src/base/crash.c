#include "base/crash.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/** Raised by what a thread does itself. */
static const struct {
    int number;
    const char *name;
} watched[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}};
enum { N_WATCHED = sizeof watched / sizeof *watched };

static _Thread_local const pti_crash_note *volatile runs;
static _Thread_local sigjmp_buf *volatile escapes;

/** What else a body may end by that runs on values which its program never had. */
static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGXCPU};
enum { N_CAUGHT = sizeof caught / sizeof *caught };

/** Who catches, and the handlers that were there before, as long as anybody does. */
static pthread_mutex_t catching = PTHREAD_MUTEX_INITIALIZER;
static int n_catching;
static struct sigaction put_aside[N_CAUGHT];

/** Threads that run the same crash together. */
static atomic_flag has_told = ATOMIC_FLAG_INIT;

/** A text of limited length, made without any function that a handler must not call. */
typedef struct line {
    size_t length;
    char text[512];
} line;

static void add(line *to, const char *text) {
    for (; *text != '\0' && to->length < sizeof to->text; text++)
        to->text[to->length++] = *text;
}

static const char *name_of(int number) {
    const char *name = "a signal";
    for (int k = 0; k < N_WATCHED; k++) {
        if (watched[k].number == number)
            name = watched[k].name;
    }
    return name;
}

static void write_crash_line(const pti_crash_note *note, int number) {
    line of = {0};
    add(&of, "polytile: ");
    add(&of, note->name);
    add(&of, ": ended by ");
    add(&of, name_of(number));
    add(&of, ": ");
    add(&of, note->advice);
    add(&of, "\n");
    ssize_t n_written = write(STDERR_FILENO, of.text, of.length);
    (void)n_written;
}

/** Whether a fault raised the signal, and not a call of kill() or its like: then what raised it
 * does so again. */
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

static void handle(int number, siginfo_t *info, void *context) {
    int error = errno;
    const pti_crash_note *note = runs;
    (void)context;
    if (note != NULL && is_fault(info) && !atomic_flag_test_and_set(&has_told))
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
    struct sigaction ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
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

/** Whether the thread that a signal reached has raised it itself, or a timer of its own has. */
static bool is_crash(int number, const siginfo_t *info) {
    if (number == SIGXCPU)
        return info->si_code == SI_TIMER;
    return is_fault(info) || (number == SIGABRT && info->si_code == SI_TKILL);
}

/** Do what would be done if nobody caught anything. */
static void pass_on(int number, siginfo_t *info, void *context) {
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

/** A timer that comes late has nothing to end. */
static void escape_or_pass_on(int number, siginfo_t *info, void *context) {
    const int error = errno;
    sigjmp_buf *escape = escapes;
    if (escape != NULL && is_crash(number, info))
        siglongjmp(*escape, 1);
    if (number != SIGXCPU || !is_crash(number, info))
        pass_on(number, info, context);
    errno = error;
}

/** One that the program has set meanwhile stays. */
static void restore(int number, const struct sigaction *to) {
    struct sigaction now;
    if (sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
        now.sa_sigaction == escape_or_pass_on)
        sigaction(number, to, NULL);
}

void pti_crash_catch(void) {
    struct sigaction ours = {.sa_sigaction = escape_or_pass_on,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK};
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
        restore(caught[k], &put_aside[k]);
    pthread_mutex_unlock(&catching);
}

void pti_crash_set_escape(sigjmp_buf *escape) {
    escapes = escape;
}
