#include "partition/cost/predict.h"

#include "access/footprint/footprint.h"
#include "access/pieces/shear.h"
#include "base/checked.h"
#include "partition/cost/demand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const polytile_link polytile_link_default = {
    .upload_bytes_per_s = 55.4e9,
    .download_bytes_per_s = 55.4e9,
    .duplex_bytes_per_s = 50.8e9,
    .transfer_latency_s = 2.6e-6,
    .run_overhead_bytes = 6144,
    .launch_latency_s = 2.6e-6,
    .kernel_bytes_per_s = 4.0e12,
    .kernel_accesses_per_s = 1.0e14,
    .cache_bytes = 50 << 20,
    .cache_bytes_per_s = 6.0e12,
};

pti_traffic pti_schedule_traffic(const pti_schedule *schedule) {
    pti_traffic traffic = {0};
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        const pti_op *op = &schedule->op[k];
        const int64_t bytes = pti_schedule_times(schedule, k) * op->bytes;
        traffic.h2d_bytes += op->kind == PTI_UPLOAD ? bytes : 0;
        traffic.d2h_bytes += op->kind == PTI_DOWNLOAD ? bytes : 0;
    }
    return traffic;
}

int pti_operand_passes(const pti_operand *operand) {
    return operand->writes && (operand->reads || operand->reduces) ? 2 : 1;
}

bool pti_operand_accumulates(const pti_instance *instance, int operand) {
    bool misses_any = false;
    for (int d = 0; d < instance->n_indices; d++)
        misses_any |= pti_range_count(instance->threads.range[d]) > 1 &&
                      !pti_operand_depends(instance, operand, d);
    return misses_any && instance->operand[operand].writes;
}

static polytile_domain middle_thread(const pti_instance *instance) {
    polytile_domain middle = instance->threads;
    for (int d = 0; d < middle.n_dims; d++) {
        int64_t at = middle.range[d].lo + (middle.range[d].hi - middle.range[d].lo) / 2;
        middle.range[d] = (polytile_range){at, at, 1};
    }
    return middle;
}

double pti_launch_bytes(const pti_instance *instance) {
    double n_bytes = 0;
    for (int a = 0; a < instance->n_operands; a++) {
        polytile_domain hull = pti_footprint_hull(instance, a, PTI_TOUCHES, &instance->threads);
        n_bytes += (double)pti_box_count(&hull) * (double)instance->operand[a].element_bytes *
                   pti_operand_passes(&instance->operand[a]);
    }
    return n_bytes;
}

bool pti_reads_neighbours(const pti_instance *instance) {
    polytile_domain middle = middle_thread(instance);
    bool reads_several = false;
    for (int a = 0; a < instance->n_operands; a++) {
        polytile_domain hull;
        reads_several |= instance->operand[a].reads &&
                         pti_footprint_find_hull(instance, a, PTI_READS, &middle, &hull) &&
                         pti_box_count(&hull) > 1;
    }
    return reads_several;
}

double pti_thread_accesses(const pti_instance *instance) {
    polytile_domain middle = middle_thread(instance);
    double n_accesses = 0;
    for (int a = 0; a < instance->n_operands; a++) {
        polytile_domain hull = pti_footprint_hull(instance, a, PTI_TOUCHES, &middle);
        n_accesses += (double)pti_box_count(&hull);
    }
    return n_accesses;
}

/** What is timed: a schedule, and what its kernels have in common. */
typedef struct timed {
    const pti_schedule *schedule;
    const polytile_link *link;
    int64_t fill_threads;
    double thread_accesses;
    bool accumulates[PTI_MAX_OPERANDS];
} timed;

static timed timed_of(const pti_schedule *schedule, const polytile_link *link,
                      int64_t fill_threads) {
    timed of = {.schedule = schedule,
                .link = link,
                .fill_threads = fill_threads,
                .thread_accesses = pti_thread_accesses(schedule->instance)};
    for (int a = 0; a < schedule->instance->n_operands; a++)
        of.accumulates[a] = pti_operand_accumulates(schedule->instance, a);
    return of;
}

/** Return the bytes of the pieces that a superblock's kernel goes through: of those that are
 * accumulated, or of all others. */
static double touched_bytes_of_op(const timed *of, const pti_op *op, bool accumulated) {
    const pti_schedule *schedule = of->schedule;
    const pti_call *call = &schedule->launch[op->launch].call;
    const int64_t *placed = pti_schedule_placements(schedule, op->launch, op->superblock);
    double bytes = 0;
    for (int o = 0; o < call->instance->n_operands; o++)
        if (placed[o] >= 0 && of->accumulates[call->array[o]] == accumulated &&
            !pti_schedule_is_placed_before(placed, o))
            bytes += (double)schedule->placement[placed[o]].layout.size_bytes *
                     pti_operand_passes(&schedule->instance->operand[call->array[o]]);
    return bytes;
}

/** A GPU looks up addresses of host memory in lines for 16 pages of 4 KiB. Runs that begin this far
 * apart share no line; after a run of this length the next line has nearly come. */
static const double line_bytes = 64 * 1024, least_shown = 1.0 / 64;

double pti_run_cost(const polytile_link *link, pti_runs runs) {
    double apart = fmin(1, (double)runs.pitch_bytes / line_bytes);
    double shown = fmax(least_shown, 1 - (double)runs.run_bytes / line_bytes);
    return 1 + link->run_overhead_bytes * apart * shown / (double)runs.run_bytes;
}

/** Return the bytes of a transfer with what its runs cost on top. */
static double transfer_bytes(const pti_schedule *schedule, const pti_op *op,
                             const polytile_link *link) {
    if (op->kind != PTI_UPLOAD && op->kind != PTI_DOWNLOAD)
        return (double)op->bytes;
    const pti_operand *operand =
        &schedule->instance->operand[schedule->placement[op->placement].operand];
    pti_runs runs = pti_operand_runs(operand, &op->box);
    return (double)op->bytes * pti_run_cost(link, runs);
}

/** Cache misses overlap with other threads' computing, except for a kernel's first and last
 * threads. */
static const double not_beside = 0.25;

double pti_kernel_seconds(const polytile_link *link, double touched_bytes, double n_accesses) {
    double touch_s = touched_bytes / link->kernel_bytes_per_s;
    double access_s =
        link->kernel_accesses_per_s > 0 ? n_accesses / link->kernel_accesses_per_s : 0;
    return fmax(touch_s, access_s) + not_beside * fmin(touch_s, access_s);
}

double pti_unfilled_times(int64_t fill_threads, double n_threads) {
    return fmax(1, (double)fill_threads / fmax(n_threads, 1));
}

/** Nothing computes while accumulators come from memory and go back, and little until what they
 * combine has come in, which takes as long once more. */
static const double accumulator_passes = 2;

/** The share of a device's last cache that concurrent accumulators come to, counted both ways: a
 * GPU's registers are about two thirds of it, and a quarter of them holds accumulators. At the end
 * of a kernel about a third of them idle; kernels with no more accumulators share each among
 * several threads. */
static const double at_work = 2.0 / 6, idle_at_end = 0.35;

double pti_accumulate_seconds(const polytile_link *link, double accumulated_bytes, double n_kernels,
                              double kernel_s) {
    if (accumulated_bytes <= 0)
        return 0;
    double at_work_bytes = fmin(n_kernels * at_work * link->cache_bytes, accumulated_bytes);
    return accumulator_passes * accumulated_bytes / link->kernel_bytes_per_s +
           kernel_s * idle_at_end * at_work_bytes / accumulated_bytes;
}

/** Count a copy between two transfers of its stream as four small transfers (docs/ceilings.md). */
double pti_copy_seconds(const polytile_link *link, double n_bytes) {
    return 4 * link->transfer_latency_s + 2 * n_bytes / link->kernel_bytes_per_s;
}

/** Of a launch in lanes a superblock of each lane runs at a time. */
static double launch_seconds(const timed *of, const pti_op *op) {
    const double n_threads = (double)pti_box_count(&op->box);
    const double n_at_a_time = n_threads * (double)pti_max(of->schedule->n_lanes, 1);
    double kernel_s = pti_unfilled_times(of->fill_threads, n_at_a_time) *
                      pti_kernel_seconds(of->link, touched_bytes_of_op(of, op, false),
                                         of->thread_accesses * n_threads);
    return of->link->launch_latency_s + kernel_s +
           pti_accumulate_seconds(of->link, touched_bytes_of_op(of, op, true), 1, kernel_s);
}

/** Return whether a copy leaves elements where they are, in a placement that extends its source. */
static bool stays_in_place(const pti_schedule *schedule, const pti_op *op) {
    const pti_placement *from = &schedule->placement[op->source_placement];
    const pti_placement *to = &schedule->placement[op->placement];
    bool stays = from->offset_bytes == to->offset_bytes;
    for (int d = 0; d < op->box.n_dims; d++)
        stays = stays && from->layout.hull.range[d].lo == to->layout.hull.range[d].lo &&
                from->layout.stride_bytes[d] == to->layout.stride_bytes[d];
    return stays;
}

static double op_seconds(const timed *of, const pti_op *op) {
    const pti_schedule *schedule = of->schedule;
    const polytile_link *link = of->link;
    double bytes = transfer_bytes(schedule, op, link);
    bool duplex = schedule->n_superblocks > 1;
    switch (op->kind) {
    case PTI_UPLOAD:
        return link->transfer_latency_s +
               bytes / (duplex ? link->duplex_bytes_per_s : link->upload_bytes_per_s);
    case PTI_DOWNLOAD:
        return link->transfer_latency_s +
               bytes / (duplex ? link->duplex_bytes_per_s : link->download_bytes_per_s);
    case PTI_LAUNCH:
        return launch_seconds(of, op);
    case PTI_COPY:
        return stays_in_place(schedule, op) ? 0 : pti_copy_seconds(link, bytes);
    case PTI_FILL:
        break;
    }
    return link->launch_latency_s + bytes / link->kernel_bytes_per_s;
}

/** How far a schedule has run. */
typedef struct run_time {
    timed of;
    double *finish; /* of each operation: of those that come several times, in the newest turn */
    double stream_free[PTI_STREAM_COMPUTE + 1];
    double end;
} run_time;

/** Run operations first..end-1 of the list. Lanes share the device: their kernels run as in one. */
static void run_ops(run_time *run, const pti_schedule *schedule, int64_t first, int64_t end) {
    for (int64_t k = first; k < end; k++) {
        const pti_op *op = &schedule->op[k];
        const int shared = (int)pti_min((int64_t)pti_op_stream(op), PTI_STREAM_COMPUTE);
        double start = run->stream_free[shared];
        for (int w = 0; w < op->n_waits; w++)
            start = fmax(start, run->finish[schedule->wait[op->first_wait + w]]);
        run->finish[k] = start + op_seconds(&run->of, op);
        run->stream_free[shared] = run->finish[k];
        run->end = fmax(run->end, run->finish[k]);
    }
}

/** Run a turn after another one, which its waits know as what is just before the first. Returns by
 * how much it is later, if all of it is by the same; else a negative number. */
static double run_turn(run_time *run, const pti_schedule *schedule) {
    static const double alike = 1e-12;
    const pti_period *period = &schedule->period;
    const double former_end = run->end;
    double *turn = &run->finish[period->first_op], *before = turn - period->n_ops;
    memcpy(before, turn, (size_t)period->n_ops * sizeof *turn);
    run_ops(run, schedule, period->first_op, period->first_op + period->n_ops);
    const double later_s = run->end - former_end;
    bool is_steady = true;
    for (int64_t k = 0; k < period->n_ops && is_steady; k++)
        is_steady = fabs(turn[k] - before[k] - later_s) <= alike * run->end;
    return is_steady ? later_s : -1;
}

/** Run the turns after the first one; once a turn is the one before it, only later, all are. */
static void run_turns(run_time *run, const pti_schedule *schedule) {
    const pti_period *period = &schedule->period;
    double later_s = -1;
    int64_t turn = 1;
    for (; turn < period->times && later_s < 0; turn++)
        later_s = run_turn(run, schedule);
    const double left_s = (double)(period->times - turn) * fmax(later_s, 0);
    for (int64_t k = 0; k < period->n_ops; k++)
        run->finish[period->first_op + k] += left_s;
    for (int s = 0; s <= PTI_STREAM_COMPUTE; s++)
        run->stream_free[s] += left_s;
    run->end += left_s;
}

/** Let all streams go on when all is done, and some seconds later. */
static void drain_streams(run_time *run, double later_s) {
    run->end += later_s;
    for (int s = 0; s <= PTI_STREAM_COMPUTE; s++)
        run->stream_free[s] = run->end;
}

/** Run the prologue and all turns of several launches, of which each begins when the one before it
 * has ended. */
static void run_lone_turns(run_time *run, const pti_schedule *schedule) {
    const pti_period *period = &schedule->period;
    run_ops(run, schedule, 0, period->first_op);
    drain_streams(run, 0);
    const double begin = run->end;
    run_ops(run, schedule, period->first_op, period->first_op + period->n_ops);
    drain_streams(run, (double)(period->times - 1) * (run->end - begin));
}

double pti_schedule_predict(const pti_schedule *schedule, const polytile_link *link,
                            int64_t fill_threads) {
    const pti_period *period = &schedule->period;
    const int64_t end_of_turn = period->first_op + period->n_ops;
    run_time run = {.of = timed_of(schedule, link, fill_threads),
                    .finish = malloc((size_t)schedule->n_ops * sizeof *run.finish)};
    if (run.finish == NULL)
        return -1;
    if (period->times > 0 && schedule->n_launches > 1)
        run_lone_turns(&run, schedule);
    else
        run_ops(&run, schedule, 0, end_of_turn);
    if (period->times > 0 && schedule->n_launches == 1)
        run_turns(&run, schedule);
    run_ops(&run, schedule, end_of_turn, schedule->n_ops);
    free(run.finish);
    return run.end;
}
