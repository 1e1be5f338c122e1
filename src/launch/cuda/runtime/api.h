#ifndef POLYTILE_LAUNCH_CUDA_RUNTIME_API_H
#define POLYTILE_LAUNCH_CUDA_RUNTIME_API_H

#include <cuda_runtime_api.h>

/* The functions of the CUDA runtime that the library calls, as a table: tests replace it, or let a
 * call fail. */

/** Those that make graphs and load code; before CUDA 13 some have other parameters. */
#if CUDART_VERSION >= 13000
#define PTI_CUDA_GRAPH_CALLS(X)                                                                    \
    X(cudaLibraryLoadData,                                                                         \
      (cudaLibrary_t * library, const void *code, enum cudaJitOption *jit_options,                 \
       void **jit_values, unsigned n_jit_options, enum cudaLibraryOption *options, void **values,  \
       unsigned n_options))                                                                        \
    X(cudaLibraryUnload, (cudaLibrary_t library))                                                  \
    X(cudaLibraryGetKernel, (cudaKernel_t * kernel, cudaLibrary_t library, const char *name))      \
    X(cudaGraphCreate, (cudaGraph_t * graph, unsigned flags))                                      \
    X(cudaGraphDestroy, (cudaGraph_t graph))                                                       \
    X(cudaGraphConditionalHandleCreate,                                                            \
      (cudaGraphConditionalHandle * handle, cudaGraph_t graph, unsigned value, unsigned flags))    \
    X(cudaGraphAddNode,                                                                            \
      (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *after,                    \
       const cudaGraphEdgeData *edges, size_t n_after, struct cudaGraphNodeParams *of))            \
    X(cudaStreamBeginCaptureToGraph,                                                               \
      (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *after,                       \
       const cudaGraphEdgeData *edges, size_t n_after, enum cudaStreamCaptureMode mode))           \
    X(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t * graph))                            \
    X(cudaGraphInstantiate, (cudaGraphExec_t * made, cudaGraph_t graph, unsigned long long flags)) \
    X(cudaGraphLaunch, (cudaGraphExec_t graph, cudaStream_t stream))                               \
    X(cudaGraphExecUpdate,                                                                         \
      (cudaGraphExec_t made, cudaGraph_t graph, cudaGraphExecUpdateResultInfo * result))           \
    X(cudaGraphExecDestroy, (cudaGraphExec_t graph))
#else
#define PTI_CUDA_GRAPH_CALLS(X)
#endif

/** X-macro: function, its parameters. Every one of them returns a cudaError_t. */
#define PTI_CUDA_CALLS(X)                                                                          \
    X(cudaGetDeviceCount, (int *n_devices))                                                        \
    X(cudaSetDevice, (int number))                                                                 \
    X(cudaGetDeviceProperties, (struct cudaDeviceProp * properties, int number))                   \
    X(cudaDriverGetVersion, (int *version))                                                        \
    X(cudaMemGetInfo, (size_t * free_bytes, size_t * total_bytes))                                 \
    X(cudaMalloc, (void **memory, size_t n_bytes))                                                 \
    X(cudaFree, (void *memory))                                                                    \
    X(cudaHostAlloc, (void **memory, size_t n_bytes, unsigned flags))                              \
    X(cudaFreeHost, (void *memory))                                                                \
    X(cudaHostRegister, (void *memory, size_t n_bytes, unsigned flags))                            \
    X(cudaHostUnregister, (void *memory))                                                          \
    X(cudaPointerGetAttributes, (struct cudaPointerAttributes * attributes, const void *memory))   \
    X(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags))                          \
    X(cudaStreamDestroy, (cudaStream_t stream))                                                    \
    X(cudaStreamSynchronize, (cudaStream_t stream))                                                \
    X(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags))               \
    X(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags))                             \
    X(cudaEventDestroy, (cudaEvent_t event))                                                       \
    X(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream))                                   \
    X(cudaEventQuery, (cudaEvent_t event))                                                         \
    X(cudaEventSynchronize, (cudaEvent_t event))                                                   \
    X(cudaEventElapsedTime, (float *milliseconds, cudaEvent_t from, cudaEvent_t to))               \
    X(cudaMemcpyAsync,                                                                             \
      (void *to, const void *from, size_t n_bytes, enum cudaMemcpyKind kind, cudaStream_t stream)) \
    X(cudaMemcpy2DAsync,                                                                           \
      (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,               \
       size_t height, enum cudaMemcpyKind kind, cudaStream_t stream))                              \
    X(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *copy, cudaStream_t stream))              \
    X(cudaDeviceCanAccessPeer, (int *can_access, int number, int other))                           \
    X(cudaDeviceGetP2PAttribute,                                                                   \
      (int *value, enum cudaDeviceP2PAttr attribute, int number, int other))                       \
    X(cudaDeviceEnablePeerAccess, (int other, unsigned flags))                                     \
    X(cudaMemcpyPeerAsync, (void *to, int to_number, const void *from, int from_number,            \
                            size_t n_bytes, cudaStream_t stream))                                  \
    X(cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *copy, cudaStream_t stream))      \
    X(cudaMemset2DAsync,                                                                           \
      (void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream))       \
    X(cudaFuncGetAttributes, (struct cudaFuncAttributes * attributes, const void *kernel))         \
    X(cudaFuncSetCacheConfig, (const void *kernel, enum cudaFuncCache cache))                      \
    X(cudaFuncSetAttribute, (const void *kernel, enum cudaFuncAttribute attribute, int value))     \
    X(cudaOccupancyMaxActiveBlocksPerMultiprocessor,                                               \
      (int *n_blocks, const void *kernel, int n_threads, size_t shared_bytes))                     \
    X(cudaLaunchKernel, (const void *kernel, dim3 grid, dim3 block, void **arguments,              \
                         size_t shared_bytes, cudaStream_t stream))                                \
    X(cudaLaunchCooperativeKernel, (const void *kernel, dim3 grid, dim3 block, void **arguments,   \
                                    size_t shared_bytes, cudaStream_t stream))                     \
    X(cudaGetLastError, (void))                                                                    \
    PTI_CUDA_GRAPH_CALLS(X)

/** A table of these functions. */
typedef struct pti_cuda_api {
#define PTI_CUDA_MEMBER(name, parameters) cudaError_t(*name) parameters;
    PTI_CUDA_CALLS(PTI_CUDA_MEMBER)
#undef PTI_CUDA_MEMBER
} pti_cuda_api;

/** The runtime itself. */
extern const pti_cuda_api pti_cuda_runtime;

/** The table of devices that are opened later; tests replace it and put &pti_cuda_runtime back. */
extern const pti_cuda_api *pti_cuda_current_api;

#endif
