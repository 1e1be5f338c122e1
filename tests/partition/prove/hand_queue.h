#ifndef POLYTILE_TESTS_PARTITION_PROVE_HAND_QUEUE_H
#define POLYTILE_TESTS_PARTITION_PROVE_HAND_QUEUE_H

#include "partition/prove/enumerate.h"
#include "support/random.h"

#include <algorithm>
#include <map>
#include <set>

/**
 * Random launches over a few arrays, planned element by element into right schedules that go on
 * from one another: a stand-in for a planner, without its cleverness.
 */
class HandQueue {
  public:
    explicit HandQueue(uint64_t seed) : random_(seed) {
        const int64_t n = random_.number(3, 10), rows = random_.number(2, 3);
        AddArray("a", {n});
        AddArray("b", {n});
        AddArray("d", {2 * n});
        AddArray("m", {rows, n});
        AddArray("s", {rows});
        int64_t all_bytes = 0;
        for (const auto &operand : arrays_.operands)
            all_bytes += pti_box_count(&operand.domain) * operand.element_bytes;
        arena_bytes_ = random_.number(all_bytes / 3, all_bytes * 3 / 2);
    }

    /** Plan some launches, or none; false if the arena is too small for a superblock. */
    bool Plan(Handmade *made) {
        BeginWindow();
        const int n_launches = static_cast<int>(random_.number(0, 4));
        for (int l = 0; l < n_launches; l++)
            DrawLaunch(l);
        for (size_t k = 0; k < steps_.size(); k++) {
            if (!Prepare(k, nullptr))
                return false;
            if (k + 1 < steps_.size() && random_.chance(60))
                Prepare(k + 1, &steps_[k]);
            Launch(k);
            if (random_.chance(20))
                Flush(k);
        }
        if (steps_.empty())
            Flush(0);
        EndWindow();
        *made = made_;
        return true;
    }

  private:
    using Elements = std::set<Element>;

    struct Image {
        int array;
        int64_t offset_bytes;
        polytile_domain hull;
        Elements valid;
        std::map<Element, int> identity; /* for which launch */
        int64_t placement;
    };

    struct Touched {
        Elements all, read, written;
        bool fresh = false;
    };

    /** An array, and which of its uses by a launch this is: each may have an image of its own. */
    using Use = std::pair<int, int>;

    struct Step {
        int launch;
        polytile_domain threads;
        std::map<Use, Touched> uses;
    };

    /** Memory of an array, on the host (placement -1) or in a placement. */
    struct Access {
        int64_t placement;
        int array;
        polytile_domain box;
        bool writes;
    };

    void AddArray(const char *name, const std::vector<int64_t> &extents) {
        const int64_t bytes[] = {1, 4, 8};
        const polytile_domain domain =
            polytile_domain_from_extents(static_cast<int>(extents.size()), extents.data());
        arrays_.Operand(name, bytes[random_.number(0, 2)], domain);
        unwritten_.emplace_back();
        stale_.emplace_back();
        if (random_.chance(40))
            ForEachElement(domain, [&](const Element &e) { unwritten_.back().insert(e); });
    }

    const pti_operand &Array(int a) const { return arrays_.operands[static_cast<size_t>(a)]; }

    static std::vector<polytile_domain> BoxesOf(const Elements &elements) {
        pti_boxes set = {};
        for (const Element &element : elements) {
            const polytile_domain box = BoxAround({element});
            pti_boxes_append(&set, &box);
        }
        pti_boxes_merge(&set);
        std::vector<polytile_domain> boxes(set.box, set.box + set.n_boxes);
        pti_boxes_free(&set);
        return boxes;
    }

    static polytile_domain BoxAround(const Elements &elements) {
        polytile_domain box = {};
        box.n_dims = static_cast<int>(elements.begin()->size());
        for (int d = 0; d < box.n_dims; d++) {
            const size_t at = static_cast<size_t>(d);
            box.range[d] = {(*elements.begin())[at], (*elements.begin())[at], 1};
            for (const Element &element : elements) {
                box.range[d].lo = std::min(box.range[d].lo, element[at]);
                box.range[d].hi = std::max(box.range[d].hi, element[at]);
            }
        }
        return box;
    }

    static Elements Common(const Elements &left, const Elements &right) {
        Elements common;
        std::set_intersection(left.begin(), left.end(), right.begin(), right.end(),
                              std::inserter(common, common.begin()));
        return common;
    }

    static Elements Without(const Elements &left, const Elements &right) {
        Elements rest;
        std::set_difference(left.begin(), left.end(), right.begin(), right.end(),
                            std::inserter(rest, rest.begin()));
        return rest;
    }

    void BeginWindow() {
        made_ = Handmade();
        static_cast<HandKernel &>(made_) = arrays_;
        steps_.clear();
        shares_images_.clear();
        n_launched_ = 0;
        accesses_.clear();
        done_.clear();
        combined_.clear();
        made_.limit_bytes = made_.arena_bytes = arena_bytes_;
        for (auto &image : images_)
            image.placement = made_.Place(image.array, image.offset_bytes, image.hull);
        made_.before = Holdings();
        for (const auto &elements : unwritten_)
            made_.unwritten.push_back(BoxesOf(elements));
    }

    /** Of an element that is dirty in several images only one may say so. */
    std::vector<HandHolding> Holdings() {
        std::vector<HandHolding> holdings;
        std::vector<Elements> said(stale_.size());
        const bool once = random_.chance(30);
        for (const auto &image : images_) {
            const size_t a = static_cast<size_t>(image.array);
            Elements dirty = Common(image.valid, stale_[a]);
            if (once)
                dirty = Without(dirty, said[a]);
            said[a].insert(dirty.begin(), dirty.end());
            holdings.push_back({image.placement, BoxesOf(image.valid), BoxesOf(dirty)});
        }
        return holdings;
    }

    struct Operand {
        const char *name;
        polytile_role role;
        bool fresh;
        std::vector<pti_subscript> subscripts;
    };

    /** Add one of a few kernels to the window, in superblocks. */
    void DrawLaunch(int l) {
        const char *x = random_.chance(50) ? "a" : "b", *y = *x == 'a' ? "b" : "a";
        const char *either = random_.chance(50) ? x : y;
        const std::vector<pti_subscript> i = {Sub(0, 0, {1})}, j = {Sub(0, 0, {0, 1})},
                                         r = {Sub(0, 0, {1, 0})},
                                         rj = {Sub(0, 0, {1, 0}), Sub(0, 0, {0, 1})};
        const std::vector<pti_subscript> far = {
            Sub(Array(0).domain.range[0].hi + 1, Array(0).domain.range[0].hi + 1, {1})};
        const std::vector<std::vector<Operand>> kernels = {
            {{x, POLYTILE_IN, false, i}, {y, POLYTILE_OUT, false, i}},
            {{x, POLYTILE_IN, false, {Sub(-1, 1, {1})}}, {y, POLYTILE_OUT, false, i}},
            {{x, POLYTILE_INOUT, false, i}},
            {{x, POLYTILE_IN, false, i}, {"d", POLYTILE_OUT, false, {Sub(0, 0, {2})}}},
            {{"d", POLYTILE_IN, false, {Sub(0, 1, {2})}}, {x, POLYTILE_OUT, false, i}},
            {{x, POLYTILE_IN, false, i}, {"s", POLYTILE_SUM, false, {Sub(0, 0, {0})}}},
            {{x, POLYTILE_IN, false, j},
             {either, POLYTILE_IN, false, j},
             {"m", POLYTILE_INOUT, false, rj}},
            {{x, POLYTILE_IN, false, j}, {"m", POLYTILE_OUT, false, rj}},
            {{"m", POLYTILE_IN, false, rj}, {x, POLYTILE_SUM, true, j}},
            {{"m", POLYTILE_IN, false, rj}, {"s", POLYTILE_MAX, true, r}},
            {{"d", POLYTILE_IN, false, i},
             {"d", POLYTILE_IN, false, far},
             {x, POLYTILE_OUT, false, i}},
            {{"d", POLYTILE_INOUT, false, i}, {"d", POLYTILE_IN, false, far}},
            {{"d", POLYTILE_OUT, false, far},
             {"d", POLYTILE_IN, false, i},
             {x, POLYTILE_IN, false, i}},
        };
        const size_t drawn =
            static_cast<size_t>(random_.number(0, static_cast<int64_t>(kernels.size()) - 1));
        HandKernel kernel;
        kernel.threads = Array(drawn < 6 || drawn > 9 ? 0 : 3).domain;
        std::vector<int> arrays;
        for (const auto &access : kernels[drawn]) {
            const int a = static_cast<int>(
                std::find(arrays_.names.begin(), arrays_.names.end(), access.name) -
                arrays_.names.begin());
            kernel.Operand(access.name, Array(a).element_bytes, Array(a).domain);
            kernel.Section(access.role, access.fresh, access.subscripts);
            arrays.push_back(a);
        }
        made_.Begin(kernel, arrays);
        shares_images_.push_back(random_.chance(30));
        made_.kernels.back().first_superblock = static_cast<int64_t>(steps_.size());
        Cut(l, kernel.threads, 0);
        made_.kernels.back().n_superblocks =
            static_cast<int64_t>(steps_.size()) - made_.kernels.back().first_superblock;
    }

    void Cut(int l, const polytile_domain &threads, int d) {
        if (d == threads.n_dims) {
            steps_.push_back(StepOf(l, threads));
            return;
        }
        polytile_domain piece = threads;
        while (piece.range[d].lo <= threads.range[d].hi) {
            piece.range[d].hi =
                std::min(threads.range[d].hi, piece.range[d].lo + random_.number(1, 6));
            Cut(l, piece, d + 1);
            piece.range[d].lo = piece.range[d].hi + 1;
        }
    }

    /** Operands of one array share an image in some launches. */
    Use UseOf(int l, int operand) const {
        const std::vector<int> &arrays = made_.kernels[static_cast<size_t>(l)].arrays;
        const int a = arrays[static_cast<size_t>(operand)];
        return {a, shares_images_[static_cast<size_t>(l)]
                       ? 0
                       : static_cast<int>(std::count(arrays.begin(), arrays.begin() + operand, a))};
    }

    Step StepOf(int l, const polytile_domain &threads) const {
        Step step = {l, threads, {}};
        const HandKernel &kernel = made_.kernels[static_cast<size_t>(l)];
        for (const auto &section : kernel.sections) {
            const int a = kernel.arrays[static_cast<size_t>(section.operand)];
            Touched &touched = step.uses[UseOf(l, section.operand)];
            touched.fresh |= section.fresh;
            ForEachElement(threads, [&](const Element &thread) {
                ForEachTouched(section, Array(a).domain, thread, [&](const Element &e) {
                    touched.all.insert(e);
                    if (section.role != POLYTILE_OUT)
                        touched.read.insert(e);
                    if (section.role != POLYTILE_IN)
                        touched.written.insert(e);
                });
            });
        }
        return step;
    }

    Image *FindImage(const Step &step, const Use &use) {
        const polytile_domain box = BoxAround(step.uses.at(use).all);
        for (auto &image : images_)
            if (image.array == use.first && pti_box_contains(&image.hull, &box))
                return &image;
        return nullptr;
    }

    /** Find or make images of all that a superblock touches, and fill them. While another
     * superblock runs, what it touches is left alone. */
    bool Prepare(size_t k, const Step *running) {
        const Step &step = steps_[k];
        for (const auto &[use, touched] : step.uses)
            if (!touched.all.empty() && FindImage(step, use) == nullptr &&
                !MakeImage(k, use, running))
                return false;
        for (const auto &[use, touched] : step.uses)
            if (!touched.all.empty() &&
                !FillImage(k, use, *FindImage(step, use), Busy(running, use.first)))
                return false;
        return true;
    }

    /** What a superblock that runs, if one does, touches of an array. */
    static Elements Busy(const Step *running, int array) {
        Elements busy;
        if (running != nullptr)
            for (const auto &[use, touched] : running->uses)
                if (use.first == array)
                    busy.insert(touched.all.begin(), touched.all.end());
        return busy;
    }

    bool IsPinned(const Image &image, const Step *running, const Step &step) {
        for (const Step *user : {running, &step})
            if (user != nullptr)
                for (const auto &[use, touched] : user->uses)
                    if (use.first == image.array && !touched.all.empty() &&
                        FindImage(*user, use) == &image)
                        return true;
        return false;
    }

    bool MakeImage(size_t k, const Use &use, const Step *running) {
        const Step &step = steps_[k];
        const int a = use.first;
        Image image = {a, 0, BoxAround(step.uses.at(use).all), {}, {}, -1};
        if (random_.chance(30))
            image.hull = Array(a).domain;
        const int64_t bytes = pti_box_count(&image.hull) * Array(a).element_bytes;
        for (int64_t n = 0; n < 20 + arena_bytes_ && bytes <= arena_bytes_; n++) {
            const int64_t at = n < 20 ? random_.number(0, arena_bytes_ - bytes) : n - 20;
            if (at + bytes > arena_bytes_ || !IsFree(at, bytes, running, step))
                continue;
            Evict(k, at, bytes);
            image.offset_bytes = at;
            image.placement = made_.Place(a, at, image.hull);
            images_.push_back(image);
            return true;
        }
        return false;
    }

    bool Overlaps(const Image &image, int64_t at, int64_t bytes) const {
        const int64_t its = pti_box_count(&image.hull) * Array(image.array).element_bytes;
        return image.offset_bytes < at + bytes && at < image.offset_bytes + its;
    }

    bool IsFree(int64_t at, int64_t bytes, const Step *running, const Step &step) {
        for (const auto &image : images_)
            if (Overlaps(image, at, bytes) && IsPinned(image, running, step))
                return false;
        return true;
    }

    void Evict(size_t k, int64_t at, int64_t bytes) {
        for (size_t v = images_.size(); v-- > 0;)
            if (Overlaps(images_[v], at, bytes)) {
                Download(k, images_[v], random_.chance(70) ? Doomed(images_[v].array) : Elements());
                images_.erase(images_.begin() + static_cast<std::ptrdiff_t>(v));
            }
    }

    /** Elements of an array that the rest of the window writes before it reads them. */
    Elements Doomed(int a) const {
        Elements used, doomed;
        for (size_t k = n_launched_; k < steps_.size(); k++) {
            for (const auto &[use, touched] : steps_[k].uses)
                if (use.first == a)
                    used.insert(touched.read.begin(), touched.read.end());
            for (const auto &[use, touched] : steps_[k].uses) {
                if (use.first != a)
                    continue;
                const Elements overwritten = Without(touched.written, used);
                doomed.insert(overwritten.begin(), overwritten.end());
                used.insert(overwritten.begin(), overwritten.end());
            }
        }
        return doomed;
    }

    /** Bring home what is newer, but for what nobody needs. */
    void Download(size_t k, const Image &image, const Elements &doomed = {}) {
        Elements &stale = stale_[static_cast<size_t>(image.array)];
        const Elements dirty = Without(Common(image.valid, stale), doomed);
        Move(PTI_DOWNLOAD, k, image, dirty, nullptr);
        stale = Without(stale, dirty);
    }

    bool FillImage(size_t k, const Use &use, Image &image, const Elements &busy) {
        const Step &step = steps_[k];
        const int a = use.first;
        const size_t at = static_cast<size_t>(a);
        const Touched &touched = step.uses.at(use);
        Elements identities, missing = Without(Without(touched.read, image.valid), busy);
        if (touched.fresh)
            for (const Element &e : Without(touched.read, busy))
                if (!combined_[{step.launch, a}].count(e)) {
                    missing.erase(e);
                    const auto found = image.identity.find(e);
                    if (found == image.identity.end() || found->second != step.launch)
                        identities.insert(e);
                }
        for (const Element &e : identities) {
            image.valid.erase(e);
            image.identity[e] = step.launch;
        }
        Move(PTI_FILL, k, image, identities, nullptr);
        for (const auto &source : images_)
            if (&source != &image && source.array == a && random_.chance(80)) {
                const Elements found = Common(missing, source.valid);
                Arrive(PTI_COPY, k, image, found, &source);
                missing = Without(missing, found);
            }
        const Elements nobody = Common(missing, unwritten_[at]);
        if (!touched.fresh) {
            Arrive(PTI_FILL, k, image, nobody, nullptr);
            unwritten_[at] = Without(unwritten_[at], nobody);
            stale_[at].insert(nobody.begin(), nobody.end());
            missing = Without(missing, nobody);
        }
        const Elements on_host = Without(missing, stale_[at]);
        Arrive(PTI_UPLOAD, k, image, on_host, nullptr);
        return busy.empty() ? on_host.size() == missing.size() : true;
    }

    void Arrive(pti_op_kind kind, size_t k, Image &image, const Elements &elements,
                const Image *source) {
        Move(kind, k, image, elements, source);
        for (const Element &e : elements) {
            image.valid.insert(e);
            image.identity.erase(e);
        }
    }

    void Move(pti_op_kind kind, size_t k, const Image &image, const Elements &elements,
              const Image *source) {
        for (const auto &box : BoxesOf(elements)) {
            std::vector<Access> accesses = {
                {image.placement, image.array, box, kind != PTI_DOWNLOAD}};
            if (kind == PTI_UPLOAD || kind == PTI_DOWNLOAD)
                accesses.push_back({-1, image.array, box, kind == PTI_DOWNLOAD});
            if (source != nullptr)
                accesses.push_back({source->placement, image.array, box, false});
            const pti_op op = OnSomeStream(kind);
            made_.Move(kind, static_cast<int64_t>(k), image.placement, box,
                       Waits(pti_op_stream(&op), accesses),
                       source == nullptr ? -1 : source->placement);
            made_.ops.back().lane = op.lane;
            if (!steps_.empty())
                made_.ops.back().launch = steps_[k].launch;
        }
    }

    void Launch(size_t k) {
        const Step &step = steps_[k];
        const size_t launch = static_cast<size_t>(step.launch);
        std::vector<int64_t> placed;
        std::vector<Access> accesses;
        for (int o = 0; o < static_cast<int>(made_.kernels[launch].arrays.size()); o++) {
            const Use use = UseOf(step.launch, o);
            placed.push_back(step.uses.at(use).all.empty() ? -1 : FindImage(step, use)->placement);
        }
        for (const auto &[use, touched] : step.uses)
            if (!touched.all.empty())
                accesses.push_back({FindImage(step, use)->placement, use.first,
                                    BoxAround(touched.all), !touched.written.empty()});
        const int64_t n_superblocks = made_.kernels.back().n_superblocks;
        const pti_op op = OnSomeStream(PTI_LAUNCH);
        made_.LaunchOn(step.threads, placed, Waits(pti_op_stream(&op), accesses));
        made_.ops.back().lane = op.lane;
        made_.kernels.back().n_superblocks = n_superblocks;
        made_.ops.back().launch = step.launch;
        for (const auto &[use, touched] : step.uses)
            if (!touched.all.empty())
                Renew(step.launch, use.first, touched, *FindImage(step, use));
        n_launched_ = k + 1;
    }

    void Renew(int launch, int a, const Touched &touched, Image &image) {
        const size_t at = static_cast<size_t>(a);
        for (auto &other : images_)
            if (other.array == a)
                other.valid = Without(other.valid, touched.written);
        for (const Element &e : touched.written) {
            image.valid.insert(e);
            image.identity.erase(e);
            stale_[at].insert(e);
            combined_[{launch, a}].insert(e);
        }
        unwritten_[at] = Without(unwritten_[at], touched.written);
    }

    void Flush(size_t k) {
        for (const auto &image : images_)
            if (random_.chance(50))
                Download(k, image);
    }

    /** What is only on the device of an array is not needed. */
    void DropArray(int a) {
        for (size_t v = images_.size(); v-- > 0;)
            if (images_[v].array == a)
                images_.erase(images_.begin() + static_cast<std::ptrdiff_t>(v));
        stale_[static_cast<size_t>(a)].clear();
        made_.dropped.insert(a);
    }

    void EndWindow() {
        for (int a = 0; a < static_cast<int>(arrays_.operands.size()); a++)
            if (random_.chance(10))
                DropArray(a);
        for (size_t v = images_.size(); v-- > 0;)
            if (random_.chance(15) &&
                Common(images_[v].valid, stale_[static_cast<size_t>(images_[v].array)]).empty())
                images_.erase(images_.begin() + static_cast<std::ptrdiff_t>(v));
        made_.after = Holdings();
        for (auto &image : images_)
            image.identity.clear();
    }

    bool Conflict(const Access &left, const Access &right) const {
        polytile_domain common;
        const bool meet = left.array == right.array && (left.writes || right.writes) &&
                          pti_box_intersect(&left.box, &right.box, &common);
        if (left.placement < 0 || right.placement < 0 || left.placement == right.placement)
            return meet && left.placement == right.placement;
        const pti_placement &a = made_.placements[static_cast<size_t>(left.placement)];
        const pti_placement &b = made_.placements[static_cast<size_t>(right.placement)];
        return a.offset_bytes < b.offset_bytes + b.layout.size_bytes &&
               b.offset_bytes < a.offset_bytes + a.layout.size_bytes;
    }

    bool Conflicts(const std::vector<Access> &left, const std::vector<Access> &right) const {
        for (const auto &a : left)
            for (const auto &b : right)
                if (Conflict(a, b))
                    return true;
        return false;
    }

    /** An operation of a kind, of those for launches in some lane. */
    pti_op OnSomeStream(pti_op_kind kind) {
        pti_op op = {};
        op.kind = kind;
        if ((kind == PTI_FILL || kind == PTI_LAUNCH) && random_.chance(40))
            op.lane = static_cast<int>(random_.number(1, 3));
        return op;
    }

    /** What the next operation must wait for, nothing twice. */
    std::vector<int64_t> Waits(pti_stream stream, const std::vector<Access> &accesses) {
        std::vector<int64_t> waits;
        std::set<size_t> done;
        auto follow = [&](size_t j) {
            done.insert(j);
            done.insert(done_[j].begin(), done_[j].end());
        };
        for (size_t j = accesses_.size(); j-- > 0;)
            if (pti_op_stream(&made_.ops[j]) == stream) {
                follow(j);
                break;
            }
        for (size_t j = accesses_.size(); j-- > 0;)
            if (!done.count(j) && Conflicts(accesses, accesses_[j])) {
                waits.push_back(static_cast<int64_t>(j));
                follow(j);
            }
        accesses_.push_back(accesses);
        done_.push_back(done);
        return waits;
    }

    Random random_;
    HandKernel arrays_;
    int64_t arena_bytes_ = 0;
    std::vector<Elements> unwritten_, stale_; /* of each array; stale: newer than the host's */
    std::vector<Image> images_;
    Handmade made_;
    std::vector<Step> steps_;
    std::vector<bool> shares_images_; /* of each launch */
    size_t n_launched_ = 0;
    std::vector<std::vector<Access>> accesses_; /* of each operation */
    std::vector<std::set<size_t>> done_;        /* before each operation */
    std::map<std::pair<int, int>, Elements> combined_;
};

#endif
