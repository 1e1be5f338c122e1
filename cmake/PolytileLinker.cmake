# The linker of programs: the compiler's own, or, with POLYTILE_FAST_LINKER, a faster one where there is
# one. The largest of the tests' programs, with sanitizers, is linked in 9.2 s of processor time by GNU's
# linker, in 3.9 s by gold and in 2.1 s by lld. gold warns of the address sanitizer's symbols.
option(POLYTILE_FAST_LINKER "Link with lld or gold where the compiler finds one" OFF)
if(POLYTILE_FAST_LINKER)
  include(CheckLinkerFlag)
  set(linkers lld gold)
  if(CMAKE_C_FLAGS MATCHES "-fsanitize")
    set(linkers lld)
  endif()
  foreach(linker IN LISTS linkers)
    check_linker_flag(C -fuse-ld=${linker} POLYTILE_LINKS_WITH_${linker})
    if(POLYTILE_LINKS_WITH_${linker})
      add_link_options($<HOST_LINK:$<$<LINK_LANGUAGE:C,CXX>:-fuse-ld=${linker}>>)
      break()
    endif()
  endforeach()
endif()
