#include "report/advice.h"

#include "base/list.h"
#include "partition/show/words.h"

#include <stdlib.h>
#include <string.h>

/** A device that a rule looks at; the rule writes its advice, or nothing. */
typedef struct advised {
    const polytile_trace *trace;
    int process;
    const pti_traced_process *device;
    const pti_occupancy *time;
    pti_text *text;
} advised;

typedef void rule_function(const advised *of);

static double share_of_time(int64_t part_ns, int64_t whole_ns) {
    return whole_ns > 0 ? (double)part_ns / (double)whole_ns : 0;
}

static double share_of_span(const advised *of, int64_t part_ns) {
    return share_of_time(part_ns, of->time->span_ns);
}

static pti_words percent_of(double part) {
    return pti_words_of("%.0f %%", 100 * part);
}

static pti_words gigabytes_a_second(double bytes_per_s) {
    return pti_words_of("%.3g GB/s", 1e-9 * bytes_per_s);
}

/** Return the words for the device's limit, where it is known. */
static pti_words words_of_limit(const advised *of) {
    return of->device->limit_bytes > 0
               ? pti_words_of(" (now %s)", pti_words_size(of->device->limit_bytes).text)
               : pti_words_of("%s", "");
}

/** Return whether the runs consist of launches that are cut; where the trace does not say, they
 * do. */
static bool is_cut(const advised *of) {
    return of->device->n_runs == 0 || of->device->n_superblocks > of->device->n_launches;
}

/** Return whether a device is the host, which runs copies and kernels one after another. */
static bool is_host(const advised *of) {
    return strncmp(pti_process_name(of->trace, of->process), "host", 4) == 0;
}

/** The kind of a device that has the most time of those that a test accepts; NULL: there is
 * none. */
typedef bool kind_test(const advised *of, const pti_traced_kind *kind);
static const pti_traced_kind *find_longest(const advised *of, kind_test *accepts) {
    const pti_traced_kind *longest = NULL;
    for (int64_t k = 0; k < of->trace->n_kinds; k++) {
        const pti_traced_kind *kind = &of->trace->kind[k];
        if (kind->process == of->process && kind->n >= PTI_FEW_OPERATIONS &&
            share_of_span(of, kind->total_ns) >= PTI_SMALL_SHARE && accepts(of, kind) &&
            (longest == NULL || kind->total_ns > longest->total_ns))
            longest = kind;
    }
    return longest;
}

static double seconds_each(const pti_traced_kind *kind) {
    return 1e-9 * (double)kind->total_ns / (double)kind->n;
}

static double bytes_each(const pti_traced_kind *kind) {
    return (double)kind->bytes / (double)kind->n;
}

static double bytes_per_s(const pti_traced_kind *kind) {
    return kind->total_ns > 0 ? 1e9 * (double)kind->bytes / (double)kind->total_ns : 0;
}

static bool is_short_kernel(const advised *of, const pti_traced_kind *kind) {
    return !is_host(of) && kind->work == PTI_WORK_LAUNCH && seconds_each(kind) < PTI_SHORT_KERNEL_S;
}

static void advise_short_kernels(const advised *of) {
    const pti_traced_kind *kind = find_longest(of, is_short_kernel);
    if (kind == NULL)
        return;
    pti_text_add(of->text, "%s of %s take %s each, and starting one costs 3 to 7 us: ",
                 pti_words_count(kind->n, "kernel").text, kind->name,
                 pti_words_seconds(seconds_each(kind)).text);
    if (is_cut(of))
        pti_text_add(of->text, "raise the limit%s, so that superblocks are larger",
                     words_of_limit(of).text);
    else
        pti_text_add(of->text,
                     "each launch is one sub-kernel already, so give a launch more threads, "
                     "or queue many, which can then run in tiles");
}

static void advise_stand_in(const advised *of) {
    const double link = share_of_span(of, of->time->link_ns);
    if (!is_host(of) || link < PTI_MATTERS)
        return;
    pti_text_add(
        of->text,
        "copies take %s of the time, in turn with kernels: a host with a limit%s copies as a "
        "small accelerator would; without one it computes in place",
        percent_of(link).text, words_of_limit(of).text);
}

static void advise_no_overlap(const advised *of) {
    const pti_occupancy *time = of->time;
    const int64_t shorter_ns = time->kernels_ns < time->link_ns ? time->kernels_ns : time->link_ns;
    if (is_host(of) || share_of_span(of, shorter_ns) < PTI_MATTERS ||
        share_of_time(time->both_ns, shorter_ns) >= PTI_HARDLY_OVERLAPS)
        return;
    pti_text_add(of->text,
                 "copies (%s of the time) and kernels (%s) hardly overlap: both run %s of it. ",
                 percent_of(share_of_span(of, time->link_ns)).text,
                 percent_of(share_of_span(of, time->kernels_ns)).text,
                 percent_of(share_of_span(of, time->both_ns)).text);
    if (is_cut(of))
        pti_text_add(of->text,
                     "Plan with more buffers (n_buffers 2 or 3), or raise the limit%s, so "
                     "that a superblock is copied while another one is computed",
                     words_of_limit(of).text);
    else
        pti_text_add(of->text, "Each launch is one superblock: a limit below what it touches would "
                               "cut it, and copies of one piece run beside kernels of another");
}

static double ratio_to_bound(const advised *of) {
    const pti_traced_process *device = of->device;
    const bool is_known =
        device->n_runs > 0 && device->n_bounded_runs == device->n_runs && device->bound_bytes > 0;
    return is_known ? ((double)device->in_bytes + (double)device->out_bytes) /
                          (double)device->bound_bytes
                    : 0;
}

static void advise_link(const advised *of) {
    const pti_occupancy *time = of->time;
    const int64_t longer_ns = time->in_ns > time->out_ns ? time->in_ns : time->out_ns;
    const double ratio = ratio_to_bound(of);
    if (share_of_span(of, longer_ns) < PTI_BUSY_LINK ||
        share_of_span(of, time->kernels_ns) >= PTI_IDLE_KERNELS || ratio >= PTI_ABOVE_BOUND)
        return;
    pti_text_add(of->text, "%s keep the link busy for %s of the time, kernels run for %s. ",
                 longer_ns == time->in_ns ? "uploads" : "downloads",
                 percent_of(share_of_span(of, longer_ns)).text,
                 percent_of(share_of_span(of, time->kernels_ns)).text);
    if (ratio > 0)
        pti_text_add(of->text,
                     "No plan within this limit could move much less (%.2f times the lower "
                     "bound): do more with what is on the device, as launches of one "
                     "queue do, or raise the limit%s",
                     ratio, words_of_limit(of).text);
    else
        pti_text_add(of->text,
                     "Do more with what is on the device: put launches into one queue, "
                     "which keeps data between them, or raise the limit%s",
                     words_of_limit(of).text);
}

static void advise_bound(const advised *of) {
    const pti_traced_process *device = of->device;
    const double ratio = ratio_to_bound(of);
    if (ratio < PTI_ABOVE_BOUND)
        return;
    pti_text_add(of->text,
                 "%s moved, %.2f times what every plan within the limit has to move (%s): "
                 "plan for few bytes (strategy min-traffic), or raise the limit%s",
                 pti_words_size(device->in_bytes + device->out_bytes).text, ratio,
                 pti_words_size(device->bound_bytes).text, words_of_limit(of).text);
}

static bool is_copy(const pti_traced_kind *kind) {
    return kind->work == PTI_WORK_UPLOAD || kind->work == PTI_WORK_DOWNLOAD;
}

static bool is_small_copy(const advised *of, const pti_traced_kind *kind) {
    return !is_host(of) && is_copy(kind) && bytes_each(kind) < PTI_SMALL_COPY_BYTES;
}

static void advise_small_copies(const advised *of) {
    const pti_traced_kind *kind = find_longest(of, is_small_copy);
    if (kind == NULL)
        return;
    pti_text_add(
        of->text,
        "%s of %s move %s each, at %s; copies reach the link's rate from some MiB "
        "on: %s%s",
        pti_words_count(kind->n, pti_traced_work_noun(kind->work)).text, kind->name,
        pti_words_size((int64_t)bytes_each(kind)).text, gigabytes_a_second(bytes_per_s(kind)).text,
        is_cut(of) ? "raise the limit" : "join small arrays, or give a launch more threads",
        is_cut(of) ? words_of_limit(of).text : "");
}

static double measured_rate(const advised *of, const pti_traced_kind *kind) {
    return kind->work == PTI_WORK_UPLOAD ? of->device->in_bytes_per_s : of->device->out_bytes_per_s;
}

static bool is_slow_copy(const advised *of, const pti_traced_kind *kind) {
    return is_copy(kind) && bytes_each(kind) >= PTI_LARGE_COPY_BYTES &&
           bytes_per_s(kind) < PTI_SLOW_LINK * measured_rate(of, kind);
}

static void advise_slow_link(const advised *of) {
    const pti_traced_kind *kind = find_longest(of, is_slow_copy);
    if (kind == NULL)
        return;
    pti_text_add(of->text,
                 "%s of %s run at %s, and this link reached %s: pin the array's memory, or "
                 "cut it so that its pieces have long rows",
                 pti_words_count(kind->n, pti_traced_work_noun(kind->work)).text, kind->name,
                 gigabytes_a_second(bytes_per_s(kind)).text,
                 gigabytes_a_second(measured_rate(of, kind)).text);
}

static void advise_planning(const advised *of) {
    const double alone = share_of_span(of, of->time->plan_alone_ns);
    if (alone < PTI_LONG_PLANNING)
        return;
    pti_text_add(of->text, "nothing but planning happens for %s of the time: %s",
                 percent_of(alone).text,
                 of->device->n_bounded_runs > 0
                     ? "make a plan once with polytile_plan_create(), and run that again"
                     : "let launches be larger, or the same again, whose plans are kept");
}

static int count_devices(const polytile_trace *trace) {
    int n = 0;
    for (int p = 0; p < trace->n_processes; p++)
        n += trace->process[p].is_device;
    return n;
}

static void advise_idle(const advised *of) {
    const double idle = share_of_span(of, of->time->idle_ns);
    if (idle < PTI_LONG_IDLE)
        return;
    pti_text_add(of->text, "nothing runs for %s of the time: ", percent_of(idle).text);
    if (count_devices(of->trace) > 1)
        pti_text_add(of->text, "the device waits for others, or for the program. Queue several "
                               "launches before waiting, and let them exchange less often "
                               "(launches_per_exchange)");
    else
        pti_text_add(of->text,
                     "the program is elsewhere. Put launches into a queue, which returns at "
                     "once, and wait at the end alone");
}

/** Return whether a rule before has something to say of the device. */
static bool is_advised(const advised *of) {
    for (int k = 0; k < of->trace->n_advice; k++)
        if (of->trace->advice[k].process == of->process)
            return true;
    return false;
}

static void advise_body(const advised *of) {
    const double kernels = share_of_span(of, of->time->kernels_ns);
    if (is_advised(of) || kernels < PTI_BUSY_KERNELS)
        return;
    pti_text_add(of->text, "kernels run for %s of the time: a faster body, or %s, would help",
                 percent_of(kernels).text,
                 is_host(of) ? "more threads on cores of their own" : "a further device");
}

/** The rules for one device; the last one stands where nothing is to be changed. */
static const struct {
    const char *name;
    rule_function *advise;
} rules[] = {
    {"short kernels", advise_short_kernels},
    {"stand-in", advise_stand_in},
    {"no overlap", advise_no_overlap},
    {"link", advise_link},
    {"bound", advise_bound},
    {"small copies", advise_small_copies},
    {"slow link", advise_slow_link},
    {"planning", advise_planning},
    {"idle", advise_idle},
    {"body", advise_body},
};

/** Add an advice if there is one; takes the text over. */
static polytile_status add_advice(polytile_context *ctx, polytile_trace *trace, const char *rule,
                                  int process, pti_text *text) {
    if (text->failed || (text->length > 0 && !PTI_RESIZE(trace->advice, trace->n_advice + 1))) {
        pti_text_free(text);
        return pti_fail_memory(ctx, "advice", PTI_UNKNOWN_BYTES);
    }
    if (text->length > 0)
        trace->advice[trace->n_advice++] = (pti_advice){rule, process, text->data};
    return POLYTILE_OK;
}

static polytile_status advise_device(polytile_context *ctx, polytile_trace *trace, int process) {
    polytile_status status = POLYTILE_OK;
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        pti_text text = {0};
        const advised of = {trace, process, &trace->process[process], &trace->process[process].time,
                            &text};
        rules[k].advise(&of);
        PTI_TRY(add_advice(ctx, trace, rules[k].name, process, &text));
    }
done:
    return status;
}

/** Compare how busy devices are. */
static polytile_status advise_balance(polytile_context *ctx, polytile_trace *trace) {
    pti_text text = {0};
    const int n = count_devices(trace);
    int most = -1, least = -1;
    double sum_ns = 0;
    for (int p = 0; p < trace->n_processes; p++) {
        const pti_traced_process *process = trace->process;
        if (!process[p].is_device)
            continue;
        sum_ns += (double)process[p].time.busy_ns;
        most = most < 0 || process[p].time.busy_ns > process[most].time.busy_ns ? p : most;
        least = least < 0 || process[p].time.busy_ns < process[least].time.busy_ns ? p : least;
    }
    if (n < 2 || (double)trace->process[most].time.busy_ns * n < PTI_UNEVEN * sum_ns)
        return POLYTILE_OK;
    pti_text_add(&text,
                 "%s is busy for %s, %s for %s: deal rows by what devices can do (policy guided, "
                 "or layout weighted(...)), or cut more finely (layout cyclic(n))",
                 pti_process_name(trace, most),
                 pti_words_seconds(1e-9 * (double)trace->process[most].time.busy_ns).text,
                 pti_process_name(trace, least),
                 pti_words_seconds(1e-9 * (double)trace->process[least].time.busy_ns).text);
    return add_advice(ctx, trace, "balance", -1, &text);
}

polytile_status pti_trace_advise(polytile_context *ctx, polytile_trace *trace) {
    polytile_status status;
    PTI_TRY(advise_balance(ctx, trace));
    for (int p = 0; p < trace->n_processes; p++)
        if (trace->process[p].is_device)
            PTI_TRY(advise_device(ctx, trace, p));
done:
    return status;
}
