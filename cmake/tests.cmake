# vyre_tests: every tests/**/*_test.cc (and *_util.cc, helpers they share) in one GoogleTest binary.
# vyre_text_tests: tests/runner, which runs the .vyre files under tests/text, one ctest entry per folder,
# and the programs and commands in docs/.
#
# Two tiers: entries and cases labelled `slow` run only in `scripts/test --all`.

include(cmake/test_main.cmake)

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/tests/*_test.cc ${PROJECT_SOURCE_DIR}/tests/*_util.cc)
list(FILTER test_sources EXCLUDE REGEX "/tests/(runner|memory|codegen/llvm|runtime/(cpu|cuda|gpu|vulkan))/")
if(test_sources)
  add_test_binary(vyre_tests ${test_sources})
  # z3 proves the rules of simplify; without it the test reports that and is skipped.
  find_path(VYRE_Z3_INCLUDE z3++.h)
  find_library(VYRE_Z3 z3)
  if(VYRE_Z3_INCLUDE AND VYRE_Z3)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/opt/passes/simplify_proof_test.cc PROPERTIES
      COMPILE_DEFINITIONS VYRE_HAVE_Z3)
    target_link_libraries(vyre_tests PRIVATE ${VYRE_Z3})
  else()
    message(STATUS "z3 is not there (libz3-dev): the rules of simplify will not be proved")
  endif()
  # SPIRV-Tools validates the output of codegen/spirv; without it the test reports that and is skipped.
  find_path(VYRE_SPIRV_TOOLS_INCLUDE spirv-tools/libspirv.h)
  find_library(VYRE_SPIRV_TOOLS SPIRV-Tools)
  target_include_directories(vyre_tests SYSTEM PRIVATE ${VYRE_SPIRV_INCLUDE})
  if(VYRE_SPIRV_TOOLS_INCLUDE AND VYRE_SPIRV_TOOLS)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/codegen/spirv/spirv_util.cc PROPERTIES
      COMPILE_DEFINITIONS VYRE_HAVE_SPIRV_TOOLS)
    target_link_libraries(vyre_tests PRIVATE ${VYRE_SPIRV_TOOLS})
  else()
    message(STATUS "SPIRV-Tools is not there (spirv-tools): SPIR-V will not be validated")
  endif()
  if(TARGET vyre-cli)
    target_link_libraries(vyre_tests PRIVATE vyre_cli)
    add_dependencies(vyre_tests vyre-cli)  # some tests run the tool
  endif()
  add_test_groups(vyre_tests unit)
endif()

# The sequences of API calls alone, for builds with a sanitizer: they need few sources. `vyre_tests` has the same cases.
add_executable(vyre_api_fuzz_tests EXCLUDE_FROM_ALL
  ${PROJECT_SOURCE_DIR}/tests/runtime/api_fuzz_test.cc ${PROJECT_SOURCE_DIR}/tests/runtime/api_fuzz_util.cc)
target_link_libraries(vyre_api_fuzz_tests PRIVATE vyre_test_main)
target_precompile_headers(vyre_api_fuzz_tests REUSE_FROM vyre_test_main)
if(TARGET vyre_cpu)
  add_dependencies(vyre_api_fuzz_tests vyre_cpu)  # tests open it
endif()

# Tests of the internals of the CPU component: linked with its objects, not with the shared library.
file(GLOB cpu_test_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/tests/codegen/llvm/*.cc ${PROJECT_SOURCE_DIR}/tests/runtime/cpu/*.cc)
if(TARGET vyre_cpu_objects AND cpu_test_sources)
  add_test_binary(vyre_cpu_tests ${cpu_test_sources})
  target_include_directories(vyre_cpu_tests PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(vyre_cpu_tests PRIVATE vyre_cpu_objects bench_programs)
  if(TARGET vyre-cli)
    target_link_libraries(vyre_cpu_tests PRIVATE vyre_cli)
    add_dependencies(vyre_cpu_tests vyre-cli)
  endif()
  add_dependencies(vyre_cpu_tests vyre_cpu)  # some tests open it
  add_test_groups(vyre_cpu_tests cpu)
endif()

# The Vulkan backend, on lavapipe whatever other devices the machine has: a separate process, because
# the environment chooses Vulkan's drivers.
file(GLOB vulkan_test_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/runtime/vulkan/*.cc)
if(VYRE_HAVE_VULKAN AND vulkan_test_sources AND TARGET vyre-cli)
  add_test_binary(vyre_vulkan_tests ${vulkan_test_sources})
  target_include_directories(vyre_vulkan_tests PRIVATE ${VYRE_VOLK_INCLUDE})
  target_link_libraries(vyre_vulkan_tests PRIVATE vyre_cli)
  add_dependencies(vyre_vulkan_tests vyre-cli)
  add_test_groups(vyre_vulkan_tests vulkan)
endif()

# The CUDA backend without a GPU, on a fake driver: a separate binary, so that no other test loads the
# fake.
file(GLOB cuda_test_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/runtime/cuda/*_test.cc
  ${PROJECT_SOURCE_DIR}/tests/runtime/cuda/*_util.cc)
if(cuda_test_sources)
  set(fake_cuda_sources fake_cuda.cc fake_cuda_code.cc fake_driver.cc)
  set(fake_cuda_old_sources fake_cuda_old.cc)
  foreach(library fake_cuda fake_cuda_old)
    list(TRANSFORM ${library}_sources PREPEND ${PROJECT_SOURCE_DIR}/tests/runtime/cuda/)
    add_library(${library} MODULE ${${library}_sources})
    target_include_directories(${library} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${library} PRIVATE Threads::Threads)
    set_target_properties(${library} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  endforeach()
  add_test_binary(vyre_cuda_tests ${cuda_test_sources})
  target_include_directories(vyre_cuda_tests PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  add_dependencies(vyre_cuda_tests fake_cuda fake_cuda_old)
  if(TARGET vyre-cli)
    target_link_libraries(vyre_cuda_tests PRIVATE vyre_cli)
    add_dependencies(vyre_cuda_tests vyre-cli)
  endif()
  add_test_groups(vyre_cuda_tests cuda)
endif()

# Failing allocations: a separate binary, because it replaces operator new.
file(GLOB memory_test_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/memory/*.cc)
if(memory_test_sources)
  add_test_binary(vyre_memory_tests ${memory_test_sources})
  if(TARGET vyre_cpu)
    target_compile_definitions(vyre_memory_tests PRIVATE VYRE_HAVE_CPU)
    add_dependencies(vyre_memory_tests vyre_cpu)  # tests open it
  endif()
  add_test_groups(vyre_memory_tests memory)
endif()

file(GLOB runner_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/runner/*.cc)
file(GLOB text_folders LIST_DIRECTORIES true CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/text/*)
if(runner_sources)
  add_executable(vyre_text_tests ${runner_sources})
  target_include_directories(vyre_text_tests PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(vyre_text_tests PRIVATE
    VYRE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" VYRE_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  target_precompile_headers(vyre_text_tests REUSE_FROM vyre)
  target_link_libraries(vyre_text_tests PRIVATE vyre_cli)
  add_test(NAME text.examples COMMAND vyre_text_tests examples WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(text.examples PROPERTIES LABELS text TIMEOUT 600)
  add_test(NAME text.docs COMMAND vyre_text_tests docs WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(text.docs PROPERTIES LABELS text TIMEOUT 600)
  add_dependencies(vyre_text_tests vyre-cli)  # pages show what the tool prints
  foreach(folder ${text_folders})
    if(IS_DIRECTORY ${folder})
      cmake_path(GET folder FILENAME name)
      add_test(NAME text.${name}
        COMMAND vyre_text_tests tests/text/${name}
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
      set_tests_properties(text.${name} PROPERTIES LABELS text TIMEOUT 600)
    endif()
  endforeach()
endif()

if(TARGET vyre_tests AND TARGET vyre_text_tests)
  add_dependencies(vyre_tests vyre_text_tests)  # the runner is tested too
endif()

# Every backend passes the same suite: `vyre certify`, with its embedded programs.
function(add_conformance name device)
  add_test(NAME conformance.${name} COMMAND vyre-cli certify --backend ${device} ${ARGN}
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(conformance.${name} PROPERTIES LABELS conformance TIMEOUT 900)
endfunction()
# Moves entries into the slow tier: `scripts/test --all` runs them.
function(set_slow)
  foreach(name ${ARGN})
    if(TEST ${name})
      set_property(TEST ${name} APPEND PROPERTY LABELS slow)
    endif()
  endforeach()
endfunction()
# Vulkan devices in software, with the validation layers enabled: a message of the layers fails the test.
# The suite is split into parts, because lavapipe compiles slowly.
function(add_vulkan_conformance name device icd)
  add_conformance(${name} ${device} ${ARGN})
  set_tests_properties(conformance.${name} PROPERTIES LABELS "conformance;vulkan"
    ENVIRONMENT "VK_ICD_FILENAMES=${icd};VYRE_VULKAN_VALIDATION=1;VYRE_CACHE_DIR=${PROJECT_BINARY_DIR}/vulkan_cache")
endfunction()
find_file(VYRE_LAVAPIPE NAMES lvp_icd.x86_64.json lvp_icd.aarch64.json lvp_icd.json
  PATHS /usr/share/vulkan/icd.d NO_DEFAULT_PATH)
find_file(VYRE_SWIFTSHADER vk_swiftshader_icd.json PATHS /usr/lib/chromium NO_DEFAULT_PATH)
if(VYRE_HAVE_VULKAN AND TARGET vyre-cli AND VYRE_LAVAPIPE)
  foreach(part 1 2 3 4)
    add_vulkan_conformance(vulkan_${part} vulkan ${VYRE_LAVAPIPE} --part ${part}/4 --fuzz 40)
  endforeach()
  # Every legalization: the code uses no feature that a device may lack or compute wrongly.
  add_vulkan_conformance(vulkan_weak "vulkan[profile=weak]" ${VYRE_LAVAPIPE} --only operations/)
  # Operations are small kernels: thread coarsening applies to all of them.
  add_vulkan_conformance(vulkan_coarse "vulkan[coarsen=3]" ${VYRE_LAVAPIPE} --only operations/ --quick)
  # As for GPUs: short loops are unrolled, and load zeros instead of branching.
  add_vulkan_conformance(vulkan_unrolled "vulkan[unroll=1,profile=+long_loops]" ${VYRE_LAVAPIPE} --only conformance/)
  add_vulkan_conformance(vulkan_nvidia "vulkan[profile=nvidia]" ${VYRE_LAVAPIPE} --only operations/ --quick)
endif()
if(VYRE_HAVE_VULKAN AND TARGET vyre-cli AND VYRE_SWIFTSHADER)
  add_vulkan_conformance(swiftshader vulkan ${VYRE_SWIFTSHADER} --only operations/ --quick)
  foreach(part 1 2 3 4)
    add_vulkan_conformance(swiftshader_${part} vulkan ${VYRE_SWIFTSHADER} --part ${part}/4 --fuzz 40)
    set_slow(conformance.swiftshader_${part})
  endforeach()
endif()
if(TARGET vyre-cli)
  add_conformance(interp interp)
  add_conformance(interp_split "interp[split]")
  add_conformance(interp_coarse "interp[coarsen=3]" --quick)
  add_conformance(interp_small_subgroups "interp[subgroup=4]" --fuzz 50)
  if(TARGET vyre_cpu)
    add_conformance(cpu cpu)
    add_conformance(cpu_split "cpu[split]" --quick)
    add_conformance(cpu_one_thread "cpu[threads=1]" --quick)
    add_conformance(cpu_baseline "cpu[isa=x86-64-v2]" --quick)
    add_conformance(cpu_v3 "cpu[isa=x86-64-v3]" --quick)
    set_tests_properties(conformance.cpu_v3 PROPERTIES SKIP_RETURN_CODE 3)  # a machine without it
  endif()
endif()
# Long fuzz runs: random programs and graphs, in all configurations that must agree to the byte.
function(add_fuzz name)
  add_test(NAME fuzz.${name} COMMAND vyre-cli fuzz ${ARGN} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 1800)
  set_slow(fuzz.${name})
endfunction()
if(TARGET vyre-cli)
  add_fuzz(programs --seed 700000 --count 1000)
  add_fuzz(graphs --seed 710000 --count 500 --graphs)
  if(TARGET vyre_cpu)
    add_fuzz(cpu --seed 720000 --count 400 --backends cpu,opt,plan)
  endif()
endif()
# Programs that once passed their limits; `limits.py --measure` prints times and memory.
if(TARGET vyre-cli AND TARGET vyre_cpu AND NOT VYRE_SANITIZE AND NOT VYRE_TSAN)
  add_test(NAME limits.programs COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/limits/limits.py
    $<TARGET_FILE:vyre-cli>)
  set_tests_properties(limits.programs PROPERTIES LABELS limits TIMEOUT 1800)
  set_slow(limits.programs)
endif()
# Forced device capabilities.
foreach(name vulkan_weak vulkan_coarse vulkan_unrolled vulkan_nvidia cpu_one_thread cpu_baseline cpu_v3)
  set_slow(conformance.${name})
endforeach()
if(TARGET vyre_text_tests)
  add_test(NAME text.conformance COMMAND vyre_text_tests tests/conformance
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(text.conformance PROPERTIES LABELS text TIMEOUT 600)
endif()

# The installed package, used by another project. Code that was compiled for a sanitizer or for gcov links only with
# the same flags.
if(TARGET vyre-cli)
  set(outside_flags "")
  if(VYRE_SANITIZE)
    set(outside_flags "-fsanitize=address,undefined")
  elseif(VYRE_TSAN)
    set(outside_flags "-fsanitize=thread")
  elseif(VYRE_COVERAGE)
    set(outside_flags "--coverage")
  endif()
  add_test(NAME package.outside_project
    COMMAND ${CMAKE_COMMAND} -D VYRE_ROOT=${PROJECT_SOURCE_DIR} -D VYRE_BUILD=${PROJECT_BINARY_DIR}
      -D VYRE_VERSION=${PROJECT_VERSION} -D GENERATOR=${CMAKE_GENERATOR}
      -D COMPILER=${CMAKE_CXX_COMPILER} -D LAUNCHER=${VYRE_CCACHE}
      -D FLAGS=${outside_flags}
      -P ${PROJECT_SOURCE_DIR}/tests/package/outside_project.cmake)
  set_tests_properties(package.outside_project PROPERTIES LABELS package TIMEOUT 300)
endif()

# tests/cases/cases.py, on cases that crash, hang, fail and so on.
add_test_binary(vyre_sample_cases ${PROJECT_SOURCE_DIR}/tests/cases/sample.cc)
add_test(NAME cases.runner COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/cases/check.py
  $<TARGET_FILE:vyre_sample_cases>)
set_tests_properties(cases.runner PROPERTIES LABELS unit TIMEOUT 300)

# scripts/package builds the preset gpu.
if(TARGET vyre-cli AND CMAKE_BUILD_TYPE STREQUAL "Release")
  add_test(NAME package.binary
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/package/binary_package.py)
  set_tests_properties(package.binary PROPERTIES LABELS package TIMEOUT 3600 RUN_SERIAL ON)
  set_slow(package.binary)
endif()

# scripts/setup, on an apt-get that is a script, and scripts/demo with the command line of this build.
add_test(NAME scripts.setup COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/scripts/setup_checks.py)
set_tests_properties(scripts.setup PROPERTIES LABELS unit TIMEOUT 120)
if(TARGET vyre-cli)
  add_test(NAME scripts.demo COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/scripts/demo_checks.py
    $<TARGET_FILE:vyre-cli>)
  set_tests_properties(scripts.demo PROPERTIES LABELS unit TIMEOUT 900)
endif()

# scripts/setup installs clang-format-19 for scripts/test; a plain build does not need it.
find_program(VYRE_CLANG_FORMAT clang-format-19)
if(VYRE_CLANG_FORMAT)
  add_test(NAME format.check COMMAND ${PROJECT_SOURCE_DIR}/scripts/format --check)
  set_tests_properties(format.check PROPERTIES LABELS unit TIMEOUT 300)
endif()

write_test_groups()
