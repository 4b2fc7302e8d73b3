# vyre_test_main: main() and one precompiled header for all GoogleTest binaries, and functions to declare them.
# Tests are compiled once and run for seconds, so they are compiled at -O1.
include_guard()

find_package(GTest REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

add_library(vyre_test_main STATIC ${PROJECT_SOURCE_DIR}/tests/test_main.cc)
target_link_libraries(vyre_test_main PUBLIC vyre GTest::gtest)
target_include_directories(vyre_test_main PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_options(vyre_test_main PUBLIC $<$<CONFIG:Release>:-O1>)
target_compile_definitions(vyre_test_main PUBLIC
  VYRE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" VYRE_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
target_precompile_headers(vyre_test_main PRIVATE cmake/precompiled/tests.h)

# Adds a GoogleTest binary.
function(add_test_binary target)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE vyre_test_main)
  target_precompile_headers(${target} REUSE_FROM vyre_test_main)
endfunction()

# ctest runs the cases of the binary in groups, named `prefix.folder.labels` (tests/cases/cases.py).
function(add_test_groups target prefix)
  set_property(GLOBAL APPEND_STRING PROPERTY vyre_case_binaries "${prefix} $<TARGET_FILE:${target}>\n")
endfunction()

# Called once, after the last add_test_groups(): ctest asks the binaries for their cases each time it starts, so
# the groups are never out of date.
function(write_test_groups)
  get_property(binaries GLOBAL PROPERTY vyre_case_binaries)
  set(list ${PROJECT_BINARY_DIR}/test_binaries.txt)
  file(GENERATE OUTPUT ${list} CONTENT "${binaries}")
  set(script ${PROJECT_BINARY_DIR}/test_groups.cmake)
  file(WRITE ${script} "execute_process(
  COMMAND \"${Python3_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/tests/cases/cases.py\" groups
    --binaries \"${list}\" --output \"${script}.list\"
  COMMAND_ERROR_IS_FATAL ANY)
include(\"${script}.list\")
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()
