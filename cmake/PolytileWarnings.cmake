# The warnings of every target of this project; errors with -DPOLYTILE_WERROR=ON.
function(polytile_set_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow
                                           $<$<BOOL:${POLYTILE_WERROR}>:-Werror>)
endfunction()
