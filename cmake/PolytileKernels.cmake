# Sources of kernel bodies (polytile/kernel.h), of the directory that calls this: compiled as CUDA
# where nvcc is, which gives one object for the host and for GPUs, and as what they are elsewhere.
function(polytile_set_kernel_sources)
  if(POLYTILE_HAS_NVCC)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  endif()
endfunction()
