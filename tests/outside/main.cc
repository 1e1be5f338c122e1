/*
 * Random programs from outside: drawn from the grammar and the headers alone, run by the public
 * functions, and compared with an interpreter of their own. docs/testing.md says what is drawn.
 */
#include "outside/draw.h"
#include "outside/mistakes.h"
#include "outside/shrink.h"
#include "outside/text.h"
#include "outside/watch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unistd.h>

namespace {

using namespace outside;

const char usage[] =
    "usage: polytile_outside N [SEED] [options]\n"
    "Runs the programs of N seeds from SEED (1) on. Options fix what is otherwise drawn:\n"
    "  --device TEXT  --layout TEXT, --policy TEXT (none: NULL)  --members M  --indices K  --type "
    "T\n"
    "  --check WORDS (off)  --queue  --run  --apart  --wrong PERCENT\n"
    "  --texts        declarations with mistakes, which are only read, in place of programs\n"
    "  --seconds S    that a program may take (60)\n"
    "  --print        print the programs instead\n"
    "  --shrink R     print the smallest program found that fails as that of SEED, trying each R "
    "times\n";

struct Arguments {
    Fixed fixed;
    uint64_t n = 0;
    uint64_t first = 1;
    int seconds = 60;
    int n_tries = 0; /* of each smaller program */
    bool prints = false;
    bool has_texts = false;
};

/** What is counted over all programs. */
struct Counts {
    int n_equal = 0, n_in_part = 0, n_refused = 0, n_failed = 0;
    std::map<std::string, std::pair<int, uint64_t>> reasons; /* how often, and a seed */
};

bool read_text(const char *name, const char *value, Arguments &arguments) {
    const std::string option = name;
    if (option == "--device")
        arguments.fixed.device = value;
    else if (option == "--layout")
        arguments.fixed.layout = value;
    else if (option == "--policy")
        arguments.fixed.policy = value;
    else if (option == "--type")
        arguments.fixed.type = value;
    else if (option == "--check")
        arguments.fixed.check = value;
    else if (option == "--members")
        arguments.fixed.n_members = atoi(value);
    else if (option == "--indices")
        arguments.fixed.n_indices = std::min<int>(atoi(value), MAX_INDICES);
    else if (option == "--wrong")
        arguments.fixed.percent_wrong = atoi(value);
    else if (option == "--seconds")
        arguments.seconds = atoi(value);
    else if (option == "--shrink")
        arguments.n_tries = atoi(value);
    else
        return false;
    return true;
}

bool read_flag(const std::string &option, Arguments &arguments) {
    bool *flag = option == "--queue"   ? &arguments.fixed.is_queue
                 : option == "--run"   ? &arguments.fixed.is_run
                 : option == "--apart" ? &arguments.fixed.is_apart
                 : option == "--texts" ? &arguments.has_texts
                 : option == "--print" ? &arguments.prints
                                       : nullptr;
    if (flag)
        *flag = true;
    return flag != nullptr;
}

bool read_arguments(int argc, char **argv, Arguments &arguments) {
    int n_numbers = 0;
    for (int k = 1; k < argc; k++)
        if (argv[k][0] >= '0' && argv[k][0] <= '9' && n_numbers < 2)
            (n_numbers++ ? arguments.first : arguments.n) = strtoull(argv[k], nullptr, 10);
        else if (k + 1 < argc && read_text(argv[k], argv[k + 1], arguments))
            k++;
        else if (!read_flag(argv[k], arguments))
            return false;
    return arguments.n > 0;
}

void count_outcome(uint64_t seed, const Outcome &outcome, Counts &counts) {
    for (const std::string &refusal : outcome.refusals) {
        auto &entry = counts.reasons[refusal.substr(0, 110)];
        if (!entry.first++)
            entry.second = seed;
    }
    if (!outcome.failure.empty())
        counts.n_failed++;
    else if (outcome.refusals.empty())
        counts.n_equal++;
    else
        (outcome.n_accepted ? counts.n_in_part : counts.n_refused)++;
}

void print_counts(const Counts &counts) {
    std::vector<std::pair<int, std::string>> reasons;
    for (const auto &entry : counts.reasons)
        reasons.emplace_back(entry.second.first,
                             entry.first + "  (seed " + std::to_string(entry.second.second) + ")");
    std::sort(reasons.rbegin(), reasons.rend());
    printf("%d equal, %d equal with some launches refused, %d refused, %d FAILED\n", counts.n_equal,
           counts.n_in_part, counts.n_refused, counts.n_failed);
    for (size_t k = 0; k < reasons.size() && k < 60; k++)
        printf("%7d  %s\n", reasons[k].first, reasons[k].second.c_str());
}

std::string describe(const Arguments &arguments, uint64_t seed) {
    return arguments.has_texts ? draw_text(seed) + "\n"
                               : program_text(draw_program(seed, arguments.fixed));
}

int run_all(const Arguments &arguments) {
    Counts counts;
    Batch batch;
    batch.run = [&](uint64_t seed) {
        return arguments.has_texts ? run_text(seed)
                                   : run_program(draw_program(seed, arguments.fixed));
    };
    batch.first = arguments.first;
    batch.n = arguments.n;
    batch.seconds = arguments.seconds;
    watch(batch, [&](uint64_t seed, const Outcome &outcome) {
        count_outcome(seed, outcome, counts);
        if (!outcome.failure.empty())
            printf("FAILED: seed %llu: %s\n%s", static_cast<unsigned long long>(seed),
                   outcome.failure.c_str(), describe(arguments, seed).c_str());
        fflush(stdout);
    });
    print_counts(counts);
    return counts.n_failed ? 1 : 0;
}

int print_all(const Arguments &arguments) {
    for (uint64_t k = 0; k < arguments.n; k++) {
        const uint64_t seed = arguments.first + k;
        printf("seed %llu:\n%s", static_cast<unsigned long long>(seed),
               describe(arguments, seed).c_str());
    }
    return 0;
}

int shrink_one(const Arguments &arguments) {
    std::string failure;
    const Program program = shrink(draw_program(arguments.first, arguments.fixed),
                                   arguments.n_tries, arguments.seconds, failure);
    printf("%s\n%s", failure.empty() ? "does not fail" : failure.c_str(),
           program_text(program).c_str());
    return failure.empty() ? 0 : 1;
}

/** Threads that wait give their core away; what OpenMP reads when the process starts. */
void set_up_threads(char **argv) {
    if (getenv("OMP_WAIT_POLICY"))
        return;
    setenv("OMP_WAIT_POLICY", "passive", 1);
    setenv("OMP_NUM_THREADS", "2", 0);
    execv("/proc/self/exe", argv);
}

} // namespace

int main(int argc, char **argv) {
    Arguments arguments;
    if (!read_arguments(argc, argv, arguments)) {
        fputs(usage, stderr);
        return 2;
    }
    set_up_threads(argv);
    if (arguments.prints)
        return print_all(arguments);
    return arguments.n_tries ? shrink_one(arguments) : run_all(arguments);
}
