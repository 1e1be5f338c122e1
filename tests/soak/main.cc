#include "soak/programs.h"
#include "soak/ranks.h"
#include "support/environment.h"

#include <gtest/gtest-spi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

/*
 * Many random programs: polytile_soak N [SEED]. The k-th of them, from 0, follows from SEED + k
 * alone, so that `polytile_soak 1 THAT` repeats it.
 */

namespace {

/** Of one program: sanitizers and a busy machine make one of 4 seconds take 100. */
constexpr unsigned most_seconds = 400;

const struct Kind {
    const char *name;
    RunProgram run;
    int percent;
} kinds[] = {
    {"declared", run_declared, 80},
    {"queue", run_queue, 8},
    {"small", run_small, 8},
    {"chain", run_chain, 4},
};

const Kind &draw_kind(Random *random) {
    int64_t rest = random->number(0, 99);
    const Kind *kind = kinds;
    while (rest >= kind->percent)
        rest -= kind++->percent;
    return *kind;
}

struct Count {
    int64_t n_programs = 0;
    int64_t n_failed = 0;
    int64_t n_refused_whole = 0; /* nothing of them ran */
    Launches launches;
    std::map<std::string, int64_t> n_of;
};

volatile uint64_t seed_at_work = 0;

/** A crash, or a program that does not end, says how to repeat it. */
void tell_seed(int) {
    char text[96];
    const int length = std::snprintf(text, sizeof text, "FAILED: seed %llu crashed or hung\n",
                                     static_cast<unsigned long long>(seed_at_work));
    if (write(STDOUT_FILENO, text, static_cast<size_t>(length)) < length)
        _exit(4);
    _exit(3);
}

void watch() {
    for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM})
        std::signal(signal, tell_seed);
}

std::string first_failure(const testing::TestPartResultArray &failures) {
    return failures.size() == 0 ? "" : failures.GetTestPartResult(0).message();
}

/** Run the program of one seed; what was wrong, "" if nothing. */
std::string run_one(uint64_t seed, Count *count) {
    testing::TestPartResultArray failures;
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &failures);
    Environment environment;
    Random random(seed);
    const Kind &kind = draw_kind(&random);
    static const char *const checks[] = {
        "", "", "", "", "plan", "plan", "plan", "plan", "plan,access", "access"};
    environment.set("POLYTILE_CHECK", checks[random.number(0, 9)]);
    const std::unique_ptr<Place> place = draw_place(&random);
    const Launches told = kind.run(place.get(), &random);
    place->expect_nothing_left();
    count->n_programs++;
    count->n_of[kind.name]++;
    count->n_refused_whole += told.n_run == 0;
    count->launches.n_run += told.n_run;
    for (const auto &[status, n] : told.n_refused)
        count->launches.n_refused[status] += n;
    const std::string where = std::string(kind.name) + " on " + place->device(0) + ": ";
    return failures.size() == 0 ? "" : where + first_failure(failures);
}

void run_all(int64_t n, uint64_t first_seed, Count *count) {
    for (int64_t k = 0; k < n; k++) {
        const uint64_t seed = first_seed + static_cast<uint64_t>(k);
        seed_at_work = seed;
        alarm(most_seconds);
        const std::string failure = run_one(seed, count);
        const bool failed = ranks_most(!failure.empty()) != 0;
        count->n_failed += failed;
        if (!failure.empty())
            std::printf("FAILED: seed %llu, %s\n", static_cast<unsigned long long>(seed),
                        failure.c_str());
        if ((k + 1) % 10000 == 0 && ranks_number() == 0)
            std::printf("%lld programs, %lld failed\n", static_cast<long long>(k + 1),
                        static_cast<long long>(count->n_failed));
        std::fflush(stdout);
    }
    alarm(0);
}

void report(const Count &count, uint64_t first_seed) {
    std::printf("%lld programs from seed %llu:", static_cast<long long>(count.n_programs),
                static_cast<unsigned long long>(first_seed));
    for (const auto &[name, n] : count.n_of)
        std::printf(" %lld %s", static_cast<long long>(n), name.c_str());
    std::printf("\n%lld equal, %lld refused whole, %lld failed\n",
                static_cast<long long>(count.n_programs - count.n_failed - count.n_refused_whole),
                static_cast<long long>(count.n_refused_whole),
                static_cast<long long>(count.n_failed));
    std::printf("%lld launches ran\n", static_cast<long long>(count.launches.n_run));
    for (const auto &[status, n] : count.launches.n_refused)
        if (n > 0)
            std::printf("%lld refused: %s\n", static_cast<long long>(n),
                        polytile_status_text(status));
}

} // namespace

int main(int argc, char **argv) {
    ranks_begin(&argc, &argv);
    testing::InitGoogleTest(&argc, argv);
    const int64_t n = argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 0;
    if (argc > 3 || n < 1) {
        std::fprintf(stderr, "usage: %s N [SEED]\n", argv[0]);
        return 2;
    }
    const uint64_t first_seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    Count count;
    setenv("POLYTILE_CACHE", "off", 0);
    watch();
    run_all(n, first_seed, &count);
    if (ranks_number() == 0)
        report(count, first_seed);
    ranks_end();
    return count.n_failed == 0 ? 0 : 1;
}
