#ifndef OUTSIDE_DRAWER_H
#define OUTSIDE_DRAWER_H

#include "outside/draw.h"

namespace outside {

/** A role that combines elements of the type, and now and then one that does not suit them. */
polytile_role draw_reduction(Dice &dice, polytile_type type, bool is_fresh);

/** Draws one kernel: the sections written first, which shape the domain, then all others. */
class Drawer {
  public:
    Drawer(Dice &source, const std::vector<Shape> &given, int n_indices)
        : dice(source), shapes(given) {
        kernel.n_indices = n_indices;
        kernel.domain.resize(static_cast<size_t>(n_indices));
        is_used.resize(static_cast<size_t>(n_indices));
    }

    Kernel draw();

  private:
    Dice &dice;
    const std::vector<Shape> &shapes;
    Kernel kernel;
    std::vector<bool> is_used; /* indices that the first written section names */

    int add_operand();
    void draw_range(size_t k, int64_t n);
    Subscript draw_own(const Range &range, size_t k);
    Subscript draw_digits(const Range &range, size_t high, size_t low);
    bool find_unused(size_t &k);
    void draw_first();
    Subscript draw_apart(const Range &range, const Range &along, size_t k);
    Subscript draw_along(const Range &range);
    void draw_owned();
    void draw_other(polytile_role role, bool is_fresh, int operand);
    void draw_reducing();
    void draw_reads();
    void draw_edges();
    void draw_scratch();
    Subscript draw_scratch_subscript(size_t k);
    void draw_look_ups();
    void draw_look_up(polytile_role role);
    int add_index_operand(size_t n_dims);
    LookUp draw_index_section(int operand, bool is_one);
    LookUp draw_chained(int operand);
    Subscript draw_gather(const Range &range, bool is_one = false);
    Subscript draw_rows(const Range &range);
    Subscript draw_between(const Range &range);
    void hold(int operand, const Range &values, bool is_ascending);
    void shrink_domain();
    void shuffle();
};

} // namespace outside

#endif
