# Puts files of the source tree into the library, as the functions of src/support/embedded_files.h.
#
# Included by CMakeLists.txt it defines vyre_embed() and embeds the three sets; run as a script (with LIST,
# ROOT, FUNCTION, MODE and OUTPUT) it writes one source file.

if(NOT DEFINED OUTPUT)
  # vyre_embed(function files… [MODE regex]): adds a source that defines `function` to the library. Paths are
  # relative to the project. With MODE, .vyre files outside of data/ are embedded only if one of their lines
  # matches.
  function(vyre_embed function)
    cmake_parse_arguments(PARSE_ARGV 1 embed "" "MODE" "")
    set(files ${embed_UNPARSED_ARGUMENTS})
    list(REMOVE_DUPLICATES files)
    list(SORT files)
    set(source ${PROJECT_BINARY_DIR}/generated/${function}.cc)
    set(list ${PROJECT_BINARY_DIR}/generated/${function}.txt)
    string(REPLACE ";" "\n" text "${files}")
    file(CONFIGURE OUTPUT ${list} CONTENT "${text}" @ONLY)
    list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
    set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
    add_custom_command(
      OUTPUT ${source}
      COMMAND ${CMAKE_COMMAND} -D LIST=${list} -D ROOT=${PROJECT_SOURCE_DIR} -D FUNCTION=${function}
        -D MODE=${embed_MODE} -D OUTPUT=${source} -P ${script}
      DEPENDS ${paths} ${list} ${script}
      COMMENT "Writing ${function}()"
      VERBATIM)
    target_sources(vyre PRIVATE ${source})
    set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endfunction()

  file(GLOB code_pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/src/diagnostics/codes/*.md)
  vyre_embed(embedded_code_pages ${code_pages})

  set(page ${PROJECT_SOURCE_DIR}/src/report/page)
  file(GLOB page_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${page}/*.html ${page}/*.css ${page}/*.js)
  vyre_embed(embedded_report_page ${page_files})

  # Run-mode text tests, examples, and the files that they import and read.
  set(tests ${PROJECT_SOURCE_DIR}/tests)
  file(GLOB_RECURSE programs CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    ${tests}/text/*.vyre ${tests}/conformance/*.vyre ${PROJECT_SOURCE_DIR}/examples/*.vyre)
  file(GLOB data CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${tests}/text/*/data/* ${tests}/conformance/data/*)
  list(APPEND programs ${data})
  list(FILTER programs EXCLUDE REGEX "/(reject|accept|sanitize)/")
  vyre_embed(embedded_tests ${programs} MODE "^// test: run")
  return()
endif()

file(STRINGS ${LIST} paths)
set(arrays "")
set(table "")
set(n 0)
foreach(path IN LISTS paths)
  if(MODE AND path MATCHES "\\.vyre$" AND NOT path MATCHES "/data/")
    file(STRINGS ${ROOT}/${path} mode REGEX "${MODE}" LIMIT_COUNT 1)
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
file(WRITE ${OUTPUT} "// Written by cmake/embed.cmake.
#include \"support/embedded_files.h\"

namespace vyre {
namespace {

${arrays}
constexpr EmbeddedFile files[] = {
${table}};

}  // namespace

std::span<const EmbeddedFile> ${FUNCTION}() { return files; }

}  // namespace vyre
")
