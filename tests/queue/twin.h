#ifndef POLYTILE_TESTS_QUEUE_TWIN_H
#define POLYTILE_TESTS_QUEUE_TWIN_H

#include "support/generic_kernel.h"
#include "support/random.h"

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <vector>

/** What queues and kernels need beyond the usual, where they run. */
struct TwinPlace {
    std::function<polytile_status(polytile_context *, const char *, polytile_queue **)>
        create_queue = polytile_queue_create;
    std::function<void(polytile_implementation *)> prepare = [](polytile_implementation *) {};
};

/**
 * A queue, and beside it what plain loops make of the same arrays.
 *
 * Kernels are bound to fields, so that a launch is a kernel and its threads. Fields of the program
 * begin with random numbers, those of the queue's own with zeros.
 */
class Twin {
  public:
    Twin(const std::string &device, Random *random, const TwinPlace &place = TwinPlace());
    ~Twin();
    Twin(const Twin &) = delete;
    Twin &operator=(const Twin &) = delete;

    /** Each returns its number. */
    int add_field(const std::vector<int64_t> &extents, int64_t element_bytes);
    int add_internal(const std::vector<int64_t> &extents, int64_t element_bytes);

    using Use = FieldUse;
    int add_kernel(int n_indices, const std::vector<Use> &uses,
                   const std::vector<GenericParameter> &parameters = {}, int64_t n_scratch = 0);

    /** Values of parameters are drawn, some of them those of the kernel's launch before. */
    polytile_status launch(int kernel, const polytile_domain &threads,
                           const polytile_launch_options *options = nullptr);
    /** Over all threads that may be. */
    polytile_status launch(int kernel) { return launch(kernel, widest(kernel)); }
    polytile_domain widest(int kernel) const {
        return kernels_[static_cast<size_t>(kernel)].generic.widest();
    }

    /** Let the queue, of one device, plan no more launches together than so many. */
    void limit_windows(int n_items);

    void pause() { polytile_queue_pause(queue_); }
    void resume() { polytile_queue_resume(queue_); }
    void wait();
    void wait_for(int field);
    /** Detach a field, compare it, write into some of it, and attach it again; destroy an internal
     * one after what is queued, and make it anew. */
    void renew(int field);
    /** The same of a field that is discarded before: it is not compared, and written whole. */
    void discard(int field);
    /** Destroy an internal field after what is queued; it is not compared, nor used again. */
    void drop(int field);
    /** Detach all fields and compare them; what internal ones hold is copied out first. */
    void finish();
    /** The same in one call, without the internal ones. */
    void finish_at_once();

    polytile_report report() const;
    polytile_context *context() const { return ctx_; }
    int n_fields() const { return static_cast<int>(fields_.size()); }
    bool is_internal(int field) const { return fields_[static_cast<size_t>(field)].is_internal; }
    int64_t n_launched() const { return static_cast<int64_t>(launched_.size()); }
    int64_t field_bytes(int field) const;

    /**
     * What has to be uploaded at least if launches run one after the other, in whatever order:
     * each finds no more on the device than that has memory. Elements of internal fields that
     * nobody wrote do not count.
     */
    int64_t least_upload_bytes(int64_t memory_bytes) const;

    /** Launches that differ, with their superblocks. */
    using Cuts = std::multiset<std::string>;

    /** What polytile_plan_create_chain() says of all launches so far, within some memory; and how
     * it cuts them, if it had to. */
    struct Planned {
        /* An array that is given twice counts twice for a plan, and once for a queue that holds
         * all. */
        bool is_refused = false;
        polytile_plan_summary summary = {};
        polytile_chain_summary chain = {};
    };
    Planned plan(const polytile_plan_options &options, Cuts *cuts = nullptr) const;
    /** How the queue, of one device, has cut them. */
    Cuts cuts() const;

    std::string error() const { return polytile_last_error(ctx_); }
    /** The declarations launched, in order, one a line. */
    std::string listing() const;

  private:
    struct Field {
        int number;
        std::vector<int64_t> extents;
        int64_t element_bytes;
        bool is_internal;
        bool is_gone;
        polytile_array *array;
        std::vector<unsigned char> memory;   /* the library's to use while attached */
        std::vector<unsigned char> expected; /* at the end of what was queued so far */
        std::vector<char> has_value;         /* of each element */
    };
    struct Kernel {
        GenericKernel generic;
        std::vector<int> fields;
        polytile_kernel *kernel;
        std::vector<GenericValue> values; /* of the last launch */
    };
    struct Launched {
        int kernel;
        polytile_domain threads;
        std::vector<polytile_array *> arrays;
        std::vector<GenericValue> values;
        std::vector<polytile_parameter> given;
        int64_t read_bytes;
    };

    int add(const std::vector<int64_t> &extents, int64_t element_bytes, bool is_internal);
    void make_array(Field &field);
    void make_anew(Field &field);
    void attach(Field &field);
    void detach(Field &field);
    void expect_same(const Field &field) const;
    void reveal(int field);
    polytile_status queue_launch(const Kernel &of, const polytile_domain &threads,
                                 const std::vector<polytile_array *> &arrays,
                                 const polytile_launch_options *options);
    int64_t find_read_bytes(int kernel, const polytile_domain &threads) const;
    int64_t count_read_bytes(const Kernel &of, const polytile_domain &threads) const;
    void run_plainly(const Kernel &of, const polytile_domain &threads);
    std::vector<polytile_array *> arrays_of(const Kernel &of) const;
    Field &field_of(int field) { return fields_[static_cast<size_t>(field)]; }

    Random *random_;
    TwinPlace place_;
    polytile_context *ctx_ = nullptr;
    polytile_queue *queue_ = nullptr;
    std::deque<Field> fields_;   /* arrays point into them, */
    std::deque<Kernel> kernels_; /* and queued launches into these */
    std::vector<Launched> launched_;
};

#endif
