# vyre_gpu_tests: tests/runtime/gpu, the guarantees of the runtime on a real device, on the backend that
# VYRE_GPU_BACKEND names (default: cuda). One self-contained binary, for scripts/gpu-check; ctest also runs it on a
# device that every machine has, which tests the tests.

include(cmake/test_main.cmake)
enable_testing()

file(GLOB gpu_test_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/runtime/gpu/*.cc)
if(NOT gpu_test_sources)
  return()
endif()
add_test_binary(vyre_gpu_tests ${gpu_test_sources})

function(add_gpu_tests name device)
  add_test(NAME gpu.${name} COMMAND vyre_gpu_tests WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(gpu.${name} PROPERTIES LABELS gpu TIMEOUT 600
    ENVIRONMENT "VYRE_GPU_BACKEND=${device}")
endfunction()
add_gpu_tests(interp interp)
if(TARGET vyre_cpu)
  add_gpu_tests(cpu cpu)
  add_dependencies(vyre_gpu_tests vyre_cpu)  # opened at run time
endif()
