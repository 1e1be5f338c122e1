#include "distribute/mpi/faults/failing_mpi.h"
#include "distribute/mpi/faults/program.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>

/* Every call of MPI fails in turn, on one rank or on all together: nobody hangs, the rank that the
 * call failed on says so, the others say so or have the right result, and all of them end what they
 * began. */

/* What MPI began with before a call of it failed is its own. */
extern "C" const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

namespace {

/** Seconds after which a repetition counts as hanging. */
constexpr unsigned patience_s = 10;
char now[128]; /* what a watchdog writes */

void say_where(int) {
    (void)!write(STDERR_FILENO, mpi_get_failed(), std::strlen(mpi_get_failed()));
    (void)!write(STDERR_FILENO, " ", 1);
    (void)!write(STDERR_FILENO, now, std::strlen(now));
    _exit(3);
}

int n_wrong = 0;

void blame(const std::string &what) {
    std::fprintf(stderr, "rank %d: %.*s: %s\n", world_rank(),
                 static_cast<int>(std::strcspn(now, "\n")), now, what.c_str());
    n_wrong++;
}

/** One repetition; whether a call failed on any rank. */
bool repeat(const std::string &path, bool together, int who, int64_t nth) {
    std::snprintf(now, sizeof now, "call %lld of %s hangs or goes wrong\n",
                  static_cast<long long>(nth),
                  together ? "all" : ("rank " + std::to_string(who)).c_str());
    alarm(patience_s);
    Program program(path);
    const polytile_status status = program.run(Program::N_WITH_QUEUE, [&] {
        if (together)
            mpi_fail_together(nth);
        else
            mpi_fail_alone(world_rank() == who ? nth : 0);
    });
    const std::string failed = mpi_stop_failing();
    const bool has_failed = !failed.empty();
    const bool any_failed = Program::most_of_all(has_failed) != 0;
    const bool anyone_says_so = Program::most_of_all(status != POLYTILE_OK) != 0;
    if (status == POLYTILE_OK && !anyone_says_so && !program.is_right())
        blame("wrong results after " + failed);
    if (status != POLYTILE_OK && program.said().empty())
        blame("nothing was said of " + failed + " in step " + std::to_string(program.n_steps()));
    if (status != POLYTILE_OK && status != POLYTILE_DEVICE && status != POLYTILE_IO)
        blame(std::string(polytile_status_text(status)) + ": " + program.said());
    if (status != POLYTILE_OK && !any_failed)
        blame("without a fault: " + program.said());
    program.end();
    alarm(0);
    std::filesystem::remove(path + ".part");
    return any_failed;
}

} // namespace

int main(int argc, char **argv) {
    world_begin(&argc, &argv);
    Program::read_policy(&argc, argv);
    std::signal(SIGALRM, say_where);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const std::string path = argc > 1 ? argv[1] : "/tmp/polytile-mpi-faults.npy";
    if (argc > 3)
        repeat(path, std::atoi(argv[2]) < 0, std::atoi(argv[2]), std::atoi(argv[3]));
    /* Many ranks on few cores take their time. */
    const uint64_t seed = world_seed("MpiFaults");
    const int64_t step = std::max<int64_t>(1, world_size() * world_size() / scaled(4));
    for (int who = -1; argc < 4 && who < world_size(); who++) {
        int64_t nth = 1 + static_cast<int64_t>(seed % static_cast<uint64_t>(step));
        while (repeat(path, who < 0, who, nth))
            nth += step;
        if (world_rank() == 0)
            std::printf("every %lld-th of %lld calls of %s\n", static_cast<long long>(step),
                        static_cast<long long>(nth - step),
                        who < 0 ? "all together" : ("rank " + std::to_string(who)).c_str());
    }
    const int n_bad = Program::most_of_all(n_wrong);
    if (world_rank() == 0)
        std::filesystem::remove(path);
    MPI_Finalize();
    return n_bad != 0;
}
