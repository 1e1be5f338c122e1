#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <thread>
#include <vector>

extern "C" {
#include "access/array/array.h"
#include "launch/device/execution.h"
#include "launch/peers/peers_state.h"
#include "launch/peers/sharing.h"
}

/* Two linked devices that only note what they are asked to do, and the end of what they share. */

namespace {

/** Who waits for a mark must not have the mutex that others need meanwhile. */
struct Settled {
    pthread_mutex_t *mutex = nullptr;
    int n = 0;
    int n_with_mutex = 0;
} settled;

/** Await fails from then on. */
bool is_broken = false;

/** How often each stream was let wait. */
int n_awaited[PTI_MAX_STREAMS];

char any_mark;

polytile_status mark(polytile_device *, pti_stream, pti_event **made) {
    *made = reinterpret_cast<pti_event *>(&any_mark);
    return POLYTILE_OK;
}

polytile_status await(polytile_device *, pti_stream stream, const pti_event *) {
    n_awaited[stream]++;
    return is_broken ? POLYTILE_DEVICE : POLYTILE_OK;
}

polytile_status copy(polytile_device *device, polytile_device *, const pti_move *,
                     const pti_event *, pti_event **done) {
    return mark(device, PTI_STREAM_IN, done);
}

void settle(const pti_event *) {
    const bool is_free = pthread_mutex_trylock(settled.mutex) == 0;
    if (is_free)
        pthread_mutex_unlock(settled.mutex);
    settled.n++;
    settled.n_with_mutex += !is_free;
}

void drop(pti_event *) {}

constexpr int n_uploads = 4, n_rows = 6, width = 4, n_lanes = 3;

polytile_domain rows_of(int k) {
    return {2, {{k * n_rows, (k + 1) * n_rows - 1, 1}, {0, width - 1, 1}}};
}

/** A schedule of a few uploads of one array, and one device's run of it. */
class Runner {
  public:
    Runner(float *memory, const pti_device_functions &functions) {
        const polytile_domain whole = {2, {{0, n_uploads * n_rows - 1, 1}, {0, width - 1, 1}}};
        device.functions = &functions;
        array_.data = memory;
        array_.layout = pti_memory_layout_of(&whole, sizeof(float));
        array_.n_bytes = n_uploads * n_rows * width * static_cast<int64_t>(sizeof(float));
        array_.domain = whole;
        instance_.n_operands = 1;
        placement_.layout = layout_ = pti_memory_layout_of(&whole, sizeof(float));
        for (int k = 0; k < n_uploads; k++) {
            op_[k].kind = PTI_UPLOAD;
            op_[k].box = rows_of(k);
        }
        launch_.call.instance = &no_operands_;
        schedule_.instance = &instance_;
        schedule_.n_launches = 1;
        schedule_.n_lanes = n_lanes;
        schedule_.launch = &launch_;
        schedule_.placement = &placement_;
        schedule_.n_ops = n_uploads;
        schedule_.op = op_;
        execution.device = &device;
        execution.schedule = &schedule_;
        execution.arrays = &arrays_;
        execution.host_layout = &layout_;
        execution.report = &report_;
    }
    Runner(const Runner &) = delete;
    Runner &operator=(const Runner &) = delete;

    polytile_status upload(int k, int *n_missing) {
        polytile_domain missing[PTI_MOST_PEERS];
        pti_command command = {};
        command.op = &op_[k];
        command.index = k;
        command.move.element_bytes = sizeof(float);
        return pti_sharing_exchange(&execution, &command, missing, n_missing);
    }

    /** Before something else comes to where an upload lies. */
    polytile_status reuse(int k, int lane = 0) {
        pti_op fill = {};
        fill.lane = lane;
        fill.kind = PTI_FILL;
        fill.box = rows_of(k);
        pti_command command = {};
        command.op = &fill;
        return pti_sharing_prepare(&execution, &command);
    }

    polytile_device device = {};
    pti_execution execution = {};

  private:
    polytile_array array_ = {};
    polytile_array *arrays_ = &array_;
    polytile_report report_ = {};
    pti_instance instance_ = {}, no_operands_ = {};
    pti_memory_layout layout_ = {};
    pti_placement placement_ = {};
    pti_op op_[n_uploads] = {};
    pti_schedule_launch launch_ = {};
    pti_schedule schedule_ = {};
};

class PeersSharing : public testing::Test {
  protected:
    PeersSharing() {
        peer_functions_.record_event = mark;
        peer_functions_.await_event = await;
        peer_functions_.copy = copy;
        peer_functions_.wait_for_event = settle;
        peer_functions_.drop_event = drop;
        functions_.peer = &peer_functions_;
        polytile_device *devices[] = {&one.device, &other.device};
        peers = pti_peers_create(2, devices);
        const pti_host_span span = {memory_.data(),
                                    static_cast<int64_t>(memory_.size() * sizeof(float))};
        pti_peers_set_spans(peers, 1, &span);
        for (polytile_device *device : devices)
            pti_peers_expect(device, 1);
        settled = {&peers->mutex, 0, 0};
        is_broken = false;
        std::fill(std::begin(n_awaited), std::end(n_awaited), 0);
        both([](Runner &run) { pti_sharing_begin(&run.execution); });
    }
    ~PeersSharing() override {
        pti_sharing_end(&one.execution, true);
        pti_sharing_end(&other.execution, true);
        pti_peers_free(peers);
    }

    void both(const std::function<void(Runner &)> &act) {
        std::thread side([&] { act(other); });
        act(one);
        side.join();
    }

    void upload_all() {
        both([](Runner &run) {
            for (int k = 0, n_missing; k < n_uploads; k++) {
                EXPECT_EQ(run.upload(k, &n_missing), POLYTILE_OK);
                EXPECT_EQ(n_missing, 0);
            }
        });
    }

    /** The other one has no part for this one, and does not say that it needs none of its. */
    void let_other_hang() {
        pthread_mutex_lock(&peers->mutex);
        for (int u = 0; u < n_uploads; u++) {
            pti_shared_upload *upload = &other.device.peer->session->upload[u];
            upload->part[pti_shared_upload_find(upload, 1)].phase = PTI_PART_GONE;
        }
        pthread_mutex_unlock(&peers->mutex);
    }

  private:
    std::vector<float> memory_ = std::vector<float>(n_uploads * n_rows * width);
    pti_peer_functions peer_functions_ = {};
    pti_device_functions functions_ = {};

  protected:
    pti_peers *peers = nullptr;
    Runner one{memory_.data(), functions_}, other{memory_.data(), functions_};
};

TEST_F(PeersSharing, WaitsForCopiesAtTheEndWithoutKeepingOthersFromTheirs) {
    ASSERT_NE(one.execution.sharing, nullptr);
    ASSERT_NE(other.execution.sharing, nullptr);
    upload_all();
    pti_sharing_end(&one.execution, false);
    EXPECT_EQ(settled.n, n_uploads);
    EXPECT_EQ(settled.n_with_mutex, 0);
}

TEST_F(PeersSharing, WaitsForCopiesThatAStreamCannotWaitForWithoutKeepingOthersFromTheirs) {
    ASSERT_NE(one.execution.sharing, nullptr);
    upload_all();
    is_broken = true;
    EXPECT_EQ(one.reuse(2), POLYTILE_DEVICE);
    EXPECT_EQ(settled.n, 1);
    EXPECT_EQ(settled.n_with_mutex, 0);
}

/** What lies in lent memory later may be of several superblocks, each in a lane of its own. */
TEST_F(PeersSharing, LetsAllStreamsThatWriteWaitOnceMemoryIsTakenBack) {
    ASSERT_NE(one.execution.sharing, nullptr);
    upload_all();
    EXPECT_EQ(one.reuse(2, 1), POLYTILE_OK);
    EXPECT_EQ(one.reuse(2, 2), POLYTILE_OK);
    EXPECT_EQ(n_awaited[PTI_STREAM_IN], 1);
    EXPECT_EQ(n_awaited[PTI_STREAM_OUT], 0);
    for (int lane = 0; lane < n_lanes; lane++)
        EXPECT_EQ(n_awaited[pti_lane_stream(lane)], 1) << "lane " << lane;
}

TEST_F(PeersSharing, WaitsAsLongForAllThatIsLentAsForOnePart) {
    ASSERT_NE(one.execution.sharing, nullptr);
    ASSERT_NE(other.execution.sharing, nullptr);
    let_other_hang();
    for (int k = 0, n_missing; k < n_uploads; k++) {
        EXPECT_EQ(one.upload(k, &n_missing), POLYTILE_OK);
        EXPECT_EQ(n_missing, 1);
    }
    peers->run_s = 1;
    const auto begin = std::chrono::steady_clock::now();
    pti_sharing_end(&one.execution, false);
    const auto taken = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(taken, std::chrono::milliseconds(900));
    EXPECT_LT(taken, std::chrono::seconds(3));
}

} // namespace
