#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <map>
#include <thread>
#include <vector>

extern "C" {
#include "access/set/boxes.h"
#include "launch/peers/peers_state.h"
}

/* Linked devices without their memory: who meets whom, and what they find in common. */

namespace {

polytile_domain rows(int64_t lo, int64_t hi, int64_t width) {
    return {2, {{lo, hi, 1}, {0, width - 1, 1}}};
}

class Peers {
  public:
    explicit Peers(int n_devices) : devices_(static_cast<size_t>(n_devices)) {
        std::vector<polytile_device *> all;
        for (polytile_device &device : devices_)
            all.push_back(&device);
        peers_ = pti_peers_create(n_devices, all.data());
    }
    ~Peers() {
        for (int p = 0; p < size(); p++) {
            if (at(p).session != nullptr)
                pti_peers_leave(&at(p));
        }
        pti_peers_free(peers_);
    }
    Peers(const Peers &) = delete;
    Peers &operator=(const Peers &) = delete;

    pti_peers *get() { return peers_; }
    pti_peer &at(int p) { return peers_->peer[p]; }
    polytile_device *device(int p) { return &devices_[static_cast<size_t>(p)]; }
    int size() const { return static_cast<int>(devices_.size()); }

  private:
    std::vector<polytile_device> devices_;
    pti_peers *peers_;
};

using Offers = std::vector<pti_offer>;

/** Uploads of a schedule: some of a few boxes, with other operations between them. */
Offers draw_offers(Random &random, int n) {
    Offers offers;
    int64_t op = 0;
    for (int k = 0; k < n; k++) {
        op += random.number(1, 4);
        const int64_t which = random.number(0, 5);
        offers.push_back({reinterpret_cast<const char *>(4096 * (1 + which)),
                          rows(which, which + random.one_of({0, 3, 3, 3}), 5), op, 0, 0});
    }
    for (pti_offer &offer : offers)
        offer.progress = static_cast<double>(offer.op) / static_cast<double>(op + 1);
    return offers;
}

/** A part is of an upload that its device offered, and together they are all of it. */
void expect_shared_out(const pti_shared_upload &upload, const std::vector<Offers> &offers) {
    pti_boxes whole = {};
    EXPECT_GE(upload.n_parts, 2);
    const pti_offer *first = nullptr;
    for (int q = 0; q < upload.n_parts; q++) {
        const pti_upload_share &part = upload.part[q];
        const Offers &own = offers[static_cast<size_t>(part.peer)];
        const auto offer = std::find_if(own.begin(), own.end(), [&](const pti_offer &candidate) {
            return candidate.op == part.op;
        });
        ASSERT_NE(offer, own.end());
        if (first == nullptr) {
            first = &*offer;
            pti_boxes_append(&whole, &offer->box);
        }
        EXPECT_EQ(offer->address, first->address);
        EXPECT_TRUE(pti_box_equals(&offer->box, &first->box));
        EXPECT_FALSE(pti_box_is_empty(&part.box));
        EXPECT_TRUE(pti_boxes_cover(&whole, &part.box)) << "parts overlap";
        pti_boxes_subtract(&whole, &part.box);
    }
    EXPECT_EQ(pti_boxes_count(&whole), 0);
    pti_boxes_free(&whole);
}

TEST(Peers, ComeThroughWhatTheyShareInOneOrderThatIsAllOfTheirs) {
    Random random(test_seed("Peers.ComeThroughWhatTheyShareInOneOrderThatIsAllOfTheirs"));
    const int64_t n_rounds = scaled(400);
    int64_t n_shared = 0;
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        Peers peers(static_cast<int>(random.number(2, 4)));
        std::vector<Offers> offers(static_cast<size_t>(peers.size()));
        const Offers common = draw_offers(random, 20);
        for (int p = 0; p < peers.size(); p++) {
            Offers &own = offers[static_cast<size_t>(p)];
            own = random.chance(60) ? common : draw_offers(random, 20);
            peers.at(p).is_offering = random.chance(90);
            peers.at(p).offer = own.data();
            peers.at(p).n_offers = static_cast<int>(own.size());
        }
        pti_session *session = pti_peers_match(peers.get());
        std::map<int, int64_t> last;
        for (int u = 0; session != nullptr && u < session->n_uploads; u++) {
            const pti_shared_upload &upload = session->upload[u];
            expect_shared_out(upload, offers);
            for (int q = 0; q < upload.n_parts; q++) {
                const pti_upload_share &part = upload.part[q];
                EXPECT_TRUE(peers.at(part.peer).is_offering);
                EXPECT_TRUE(last.count(part.peer) == 0 || last[part.peer] < part.op);
                last[part.peer] = part.op;
            }
        }
        n_shared += session != nullptr && session->n_uploads > 0;
        if (session != nullptr)
            pti_session_free(session);
    }
    EXPECT_GE(n_shared, least_count(n_rounds, 0.8));
}

TEST(Peers, ThatOfferTheSameShareAllOfIt) {
    Random random(test_seed("Peers.ThatOfferTheSameShareAllOfIt"));
    Peers peers(3);
    Offers offers;
    for (int64_t k = 0; k < 10; k++)
        offers.push_back({reinterpret_cast<const char *>(4096 * (1 + k % 4)), rows(0, 8, 2), 3 * k,
                          static_cast<double>(k) / 10, 0});
    for (int p = 0; p < 3; p++) {
        peers.at(p).is_offering = true;
        peers.at(p).offer = offers.data();
        peers.at(p).n_offers = 10;
    }
    pti_session *session = pti_peers_match(peers.get());
    ASSERT_NE(session, nullptr);
    EXPECT_EQ(session->n_uploads, 10);
    for (int u = 0; u < session->n_uploads; u++)
        EXPECT_EQ(session->upload[u].n_parts, 3);
    pti_session_free(session);
}

/** Two schedules that go through the same spans from opposite ends would only wait. */
TEST(Peers, DoNotWaitForWhatTheOtherComesToMuchLater) {
    Peers peers(2);
    Offers offers[2];
    for (int64_t k = 0; k < 100; k++) {
        for (int p = 0; p < 2; p++) {
            const int64_t which = p == 0 ? k : 99 - k;
            offers[p].push_back({reinterpret_cast<const char *>(4096 * (1 + which)), rows(0, 8, 2),
                                 3 * k, static_cast<double>(k) / 100, 0});
        }
    }
    for (int p = 0; p < 2; p++) {
        peers.at(p).is_offering = true;
        peers.at(p).offer = offers[p].data();
        peers.at(p).n_offers = 100;
    }
    pti_session *session = pti_peers_match(peers.get());
    ASSERT_NE(session, nullptr);
    EXPECT_EQ(session->n_uploads, 1);
    for (int q = 0; q < 2; q++) {
        EXPECT_GE(session->upload[0].part[q].op, 3 * 46);
        EXPECT_LE(session->upload[0].part[q].op, 3 * 53);
    }
    pti_session_free(session);
}

/** One box many times, in time that grows with their number, not with its square. */
TEST(Peers, FindManyRepeatsOfOneBoxAtOnce) {
    const int64_t n_repeats = scaled(100000);
    const int n_common = 10;
    Peers peers(3);
    Offers offers;
    for (int64_t k = 0; k < n_repeats; k++)
        offers.push_back({reinterpret_cast<const char *>(4096), rows(0, 8, 2), 3 * k,
                          static_cast<double>(k) / static_cast<double>(n_repeats), 0});
    for (int p = 0; p < 3; p++) {
        peers.at(p).is_offering = true;
        peers.at(p).offer = offers.data();
        peers.at(p).n_offers = p == 1 ? static_cast<int>(n_repeats) : n_common - p;
    }
    const std::clock_t begin = std::clock();
    pti_session *session = pti_peers_match(peers.get());
    EXPECT_LT(std::clock() - begin, 3 * CLOCKS_PER_SEC);
    ASSERT_NE(session, nullptr);
    EXPECT_EQ(session->n_uploads, n_common);
    for (int u = 0; u < session->n_uploads; u++) {
        const pti_shared_upload &upload = session->upload[u];
        EXPECT_EQ(upload.n_parts, u < n_common - 2 ? 3 : 2);
        for (int q = 0; q < upload.n_parts; q++)
            EXPECT_EQ(upload.part[q].op, 3 * u);
    }
    pti_session_free(session);
}

Offers one_offer() {
    return {{reinterpret_cast<const char *>(4096), rows(0, 8, 2), 1, 0.5, 0}};
}

TEST(Peers, MeetWhenAllAreThereThatAreExpected) {
    Peers peers(3);
    const Offers offers = one_offer();
    pti_peers_expect(peers.device(0), 5);
    pti_peers_expect(peers.device(1), 7);
    std::thread other([&] { pti_peers_meet(&peers.at(1), offers.data(), 1); });
    pti_peers_meet(&peers.at(0), offers.data(), 1);
    other.join();
    ASSERT_NE(peers.at(0).session, nullptr);
    EXPECT_EQ(peers.at(0).session, peers.at(1).session);
    EXPECT_EQ(peers.at(0).session->n_members, 2);
    EXPECT_EQ(peers.at(2).session, nullptr);
}

TEST(Peers, GoOnAloneWhenTheOtherIsDone) {
    Peers peers(2);
    const Offers offers = one_offer();
    for (const bool has_all : {false, true}) {
        std::atomic<bool> has_met{false};
        pti_peers_expect(peers.device(0), has_all ? 6 : 5);
        pti_peers_expect(peers.device(1), has_all ? 6 : 5);
        std::thread one([&] {
            pti_peers_meet(&peers.at(0), offers.data(), 1);
            has_met = true;
        });
        pti_peers_note_passed(peers.device(1), 3);
        if (has_all)
            pti_peers_meet(&peers.at(1), nullptr, 0);
        else
            pti_peers_note_passed(peers.device(1), 5);
        one.join();
        EXPECT_TRUE(has_met);
        EXPECT_EQ(peers.at(0).session, nullptr);
        pti_peers_note_passed(peers.device(0), has_all ? 6 : 5);
    }
}

/** Without end it would be a hang. */
TEST(Peers, DoNotWaitForeverForOneThatDoesNotCome) {
    Peers peers(2);
    const Offers offers = one_offer();
    peers.get()->meet_s = 1;
    pti_peers_expect(peers.device(0), 1);
    pti_peers_expect(peers.device(1), 1);
    pti_peers_meet(&peers.at(0), offers.data(), 1);
    EXPECT_EQ(peers.at(0).session, nullptr);
    pti_peers_note_passed(peers.device(0), 1);
    pti_peers_meet(&peers.at(1), offers.data(), 1);
    EXPECT_EQ(peers.at(1).session, nullptr);
}

void leave(pti_peer &peer) {
    if (peer.session != nullptr)
        pti_peers_leave(&peer);
}

/** Two that come find each other in all schedules of a stage, and wait for the third in one. */
TEST(Peers, WaitOnceInAStageForOneThatDoesNotCome) {
    Peers peers(3);
    const Offers offers = one_offer();
    peers.get()->meet_s = 1;
    for (int p = 0; p < 3; p++)
        pti_peers_expect(peers.device(p), 1);
    const auto begin = std::chrono::steady_clock::now();
    for (int schedule = 0; schedule < 4; schedule++) {
        std::thread other([&] { pti_peers_meet(&peers.at(1), offers.data(), 1); });
        pti_peers_meet(&peers.at(0), offers.data(), 1);
        other.join();
        EXPECT_NE(peers.at(0).session, nullptr);
        EXPECT_EQ(peers.at(0).session, peers.at(1).session);
        leave(peers.at(0));
        leave(peers.at(1));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

TEST(Peers, WaitInTheNextStageForOneThatDidNotCome) {
    Peers peers(2);
    const Offers offers = one_offer();
    peers.get()->meet_s = 1;
    for (int p = 0; p < 2; p++)
        pti_peers_expect(peers.device(p), 1);
    pti_peers_meet(&peers.at(0), offers.data(), 1);
    EXPECT_EQ(peers.at(0).session, nullptr);
    peers.get()->meet_s = 30;
    for (int p = 0; p < 2; p++)
        pti_peers_expect(peers.device(p), 2);
    std::thread other([&] { pti_peers_meet(&peers.at(1), offers.data(), 1); });
    pti_peers_meet(&peers.at(0), offers.data(), 1);
    other.join();
    EXPECT_NE(peers.at(0).session, nullptr);
    EXPECT_EQ(peers.at(0).session, peers.at(1).session);
}

} // namespace
