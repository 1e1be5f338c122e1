#ifndef POLYTILE_TESTS_PARTITION_SHOW_HAND_PLAN_H
#define POLYTILE_TESTS_PARTITION_SHOW_HAND_PLAN_H

extern "C" {
#include "partition/window/plan.h"
#include <polytile/polytile.h>
}

#include <string>
#include <vector>

/* A plan filled in by hand, without a planner: a grid of superblocks over n dimensions; each
 * uploads its own piece of array x (inputs) and downloads its piece of array y. */
class HandPlan {
  public:
    HandPlan(const std::string &name, const std::vector<int64_t> &extents,
             const std::vector<int64_t> &parts)
        : name_(name), extents_(extents), parts_(parts) {
        polytile_context_create(&ctx_);
        make_instance();
        make_schedule();
        make_summary();
        plan_.object.context = ctx_;
        plan_.instance = &instance_;
        plan_.schedule = &schedule_;
    }
    HandPlan(const HandPlan &) = delete;
    ~HandPlan() { polytile_context_destroy(ctx_); }

    polytile_plan *get() { return &plan_; }
    pti_schedule &schedule() { return schedule_; }
    pti_operand &operand(int k) { return operands_[k]; }

    std::string print(polytile_format format) const {
        char *text = nullptr;
        if (polytile_plan_to_string(&plan_, format, &text) != POLYTILE_OK)
            return "failed";
        std::string copy = text;
        free(text);
        return copy;
    }

  private:
    int n_dims() const { return (int)extents_.size(); }

    polytile_domain whole() const {
        return polytile_domain_from_extents(n_dims(), extents_.data());
    }

    void make_instance() {
        static char names[][2] = {"i", "j", "k", "l"};
        static char x[] = "x", y[] = "y";
        instance_.kernel_name = name_.data();
        instance_.n_indices = n_dims();
        for (int d = 0; d < n_dims(); d++)
            instance_.index_name[d] = names[d];
        instance_.threads = whole();
        sections_[0].role = POLYTILE_IN;
        sections_[1].role = POLYTILE_OUT;
        for (int k = 0; k < 2; k++) {
            operands_[k].name = k == 0 ? x : y;
            operands_[k].type = POLYTILE_F32;
            operands_[k].element_bytes = 4;
            operands_[k].domain = whole();
            operands_[k].first_section = k;
            operands_[k].n_sections = 1;
            sections_[k].operand = k;
        }
        instance_.n_operands = instance_.n_sections = 2;
        instance_.operand = operands_;
        instance_.section = sections_;
    }

    polytile_domain piece(int64_t superblock) const {
        polytile_domain box = whole();
        for (int d = n_dims() - 1; d >= 0; d--) {
            int64_t part = superblock % parts_[d], size = extents_[d] / parts_[d];
            box.range[d] = {part * size, part * size + size - 1, 1};
            superblock /= parts_[d];
        }
        return box;
    }

    void add_op(pti_op_kind kind, int64_t superblock, const polytile_domain &box) {
        pti_op op = {};
        op.kind = kind;
        op.superblock = superblock;
        op.placement = kind == PTI_LAUNCH ? -1 : 2 * superblock + (kind == PTI_DOWNLOAD);
        op.source_placement = -1;
        op.bytes = kind == PTI_LAUNCH ? 0 : bytes_of(box);
        op.box = box;
        ops_.push_back(op);
    }

    static int64_t bytes_of(const polytile_domain &box) {
        int64_t bytes = 4;
        for (int d = 0; d < box.n_dims; d++)
            bytes *= (box.range[d].hi - box.range[d].lo) / box.range[d].step + 1;
        return bytes;
    }

    void make_schedule() {
        int64_t n = 1;
        for (int64_t part : parts_)
            n *= part;
        for (int64_t k = 0; k < n; k++) {
            polytile_domain box = piece(k);
            superblocks_.push_back(box);
            for (int operand = 0; operand < 2; operand++) {
                pti_placement placement = {};
                placement.operand = operand;
                placement.offset_bytes = operand * bytes_of(box);
                placement.layout = pti_memory_layout_of(&box, 4);
                launch_placements_.push_back((int64_t)placements_.size());
                placements_.push_back(placement);
            }
            add_op(PTI_UPLOAD, k, box);
            add_op(PTI_LAUNCH, k, box);
            add_op(PTI_DOWNLOAD, k, box);
        }
        schedule_.instance = &instance_;
        launch_ = {{&instance_, arrays_}, 0, n, 0};
        schedule_.n_launches = 1;
        schedule_.launch = &launch_;
        schedule_.n_launch_placements = (int64_t)launch_placements_.size();
        schedule_.n_superblocks = n;
        schedule_.superblock = superblocks_.data();
        schedule_.n_placements = (int64_t)placements_.size();
        schedule_.placement = placements_.data();
        schedule_.launch_placement = launch_placements_.data();
        schedule_.n_ops = (int64_t)ops_.size();
        schedule_.op = ops_.data();
    }

    void make_summary() {
        polytile_domain all = whole();
        polytile_plan_summary &s = plan_.summary;
        s.kernel = name_.c_str();
        s.strategy = "min-kernels";
        s.n_dims = n_dims();
        s.n_buffers = 1;
        s.limit_bytes = 3 * bytes_of(superblocks_[0]);
        s.peak_device_bytes = 2 * bytes_of(superblocks_[0]);
        for (int d = 0; d < n_dims(); d++) {
            s.block[d] = 1;
            s.grid_blocks[d] = extents_[d];
            s.superblock_blocks[d] = extents_[d] / parts_[d];
        }
        s.n_kernels = schedule_.n_superblocks;
        s.h2d_bytes = s.d2h_bytes = bytes_of(all);
        s.lower_bound_bytes = 2 * bytes_of(all);
        s.predicted_seconds = 0.25;
        s.plan_seconds = 0.0001;
    }

    std::string name_;
    std::vector<int64_t> extents_, parts_;
    polytile_context *ctx_ = nullptr;
    pti_instance instance_ = {};
    pti_operand operands_[2] = {};
    pti_section sections_[2] = {};
    pti_schedule schedule_ = {};
    std::vector<polytile_domain> superblocks_;
    std::vector<pti_placement> placements_;
    std::vector<int64_t> launch_placements_;
    const int arrays_[2] = {0, 1};
    pti_schedule_launch launch_ = {};
    std::vector<pti_op> ops_;
    polytile_plan plan_ = {};
};

#endif
