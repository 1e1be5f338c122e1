#include "distribute/mpi/sent.h"

#include <mpi.h>

void SentBytes::add(int to, int64_t n_messages, int64_t n_bytes) {
    Sum &sum = to_[to];
    sum.n_messages += n_messages;
    sum.n_bytes += n_bytes;
}

int64_t SentBytes::n_bytes() const {
    int64_t n_bytes = 0;
    for (const auto &[to, sum] : to_)
        n_bytes += sum.n_bytes;
    return n_bytes;
}

void PrintTo(const SentBytes &sent, std::ostream *out) {
    for (const auto &[to, sum] : sent.to_)
        *out << "to rank " << to << " " << sum.n_messages << " messages of " << sum.n_bytes
             << " bytes; ";
}

namespace {

/** Before the elements of each message there is a word. */
constexpr int64_t header_bytes = 8;

/** Those that may be started. */
std::map<MPI_Request, SentMessage> messages;
SentBytes counted;
std::vector<SentMessage> in_order;
int64_t frame_bytes;
constexpr int first_frame_tag = 2;

} // namespace

void begin_counting() {
    counted = SentBytes();
    in_order.clear();
    frame_bytes = 0;
}

const std::vector<SentMessage> &sent_in_order() {
    return in_order;
}

SentBytes end_counting() {
    return counted;
}

int64_t end_counting_frames() {
    return frame_bytes;
}

extern "C" {

/** Of a stream, tags tell a frame's bytes from words. */
int MPI_Isend(const void *buffer, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    int n_bytes = 0;
    PMPI_Type_size(type, &n_bytes);
    if (tag > first_frame_tag && tag % 2 != 0)
        frame_bytes += static_cast<int64_t>(n) * n_bytes;
    return PMPI_Isend(buffer, n, type, to, tag, comm, request);
}

int MPI_Send_init(const void *buffer, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request *request) {
    int element_bytes = 0;
    PMPI_Type_size(type, &element_bytes);
    const int code = PMPI_Send_init(buffer, n, type, to, tag, comm, request);
    messages[*request] = {to, static_cast<int64_t>(n) * element_bytes};
    return code;
}

int MPI_Startall(int n, MPI_Request *requests) {
    for (int k = 0; k < n; k++) {
        const auto found = messages.find(requests[k]);
        if (found == messages.end())
            continue;
        const SentMessage sent = {found->second.to, found->second.n_bytes - header_bytes};
        counted.add(sent.to, 1, sent.n_bytes);
        in_order.push_back(sent);
    }
    return PMPI_Startall(n, requests);
}

int MPI_Request_free(MPI_Request *request) {
    messages.erase(*request);
    return PMPI_Request_free(request);
}
}
