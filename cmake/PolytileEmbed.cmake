# Makes a C file of a file's bytes: `const unsigned char NAME_text[]` and `const size_t NAME_bytes`,
# which HEADER declares. It is made anew when the file changes.
function(polytile_embed file name header output)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} digits HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" digits "${digits}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${digits}")
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"#include \"${header}\"

const unsigned char ${name}_text[] = {
${bytes}
};
const size_t ${name}_bytes = sizeof ${name}_text;
")
endfunction()

# Joins a header of INCLUDE with all headers of this project that it includes, each once, at its first
# place. It is made anew when one of them changes.
function(polytile_join_headers include header output)
  set(text "#include <${header}>\n")
  set(seen)
  while(text MATCHES "#include <(polytile/[a-z_]+\\.h)>\n")
    set(name ${CMAKE_MATCH_1})
    set(content)
    if(NOT name IN_LIST seen)
      list(APPEND seen ${name})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${include}/${name})
      file(READ ${include}/${name} content)
    endif()
    string(FIND "${text}" "#include <${name}>\n" place)
    string(LENGTH "#include <${name}>\n" length)
    string(SUBSTRING "${text}" 0 ${place} before)
    math(EXPR place "${place} + ${length}")
    string(SUBSTRING "${text}" ${place} -1 after)
    set(text "${before}${content}${after}")
  endwhile()
  file(WRITE ${output} "${text}")
endfunction()
