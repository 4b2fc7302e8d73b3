# libvyre_cpu.so: the LLVM emitter (src/codegen/llvm) and the CPU backend (src/runtime/cpu). It is opened
# on request (src/runtime/cpu_component.cc), so the core neither needs LLVM nor pays for loading it.

# ---- the interface id ----------------------------------------------------------------------------

# Objects cross the border between the core and the component, so both must have been compiled from
# the same headers by the same compiler; each holds this id, and the core refuses a component whose id
# differs.
file(GLOB_RECURSE interface_headers CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/*.h ${PROJECT_SOURCE_DIR}/src/*.def)
set(interface_id_file ${PROJECT_BINARY_DIR}/generated/vyre/interface_id.h)
set(interface_id_inputs ${PROJECT_BINARY_DIR}/interface_id_inputs.txt)
string(REPLACE ";" "\n" interface_id_text "${interface_headers}")
file(CONFIGURE OUTPUT ${interface_id_inputs} CONTENT "${interface_id_text}" @ONLY)
add_custom_command(
  OUTPUT ${interface_id_file}
  COMMAND ${CMAKE_COMMAND} -D INPUTS=${interface_id_inputs} -D OUTPUT=${interface_id_file}
    "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_BUILD_TYPE} ${VYRE_SANITIZE}"
    -P ${PROJECT_SOURCE_DIR}/cmake/interface_id.cmake
  DEPENDS ${interface_headers} ${interface_id_inputs} ${PROJECT_SOURCE_DIR}/cmake/interface_id.cmake
  COMMENT "Writing the id of the interface to the CPU component"
  VERBATIM)
add_custom_target(vyre_interface_id DEPENDS ${interface_id_file})
add_dependencies(vyre vyre_interface_id)

# ---- the component -------------------------------------------------------------------------------

set(why_no_cpu "")
if(NOT VYRE_CPU)
  set(why_no_cpu "VYRE_CPU is OFF")
elseif(VYRE_STATIC)
  set(why_no_cpu "VYRE_STATIC gives one self-contained binary")
else()
  find_package(LLVM 19.1 CONFIG QUIET HINTS /usr/lib/llvm-19)
  find_package(TBB CONFIG QUIET)
  if(NOT LLVM_FOUND)
    set(why_no_cpu "LLVM 19.1 was not found (Debian: llvm-19-dev)")
  elseif(NOT TARGET LLVM)
    set(why_no_cpu "the LLVM in ${LLVM_DIR} has no shared library")
  elseif(NOT TBB_FOUND)
    set(why_no_cpu "oneTBB was not found (Debian: libtbb-dev)")
  endif()
endif()

if(why_no_cpu)
  message(STATUS "CPU backend: not built, because ${why_no_cpu}")
  return()
endif()
message(STATUS "CPU backend: LLVM ${LLVM_PACKAGE_VERSION}, oneTBB ${TBB_VERSION}")

file(GLOB cpu_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/codegen/llvm/*.cc ${PROJECT_SOURCE_DIR}/src/runtime/cpu/*.cc)
# The tests link these objects directly and can use the internals.
add_library(vyre_cpu_objects OBJECT ${cpu_sources})
target_include_directories(vyre_cpu_objects SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS})
target_compile_definitions(vyre_cpu_objects PUBLIC ${LLVM_DEFINITIONS_LIST})
target_link_libraries(vyre_cpu_objects PUBLIC vyre LLVM TBB::tbb)
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(vyre_cpu_objects PUBLIC -fno-rtti)
endif()
target_precompile_headers(vyre_cpu_objects PRIVATE cmake/precompiled/llvm.h)
add_dependencies(vyre_cpu_objects vyre_interface_id)
if(VYRE_FUZZ)
  # Compiled kernels have no type information before their first instruction, which -fsanitize=function reads.
  target_compile_options(vyre_cpu_objects PUBLIC -fno-sanitize=function)
endif()

if(VYRE_TSAN AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Clang reports copies of tasks in headers of oneTBB as `__tsan_memcpy`, which cmake/tsan_suppressions.txt cannot
  # tell from copies of ours.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/runtime/cpu/cpu_launch.cc PROPERTIES
    COMPILE_FLAGS "-mllvm -tsan-instrument-memintrinsics=0")
endif()

add_library(vyre_cpu MODULE)
set_target_properties(vyre_cpu PROPERTIES
  OUTPUT_NAME vyre_cpu LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib LINKER_LANGUAGE CXX)
target_link_libraries(vyre_cpu PRIVATE vyre_cpu_objects)
# It has its own copy of the core, which must not mix with the program's: only the entry points are exported.
set(exports ${PROJECT_SOURCE_DIR}/cmake/vyre_cpu.map)
target_link_options(vyre_cpu PRIVATE -Wl,--exclude-libs,ALL -Wl,--version-script=${exports})
set_target_properties(vyre_cpu PROPERTIES LINK_DEPENDS ${exports})

# The process that compiles kernels with limits; it opens the library beside it.
add_executable(vyre_cpu_compiler ${PROJECT_SOURCE_DIR}/tools/cpu_compiler/main.cc)
set_target_properties(vyre_cpu_compiler PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
target_link_libraries(vyre_cpu_compiler PRIVATE ${CMAKE_DL_LIBS})
add_dependencies(vyre_cpu vyre_cpu_compiler)

# The tool must be of the same build as the component; otherwise it refuses the component.
if(TARGET vyre-cli)
  add_dependencies(vyre-cli vyre_cpu)
endif()
