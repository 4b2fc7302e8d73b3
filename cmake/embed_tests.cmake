# The programs of the conformance suite as one source file, src/lab/embedded_tests.h: run-mode text
# tests, examples, and what they import and read.
#
# Included by CMakeLists.txt it adds the source to the library; run as a script (with LIST, ROOT and
# OUTPUT) it writes it.

if(NOT DEFINED OUTPUT)
  file(GLOB_RECURSE embedded CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/tests/text/*.vyre ${PROJECT_SOURCE_DIR}/tests/conformance/*.vyre
    ${PROJECT_SOURCE_DIR}/examples/*.vyre)
  file(GLOB embedded_data CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/tests/text/*/data/* ${PROJECT_SOURCE_DIR}/tests/conformance/data/*)
  list(APPEND embedded ${embedded_data})
  list(FILTER embedded EXCLUDE REGEX "/(reject|accept|sanitize)/")  # no run-mode tests
  list(REMOVE_DUPLICATES embedded)
  list(SORT embedded)
  set(embedded_source ${PROJECT_BINARY_DIR}/generated/embedded_tests.cc)
  set(embedded_list ${PROJECT_BINARY_DIR}/generated/embedded_tests.txt)
  string(REPLACE ";" "\n" embedded_text "${embedded}")
  file(CONFIGURE OUTPUT ${embedded_list} CONTENT "${embedded_text}" @ONLY)
  list(TRANSFORM embedded PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE embedded_paths)
  add_custom_command(
    OUTPUT ${embedded_source}
    COMMAND ${CMAKE_COMMAND} -D LIST=${embedded_list} -D ROOT=${PROJECT_SOURCE_DIR}
      -D OUTPUT=${embedded_source} -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${embedded_paths} ${embedded_list} ${CMAKE_CURRENT_LIST_FILE}
    COMMENT "Writing the programs of the conformance suite"
    VERBATIM)
  target_sources(vyre PRIVATE ${embedded_source})
  return()
endif()

file(STRINGS ${LIST} paths)
set(arrays "")
set(table "")
set(n 0)
foreach(path IN LISTS paths)
  if(path MATCHES "\\.vyre$" AND NOT path MATCHES "/data/")
    file(STRINGS ${ROOT}/${path} mode REGEX "^// test: run" LIMIT_COUNT 1)
    if(NOT mode)
      continue()
    endif()
  endif()
  file(READ ${ROOT}/${path} hex HEX)
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${hex}")
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(APPEND arrays "const char file${n}[] =\n    \"${bytes}\";\n")
  string(APPEND table "    {\"${path}\", {file${n}, ${size}}},\n")
  math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Written by cmake/embed_tests.cmake.
#include \"lab/embedded_tests.h\"

namespace vyre::lab {
namespace {

${arrays}
constexpr EmbeddedFile files[] = {
${table}};

}  // namespace

std::span<const EmbeddedFile> embedded_tests() { return files; }

}  // namespace vyre::lab
")
