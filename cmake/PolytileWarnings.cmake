# The warnings of every target of this project; errors with -DPOLYTILE_WERROR=ON. nvcc hands them to
# the host's compiler.
function(polytile_set_warnings target)
  set(warnings -Wall -Wextra -Wconversion -Wshadow)
  if(POLYTILE_WERROR)
    list(APPEND warnings -Werror)
  endif()
  list(JOIN warnings "," host_warnings)
  set(cuda_warnings -Xcompiler=${host_warnings}
                    $<$<BOOL:${POLYTILE_WERROR}>:-Werror=all-warnings>)
  target_compile_options(${target} PRIVATE "$<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:${warnings}>"
                                           "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_warnings}>")
endfunction()
