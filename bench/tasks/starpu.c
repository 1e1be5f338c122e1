#include "common/bench.h"
#include "tasks.h"

#include <starpu.h>
#include <stdlib.h>

/* A task of StarPU each. Schedulers that ask what a task takes are told what one takes on average;
 * StarPU 1.3 has no way to say that one processor is slower than another. */

const bool has_starpu = true;

typedef struct one_task {
    const tasks *of;
    int number;
} one_task;

static void sleep_task(void *buffers[], void *argument) {
    const one_task *task = argument;
    (void)buffers;
    tasks_sleep_exactly();
    tasks_sleep(task->of, starpu_worker_get_id(), task->number, task->number + 1);
}

static double expect_us(struct starpu_task *task, unsigned implementation) {
    const one_task *of = task->cl_arg;
    (void)implementation;
    return 1e6 * of->of->mean_s;
}

static struct starpu_perfmodel model = {
    .type = STARPU_COMMON, .cost_function = expect_us, .symbol = "polytile_sleep"};

static struct starpu_codelet codelet = {
    .cpu_funcs = {sleep_task}, .nbuffers = 0, .model = &model, .name = "sleep"};

void starpu_begin(const char *scheduler) {
    struct starpu_conf conf;
    starpu_conf_init(&conf);
    conf.sched_policy_name = scheduler;
    conf.ncpus = N_WORKERS;
    conf.ncuda = 0;
    conf.nopencl = 0;
    if (starpu_init(&conf) != 0) {
        fprintf(stderr, "StarPU does not start with the scheduler %s\n", scheduler);
        exit(1);
    }
}

void starpu_end(void) {
    starpu_shutdown();
}

double run_by_starpu(const tasks *of) {
    static one_task task[N_TASKS];
    const double begin_s = bench_now_s();
    for (int t = 0; t < N_TASKS; t++) {
        task[t] = (one_task){of, t};
        if (starpu_task_insert(&codelet, STARPU_CL_ARGS_NFREE, &task[t], sizeof task[t], 0) != 0)
            exit(1);
    }
    starpu_task_wait_for_all();
    return bench_now_s() - begin_s;
}
