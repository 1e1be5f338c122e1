/* One launch of an example. */
#include "clock.h"
#include "report.h"

static polytile_launch_options options_of(const session *s, const session_launch *launch) {
    polytile_launch_options options = session_launch_options(s);
    if (launch->n_parameters > 0) {
        options.n_parameters = launch->n_parameters;
        options.parameters = launch->parameters;
    }
    return options;
}

/** Arrays are detached whatever becomes of the launch: ranks meet there. */
static polytile_status run_by_queue(session *s, const session_launch *launch) {
    const polytile_launch_options options = options_of(s, launch);
    TRY(polytile_queue_attach(s->queue, launch->n_arrays, launch->arrays));
    polytile_status launched = polytile_queue_launch(s->queue, launch->kernel, launch->threads,
                                                     launch->n_arrays, launch->arrays, &options);
    if (launched != POLYTILE_OK)
        session_fail(s, launched, "%s", polytile_last_error(s->ctx));
    else if (launch->talk != NULL && s->ranks.rank == 0)
        launched = launch->talk(s, launch->arrays);
    polytile_status detached = polytile_queue_detach(s->queue, launch->n_arrays, launch->arrays);
    return launched != POLYTILE_OK ? launched : detached;
}

static polytile_status run_alone(const session *s, const session_launch *launch,
                                 polytile_report *report) {
    const polytile_launch_options options = options_of(s, launch);
    TRY(polytile_plan_run(launch->plan, s->device, launch->kernel,
                          polytile_kernel_get_n_arrays(launch->kernel), launch->arrays, &options));
    polytile_device_get_report(s->device, report);
    return POLYTILE_OK;
}

polytile_status session_run(session *s, const session_launch *launch, result *r) {
    polytile_report report;
    TRY(session_agree(s, POLYTILE_OK));
    double start_s = clock_now_s();
    if (s->queue == NULL) {
        TRY(run_alone(s, launch, &report));
    } else {
        TRY(run_by_queue(s, launch));
        report = report_of_queue(s, clock_now_s() - start_s, r->plan.lower_bound_bytes);
    }
    report_keep_fastest(r, &report);
    return POLYTILE_OK;
}
