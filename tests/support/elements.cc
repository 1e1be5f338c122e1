#include "support/elements.h"

#include <algorithm>
#include <numeric>

Elements::Elements(const polytile_domain &domain)
    : domain_(domain), member_(static_cast<size_t>(pti_box_count(&domain)), 0) {}

size_t Elements::offset(const Point &point) const {
    int64_t at = 0;
    for (int d = 0; d < domain_.n_dims; d++)
        at = at * (domain_.range[d].hi - domain_.range[d].lo + 1) + point[static_cast<size_t>(d)] -
             domain_.range[d].lo;
    return static_cast<size_t>(at);
}

bool Elements::has(const Point &point) const {
    for (int d = 0; d < domain_.n_dims; d++)
        if (point[static_cast<size_t>(d)] < domain_.range[d].lo ||
            point[static_cast<size_t>(d)] > domain_.range[d].hi)
            return false;
    return member_[offset(point)] != 0;
}

void Elements::add(const polytile_domain &box) {
    for_each_point(box, [this](const Point &point) { add(point); });
}

void Elements::add(const pti_boxes &boxes) {
    for (int b = 0; b < boxes.n_boxes; b++)
        add(boxes.box[b]);
}

void Elements::remove(const polytile_domain &box) {
    for_each_point(box, [this](const Point &point) { member_[offset(point)] = 0; });
}

int64_t Elements::count() const {
    return std::count(member_.begin(), member_.end(), 1);
}

bool Elements::contains(const Elements &other) const {
    for (size_t k = 0; k < member_.size(); k++)
        if (other.member_[k] > member_[k])
            return false;
    return true;
}

polytile_domain Elements::hull() const {
    polytile_domain hull = pti_box_empty(domain_.n_dims);
    for_each_point(domain_, [&](const Point &point) {
        if (!has(point))
            return;
        polytile_domain one = polytile_domain_from_bounds(domain_.n_dims, &point[0], &point[0]);
        hull = pti_box_coarse_union(&hull, &one);
    });
    return hull;
}

int64_t value_of(const pti_affine &affine, const Point &thread) {
    int64_t value = affine.constant;
    for (size_t k = 0; k < thread.size(); k++)
        value += affine.index[k] * thread[k];
    return value;
}

polytile_domain section_of_thread(const pti_section &section, const Point &thread) {
    polytile_domain box = {};
    box.n_dims = section.n_dims;
    for (int d = 0; d < section.n_dims; d++)
        box.range[d] =
            pti_range(value_of(section.subscript[d].lo, thread),
                      value_of(section.subscript[d].hi, thread), section.subscript[d].step);
    return box;
}

void add_touched(const pti_section &section, const polytile_domain &threads, Elements *elements) {
    const polytile_domain whole = elements->domain();
    for_each_point(threads, [&](const Point &thread) {
        polytile_domain box = section_of_thread(section, thread);
        for (int d = 0; d < box.n_dims; d++) {
            polytile_range &range = box.range[d];
            while (range.lo < whole.range[d].lo && range.lo <= range.hi)
                range.lo += range.step;
            while (range.hi > whole.range[d].hi && range.lo <= range.hi)
                range.hi -= range.step;
        }
        elements->add(box);
    });
}

std::string text_of(const polytile_domain &box) {
    std::string text = "[";
    for (int d = 0; d < box.n_dims; d++) {
        text += (d ? ", " : "") + std::to_string(box.range[d].lo) + ":" +
                std::to_string(box.range[d].hi);
        if (box.range[d].step != 1)
            text += ":" + std::to_string(box.range[d].step);
    }
    return text + "]";
}

static std::string text_of(const pti_affine &affine) {
    std::string text = std::to_string(affine.constant);
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        if (affine.index[k] != 0)
            text += (affine.index[k] < 0 ? "" : "+") + std::to_string(affine.index[k]) + "*i" +
                    std::to_string(k);
    return text;
}

std::string text_of(const pti_section &section) {
    std::string text = "[";
    for (int d = 0; d < section.n_dims; d++)
        text += (d ? ", " : "") + text_of(section.subscript[d].lo) + ":" +
                text_of(section.subscript[d].hi) + ":" + std::to_string(section.subscript[d].step);
    return text + "]";
}

std::string text_of(const pti_instance &instance) {
    static const char *const roles[] = {"in", "out", "inout", "sum", "prod", "min", "max"};
    std::string text = "threads " + text_of(instance.threads);
    for (int p = 0; p < instance.n_operands; p++) {
        const pti_operand &operand = instance.operand[p];
        text += std::string("; ") + operand.name + text_of(operand.domain) +
                (operand.partial ? " partial:" : ":");
        for (int s = 0; s < operand.n_sections; s++) {
            const pti_section &section = instance.section[operand.first_section + s];
            text += std::string(section.fresh ? " out " : " ") + roles[section.role] +
                    (section.exact ? " " : " some of ") + text_of(section);
        }
    }
    return text;
}
