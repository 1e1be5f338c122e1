#ifndef OUTSIDE_TOUCH_H
#define OUTSIDE_TOUCH_H

/* What threads touch, by the words of docs/declarations.md, one element after another. */
#include "outside/model.h"

namespace outside {

/** The elements of a section along one dimension, within the array: lo, lo + step, ..., or any. */
struct Progression {
    int64_t lo = 0;
    int64_t step = 1;
    int64_t n = 0;
    bool is_empty = false;  /* before it was clipped */
    bool is_around = false; /* it lies around the array, if not in it */
    bool is_wrong = false;  /* an element that is looked up lies outside */
    bool is_open = false;   /* it is empty beside the array, of which the contract says nothing */
    polytile_edge edge = POLYTILE_EDGE_CLIP;
    Range range;       /* of the array, for an edge */
    Integers gathered; /* n of them in place of lo and step, or none */

    int64_t at(int64_t k) const;
};

int64_t evaluate(const Affine &affine, const Integers &parameters, const int64_t *thread);

Progression clip(const Kernel &kernel, const Subscript &subscript, const Range &range,
                 const Values &values, const int64_t *thread);

/** The elements of index arrays that one access of a thread looks up. */
void for_each_looked_up(const Kernel &kernel, const Access &access, const Values &values,
                        const int64_t *thread,
                        const std::function<void(int, const int64_t *)> &visit);

/** Call visit(index) for each element of a section that lies in the array, in C order. */
template <class Visit>
void for_each_element(const Kernel &kernel, const Access &access, const Values &values,
                      const int64_t *thread, Visit visit) {
    const Box &box = kernel.operands[static_cast<size_t>(access.operand)].box;
    const size_t n_dims = box.size();
    Progression along[MAX_DIMS];
    int64_t index[MAX_DIMS], k[MAX_DIMS] = {};
    for (size_t d = 0; d < n_dims; d++) {
        along[d] = clip(kernel, access.subscripts[d], box[d], values, thread);
        if (along[d].n == 0)
            return;
        index[d] = along[d].at(0);
    }
    for (size_t d = n_dims; d > 0;) {
        visit(static_cast<const int64_t *>(index));
        for (d = n_dims; d > 0; d--) {
            const bool is_within = ++k[d - 1] < along[d - 1].n;
            k[d - 1] = is_within ? k[d - 1] : 0;
            index[d - 1] = along[d - 1].at(k[d - 1]);
            if (is_within)
                break;
        }
    }
}

/** Call visit(thread) for each thread, the last index fastest. */
template <class Visit> void for_each_thread(const Box &domain, Visit visit) {
    int64_t thread[MAX_INDICES] = {};
    const size_t n = domain.size();
    for (size_t k = 0; k < n; k++) {
        if (domain[k].count() == 0)
            return;
        thread[k] = domain[k].lo;
    }
    for (size_t k = n; k > 0;) {
        visit(static_cast<const int64_t *>(thread));
        for (k = n; k > 0; k--) {
            if (++thread[k - 1] <= domain[k - 1].hi)
                break;
            thread[k - 1] = domain[k - 1].lo;
        }
    }
}

/** The most elements that the threads of a launch touch, added up; more is not looked at. */
enum { MAX_TOUCHED = 60000 };

/** What the contract says of a launch. */
struct Verdict {
    bool is_conflict = false; /* two threads write one element, or one writes what another reads */
    bool is_outside = false;  /* a section that is not empty has no element in its array */
    bool is_beside = false;   /* the same of a strided one around the array, or in braces */
    bool is_mixed = false;    /* an array is reduced and has another role, too */
    bool is_unsuited = false; /* a role that the elements do not suit */
    bool is_unclear = false;  /* the contract leaves open what one thread does to its element */
    int64_t n_touched = 0;    /* elements of all threads added up */
    int64_t thread_bytes = 0; /* of the boxes around what one thread touches, at most */
    int64_t launch_bytes = 0; /* of all operands' elements that are touched */

    bool is_right() const { return !is_conflict && !is_outside && !is_unsuited && !is_unclear; }

    /** What the contract says of these is not clear; results have to be right if accepted. */
    bool may_be_refused() const { return is_beside || is_mixed; }
};

/** arrays: one an operand, of which one may stand for several; NULL: each has its own. */
Verdict judge(const Kernel &kernel, const Values &values, const Box &domain,
              const std::vector<int> *arrays = nullptr);

/** Whether one array stands for two operands, of which one is written. */
bool is_aliased(const Kernel &kernel, const std::vector<int> &arrays);

} // namespace outside

#endif
