#ifndef OUTSIDE_RUNNER_H
#define OUTSIDE_RUNNER_H

#include "outside/body.h"
#include "outside/given.h"
#include "outside/host_memory.h"
#include "outside/run.h"
#include "outside/touch.h"

#include <polytile/polytile.h>

#include <deque>
#include <memory>

namespace outside {

/** A function that is to be called once an array is done. */
struct Notice {
    const Array *array = nullptr;
    const HostMemory *memory = nullptr;
    Bytes expected; /* then */
    std::mutex mutex;
    int n_calls = 0;
    std::string difference;
};

/** A program as it runs: the library's objects, and beside them what the interpreter holds. */
class Runner {
  public:
    explicit Runner(const Program &drawn) : program(drawn) {}
    Runner(const Runner &) = delete;
    Runner &operator=(const Runner &) = delete;
    ~Runner() { polytile_context_destroy(ctx); }

    Outcome run();

  private:
    const Program &program;
    Outcome outcome;
    bool is_over = false; /* nothing can be told of what would follow */
    polytile_context *ctx = nullptr;
    polytile_device *device = nullptr;
    polytile_queue *queue = nullptr;
    std::vector<std::unique_ptr<Body>> bodies;
    std::vector<polytile_kernel *> kernels;
    std::vector<polytile_array *> arrays;
    std::vector<std::unique_ptr<HostMemory>> hosts; /* none of internal arrays */
    std::vector<Bytes> expected;
    std::vector<bool> is_held;
    std::vector<bool> is_touched;  /* a launch that was accepted writes it */
    std::vector<bool> is_doubtful; /* it may be incomplete, since it was cancelled or discarded */
    std::vector<std::vector<Bytes>> history; /* what an array held since the program changed it */
    std::deque<Notice> notices;

    void fail(const std::string &kind, const std::string &what);
    bool succeeds(polytile_status status, const char *call);
    bool open();
    bool open_place();
    void create_arrays();
    void create_kernels();
    void compare_operands(const Kernel &model, const polytile_kernel *kernel);
    void compare_parameters(const Kernel &model, const polytile_kernel *kernel);
    std::vector<polytile_array *> list(const std::vector<int> &numbers) const;
    bool has_limit(const Options &options) const;

    void step(const Step &step);
    void step_launch(const Step &step);
    void step_arrays(const Step &step);
    void step_test(const Step &step);
    void step_progress();
    void step_notify(const Step &step);
    void step_cancel(const Step &step);
    void check_state(size_t array, polytile_array_state state, bool is_cancelled);
    void check_notices();
    void remember(size_t array, bool is_new);
    void touch(const Launch &launch);
    bool judge_status(const Launch &launch, polytile_status status);
    void judge_late(polytile_status status, const char *call);
    polytile_status call_launch(const Step &step, Mistake mistake);
    polytile_status call(const Step &step, const polytile_launch_options &options);
    polytile_status call_plan_run(const Step &step, const polytile_launch_options &options);
    polytile_status run_plan(const Step &step, polytile_plan *plan);
    polytile_status run_plan_once(const Step &step, polytile_plan *plan, int run, Mistake mistake);
    void try_mistake(const Step &step, polytile_status status,
                     const std::vector<std::string> &names);
    void check_plan(const Launch &launch, const polytile_plan *plan, int64_t limit_bytes);
    void check_report(const Launch &launch);
    void check_queue_report();

    void finish();
    bool may_lack_memory() const;
    void end_queue();
    void compare(size_t array);
    void compare_all();
    void compare_views();
};

} // namespace outside

#endif
