"""What the package uses of the library's headers.

tests/test_layout.py compares the structs with those of a C compiler.
"""

FUNCTIONS_AND_TYPES = """
typedef struct polytile_context polytile_context;
typedef struct polytile_kernel polytile_kernel;
typedef struct polytile_array polytile_array;
typedef struct polytile_device polytile_device;
typedef struct polytile_plan polytile_plan;
typedef struct polytile_queue polytile_queue;
typedef int polytile_status;
typedef int polytile_type;
typedef int polytile_role;

typedef struct polytile_range { int64_t lo, hi, step; } polytile_range;
typedef struct polytile_domain { int n_dims; polytile_range range[8]; } polytile_domain;

typedef struct polytile_parameter {
    const char *name; int64_t value; double real; int number;
} polytile_parameter;
typedef struct polytile_plan_options {
    int64_t limit_bytes; const char *strategy; int n_buffers; const int64_t *block;
    const void *link; int64_t launches_per_pass; int64_t n_streams;
    int64_t fill_threads; int64_t reserved[4];
} polytile_plan_options;
typedef struct polytile_launch_options {
    int n_parameters; const polytile_parameter *parameters; polytile_plan_options plan;
    double message_timeout_s; int64_t reserved[4];
} polytile_launch_options;
typedef struct polytile_compile_options {
    int n_types; const polytile_type *types; int cuda_capability; bool contracts;
    int64_t reserved[4];
} polytile_compile_options;
typedef struct polytile_view {
    void *origin; int64_t stride_bytes[8], array_first[8], array_last[8];
    polytile_domain resident; int32_t first_piece, n_pieces;
} polytile_view;
typedef struct polytile_sub_kernel {
    const polytile_domain *threads; int n_views; int n_parameters; const polytile_view *views;
    bool is_first; void *stream; void *user; void *repetition;
} polytile_sub_kernel;
typedef int polytile_launcher(const polytile_sub_kernel *launch);
typedef struct polytile_implementation {
    void *host; void *user; int n_indices; int n_views; const void *views; int n_parameters;
    const void *parameters; const void *cuda; const void *cuda_contiguous;
    polytile_launcher *host_launcher; polytile_launcher *cuda_launcher; bool host_takes_pieces;
    const void *cuda_pieces; const void *team; bool takes_steps; bool has_cuda_handles;
    void *specialise; const void *cuda_coarse; int n_coarse; const void *cuda_tiles;
    int cuda_lanes; bool cuda_launcher_overlaps; bool cuda_tiles_go_round;
    int64_t reserved[4];
} polytile_implementation;
typedef struct polytile_report {
    int64_t n_launches, n_kernels, peak_device_bytes, h2d_bytes, d2h_bytes, p2p_bytes,
        lower_bound_bytes;
    double enqueue_s, plan_s, run_s, compute_s, transfer_s; int64_t reserved[4];
} polytile_report;

const char *polytile_version(void);
polytile_status polytile_context_create(polytile_context **ctx);
void polytile_context_destroy(polytile_context *ctx);
const char *polytile_last_error(const polytile_context *ctx);
const char *polytile_status_text(polytile_status status);
bool polytile_size_parse(const char *text, int64_t *bytes);
char *polytile_size_explain(const char *text, char *buffer);

polytile_status polytile_kernel_compile(polytile_context *ctx, const char *declaration,
    const char *body, const polytile_compile_options *options, polytile_kernel **kernel);
polytile_status polytile_kernel_create(polytile_context *ctx, const char *declaration,
    const polytile_implementation *implementation, polytile_kernel **kernel);
void polytile_kernel_destroy(polytile_kernel *kernel);
const char *polytile_kernel_get_name(const polytile_kernel *kernel);
int polytile_kernel_get_n_indices(const polytile_kernel *kernel);
int polytile_kernel_get_n_arrays(const polytile_kernel *kernel);
const char *polytile_kernel_get_array_name(const polytile_kernel *kernel, int array);
polytile_role polytile_kernel_get_array_role(const polytile_kernel *kernel, int array);
int polytile_kernel_get_n_parameters(const polytile_kernel *kernel);
const char *polytile_kernel_get_parameter_name(const polytile_kernel *kernel, int parameter);

polytile_type polytile_kernel_get_parameter_type(const polytile_kernel *kernel, int parameter);
int polytile_kernel_get_n_views(const polytile_kernel *kernel);
const char *polytile_kernel_get_view_name(const polytile_kernel *kernel, int view);

polytile_status polytile_type_parse(const char *text, polytile_type *type);
polytile_status polytile_array_wrap_strides(polytile_context *ctx, const char *name,
    polytile_type type, const polytile_domain *domain, const int64_t *stride_bytes, void *data,
    polytile_array **array);
typedef struct polytile_device_memory {
    void *data; const int64_t *stride_bytes; void *stream; bool read_only; int64_t reserved[4];
} polytile_device_memory;
polytile_status polytile_array_wrap_device(polytile_context *ctx, const char *name,
    polytile_type type, const polytile_domain *domain, const polytile_device_memory *memory,
    polytile_array **array);
polytile_status polytile_array_describe(polytile_context *ctx, const char *name,
    polytile_type type, const polytile_domain *domain, polytile_array **array);
void polytile_array_destroy(polytile_array *array);

polytile_status polytile_device_open(polytile_context *ctx, const char *text,
    polytile_device **device);
void polytile_device_close(polytile_device *device);
void polytile_device_cancel(polytile_device *device);
void polytile_device_get_report(const polytile_device *device, polytile_report *report);
polytile_status polytile_run(polytile_device *device, const polytile_kernel *kernel,
    const polytile_domain *domain, int n_arrays, polytile_array *const *arrays,
    const polytile_launch_options *options);

polytile_status polytile_check(const polytile_kernel *kernel, const polytile_domain *domain,
    int n_arrays, polytile_array *const *arrays, const polytile_launch_options *options);
polytile_status polytile_check_run(polytile_device *device, const polytile_kernel *kernel,
    const polytile_domain *domain, int n_arrays, polytile_array *const *arrays,
    const polytile_launch_options *options, void *report);
polytile_status polytile_plan_create(const polytile_kernel *kernel, const polytile_domain *domain,
    int n_arrays, polytile_array *const *arrays, const polytile_launch_options *options,
    polytile_plan **plan);
polytile_status polytile_plan_to_string(const polytile_plan *plan, int format, char **text);
void polytile_plan_destroy(polytile_plan *plan);

typedef struct polytile_share_options {
    const char *grid; const char *layout; const char *policy; int64_t launches_per_exchange;
    int64_t reserved[4];
} polytile_share_options;
polytile_status polytile_queue_create_shared(polytile_context *ctx, const char *device_text,
    const polytile_share_options *options, polytile_queue **queue);
void polytile_queue_destroy(polytile_queue *queue);
polytile_status polytile_queue_attach(polytile_queue *queue, int n_arrays,
    polytile_array *const *arrays);
polytile_status polytile_queue_detach(polytile_queue *queue, int n_arrays,
    polytile_array *const *arrays);
polytile_status polytile_queue_create_array(polytile_queue *queue, const char *name,
    polytile_type type, int n_dims, const int64_t *extents, polytile_array **array);
polytile_status polytile_queue_launch(polytile_queue *queue, const polytile_kernel *kernel,
    const polytile_domain *domain, int n_arrays, polytile_array *const *arrays,
    const polytile_launch_options *options);
polytile_status polytile_queue_wait(polytile_queue *queue);
bool polytile_queue_test(polytile_queue *queue, const polytile_array *array);
typedef void polytile_queue_callback(polytile_status status, void *user);
polytile_status polytile_queue_notify(polytile_queue *queue, polytile_array *array,
    polytile_queue_callback *callback, void *user);
typedef struct polytile_progress {
    double fraction; double left_s; int64_t reserved[4];
} polytile_progress;
polytile_progress polytile_queue_get_progress(polytile_queue *queue);
void polytile_queue_cancel(polytile_queue *queue);
void polytile_queue_get_report(polytile_queue *queue, bool reset, polytile_report *report);
polytile_status polytile_queue_trace(polytile_queue *queue, const char *path);
typedef struct polytile_trace polytile_trace;
polytile_status polytile_trace_read(polytile_context *ctx, const char *path,
    polytile_trace **trace);
void polytile_trace_destroy(polytile_trace *trace);
polytile_status polytile_trace_to_string(const polytile_trace *trace, int format, char **text);

int omp_pause_resource_all(int kind);
"""

RANKS = """
polytile_status polytile_mpi_queue_create(polytile_context *ctx, void *comm,
    const char *device_text, const polytile_share_options *options, polytile_queue **queue);
polytile_status polytile_mpi_array_create(polytile_queue *queue, const char *name,
    polytile_type type, int n_dims, const int64_t *extents, const char *layout,
    polytile_array **array);
int polytile_mpi_array_count_boxes(const polytile_array *array);
polytile_domain polytile_mpi_array_get_box(const polytile_array *array, int k);
polytile_status polytile_mpi_array_put(polytile_array *array, const polytile_domain *box,
    const void *elements);
polytile_status polytile_mpi_array_get(polytile_array *array, const polytile_domain *box,
    void *elements);
polytile_status polytile_mpi_array_scatter(polytile_array *array, int root, const void *elements);
polytile_status polytile_mpi_array_gather(polytile_array *array, int root, void *elements);
polytile_status polytile_mpi_array_read(polytile_array *array, const char *path);
polytile_status polytile_mpi_array_write(polytile_array *array, const char *path);
int MPI_Get_library_version(char *version, int *length);
"""
"""Of libpolytile_mpi, and of the MPI that it is linked with. A communicator is a number or an
address, as MPI has it; either is passed as an address is."""

C_LIBRARY = "void free(void *memory);"
