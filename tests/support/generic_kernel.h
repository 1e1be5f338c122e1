#ifndef POLYTILE_TESTS_SUPPORT_GENERIC_KERNEL_H
#define POLYTILE_TESTS_SUPPORT_GENERIC_KERNEL_H

#include "support/generic_parameter.h"

#include <polytile/polytile.h>

#include <functional>
#include <string>
#include <vector>

/* Kernels whose bodies follow from what they declare: a thread mixes all elements that it may read
 * and the values of parameters, in a fixed order, and puts the mixture where it may write. So a
 * wrong, missing or old element shows, whatever is declared. Elements are unsigned, of 1, 2, 4 or 8
 * bytes. */

/** One dimension of a section: factor * index + lo to factor * index + hi in steps, or what the
 * index says instead of an index. */
struct GenericWindow {
    enum { whole = -1, fixed = -2 }; /* in place of an index: all of it; lo to hi */

    int index;
    int64_t lo, hi;
    int64_t step = 1;
    int64_t factor = 1;
    int added = -1;             /* a second index that is added to both ends; -1: none */
    bool is_from_start = false; /* it begins at 0 instead of lo */
    int parameter = -1;         /* an integer that is added to both ends, by its number; -1: none */
    enum {
        clip,
        wrap,
        clamp
    } edge = clip; /* of what is read: what becomes of indices beyond the
                                               ends */
};

using GenericSection = std::vector<GenericWindow>;

/** What a thread does with an array of several, by its number. */
struct FieldUse {
    polytile_role role;
    int field;
    std::vector<GenericSection> sections;
    bool is_fresh = false;
};

/** Let a parameter, which becomes an integer of up to `most`, either way if it is signed, move a
 * window of what is read, if there is any that follows an index. */
void shift_a_read(std::vector<FieldUse> *uses, std::vector<GenericParameter> *parameters,
                  int64_t most, Random *random);

/** What a thread does with one array; several sections only where it reads. */
struct GenericAccess {
    polytile_role role;
    bool is_fresh; /* a reducing role that starts from the identity */
    std::vector<int64_t> extents;
    int64_t element_bytes;
    std::vector<GenericSection> sections;
};

class GenericKernel {
  public:
    GenericKernel(int n_indices, std::vector<GenericAccess> accesses,
                  std::vector<GenericParameter> parameters = {});

    /** Give each thread so many elements of scratch, which it fills before it runs and finds as
     * they were afterwards; a body that does not says so to the test. */
    void add_scratch(int64_t n_elements);

    /** Let threads mix the ends of their arrays, too. */
    void mix_ends() { mixes_ends_ = true; }

    /** "generic[i, j](f32 p0): in a[i-1:i+1, j]; out b[i, j]" */
    std::string declaration() const;
    /** It points to this kernel, which has to live as long as launches of it are queued. Its body
     * takes one parameter as it comes, several by their names from the last on. */
    polytile_implementation implementation() const;

    /** Where an element of the array of an access lies. */
    using Find = std::function<void *(int access, const int64_t *element)>;
    /** Run threads on elements wherever they lie; what reductions start from is there already. The
     * kernel has no parameters. */
    void run(const polytile_domain &threads, const Find &find) const;

    /** The bytes of parameters' values, in the declaration's order. */
    using Values = std::vector<uint64_t>;

    /** What a launch over all threads does to arrays in plain memory, one memory an access. */
    void run_plainly(const polytile_domain &threads, const std::vector<unsigned char *> &memory,
                     const Values &values = {}) const;

    /** Call with the position in its array of each element that a thread reads before it writes. */
    void for_each_read(const polytile_domain &threads,
                       const std::function<void(int access, int64_t position)> &call,
                       const Values &values = {}) const;
    /** Those of the values that decide on what is read. */
    Values shifts_of(const Values &values) const;

    /** The largest box of threads whose sections all have elements, whatever the parameters, and
     * are written inside the arrays, as those with steps are read; each index moves some section by
     * itself. */
    polytile_domain widest() const;

    int n_indices() const { return n_indices_; }
    const std::vector<GenericAccess> &accesses() const { return accesses_; }
    const std::vector<GenericParameter> &parameters() const { return parameters_; }

  private:
    polytile_domain touched_by(const int64_t *thread, size_t access, const GenericSection &section,
                               const Values &values) const;
    polytile_range range_of(const int64_t *thread, const GenericWindow &window, int64_t extent,
                            const Values &values) const;
    Values values_in(const polytile_view *views) const;
    template <class Call>
    void for_each_touched(const int64_t *thread, size_t access, const Values &values,
                          const polytile_view *views, const Call &call) const;
    template <class At>
    void run_thread(const int64_t *thread, const Values &values, const polytile_view *views,
                    const At &at) const;
    void run_box(const polytile_domain &threads, const polytile_view *views,
                 const Values &values) const;
    template <class Call>
    void for_each_scratch(const polytile_domain &threads, const polytile_view &view,
                          const Call &call) const;
    void run_by_way_of_scratch(const polytile_domain &threads, const polytile_view *views) const;
    void start(const polytile_domain &threads, const polytile_view *views,
               const Values &values) const;
    polytile_range allowed_by(GenericWindow window, int64_t extent, bool is_inside) const;

    int n_indices_;
    std::vector<GenericAccess> accesses_;
    std::vector<GenericParameter> parameters_;
    bool mixes_ends_ = false;
    int64_t n_scratch_ = 0; /* elements of each thread; 0: there is none */
    std::vector<polytile_view_shape> shapes_;
    std::vector<polytile_body_parameter> taken_; /* from the last on */
};

#endif
