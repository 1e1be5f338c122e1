#include "partition/memory/resident.h"
#include "support/scale.h"

extern "C" {
#include "partition/memory/resident_future.h"
}

#include <set>

/* What a window will touch, compared with what happens to each element. */

namespace {

using Elements = std::set<int64_t>;

Elements elements_of(const pti_boxes &boxes) {
    Elements found;
    for (int k = 0; k < boxes.n_boxes; k++)
        for (int64_t x = boxes.box[k].range[0].lo; x <= boxes.box[k].range[0].hi; x++)
            found.insert(x);
    return found;
}

Elements elements_of(const polytile_domain &box) {
    Elements found;
    for (int64_t x = box.range[0].lo; x <= box.range[0].hi; x++)
        found.insert(x);
    return found;
}

/** The future of some steps, all of which live as long. */
class Future {
  public:
    Future(Resident *resident, const std::vector<pti_step> &steps)
        : status(pti_future_create(resident->get(), static_cast<int>(steps.size()), steps.data(),
                                   &of)) {}
    ~Future() { pti_future_free(&of); }
    Future(const Future &) = delete;
    Future &operator=(const Future &) = delete;

    pti_future of = {};
    polytile_status status;
};

/** An image of a whole array, beside those that the residency has. */
class Image {
  public:
    Image(pti_residency *residency, int array, const Elements &elements) : residency_(residency) {
        of.array = array;
        of.layout = pti_memory_layout_of(&residency->instance.operand[array].domain, 8);
        for (const int64_t x : elements) {
            const polytile_domain box = {1, {{x, x, 1}}};
            pti_boxes_gather(&of.valid, &box);
        }
        pti_boxes_copy(&of.dirty, &of.valid);
        forget();
    }
    ~Image() {
        pti_boxes_free(&of.valid);
        pti_boxes_free(&of.dirty);
    }
    Image(const Image &) = delete;
    Image &operator=(const Image &) = delete;

    void forget() { pti_image_forget_future(residency_, &of); }

    pti_resident_image of = {};

  private:
    pti_residency *residency_;
};

/** What a step or a superblock does with elements of an array. */
struct Event {
    int array;
    pti_next_access next;
    int64_t time;
    Elements elements;
};

/** Launches and other steps over three arrays of 60 elements, and their events in order. */
class Window {
  public:
    explicit Window(Random *random) : resident(1 << 16, domains()) {
        for (int64_t n = random->number(1, 6); n > 0; n--)
            random->chance(60) ? add_launch(random) : add_step(random);
        for (const auto &[launch, step] : parts_)
            steps.push_back(launch == nullptr ? step : launch->Step());
    }

    static std::vector<std::string> domains() { return {"60", "60", "60"}; }

    /** The superblocks of a launch come in the order that the future says. */
    std::vector<Event> events(const pti_future &future) const {
        std::vector<Event> found;
        int64_t run = 0, first_time = resident_time();
        for (const auto &[launch, step] : parts_) {
            if (launch == nullptr) {
                add_step_events(step, first_time + run - 1, &found);
                continue;
            }
            for (size_t k = 0; k < launch->superblocks.size(); k++, run++)
                add_superblock(launch->instance(), launch->array, *future.run[run].threads,
                               first_time + run, &found);
        }
        return found;
    }

    Resident resident;
    std::vector<pti_step> steps;

  private:
    int64_t resident_time() const { return const_cast<Window *>(this)->resident.get()->time; }

    void add_launch(Random *random) {
        const Kernel &kernel = some_kernels[size_t(random->one_of({0, 1, 2, 3, 4}))];
        auto launch = std::make_unique<CutLaunch>(kernel, domains());
        launch->CutInPieces(random->one_of({20, 30, 60}));
        parts_.emplace_back(std::move(launch), pti_step{});
    }
    void add_step(Random *random) {
        const int array = static_cast<int>(random->number(0, 2));
        const int64_t lo = random->number(0, 59), hi = random->number(lo, 59);
        boxes_.push_back(std::make_unique<BoxSet>());
        boxes_.back()->Add({1, {{lo, hi, 1}}});
        const pti_boxes &boxes = boxes_.back()->boxes;
        const std::vector<pti_step> kinds = {Flush(array), Drop(array), Fetch(array, boxes),
                                             Renew(array, boxes), Bring(array, boxes)};
        parts_.emplace_back(nullptr, kinds[size_t(random->number(0, 4))]);
    }
    static void add_step_events(const pti_step &step, int64_t time, std::vector<Event> *events) {
        static const std::map<pti_step_kind, pti_next_access> nexts = {
            {PTI_STEP_FLUSH, PTI_NEXT_FLUSHED},
            {PTI_STEP_DROP, PTI_NEXT_DROPPED},
            {PTI_STEP_FETCH, PTI_NEXT_FETCHED},
            {PTI_STEP_INVALIDATE, PTI_NEXT_INVALIDATED},
            {PTI_STEP_BRING, PTI_NEXT_READ}};
        const Elements all = elements_of(domain_of("60"));
        events->push_back({step.position, nexts.at(step.kind), time,
                           step.boxes == nullptr ? all : elements_of(*step.boxes)});
    }
    static void add_superblock(const pti_instance &instance, const std::vector<int> &array,
                               const polytile_domain &threads, int64_t time,
                               std::vector<Event> *events) {
        for (int a = 0; a < 3; a++) {
            Event event = {a, PTI_NEXT_OVERWRITTEN, time, {}};
            for (int o = 0; o < instance.n_operands; o++) {
                if (array[size_t(o)] != a)
                    continue;
                event.elements.merge(
                    elements_of(pti_footprint_hull(&instance, o, PTI_TOUCHES, &threads)));
                event.next = instance.operand[o].reads ? PTI_NEXT_READ : event.next;
            }
            if (!event.elements.empty())
                events->push_back(event);
        }
    }

    std::vector<std::pair<std::unique_ptr<CutLaunch>, pti_step>> parts_;
    std::vector<std::unique_ptr<BoxSet>> boxes_;
};

/** The same as pti_future_next_use(), by elements that are not gone yet. */
int64_t next_use_of(const std::vector<Event> &events, int array, Elements left, int64_t now) {
    for (const Event &event : events) {
        if (event.array != array || event.time < now || event.next == PTI_NEXT_FETCHED)
            continue;
        for (const int64_t x : event.elements)
            if (left.erase(x) > 0 && event.next == PTI_NEXT_READ)
                return event.time;
    }
    return left.empty() ? PTI_USE_NEVER : PTI_USE_NOT_KNOWN;
}

/** What becomes first of an element that only the device has. */
enum class Fate { needed, gone, kept };

Fate fate_of(const std::vector<Event> &events, int array, int64_t element, int64_t now) {
    for (const Event &event : events)
        if (event.array == array && event.time >= now && event.elements.count(element) != 0)
            return event.next == PTI_NEXT_READ || event.next == PTI_NEXT_FLUSHED ||
                           event.next == PTI_NEXT_FETCHED
                       ? Fate::needed
                       : Fate::gone;
    return Fate::kept;
}

Elements some_elements(Random *random) {
    Elements found;
    for (int64_t n = random->number(1, 2); n > 0; n--) {
        const int64_t lo = random->number(0, 59), hi = random->number(lo, 59);
        found.merge(elements_of(polytile_domain{1, {{lo, hi, 1}}}));
    }
    return found;
}

TEST(ResidentFuture, TheNextUseIsTheFirstSuperblockThatMayReadAnElement) {
    Random random(test_seed("ResidentFuture.TheNextUseIsTheFirstSuperblockThatMayReadAnElement"));
    for (int64_t round = 0; round < scaled(400); round++) {
        Window window(&random);
        Future future(&window.resident, window.steps);
        ASSERT_EQ(future.status, POLYTILE_OK);
        const std::vector<Event> events = window.events(future.of);
        pti_residency *residency = window.resident.get();
        const int array = static_cast<int>(random.number(0, 2));
        const Elements elements = some_elements(&random);
        Image image(residency, array, elements);
        for (int64_t run = 0; run <= future.of.n_runs; run++) {
            image.forget();
            EXPECT_EQ(pti_future_next_use(&future.of, &image.of, residency->time + run),
                      next_use_of(events, array, elements, residency->time + run))
                << run;
        }
    }
}

/** All that may go is removed where nothing is needed before. */
TEST(ResidentFuture, OnlyWhatNobodyNeedsIsDiscarded) {
    Random random(test_seed("ResidentFuture.OnlyWhatNobodyNeedsIsDiscarded"));
    for (int64_t round = 0; round < scaled(400); round++) {
        Window window(&random);
        Future future(&window.resident, window.steps);
        ASSERT_EQ(future.status, POLYTILE_OK);
        const std::vector<Event> events = window.events(future.of);
        pti_residency *residency = window.resident.get();
        const int array = static_cast<int>(random.number(0, 2));
        const int64_t now = residency->time + random.number(0, future.of.n_runs);
        const Elements elements = some_elements(&random);
        Image image(residency, array, elements);
        std::map<Fate, Elements> by_fate;
        for (const int64_t x : elements)
            by_fate[fate_of(events, array, x, now)].insert(x);
        pti_future_discard(&future.of, &image.of, now);
        const Elements left = elements_of(image.of.dirty);
        for (const Fate stays : {Fate::needed, Fate::kept})
            for (const int64_t x : by_fate[stays])
                EXPECT_EQ(left.count(x), 1u) << x;
        for (const int64_t x : left)
            EXPECT_EQ(elements.count(x), 1u) << x;
        if (by_fate[Fate::needed].empty()) {
            EXPECT_EQ(left, by_fate[Fate::kept]);
        }
    }
}

TEST(ResidentFuture, KnowsWhereAPieceIsTouchedAgainAndWhichContainsIt) {
    Random random(test_seed("ResidentFuture.KnowsWhereAPieceIsTouchedAgainAndWhichContainsIt"));
    for (int64_t round = 0; round < scaled(400); round++) {
        Window window(&random);
        Future future(&window.resident, window.steps);
        ASSERT_EQ(future.status, POLYTILE_OK);
        const int64_t most_bytes = random.number(0, 1024);
        for (int64_t p = 0; p < future.of.n_pieces; p++) {
            const pti_piece *piece = &future.of.piece[p];
            bool is_touched = false;
            polytile_domain widest = piece->hull;
            for (int64_t q = future.of.n_pieces - 1; q > p; q--) {
                const pti_piece *later = &future.of.piece[q];
                if (later->array != piece->array)
                    continue;
                is_touched |= later->bytes > 0 && pti_box_may_meet(&later->hull, &piece->hull);
                if (later->bytes > piece->bytes && later->bytes <= most_bytes &&
                    pti_box_contains(&later->hull, &piece->hull))
                    widest = later->hull;
            }
            EXPECT_EQ(pti_future_touches_later(&future.of, piece), is_touched);
            EXPECT_TRUE(pti_box_equals(pti_future_widest(&future.of, piece, most_bytes), &widest));
        }
    }
}

TEST(ResidentFuture, ALaunchRunsBackwardWhereItsEndIsOnTheDevice) {
    Resident resident(4096, {"1000"});
    CutLaunch increase({"inc[i]: inout x[i]", "1000", {{"x", 0}}}, {"1000"});
    increase.CutInPieces(100);
    Future future(&resident, {increase.Step(), increase.Step(), increase.Step()});
    ASSERT_EQ(future.status, POLYTILE_OK);
    ASSERT_EQ(future.of.n_runs, 30);
    for (int k = 0; k < 10; k++) {
        EXPECT_EQ(future.of.run[k].threads->range[0].lo, 100 * k);
        EXPECT_EQ(future.of.run[10 + k].threads->range[0].lo, 900 - 100 * k);
        EXPECT_EQ(future.of.run[20 + k].threads->range[0].lo, 100 * k);
    }
}

TEST(ResidentFuture, SuperblocksShareThePieceThatContainsAllOthers) {
    Resident resident(4096, {"64", "64"});
    CutLaunch prefix({"prefix[i]: in x[0:i]; out y[i]", "64", {{"x", 0}, {"y", 1}}}, {"64", "64"});
    prefix.CutInPieces(8);
    Future future(&resident, {prefix.Step()});
    ASSERT_EQ(future.status, POLYTILE_OK);
    for (int64_t p = 0; p < future.of.n_pieces; p++) {
        const pti_piece &piece = future.of.piece[p];
        EXPECT_EQ(pti_box_count(&piece.hull), piece.array == 0 ? 64 : 8);
    }
}

TEST(ResidentFuture, ASuperblockThatDoesNotFitIsRefused) {
    Resident resident(4096, {"1000"});
    CutLaunch increase({"inc[i]: inout x[i]", "1000", {{"x", 0}}}, {"1000"});
    increase.CutInPieces(513);
    EXPECT_EQ(Future(&resident, {increase.Step()}).status, POLYTILE_NO_FIT);
    increase.CutInPieces(512);
    EXPECT_EQ(Future(&resident, {increase.Step()}).status, POLYTILE_OK);
}

} // namespace
