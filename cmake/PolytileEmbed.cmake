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
