# bin/example_<name>: the C++ programs of examples/cpp. tests/examples/examples_cpp_test.cc runs them.

file(GLOB example_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/cpp/*.cc)
foreach(source ${example_sources})
  cmake_path(GET source STEM name)
  add_executable(example_${name} ${source})
  target_link_libraries(example_${name} PRIVATE vyre)
  if(TARGET vyre_tests)
    add_dependencies(vyre_tests example_${name})
  endif()
endforeach()
if(TARGET vyre_tests)
  target_compile_definitions(vyre_tests PRIVATE VYRE_EXAMPLES)
endif()
