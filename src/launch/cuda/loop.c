#include "launch/cuda/loop.h"

#include "launch/cuda/function.h"
#include "launch/cuda/loop_code.h"
#include "launch/device/launcher.h"

#include <stdlib.h>

/** How many launchers a device remembers that cannot be captured. */
enum { N_REFUSED = 16 };

struct pti_cuda_loops {
    cudaLibrary_t library;
    cudaKernel_t set_condition;                /* NULL: there is none, and there are no loops */
    cudaGraphExec_t executable[PTI_MAX_LANES]; /* of each stream, as launched last; NULL: none */
    polytile_launcher *refused[N_REFUSED];
    int next_refused; /* to be replaced */
};

/** A loop in the making. */
typedef struct loop {
    pti_cuda_device *cuda;
    cudaStream_t stream;
    const int32_t *stop;
    cudaGraph_t graph;
    cudaGraph_t body; /* of its WHILE node, which owns it */
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t begin;       /* sets the condition before the WHILE node */
    cudaGraphExec_t *executable; /* of its stream */
    const char *failed;          /* the first call that failed, and why */
    const char *why;
} loop;

static bool is_done(loop *of, cudaError_t error, const char *call) {
    if (error == cudaSuccess)
        return true;
    if (of->failed == NULL) {
        of->failed = call;
        of->why = cudaGetErrorString(error);
    }
    of->cuda->api->cudaGetLastError();
    return false;
}

/** Call a function of the runtime; false: it failed. */
#define DO(of, call, arguments) is_done(of, (of)->cuda->api->call arguments, #call)

/** Load the kernel that sets conditions, at the first loop. */
static bool load_code(loop *of) {
    pti_cuda_loops *loops = of->cuda->loops;
    if (loops != NULL && loops->set_condition == NULL) {
        of->failed = "cudaLibraryLoadData";
        of->why = "it failed before";
    }
    if (loops != NULL)
        return loops->set_condition != NULL;
    loops = of->cuda->loops = calloc(1, sizeof *loops);
    return loops != NULL &&
           DO(of, cudaLibraryLoadData,
              (&loops->library, pti_loop_code, NULL, NULL, 0, NULL, NULL, 0)) &&
           DO(of, cudaLibraryGetKernel, (&loops->set_condition, loops->library, PTI_LOOP_KERNEL));
}

/** The node that sets the condition for the first time, by the number of the first round. */
static bool add_begin(loop *of, const int32_t *number) {
    void *arguments[] = {&of->handle, &number, &of->stop};
    struct cudaGraphNodeParams node = {.type = cudaGraphNodeTypeKernel};
    node.kernel.func = (void *)of->cuda->loops->set_condition;
    node.kernel.gridDim = node.kernel.blockDim = (dim3){1, 1, 1};
    node.kernel.kernelParams = arguments;
    return DO(of, cudaGraphAddNode, (&of->begin, of->graph, NULL, NULL, 0, &node));
}

static bool add_while(loop *of) {
    cudaGraphNode_t added;
    struct cudaGraphNodeParams node = {.type = cudaGraphNodeTypeConditional};
    node.conditional.handle = of->handle;
    node.conditional.type = cudaGraphCondTypeWhile;
    node.conditional.size = 1;
    if (!DO(of, cudaGraphAddNode, (&added, of->graph, &of->begin, NULL, 1, &node)))
        return false;
    of->body = node.conditional.phGraph_out[0];
    return true;
}

/** Call the launcher. What fails here fails again when the host enqueues the round, with all that
 * is to be said of it. */
static bool capture_launcher(loop *of, const pti_sub_kernel *round) {
    polytile_context *ctx = pti_cuda_context_of(of->cuda);
    of->cuda->api->cudaGetLastError();
    const polytile_status status = pti_launcher_call(
        ctx, round->config.implementation->cuda_launcher, round, (void *)of->stream);
    const bool has_enqueued = DO(of, cudaGetLastError, ());
    const bool is_current = DO(of, cudaSetDevice, (of->cuda->number));
    pti_clear_error(ctx);
    return status == POLYTILE_OK && round->repetition->condition != NULL && has_enqueued &&
           is_current;
}

static bool capture_nodes(loop *of, const pti_sub_kernel *round) {
    const dim3 one = {1, 1, 1};
    if (!capture_launcher(of, round))
        return false;
    void *arguments[] = {&of->handle, &round->repetition->condition, &of->stop};
    return DO(of, cudaLaunchKernel,
              ((const void *)of->cuda->loops->set_condition, one, one, arguments, 0, of->stream));
}

/** Capture the second round; the capture is ended whatever fails. */
static bool capture_round(loop *of, const pti_sub_kernel *round) {
    cudaGraph_t captured;
    if (!DO(of, cudaStreamBeginCaptureToGraph,
            (of->stream, of->body, NULL, NULL, 0, cudaStreamCaptureModeThreadLocal)))
        return false;
    const bool is_enqueued = capture_nodes(of, round);
    return DO(of, cudaStreamEndCapture, (of->stream, &captured)) && is_enqueued;
}

/** Let the stream's executable graph become this one, which takes a tenth of the time of making
 * one, and does not wait for what runs. CUDA refuses if their nodes differ. */
static bool update_executable(const loop *of) {
    cudaGraphExecUpdateResultInfo result;
    const cudaError_t error =
        of->cuda->api->cudaGraphExecUpdate(*of->executable, of->graph, &result);
    if (error != cudaSuccess)
        of->cuda->api->cudaGetLastError();
    return error == cudaSuccess;
}

/** CUDA waits until a graph has ended before it frees it. */
static void free_executable(const pti_cuda_device *cuda, cudaGraphExec_t *executable) {
    if (*executable != NULL)
        cuda->api->cudaGraphExecDestroy(*executable);
    *executable = NULL;
}

static bool make_executable(loop *of) {
    cudaGraphExec_t made;
    if (*of->executable != NULL && update_executable(of))
        return true;
    free_executable(of->cuda, of->executable);
    if (!DO(of, cudaGraphInstantiate, (&made, of->graph, 0)))
        return false;
    *of->executable = made;
    return true;
}

static bool make_loop(loop *of, const pti_sub_kernel *first) {
    polytile_repetition repetition = {.round = 1};
    pti_sub_kernel round = *first;
    round.is_first = false;
    round.repetition = &repetition;
    if (!load_code(of))
        return false;
    of->executable = &of->cuda->loops->executable[first->lane % of->cuda->n_lanes];
    return DO(of, cudaGraphCreate, (&of->graph, 0)) &&
           DO(of, cudaGraphConditionalHandleCreate, (&of->handle, of->graph, 0, 0)) &&
           add_begin(of, first->repetition->condition) && add_while(of) &&
           capture_round(of, &round) && make_executable(of) &&
           DO(of, cudaGraphLaunch, (*of->executable, of->stream));
}

static bool is_refused(const pti_cuda_device *cuda, polytile_launcher *launcher) {
    bool is = false;
    for (int k = 0; cuda->loops != NULL && k < N_REFUSED; k++)
        is = is || cuda->loops->refused[k] == launcher;
    return is;
}

static void refuse_launcher(const loop *of, const pti_sub_kernel *first) {
    pti_cuda_loops *loops = of->cuda->loops;
    if (loops == NULL)
        return;
    loops->refused[loops->next_refused] = first->config.implementation->cuda_launcher;
    loops->next_refused = (loops->next_refused + 1) % N_REFUSED;
    pti_log(pti_cuda_context_of(of->cuda), PTI_LOG_INFO,
            "%s: the host enqueues each round of its launcher on %s, since a round cannot be "
            "captured in a CUDA graph (%s: %s)",
            first->instance->kernel_name, of->cuda->device.text,
            of->failed == NULL ? "the launcher" : of->failed,
            of->failed == NULL ? "it fails, or sets no condition" : of->why);
}

bool pti_cuda_loop_enqueue(pti_cuda_device *cuda, const pti_sub_kernel *first,
                           const int32_t *stop) {
    loop of = {.cuda = cuda, .stream = pti_cuda_stream_of(cuda, first), .stop = stop};
    if (is_refused(cuda, first->config.implementation->cuda_launcher))
        return false;
    const bool is_enqueued = make_loop(&of, first);
    if (of.graph != NULL)
        cuda->api->cudaGraphDestroy(of.graph);
    if (!is_enqueued)
        refuse_launcher(&of, first);
    return is_enqueued;
}

void pti_cuda_loops_destroy(pti_cuda_device *cuda) {
    for (int k = 0; cuda->loops != NULL && k < PTI_MAX_LANES; k++)
        free_executable(cuda, &cuda->loops->executable[k]);
    if (cuda->loops != NULL && cuda->loops->library != NULL)
        cuda->api->cudaLibraryUnload(cuda->loops->library);
    free(cuda->loops);
    cuda->loops = NULL;
}
