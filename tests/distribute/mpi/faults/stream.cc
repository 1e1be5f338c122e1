#include "distribute/mpi/faults/failing_mpi.h"
#include "distribute/mpi/world.h"
#include "support/random.h"

#include <polytile/mpi.h>
#include <polytile/stream.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <vector>

/* Every call of MPI that a stream over ranks makes fails in turn, on one rank, behind what it does
 * or instead of it, or on all together; and by chance one on each of two ranks: nobody hangs, no
 * rank takes a wrong frame, a rank that a call failed on names the call, or a rank of which it
 * heard before, and all others that do not get all frames name such a rank. */

/* What MPI began with before a call of it failed is its own. */
extern "C" const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

namespace {

/** Seconds after which a repetition counts as hanging. */
constexpr unsigned patience_s = 30;
constexpr int64_t n_frames = 6, n = 20000; /* no frame fits in what MPI sends at once */
char now[128];                             /* what a watchdog writes */
int n_wrong = 0;

void say_where(int) {
    (void)!write(STDERR_FILENO, mpi_get_failed(), std::strlen(mpi_get_failed()));
    (void)!write(STDERR_FILENO, " ", 1);
    (void)!write(STDERR_FILENO, now, std::strlen(now));
    _exit(3);
}

void blame(const std::string &what) {
    std::fprintf(stderr, "rank %d: %.*s: %s\n", world_rank(),
                 static_cast<int>(std::strcspn(now, "\n")), now, what.c_str());
    n_wrong++;
}

/** Add up what all ranks have, by calls that never fail. */
int sum_of_all(int value) {
    int sum = 0, is_done = 0;
    MPI_Request request;
    PMPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    for (; !is_done; usleep(20))
        PMPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    return sum;
}

void add_one(const polytile_domain *threads, const polytile_view *views, void *) {
    const auto *x = static_cast<const int64_t *>(views[0].origin);
    auto *y = static_cast<int64_t *>(views[1].origin);
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
        y[i] = x[i] + 1;
}

/** How the stream runs. */
enum Way { OVERLAPPED, IN_CYCLES, WITH_DROPS, IN_PARTS, N_WAYS };
const char *const way_text[] = {"overlapped", "in cycles", "with drops", "in parts"};

/** One is added on a, or on a and b, a part each, and one on b. */
std::string graph_text(Way way) {
    return "digraph { { node [type=i64, extents=" + std::to_string(n) +
           "]; x; m; y }\n{ node [kernel=\"plus[i]: in p[i]; out q[i]\", seconds=0.001]; f [on=\"" +
           (way == IN_PARTS ? "a+b" : "a") +
           "\"]; g [on=b] }\nx -> f [as=p]; f -> m [as=q]; m -> g [as=p]; g -> y [as=q] }";
}

/** What ranks do together: the first one feeds, the last one takes. */
class Program {
  public:
    explicit Program(Way way) : way_(way) {}
    ~Program() { polytile_context_destroy(ctx_); }
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;

    /** All that makes no call of MPI. */
    void prepare() {
        polytile_implementation made = {};
        made.host = add_one;
        polytile_graph_options how = {};
        how.no_overlap = way_ == IN_CYCLES;
        polytile_machine *machine = nullptr;
        const std::string machine_text = "digraph { a [device=\"host(threads=1)\"]; b "
                                         "[device=\"host(threads=1,memory=8MiB)\", rank=" +
                                         std::to_string(last_) + "] }";
        note(polytile_context_create(&ctx_));
        note(polytile_graph_parse(ctx_, graph_text(way_).c_str(), &graph_));
        note(polytile_machine_parse(ctx_, machine_text.c_str(), &machine));
        note(polytile_graph_bind(graph_, "plus", &made));
        note(polytile_graph_plan_create(graph_, machine, &how, &plan_));
        note(polytile_array_wrap(ctx_, "line", POLYTILE_I64, 1, &n, line_.data(), &array_));
    }

    /** is_made: called once all ranks have the stream. */
    void run(const std::function<void()> &is_made) {
        polytile_stream *stream = nullptr;
        polytile_stream_options options = {};
        options.drops_when_full = way_ == WITH_DROPS;
        note(polytile_mpi_stream_create(graph_, plan_, MPI_COMM_WORLD, &options, &stream));
        if (status_ == POLYTILE_OK)
            is_made();
        const size_t depth = static_cast<size_t>(polytile_stream_get_depth(stream));
        for (int64_t f = 0; status_ == POLYTILE_OK && f < n_frames; f++) {
            if (fed_.size() == depth)
                take(stream);
            if (status_ == POLYTILE_OK)
                feed(stream, 10 * f);
        }
        while (status_ == POLYTILE_OK && !fed_.empty())
            take(stream);
        polytile_stream_destroy(stream);
    }

    polytile_status status() const { return status_; }
    const std::string &said() const { return said_; }
    bool has_wrong_frame() const { return has_wrong_frame_; }

  private:
    void feed(polytile_stream *stream, int64_t value) {
        int64_t frame = -1;
        std::fill(line_.begin(), line_.end(), value);
        note(polytile_stream_push(stream, rank_ == 0, &array_, &frame));
        if (frame >= 0)
            fed_.push_back(value);
    }
    void take(polytile_stream *stream) {
        const bool takes = rank_ == last_;
        note(polytile_stream_pull(stream, takes, &array_, nullptr));
        has_wrong_frame_ =
            has_wrong_frame_ || (takes && status_ == POLYTILE_OK &&
                                 line_ != std::vector<int64_t>(line_.size(), fed_.front() + 2));
        fed_.pop_front();
    }
    void note(polytile_status status) {
        if (status == POLYTILE_OK || status_ != POLYTILE_OK)
            return;
        said_ = polytile_last_error(ctx_);
        status_ = status;
    }

    const Way way_;
    const int rank_ = world_rank(), last_ = world_size() - 1;
    std::vector<int64_t> line_ = std::vector<int64_t>(n);
    polytile_status status_ = POLYTILE_OK;
    std::string said_;
    std::deque<int64_t> fed_; /* what frames in flight hold */
    bool has_wrong_frame_ = false;
    polytile_context *ctx_ = nullptr;
    polytile_graph *graph_ = nullptr;
    polytile_graph_plan *plan_ = nullptr;
    polytile_array *array_ = nullptr;
};

bool says(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

/** A call that fails: which one of a rank's own, or, of rank -1, of those that all make
 * together. */
struct Fault {
    int who;
    int64_t nth;
    bool is_lost; /* it leaves undone what it is for */
};

std::string text_of(const Fault &fault) {
    return std::to_string(fault.nth) + " of " +
           (fault.who < 0 ? "all" : "rank " + std::to_string(fault.who)) +
           (fault.is_lost ? " (lost)" : "");
}

void let_fail(const Fault &fault) {
    if (fault.who != world_rank())
        return;
    if (fault.is_lost)
        mpi_lose_alone(fault.nth);
    else
        mpi_fail_alone(fault.nth);
}

/** Whether a text names a rank on which a call is to fail, and some call. */
bool names_any(const std::string &said, const std::vector<Fault> &faults) {
    return says(said, "MPI_") && std::any_of(faults.begin(), faults.end(), [&](const Fault &fault) {
               return says(said, "rank " + std::to_string(fault.who) + ": ");
           });
}

/** One repetition: a fault of all together, or one or two of different ranks. Returns on
 * how many ranks a call failed. */
int repeat(Way way, const std::vector<Fault> &faults) {
    std::string calls;
    for (const Fault &fault : faults)
        calls += (calls.empty() ? "" : " and ") + text_of(fault);
    std::snprintf(now, sizeof now, "call %s, %s, hangs or goes wrong\n", calls.c_str(),
                  way_text[way]);
    alarm(patience_s);
    Program program(way);
    program.prepare();
    mpi_fail_alone(0);
    if (faults[0].who < 0)
        mpi_fail_together(faults[0].nth);
    program.run([&] {
        for (const Fault &fault : faults)
            let_fail(fault);
    });
    const std::string failed = mpi_stop_failing(), &said = program.said();
    const int n_failed = sum_of_all(!failed.empty());
    const bool is_right = program.status() == POLYTILE_OK;
    const bool names_own = !failed.empty() && says(said, failed + ":");
    if (program.has_wrong_frame())
        blame("a wrong frame after " + failed);
    if (!is_right && n_failed == 0)
        blame("without a fault: " + said);
    if (!is_right && program.status() != POLYTILE_DEVICE)
        blame(std::string(polytile_status_text(program.status())) + ": " + said);
    if (!is_right && !failed.empty() && faults.size() == 1 && !names_own)
        blame("the call that failed, " + failed + ", is not named: " + said);
    if (!is_right && !names_own && !names_any(said, faults))
        blame("rank and call are not named: " + said);
    alarm(0);
    return n_failed;
}

/** Let every step-th call fail, of all ways in turn. Returns how many there are, of the way with
 * the fewest. */
int64_t repeat_all(int who, bool is_lost, int64_t step, int64_t first) {
    int64_t n_calls = 0, fewest = INT64_MAX;
    for (int way = 0; way < N_WAYS; way++) {
        int64_t nth = 1 + first;
        while (repeat(static_cast<Way>(way), {{who, nth, is_lost}}) > 0)
            nth += step;
        n_calls += nth - 1 - first;
        fewest = std::min(fewest, nth);
    }
    if (world_rank() == 0)
        std::printf("every %lld-th of some %lld calls of %s%s\n", static_cast<long long>(step),
                    static_cast<long long>(n_calls),
                    who < 0 ? "all together" : ("rank " + std::to_string(who)).c_str(),
                    is_lost ? ", lost" : "");
    return fewest;
}

/** Let calls of two ranks fail, by chance. */
void repeat_pairs(Random *random, int64_t n_rounds, int64_t n_calls) {
    int64_t n_both = 0;
    for (int64_t round = 0; round < n_rounds; round++) {
        const int64_t first = random->number(0, world_size() - 1);
        const int64_t other = (first + random->number(1, world_size() - 1)) % world_size();
        std::vector<Fault> faults;
        for (const int64_t who : {first, other})
            faults.push_back(
                {static_cast<int>(who), random->number(1, n_calls), random->chance(50)});
        n_both += repeat(static_cast<Way>(random->number(0, N_WAYS - 1)), faults) > 1;
    }
    if (world_rank() == 0)
        std::printf("%lld pairs of calls of two ranks, of which both failed in %lld\n",
                    static_cast<long long>(n_rounds), static_cast<long long>(n_both));
}

} // namespace

int main(int argc, char **argv) {
    world_begin(&argc, &argv);
    std::signal(SIGALRM, say_where);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const uint64_t seed = world_seed("MpiStreamFaults");
    /* Many ranks on few cores take their time. */
    const int64_t step = std::max<int64_t>(1, 5 * world_size() * world_size() / scaled(10));
    const int64_t first = static_cast<int64_t>(seed % static_cast<uint64_t>(step));
    int64_t n_calls = 1;
    if (argc > 3)
        repeat(static_cast<Way>(std::atoi(argv[1])),
               {{std::atoi(argv[2]), std::atoi(argv[3]), argc > 4}});
    for (int who = -1; argc < 4 && who < world_size(); who++)
        for (int lost = 0; lost < (who < 0 ? 1 : 2); lost++)
            n_calls = std::max(n_calls, repeat_all(who, lost != 0, step, first));
    Random random(seed);
    if (argc < 4 && world_size() > 1)
        repeat_pairs(&random, std::max<int64_t>(3, scaled(60)), n_calls);
    const int n_bad = sum_of_all(n_wrong);
    MPI_Finalize();
    return n_bad != 0;
}
