# The pieces of the report's page (src/report/page) as one source file, src/report/html_page.h.
#
# Included by CMakeLists.txt it adds the source to the library; run as a script (with FOLDER and
# OUTPUT) it writes it.

if(NOT DEFINED OUTPUT)
  set(page_folder ${PROJECT_SOURCE_DIR}/src/report/page)
  file(GLOB page_files CONFIGURE_DEPENDS ${page_folder}/*.html ${page_folder}/*.css ${page_folder}/*.js)
  set(page_source ${PROJECT_BINARY_DIR}/generated/report_page.cc)
  add_custom_command(
    OUTPUT ${page_source}
    COMMAND ${CMAKE_COMMAND} -D FOLDER=${page_folder} -D OUTPUT=${page_source}
      -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${page_files} ${CMAKE_CURRENT_LIST_FILE}
    COMMENT "Writing the report's page"
    VERBATIM)
  target_sources(vyre PRIVATE ${page_source})
  return()
endif()

# Scripts in the order of their names, which begin with numbers where that matters.
function(embed name)
  set(hex "")
  file(GLOB files ${FOLDER}/${ARGN})
  list(SORT files)
  foreach(path IN LISTS files)
    file(READ ${path} piece HEX)
    string(APPEND hex "${piece}")
  endforeach()
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${hex}")
  set(text "${text}const char ${name}_bytes[] =\n    \"${bytes}\";\n")
  set(text "${text}constexpr std::string_view ${name}{${name}_bytes, ${size}};\n" PARENT_SCOPE)
endfunction()

set(text "")
embed(frame report.html)
embed(style *.css)
embed(script *.js)
file(WRITE ${OUTPUT} "// Written by cmake/embed_page.cmake.
#include \"report/html_page.h\"

namespace vyre::report {
namespace {

${text}
}  // namespace

std::string_view page_frame() { return frame; }
std::string_view page_style() { return style; }
std::string_view page_script() { return script; }

}  // namespace vyre::report
")
