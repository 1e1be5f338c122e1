# The target all_but_tests: all that is built by the directories added so far. It needs no GoogleTest,
# and is what a build without BUILD_TESTING makes of itself.
add_custom_target(all_but_tests)

function(polytile_add_all_of directory)
  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(is_excluded ${target} EXCLUDE_FROM_ALL)
    get_target_property(type ${target} TYPE)
    if(NOT is_excluded AND NOT type STREQUAL "UTILITY")
      add_dependencies(all_but_tests ${target})
    endif()
  endforeach()
  get_property(subdirectories DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(subdirectory IN LISTS subdirectories)
    polytile_add_all_of(${subdirectory})
  endforeach()
endfunction()

polytile_add_all_of(${PROJECT_SOURCE_DIR})
