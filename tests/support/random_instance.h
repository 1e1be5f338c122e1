#ifndef POLYTILE_TESTS_SUPPORT_RANDOM_INSTANCE_H
#define POLYTILE_TESTS_SUPPORT_RANDOM_INSTANCE_H

#include <memory>
#include <string>
#include <vector>

#include "support/elements.h"
#include "support/random.h"

extern "C" {
#include "access/declare/kernel.h"
}
#include <polytile/polytile.h>

/* Random launches over small domains: 1 to 4 indices and dimensions, strides, windows, whole
 * dimensions, triangles, subscripts of several indices, indices in several subscripts, several
 * sections an array, parameters, edges, and arrays that cut sections off. */

struct RandomShape {
    int most_indices = 4;
    int most_dims = 4;
    int most_operands = 2;
    int most_sections = 3;
    int64_t most_threads = 60;
    int64_t most_extent = 6; /* of one index of several */
    int64_t most_extent_alone = 14;
    int64_t most_elements = 2000;
    int inexact_percent = 5;
    int edge_percent = 0; /* of the subscripts of an access that has any, half of all accesses */
    /** Arrays far larger than what is touched, so that nothing is clipped. */
    bool roomy = false;
    /** Written arrays have one section, in which different threads never meet (unless reducing). */
    bool conflict_free = false;
};

/** The declaration's data and the arrays to launch it over; everything is owned here. */
class RandomLaunch {
  public:
    RandomLaunch(polytile_context *ctx, Random *random, const RandomShape &shape);
    ~RandomLaunch();
    RandomLaunch(const RandomLaunch &) = delete;
    RandomLaunch &operator=(const RandomLaunch &) = delete;

    /** False if the arrays would be too large for brute force; then nothing else may be used. */
    bool is_small() const { return is_small_; }

    /** As pti_instance_create(); on success the instance is owned here until the launch goes. */
    polytile_status instantiate(const pti_instance **instance);

    /** Make arrays large enough for every thread's section. */
    void grow_arrays();

    /** Whether a thread's exact section is not empty and has no element in its array, by
     * enumeration. */
    bool touches_outside() const;

    /** The declaration in the text form that polytile_kernel_create() reads (inexact sections as if
     * exact). list: of parameters with types, "(f32 a, i8 n)"; n may be left out. */
    std::string declaration_text(const std::string &list = "") const;

    const polytile_domain &threads() const { return threads_; }
    const std::vector<polytile_domain> &array_domains() const { return domains_; }
    const std::vector<polytile_parameter> &parameters() const { return parameters_; }
    const std::vector<pti_access> &accesses() const { return accesses_; }

    /** Add what a thread touches by an access, edges included, by enumeration. */
    void add_touched(const pti_access &access, const Point &thread, Elements *elements) const;
    /** What a thread names by an access, whatever the ends of its array. */
    polytile_domain section_of(const pti_access &access, const Point &thread) const;

  private:
    void draw_subscript(Random *random, pti_access *access, int d);
    void draw_written_alone(Random *random, pti_access *access);
    void draw_partly_written(Random *random, pti_access *access);
    void draw_role(Random *random, int operand, pti_access *access);
    void draw_array(Random *random, int operand);
    void draw_edges(Random *random, pti_access *access);
    bool has_edge(int operand, int d) const;
    polytile_domain ends_of(const pti_access &access, const Point &thread) const;
    bool has_many_threads() const;
    polytile_domain corners() const;
    polytile_domain bounds_of(int operand) const;

    RandomShape shape_;
    polytile_context *ctx_;
    polytile_domain threads_ = {};
    std::vector<std::string> names_;
    std::vector<int> n_dims_;
    std::vector<pti_access> accesses_;
    std::vector<polytile_domain> domains_;
    std::vector<polytile_parameter> parameters_;
    pti_instance *instance_ = nullptr;
    bool is_small_ = true;
};

#endif
