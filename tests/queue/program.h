#ifndef POLYTILE_TESTS_QUEUE_PROGRAM_H
#define POLYTILE_TESTS_QUEUE_PROGRAM_H

#include "queue/program_list.h"
#include "support/random.h"

#include <polytile/polytile.h>

extern "C" {
#include "access/set/boxes.h"
}

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/**
 * A random program on a queue, beside the same in plain memory: launches over a few lines and
 * squares, some internal, some with parameters that each launch has values of its own for, with
 * waits, pauses, detaching, destroying and exchanges in between.
 */
class Program {
  public:
    struct Options {
        int64_t n = 24;
        int n_steps = 60;
        bool has_internal = true;
        /** Steps in which elements come to the host's memory, and mostly others from there. */
        int exchanges_percent = 0;
        /** What kernels run, in place of the host functions of program_kernels(). */
        const std::vector<polytile_implementation> *implementations = nullptr;
        /** What makes the queue, in place of polytile_queue_create(). */
        std::function<polytile_status(polytile_context *, const char *, polytile_queue **)>
            create_queue = polytile_queue_create;
        /** What launches are planned with; the device's own without it. */
        const polytile_link *link = nullptr;

        /** Some size, and few steps or many. */
        static Options draw(Random *random, int most_steps = 100);
    };

    Program(const std::string &device, const Options &options, Random *random);
    ~Program();
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;

    /** Run it, detach everything and compare. */
    void run();
    /** Launches that were not refused because they do not fit. */
    int64_t n_launched() const { return n_launched_; }
    /** Those that were. */
    int64_t n_refused() const { return n_refused_; }
    int64_t n_kernels() const {
        polytile_report report;
        polytile_queue_get_report(queue_, false, &report);
        return report.n_kernels;
    }

  private:
    struct Field {
        int n_dims;
        bool is_internal;
        bool is_attached;
        polytile_array *array;
        std::vector<uint32_t> memory;   /* the library's to use while attached */
        std::vector<uint32_t> expected; /* at the end of what was queued so far */
    };

    void make_field(int n_dims, bool is_internal);
    void make_array(Field &field);
    void step();
    void launch();
    void launch_copy(Field &from, Field &to);
    bool choose(const ProgramKernel &kernel, std::vector<Field *> *fields);
    polytile_domain choose_threads(const ProgramKernel &kernel);
    void launch(size_t kernel, const polytile_domain &threads, const std::vector<Field *> &fields);
    polytile_status queue_launch(size_t kernel, const polytile_domain &threads,
                                 const std::vector<Field *> &fields);
    void expect_launch(size_t kernel, const polytile_domain &threads,
                       const std::vector<Field *> &fields) const;
    void detach(Field &field);
    void attach(Field &field);
    void renew(Field &field);
    void exchange(Field &field);
    void receive(Field &field, const pti_boxes &boxes, bool changes);
    void fill_boxes(const Field &field, pti_boxes *boxes);
    Field &any_field();
    void expect_same(const Field &field) const;
    std::string error() const { return polytile_last_error(ctx_); }

    Options options_;
    Random *random_;
    polytile_context *ctx_ = nullptr;
    polytile_queue *queue_ = nullptr;
    std::vector<polytile_kernel *> kernels_;
    std::vector<std::vector<GenericValue>> values_; /* of each kernel's last launch */
    std::vector<std::unique_ptr<Field>> fields_;
    int64_t n_launched_ = 0;
    int64_t n_refused_ = 0;
};

#endif
