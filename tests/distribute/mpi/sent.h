#ifndef POLYTILE_TESTS_DISTRIBUTE_MPI_SENT_H
#define POLYTILE_TESTS_DISTRIBUTE_MPI_SENT_H

#include <cstdint>
#include <map>
#include <ostream>
#include <vector>

/* What this rank sends in persistent messages, counted through MPI's profiling interface: sent.cc
 * takes the place of some of its functions in the whole program. */

/** Messages to each rank, and their elements' bytes. */
class SentBytes {
  public:
    void add(int to, int64_t n_messages, int64_t n_bytes);
    int64_t n_bytes() const;
    bool operator==(const SentBytes &other) const { return to_ == other.to_; }

    friend void PrintTo(const SentBytes &sent, std::ostream *out);

  private:
    struct Sum {
        int64_t n_messages, n_bytes;
        bool operator==(const Sum &other) const {
            return n_messages == other.n_messages && n_bytes == other.n_bytes;
        }
    };
    std::map<int, Sum> to_;
};

void begin_counting();
SentBytes end_counting();
/** The bytes of frames that streams have sent since then. */
int64_t end_counting_frames();

/** A message to a rank, and its elements' bytes. */
struct SentMessage {
    int to;
    int64_t n_bytes;
    bool operator==(const SentMessage &other) const {
        return to == other.to && n_bytes == other.n_bytes;
    }
    bool operator<(const SentMessage &other) const { return to < other.to; }
};

/** Those that were counted last, in the order in which they left. */
const std::vector<SentMessage> &sent_in_order();

#endif
