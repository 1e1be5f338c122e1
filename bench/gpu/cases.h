#ifndef BENCH_GPU_CASES_H
#define BENCH_GPU_CASES_H

/* The cases. Each is called in a process of its own, where nothing has touched the GPU yet; it
 * reports its rows or fails, and leaves the freeing of memory to the end of the process. */

void vector_add_pinned(void);
void vector_add_pageable(void);
void vector_add_hand(void);
void resident(void);
void small_kernels(void);
void stencil(void);
void transpose_16th(void);
void transpose_64th(void);
void sgemm(void);
void sgemm_fp32_eighth(void);
void sgemm_fp32_64th(void);
void sgemm_tf32_eighth(void);
void coarse(void);
void tiles_by_hand(void);
void planes_by_hand_few(void);
void planes_by_hand_many(void);
void queue_overhead(void);
void queue_resident(void);
void queue_resident_weight(void);
void queue_resident_field(void);
void wave_resident(void);
void wave_resident_in_place(void);
void wave_eighth(void);
void queue_unfused(void);
void queue_sweeps_in_place(void);
void queue_sweeps_jacobi(void);
void skew_jacobi_eighth(void);
void skew_jacobi_32nd(void);
void skew_jacobi3d_eighth(void);
void skew_star_home(void);
void skew_lattice_home(void);
void skew_jacobi_resident(void);
void skew_periodic_eighth(void);
void parameter_saxpy_resident(void);
void parameter_saxpy_streamed(void);
void parameter_enqueue(void);
void parameter_jacobi(void);
void several_vector_add(void);
void several_jacobi(void);
void several_sgemm(void);
void several_panels(void);
void several_policies(void);
void several_graph(void);
void apsp_limit(void);
void apsp_with_host(void);
void apsp_two(void);
void apsp_lanes_rmat(void);
void apsp_lanes_uniform(void);
void apsp_lanes_small(void);
void apsp_lanes_grid(void);
void messages_small(void);
void messages_many(void);
void messages_large(void);
/** Between two GPUs, if there are two that are linked. */
void messages_linked(void);
void crowded(void);
void sparse_uniform_resident(void);
void sparse_band_resident(void);
void sparse_uniform_eighth(void);
void sparse_band_eighth(void);
void sparse_power_eighth(void);
void vector_add_overhead(void);
void stencil_overhead(void);
void sgemm_overhead(void);

#endif
