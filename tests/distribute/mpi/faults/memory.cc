#include "distribute/mpi/faults/program.h"
#include "faults/inject.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <execinfo.h>
#include <filesystem>

/* Every allocation of one rank fails in turn: nobody hangs, ranks say so or have the right result,
 * and the queue can be used on. The arguments: a file; each how many allocations one fails (1: all
 * of them); a rank and an allocation, for this one alone. */

namespace {

/** Seconds after which a repetition counts as hanging. */
constexpr unsigned patience_s = 5;
char now[128]; /* what a watchdog writes */

void say_where(int) {
    void *frames[FAULTS_MAX_FRAMES];
    const int n_frames = faults_get_struck_at(frames);
    (void)!write(STDERR_FILENO, now, std::strlen(now));
    (void)!write(STDERR_FILENO, now, std::strlen(now));
    backtrace_symbols_fd(frames, n_frames, STDERR_FILENO);
    backtrace_symbols_fd(frames, backtrace(frames, FAULTS_MAX_FRAMES), STDERR_FILENO);
    sleep(1);
    _exit(3);
}

int n_wrong = 0;

void blame(const std::string &what) {
    std::fprintf(stderr, "rank %d: %.*s: %s\n", world_rank(),
                 static_cast<int>(std::strcspn(now, "\n")), now, what.c_str());
    n_wrong++;
}

/** The rank that lacks memory says that; the others either that, or that it made other calls. */
bool is_expected(polytile_status status) {
    return status == POLYTILE_OK || status == POLYTILE_NO_MEMORY || status == POLYTILE_INVALID;
}

/** One repetition; whether there was an n-th allocation. */
bool repeat(const std::string &path, faults_kind kind, int who, int64_t nth) {
    std::snprintf(now, sizeof now, "%s %lld of rank %d hangs or goes wrong\n",
                  faults_kind_word(kind), static_cast<long long>(nth), who);
    alarm(patience_s);
    faults_arm(FAULTS_NONE, 0, false);
    Program program(path);
    const polytile_status status = program.run(Program::N_BEFORE_QUEUE, [&] {
        if (world_rank() == who)
            faults_arm(kind, nth, false);
    });
    faults_disarm();
    const bool any_failed = Program::most_of_all(faults_get_struck() != nullptr) != 0;
    const bool anyone_says_so = Program::most_of_all(status != POLYTILE_OK) != 0;
    if (!anyone_says_so && !program.is_right())
        blame("wrong results");
    if (status != POLYTILE_OK && program.said().empty())
        blame("nothing was said in step " + std::to_string(program.n_steps()));
    if (!is_expected(status) || (status != POLYTILE_OK && !any_failed))
        blame(std::string(polytile_status_text(status)) + " in step " +
              std::to_string(program.n_steps()) + ": " + program.said());
    if (anyone_says_so && program.go_on() != POLYTILE_OK)
        blame("after it: " + program.said());
    else if (anyone_says_so && program.went_on() && !program.is_right())
        blame("wrong results after it");
    program.end();
    alarm(0);
    std::filesystem::remove(path + ".part");
    return any_failed;
}

/** All allocations of a rank, or every step-th. */
void repeat_all(const std::string &path, faults_kind kind, int who, int64_t first, int64_t step) {
    int64_t nth = first;
    while (repeat(path, kind, who, nth))
        nth += step;
    if (world_rank() == 0)
        std::printf("%s: every %lld-th of %lld allocations of rank %d\n", faults_kind_word(kind),
                    static_cast<long long>(step),
                    static_cast<long long>(std::max<int64_t>(0, nth - step)), who);
}

} // namespace

int main(int argc, char **argv) {
    world_begin(&argc, &argv);
    Program::read_policy(&argc, argv);
    std::signal(SIGALRM, say_where);
    faults_spare_libc();
    const std::string path = argc > 1 ? argv[1] : "/tmp/polytile-mpi-memory.npy";
    const uint64_t seed = world_seed("MpiMemory");
    const int64_t usual = 16 * world_size() * world_size() / scaled(4);
    const int64_t step = std::max<int64_t>(1, argc > 2 ? std::atoll(argv[2]) : usual);
    const int64_t first = 1 + static_cast<int64_t>(seed % static_cast<uint64_t>(step));
    if (argc > 4)
        repeat(path, FAULTS_MEMORY, std::atoi(argv[3]), std::atoll(argv[4]));
    for (int who = 0; argc < 5 && who < world_size(); who++) {
        repeat_all(path, FAULTS_MEMORY, who, first, step);
        repeat_all(path, FAULTS_ISL_MEMORY, who, first, step);
    }
    const int n_bad = Program::most_of_all(n_wrong);
    if (world_rank() == 0)
        std::filesystem::remove(path);
    MPI_Finalize();
    return n_bad != 0;
}
