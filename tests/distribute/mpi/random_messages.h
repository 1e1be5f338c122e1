#ifndef POLYTILE_TESTS_DISTRIBUTE_MPI_MESSAGES_H
#define POLYTILE_TESTS_DISTRIBUTE_MPI_MESSAGES_H

#include "distribute/mpi/joined.h"
#include "support/box_memory.h"

#include <cstring>
#include <memory>

extern "C" {
#include "distribute/exchange/joint_plan.h"
}

/* Random messages: the same transfers on all ranks, over arrays of which each has another box. */

/** What an element of a rank's array is in a version; the rest of a longer element is zero. */
inline uint32_t value_at(int array, int rank, int version, const Point &point) {
    uint64_t mixed =
        static_cast<uint64_t>(array * 64 + rank) * 1000003 + static_cast<uint64_t>(version);
    for (const int64_t x : point)
        mixed = (mixed ^ static_cast<uint64_t>(x)) * 1099511628211u;
    return static_cast<uint32_t>(mixed >> 20);
}

/** An array of this rank's. */
class Piece {
  public:
    Piece(polytile_context *ctx, const polytile_domain &domain, int64_t element_bytes)
        : domain_(domain), element_bytes_(element_bytes),
          bytes_(static_cast<size_t>(pti_box_count(&domain) * element_bytes)) {
        EXPECT_EQ(polytile_array_wrap_domain(ctx, "piece",
                                             POLYTILE_BYTES(static_cast<int>(element_bytes)),
                                             &domain_, bytes_.data(), &array),
                  POLYTILE_OK);
    }

    /** Every element has the rank's value of a version. */
    void set(int number, int rank, int version) {
        for_each_point(domain_, [&](const Point &point) {
            put(point, value_at(number, rank, version, point));
        });
    }
    void put(const Point &point, uint32_t value) {
        std::memset(at(point), 0, static_cast<size_t>(element_bytes_));
        std::memcpy(at(point), &value, static_cast<size_t>(std::min<int64_t>(4, element_bytes_)));
    }
    const std::vector<unsigned char> &bytes() const { return bytes_; }

    polytile_array *array = nullptr;

  private:
    unsigned char *at(const Point &point) {
        int64_t element = 0;
        for (int d = 0; d < domain_.n_dims; d++)
            element = element * pti_range_count(domain_.range[d]) + point[static_cast<size_t>(d)] -
                      domain_.range[d].lo;
        return bytes_.data() + element * element_bytes_;
    }

    polytile_domain domain_;
    int64_t element_bytes_;
    std::vector<unsigned char> bytes_;
};

/** Transfers between all ranks, of which the list has this one's. */
class RandomMessages {
  public:
    RandomMessages(const Joined &joined, Random &random) : joined_(joined) {
        for (int64_t n_arrays = random.number(1, 3); n_arrays > 0; n_arrays--)
            add_array(random);
        for (const auto &piece : pieces_)
            arrays_.push_back(piece->array);
        const pti_exchange exchange = {static_cast<int>(transfers_.size()), transfers_.data()};
        EXPECT_TRUE(pti_joint_plan_messages(&exchange, world_rank(), 1, &list_));
        messages_.list = &list_;
        messages_.arrays = arrays_.data();
    }
    ~RandomMessages() {
        joined_.functions().forget(joined_.transport, &messages_);
        pti_joint_list_free(&list_);
        for (pti_transfer &transfer : transfers_)
            pti_boxes_free(&transfer.boxes);
        for (const auto &piece : pieces_)
            polytile_array_destroy(piece->array);
    }
    RandomMessages(const RandomMessages &) = delete;
    RandomMessages &operator=(const RandomMessages &) = delete;

    /** All elements are of this rank, in a version. */
    void set(int version) {
        for (size_t a = 0; a < pieces_.size(); a++)
            pieces_[a]->set(static_cast<int>(a), world_rank(), version);
    }

    /** Run all operations; the first failure counts. */
    polytile_status run(bool has_failed = false) {
        const pti_transport_functions &functions = joined_.functions();
        polytile_status first = POLYTILE_OK;
        if (messages_.state == nullptr)
            (void)functions.open(joined_.transport, &messages_);
        for (int k = 0; k < list_.n_ops; k++) {
            const auto run_op =
                list_.op[k].kind == PTI_JOINT_SEND ? functions.send : functions.receive;
            const polytile_status status = run_op(joined_.transport, &messages_, k, has_failed);
            first = first == POLYTILE_OK ? status : first;
        }
        return first;
    }
    const std::vector<polytile_array *> &arrays() const { return arrays_; }

    bool receives_from(int rank) const {
        bool receives = false;
        for (const pti_transfer &transfer : transfers_)
            receives = receives || (transfer.to == world_rank() && transfer.from == rank);
        return receives;
    }

    /** Arrays are what they were after set(version), but for what came from all ranks but one. */
    void expect_received(int version, int but_from = -1) {
        for (size_t a = 0; a < pieces_.size(); a++) {
            const std::vector<unsigned char> found = pieces_[a]->bytes();
            pieces_[a]->set(static_cast<int>(a), world_rank(), version);
            for (const pti_transfer &transfer : transfers_)
                if (transfer.array == static_cast<int>(a) && transfer.to == world_rank() &&
                    transfer.from != but_from)
                    receive(transfer, version);
            ASSERT_EQ(found, pieces_[a]->bytes()) << "array " << a << " of rank " << world_rank();
        }
    }

  private:
    /** The ranks' domains contain the same box, and differ. */
    void add_array(Random &random) {
        const polytile_domain box = random_box(random, 3);
        const int64_t element_bytes = random.one_of({1, 2, 4, 4, 8, 12});
        for (int rank = 0; rank < world_size(); rank++) {
            polytile_domain domain = random_hull(random, box);
            for (int d = 0; d < domain.n_dims; d++)
                domain.range[d].step = 1;
            if (rank == world_rank())
                pieces_.push_back(std::make_unique<Piece>(joined_.ctx, domain, element_bytes));
        }
        add_transfers(random, static_cast<int>(pieces_.size()) - 1, box);
    }

    /** What a rank receives is disjoint, in boxes that come from whomever chance says. */
    void add_transfers(Random &random, int array, const polytile_domain &box) {
        const int n_ranks = world_size();
        std::vector<pti_boxes> boxes(static_cast<size_t>(n_ranks * n_ranks));
        for (int to = 0; to < n_ranks; to++) {
            pti_boxes received = {};
            for (int64_t k = random.number(0, 4); k > 0; k--) {
                const polytile_domain part = random_box_in(random, box);
                pti_boxes_add(&received, &part);
            }
            for (int k = 0; k < received.n_boxes; k++)
                pti_boxes_append(
                    &boxes[static_cast<size_t>(random.number(0, n_ranks - 1) * n_ranks + to)],
                    &received.box[k]);
            pti_boxes_free(&received);
        }
        for (int from = 0; from < n_ranks; from++)
            for (int to = 0; to < n_ranks; to++)
                list(array, from, to, boxes[static_cast<size_t>(from * n_ranks + to)]);
    }

    void list(int array, int from, int to, pti_boxes &boxes) {
        if (boxes.n_boxes > 0 && from != to && (from == world_rank() || to == world_rank()))
            transfers_.push_back({array, from, to, boxes, pti_boxes_count(&boxes)});
        else
            pti_boxes_free(&boxes);
    }

    void receive(const pti_transfer &transfer, int version) {
        for (int k = 0; k < transfer.boxes.n_boxes; k++)
            for_each_point(transfer.boxes.box[k], [&](const Point &point) {
                pieces_[static_cast<size_t>(transfer.array)]->put(
                    point, value_at(transfer.array, transfer.from, version, point));
            });
    }

    const Joined &joined_;
    std::vector<std::unique_ptr<Piece>> pieces_;
    std::vector<polytile_array *> arrays_;
    std::vector<pti_transfer> transfers_;
    pti_joint_list list_ = {};
    pti_messages messages_ = {};
};

#endif
