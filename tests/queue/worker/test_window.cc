#include "support/random.h"
#include "support/scale.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <list>
#include <set>

extern "C" {
#include "queue/queue.h"
#include "queue/worker/worker.h"
}

namespace {

enum { N_ARRAYS = 5, EXTENT = 12 };

polytile_domain range_of(int64_t lo, int64_t hi, int64_t step = 1) {
    polytile_domain box = {};
    box.n_dims = 1;
    box.range[0] = {lo, hi, step};
    return box;
}

const polytile_domain nothing = range_of(0, -1);

/** A queue of items without kernels: hulls, superblocks and arrays are all that windows look at. */
class Items {
  public:
    Items() {
        for (int a = 0; a < N_ARRAYS; a++) {
            arrays_[a].domain = range_of(0, EXTENT - 1);
            queued_[a].array = &arrays_[a];
        }
        queue.array = queued_;
        queue.n_arrays = N_ARRAYS;
        queue.window_items = PTI_WINDOW_ITEMS;
        queue.device = &device_;
    }

    struct Use {
        int position;
        polytile_domain touched;
        polytile_domain written;
    };

    /** has_slots: it is one of a team kernel. */
    void launch(const std::vector<Use> &uses, int64_t n_superblocks = 1, bool has_slots = false) {
        launches_.emplace_back();
        Launch &made = launches_.back();
        for (const Use &use : uses) {
            made.position.push_back(use.position);
            made.touched.push_back(use.touched);
            made.written.push_back(use.written);
        }
        made.prepared = {};
        made.prepared.n_arrays = static_cast<int>(uses.size());
        made.prepared.position = made.position.data();
        made.prepared.touched = made.touched.data();
        made.prepared.written = made.written.data();
        made.prepared.partition.n_superblocks = n_superblocks;
        pti_item item = {};
        item.kind = PTI_ITEM_LAUNCH;
        item.prepared = &made.prepared;
        item.part = has_slots ? reinterpret_cast<pti_server_part *>(&made) : nullptr;
        append(item);
    }

    void end(pti_item_kind kind, int position) {
        pti_item item = {};
        item.kind = kind;
        item.position = position;
        append(item);
    }

    /** Elements lo .. hi and those from EXTENT - 2 on. */
    void elements(pti_item_kind kind, int position, int64_t lo, int64_t hi) {
        pti_item item = {};
        item.kind = kind;
        item.position = position;
        for (const polytile_domain &box : {range_of(lo, hi), range_of(EXTENT - 2, EXTENT - 1)})
            pti_boxes_append(&item.boxes, &box);
        append(item);
    }

    ~Items() {
        free(queue.later_item);
        for (pti_item &item : items_)
            pti_boxes_free(&item.boxes);
    }

    void want(int position, pti_want want = PTI_WANT_NEEDED) {
        queue.n_waiting = 1;
        queue.want = want;
        queued_[position].is_wanted = true;
        for (const pti_item *item = queue.first; item != nullptr; item = item->next)
            queued_[position].n_items += !uses_of(*item, position).empty();
    }

    static std::vector<int64_t> numbers(const pti_item *item) {
        std::vector<int64_t> found;
        for (; item != nullptr; item = item->next)
            found.push_back(item->number);
        return found;
    }

    /** What one item does to an array, by element: 1 reads, 2 writes. */
    std::vector<std::pair<int64_t, int>> uses_of(const pti_item &item, int position) const {
        std::vector<std::pair<int64_t, int>> found;
        if (item.kind == PTI_ITEM_FETCH || pti_item_only_invalidates(&item)) {
            for (int k = 0; item.position == position && k < item.boxes.n_boxes; k++)
                for (int64_t x = item.boxes.box[k].range[0].lo; x <= item.boxes.box[k].range[0].hi;
                     x++)
                    found.emplace_back(x, item.kind == PTI_ITEM_FETCH ? 1 : 2);
            return found;
        }
        if (item.kind != PTI_ITEM_LAUNCH) {
            for (int64_t x = 0; item.position == position && x < EXTENT; x++)
                found.emplace_back(x, 2);
            return found;
        }
        for (int k = 0; k < item.prepared->n_arrays; k++) {
            if (item.prepared->position[k] != position)
                continue;
            found.emplace_back(-1, 1);
            const polytile_range touched = item.prepared->touched[k].range[0];
            const polytile_range written = item.prepared->written[k].range[0];
            for (int64_t x = touched.lo; x <= touched.hi; x += touched.step)
                found.emplace_back(x, 1);
            for (int64_t x = written.lo; x <= written.hi; x += written.step)
                found.emplace_back(x, 2);
        }
        return found;
    }

    /** Whether two items have an element in common that either writes. */
    bool conflict(const pti_item &one, const pti_item &other) const {
        for (int a = 0; a < N_ARRAYS; a++)
            for (const auto &mine : uses_of(one, a))
                for (const auto &theirs : uses_of(other, a))
                    if (mine.first >= 0 && mine.first == theirs.first &&
                        (mine.second == 2 || theirs.second == 2))
                        return true;
        return false;
    }

    /** What an array's users need, by looking at every pair of items. */
    std::vector<int64_t> needed_by(int position) const {
        std::vector<int64_t> found;
        std::vector<const pti_item *> needed;
        for (auto item = items_.rbegin(); item != items_.rend(); ++item) {
            bool is_needed = !uses_of(*item, position).empty();
            for (const pti_item *later : needed)
                is_needed = is_needed || conflict(*item, *later) || have_slots(*item, *later);
            if (is_needed)
                needed.push_back(&*item);
        }
        for (auto item = needed.rbegin(); item != needed.rend(); ++item)
            found.push_back((*item)->number);
        return found;
    }

    /** The same with the ends of arrays' stays whose users, of which there are some, are all
     * taken. */
    std::vector<int64_t> taken_for(int position) const {
        std::vector<int64_t> needed = needed_by(position), taken;
        for (auto item = items_.begin(); item != items_.end(); ++item) {
            const bool is_needed = std::count(needed.begin(), needed.end(), item->number) > 0;
            if (is_needed || (is_end(*item) && has_users_only_in(taken, *item)))
                taken.push_back(item->number);
        }
        return taken;
    }

    /** The items that are joined to an array by arrays that both of two items name, or by slots
     * that come later. */
    std::vector<int64_t> related_to(int position) const {
        std::set<int> related = {position};
        std::set<int64_t> taken;
        for (size_t before = 0; before != related.size() + taken.size();) {
            before = related.size() + taken.size();
            for (const pti_item &item : items_) {
                bool is_taken = is_before_slots(item, taken);
                for (int a = 0; a < N_ARRAYS; a++)
                    is_taken |= related.count(a) > 0 && names(item, a);
                for (int a = 0; is_taken && a < N_ARRAYS; a++)
                    if (names(item, a))
                        related.insert(a);
                if (is_taken)
                    taken.insert(item.number);
            }
        }
        return {taken.begin(), taken.end()};
    }

    polytile_queue queue = {};

  private:
    static bool have_slots(const pti_item &one, const pti_item &other) {
        return one.part != nullptr && other.part != nullptr;
    }

    bool is_before_slots(const pti_item &item, const std::set<int64_t> &taken) const {
        bool is = false;
        for (const pti_item &other : items_)
            is |= other.number > item.number && have_slots(item, other) &&
                  taken.count(other.number) > 0;
        return is;
    }

    static bool is_end(const pti_item &item) {
        return item.kind == PTI_ITEM_FLUSH || item.kind == PTI_ITEM_DROP;
    }

    static bool names(const pti_item &item, int position) {
        if (item.kind != PTI_ITEM_LAUNCH)
            return item.position == position;
        const int *first = item.prepared->position;
        return std::count(first, first + item.prepared->n_arrays, position) > 0;
    }

    bool has_users_only_in(const std::vector<int64_t> &taken, const pti_item &end) const {
        bool has_users = false;
        for (auto item = items_.begin(); item->number < end.number; ++item) {
            if (!names(*item, end.position))
                continue;
            if (std::count(taken.begin(), taken.end(), item->number) == 0)
                return false;
            has_users = true;
        }
        return has_users;
    }

    struct Launch {
        std::vector<int> position;
        std::vector<polytile_domain> touched, written;
        pti_prepared prepared;
    };

    void append(pti_item item) {
        item.number = ++queue.n_queued;
        items_.push_back(item);
        pti_item *queued = &items_.back();
        if (queue.last == nullptr)
            queue.first = queued;
        else
            queue.last->next = queued;
        queue.last = queued;
    }

    polytile_device device_ = {};
    polytile_array arrays_[N_ARRAYS] = {};
    pti_queued_array queued_[N_ARRAYS] = {};
    std::list<Launch> launches_;
    std::list<pti_item> items_;
};

std::vector<int64_t> numbers_between(int64_t first, int64_t last) {
    std::vector<int64_t> found;
    for (int64_t number = first; number <= last; number++)
        found.push_back(number);
    return found;
}

Items::Use writes(int position, int64_t lo = 0, int64_t hi = EXTENT - 1) {
    return {position, range_of(lo, hi), range_of(lo, hi)};
}

Items::Use reads(int position, int64_t lo = 0, int64_t hi = EXTENT - 1) {
    return {position, range_of(lo, hi), nothing};
}

TEST(Window, TakesItemsFromTheBeginningUpToTheMostThatArePlannedTogether) {
    Items items;
    for (int k = 0; k < PTI_WINDOW_ITEMS + 10; k++)
        items.launch({writes(0)});
    EXPECT_EQ(Items::numbers(pti_window_take(&items.queue)), numbers_between(1, PTI_WINDOW_ITEMS));
    EXPECT_EQ(Items::numbers(pti_window_take(&items.queue)),
              numbers_between(PTI_WINDOW_ITEMS + 1, PTI_WINDOW_ITEMS + 10));
    EXPECT_EQ(items.queue.first, nullptr);
    EXPECT_EQ(items.queue.last, nullptr);
}

TEST(Window, TakesWhatOneArrayNeedsThroughOthersAndLeavesTheRest) {
    Items items;
    items.launch({writes(1)});
    items.launch({reads(1), writes(2)});
    items.launch({writes(3)});
    items.launch({reads(2, 0, 3), writes(0, 0, 3)});
    items.launch({reads(0), writes(3)});
    items.launch({writes(2)});
    items.want(0);
    EXPECT_EQ(Items::numbers(pti_window_take(&items.queue)), (std::vector<int64_t>{1, 2, 3, 4, 5}));
    EXPECT_EQ(Items::numbers(items.queue.first), (std::vector<int64_t>{6}));
    EXPECT_EQ(items.queue.last->number, 6);
}

TEST(Window, LeavesLaunchesThatReadTheSameElementsOrTouchOthers) {
    Items items;
    items.launch({reads(1), writes(2)});
    items.launch({reads(1), writes(0, 0, 5)});
    items.launch({reads(2), writes(3)});
    items.want(0);
    EXPECT_EQ(Items::numbers(pti_window_take(&items.queue)), (std::vector<int64_t>{2}));
    EXPECT_EQ(Items::numbers(items.queue.first), (std::vector<int64_t>{1, 3}));
}

TEST(Window, FetchesReadTheirElementsAndInvalidationsWriteThem) {
    Items items;
    items.launch({writes(1, 5, 6)});
    items.launch({writes(1, 0, 1)});
    items.elements(PTI_ITEM_FETCH, 1, 0, 1);
    items.elements(PTI_ITEM_FETCH, 1, 2, 2);
    items.launch({reads(1, 1, 2), writes(2)});
    items.elements(PTI_ITEM_INVALIDATE, 1, 1, 1);
    items.launch({reads(1, 1, 1), writes(0)});
    items.want(0);
    EXPECT_EQ(Items::numbers(pti_window_take(&items.queue)),
              (std::vector<int64_t>{2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(Items::numbers(items.queue.first), (std::vector<int64_t>{1}));
}

TEST(Window, LeavesFetchesThatNobodyWaitsFor) {
    Items items;
    items.elements(PTI_ITEM_FETCH, 1, 0, 1);
    items.launch({reads(1), writes(0)});
    items.want(0);
    EXPECT_EQ(Items::numbers(pti_window_take(&items.queue)), (std::vector<int64_t>{2}));
}

TEST(Window, EndsAnArraysStayBehindAllThatUseIt) {
    Items items;
    items.launch({reads(1), writes(0)});
    items.launch({reads(1), writes(2)});
    items.launch({writes(3)});
    items.end(PTI_ITEM_FLUSH, 1);
    items.want(1);
    EXPECT_EQ(Items::numbers(pti_window_take(&items.queue)), (std::vector<int64_t>{1, 2, 4}));
    EXPECT_EQ(Items::numbers(items.queue.first), (std::vector<int64_t>{3}));
}

TEST(Window, TakesTheEndsOfArraysThatNobodyElseUses) {
    Items items;
    items.launch({reads(1), reads(2), writes(0)});
    items.launch({reads(2), writes(3)});
    items.end(PTI_ITEM_FLUSH, 0);
    items.end(PTI_ITEM_FLUSH, 1);
    items.end(PTI_ITEM_FLUSH, 2);
    items.want(0);
    EXPECT_EQ(Items::numbers(pti_window_take(&items.queue)), (std::vector<int64_t>{1, 3, 4}));
}

TEST(Window, TakesWhatHasArraysInCommonThroughOthersAndLeavesTheRest) {
    Items items;
    items.launch({reads(1), writes(0)});
    items.launch({reads(2), writes(3)});
    items.launch({reads(1, 0, 1), writes(4, 5, 6)});
    items.launch({writes(4, 0, 1)});
    items.end(PTI_ITEM_FLUSH, 3);
    items.end(PTI_ITEM_FLUSH, 4);
    items.want(0, PTI_WANT_RELATED);
    EXPECT_EQ(Items::numbers(pti_window_take(&items.queue)), (std::vector<int64_t>{1, 3, 4, 6}));
    EXPECT_EQ(Items::numbers(items.queue.first), (std::vector<int64_t>{2, 5}));
}

/* Slots of a launch wait for those on other devices: all run such launches in the same order. */
TEST(Window, TakesTheTeamKernelsBeforeOneWithAllThatTheyNeed) {
    for (pti_want want : {PTI_WANT_NEEDED, PTI_WANT_RELATED}) {
        Items items;
        items.launch({writes(0)});
        items.launch({writes(1)});
        items.launch({reads(1), writes(2)}, 1, true);
        items.launch({writes(3)}, 1, true);
        items.launch({writes(4)}, 1, true);
        items.want(3, want);
        EXPECT_EQ(Items::numbers(pti_window_take(&items.queue)), (std::vector<int64_t>{2, 3, 4}));
        EXPECT_EQ(Items::numbers(items.queue.first), (std::vector<int64_t>{1, 5}));
    }
}

TEST(Window, TakesInOrderWhenNothingOfTheArrayWaitedForIsQueued) {
    Items items;
    items.launch({writes(1)});
    items.launch({writes(2)});
    items.want(0);
    EXPECT_EQ(Items::numbers(pti_window_take(&items.queue)), numbers_between(1, 2));
}

void queue_random(Items *items, Random *random, int64_t n_items) {
    for (int64_t k = 0; k < n_items; k++) {
        if (random->chance(5)) {
            items->end(random->chance(50) ? PTI_ITEM_FLUSH : PTI_ITEM_DROP,
                       static_cast<int>(random->number(0, N_ARRAYS - 1)));
            continue;
        }
        if (random->chance(10)) {
            const int64_t lo = random->number(0, EXTENT - 3);
            items->elements(random->chance(50)   ? PTI_ITEM_FETCH
                            : random->chance(50) ? PTI_ITEM_INVALIDATE
                                                 : PTI_ITEM_DISCARD,
                            static_cast<int>(random->number(0, N_ARRAYS - 1)), lo,
                            random->number(lo, EXTENT - 3));
            continue;
        }
        std::vector<Items::Use> uses;
        for (int a = 0; a < N_ARRAYS; a++) {
            if (random->chance(50))
                continue;
            const int64_t lo = random->number(0, EXTENT - 1), n = random->number(0, 4);
            const int64_t step = random->number(1, 3);
            const int64_t hi = lo + std::min(n, (EXTENT - 1 - lo) / step) * step;
            const polytile_domain hull =
                random->chance(10) ? nothing : range_of(lo, hi, lo == hi ? 1 : step);
            uses.push_back({a, hull, random->chance(40) ? hull : nothing});
        }
        const int64_t n_superblocks = random->number(1, 3);
        items->launch(uses, n_superblocks, random->chance(15));
    }
}

TEST(Window, TakesExactlyWhatIsRelated) {
    Random random(test_seed("WindowRelated"));
    for (int round = 0; round < scaled(1000); round++) {
        Items items;
        queue_random(&items, &random, random.number(1, 12));
        const int wanted = static_cast<int>(random.number(0, N_ARRAYS - 1));
        const std::vector<int64_t> expected = items.related_to(wanted);
        if (expected.empty())
            continue;
        items.want(wanted, PTI_WANT_RELATED);
        ASSERT_EQ(Items::numbers(pti_window_take(&items.queue)), expected) << "round " << round;
    }
}

TEST(Window, TakesExactlyWhatAnyOrderOfPairsForbidsToLeave) {
    Random random(test_seed("Window"));
    for (int round = 0; round < scaled(3000); round++) {
        Items items;
        queue_random(&items, &random, random.number(1, 25));
        const int wanted = static_cast<int>(random.number(0, N_ARRAYS - 1));
        if (items.needed_by(wanted).empty())
            continue;
        const std::vector<int64_t> expected = items.taken_for(wanted);
        items.want(wanted);
        const std::vector<int64_t> taken = Items::numbers(pti_window_take(&items.queue));
        ASSERT_EQ(taken, expected) << "round " << round;
        const std::vector<int64_t> left = Items::numbers(items.queue.first);
        std::vector<int64_t> both = taken;
        both.insert(both.end(), left.begin(), left.end());
        EXPECT_TRUE(std::is_sorted(left.begin(), left.end()));
        std::sort(both.begin(), both.end());
        EXPECT_EQ(both, numbers_between(1, items.queue.n_queued));
        EXPECT_EQ(items.queue.last == nullptr ? 0 : items.queue.last->number,
                  left.empty() ? 0 : left.back());
    }
}

TEST(Window, IsTheBeginningOfWhatIsNeededWhereThatIsTooMuch) {
    Items items;
    for (int k = 0; k < 2 * PTI_WINDOW_ITEMS; k++)
        items.launch({writes(k % 2)});
    items.want(0);
    const std::vector<int64_t> taken = Items::numbers(pti_window_take(&items.queue));
    ASSERT_EQ(taken.size(), static_cast<size_t>(PTI_WINDOW_ITEMS));
    for (size_t k = 0; k < taken.size(); k++)
        EXPECT_EQ(taken[k], static_cast<int64_t>(2 * k + 1));
}

} // namespace
