/*
 * Random programs from outside on several ranks, each with a list of devices of its own: all ranks
 * make the same calls, and each compares all that it may look at. docs/testing.md says what is
 * drawn.
 */
#include "outside/draw.h"
#include "outside/run.h"
#include "outside/text.h"

#include <polytile/mpi.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unistd.h>

using namespace outside;

enum { SECONDS = 120 };

static uint64_t seed_now;
static int rank;
static Fixed fixed;

/** Each rank has the list of devices in another order. */
static polytile_status open_queue(polytile_context *ctx, const Program &program,
                                  const polytile_share_options *share, polytile_queue **queue) {
    std::vector<Device> devices = program.devices;
    std::rotate(devices.begin(), devices.begin() + rank % static_cast<int>(devices.size()),
                devices.end());
    return polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, device_text(devices).c_str(), share,
                                     queue);
}

/** The other ranks would wait for this one. */
static void end_all(const Outcome &outcome) {
    printf("FAILED: seed %llu, rank %d of %d: %s\n%s", static_cast<unsigned long long>(seed_now),
           rank, fixed.n_ranks, outcome.failure.c_str(),
           program_text(draw_program(seed_now, fixed)).c_str());
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void end_slow(int) {
    Outcome outcome;
    outcome.failure = "hang: it takes too long";
    end_all(outcome);
}

static void print_counts(int n_equal,
                         const std::map<std::string, std::pair<int, uint64_t>> &reasons) {
    printf("%d programs, on %d ranks\n", n_equal, fixed.n_ranks);
    for (const auto &entry : reasons)
        printf("%7d  %s  (seed %llu)\n", entry.second.first, entry.first.c_str(),
               static_cast<unsigned long long>(entry.second.second));
}

int main(int argc, char **argv) {
    int level;
    std::map<std::string, std::pair<int, uint64_t>> reasons;
    const uint64_t n = argc > 1 ? strtoull(argv[1], nullptr, 10) : 0;
    const uint64_t first = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &fixed.n_ranks);
    fixed.is_queue = true;
    fixed.check = "plan";
    set_ranks(open_queue, end_all);
    signal(SIGALRM, end_slow);
    for (uint64_t k = 0; k < n; k++) {
        seed_now = first + k;
        alarm(SECONDS);
        const Outcome outcome = run_program(draw_program(seed_now, fixed));
        if (!outcome.failure.empty())
            end_all(outcome);
        for (const std::string &refusal : outcome.refusals) {
            auto &entry = reasons[refusal.substr(0, 110)];
            entry.second = entry.first++ ? entry.second : seed_now;
        }
    }
    alarm(0);
    if (rank == 0)
        print_counts(static_cast<int>(n), reasons);
    MPI_Finalize();
    return n ? 0 : 2;
}
