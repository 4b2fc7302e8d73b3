# Installs vyre into a scratch prefix, moves the prefix and builds outside/ against it, with nothing of
# the source tree in reach: the project is copied away, and no path of ours may have got into the
# package.
#
#   cmake -D VYRE_ROOT=… -D VYRE_BUILD=… -D VYRE_VERSION=… -D GENERATOR=… -D COMPILER=… [-D LAUNCHER=…]
#         [-D FLAGS=…] -P outside_project.cmake

set(work ${VYRE_BUILD}/package_test)
set(first_prefix ${work}/first)
set(prefix ${work}/moved)
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})

# run(WHAT COMMAND…): fails the test with the command's output. Leaves its output in `output`.
function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err
    TIMEOUT 120)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed (${status}):\n${out}${err}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

# ---- install -------------------------------------------------------------------------------------

# The targets that scripts/demo builds suffice to install: each file comes from the target vyre-cli.
find_program(NINJA ninja)
if(GENERATOR STREQUAL "Ninja" AND NINJA)
  run("the list of commands" ${NINJA} -C ${VYRE_BUILD} -t commands vyre-cli)
  file(READ ${VYRE_BUILD}/cmake_install.cmake script)
  string(REGEX MATCHALL "\"${VYRE_BUILD}/[^\"]+\"" built "${script}")
  set(found 0)
  foreach(file IN LISTS built)
    string(REGEX REPLACE "\"${VYRE_BUILD}/([^\"]+)\"" "\\1" file "${file}")
    if(file MATCHES "\\.(cmake|txt)$" OR file MATCHES "\\$")
      continue()  # written by the configuration
    endif()
    string(FIND "${output}" "${file}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "${file} is installed, but the target vyre-cli does not build it")
    endif()
    math(EXPR found "${found} + 1")
  endforeach()
  if(found LESS 5)
    message(FATAL_ERROR "only ${found} built files are installed: the search for them is broken")
  endif()
endif()

run("the installation" ${CMAKE_COMMAND} --install ${VYRE_BUILD} --prefix ${first_prefix})
file(RENAME ${first_prefix} ${prefix})

foreach(file
    bin/vyre include/vyre/vyre.h include/vyre/version.h include/vyre/internal/ir/ops.def
    include/vyre/object.h include/vyre/internal/codegen/llvm/llvm_abi.h
    share/man/man1/vyre.1 share/bash-completion/completions/vyre share/zsh/site-functions/_vyre
    share/fish/vendor_completions.d/vyre.fish share/vyre/examples/saxpy.vyre
    share/vyre/editors/vscode/package.json share/doc/vyre/LICENSE share/doc/vyre/README.md
    share/doc/vyre/docs/errors.md)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()

# The include folder holds one name and no unneeded files of the source tree.
file(GLOB names RELATIVE ${prefix}/include ${prefix}/include/*)
if(NOT names STREQUAL "vyre")
  message(FATAL_ERROR "the include folder holds ${names}, not vyre alone")
endif()
file(GLOB_RECURSE installed ${prefix}/include/* ${prefix}/lib*/cmake/*)
foreach(file IN LISTS installed)
  file(STRINGS ${file} lines REGEX "[(; \"=:]${VYRE_ROOT}/(src|include)|include \"(support|ir|text|wire|check|interp|plan|driver)/")
  if(lines)
    message(FATAL_ERROR "${file} refers to the source tree: ${lines}")
  endif()
endforeach()

run("the installed command line" ${prefix}/bin/vyre run ${prefix}/share/vyre/examples/saxpy.vyre
  --set a=2 --in x=1,2 --in y=10,20 --print y)
if(NOT output STREQUAL "y: 12 24\n")
  message(FATAL_ERROR "the installed command line printed: ${output}")
endif()

# ---- an outside project --------------------------------------------------------------------------

file(COPY ${CMAKE_CURRENT_LIST_DIR}/outside DESTINATION ${work})

# Two object files for one program.
set(objects "")
file(GLOB component ${prefix}/lib*/libvyre_cpu.so ${prefix}/lib*/*/libvyre_cpu.so)
if(component)
  set(body "workgroup(4) grid(len(y)) { let i = global_id.x")
  file(WRITE ${work}/two.vyre "kernel add(y: inout u32[]) ${body}; y[i] += i + 1 }
kernel triple(y: inout u32[]) ${body}; y[i] *= 3 }\n")
  foreach(kernel add triple)
    run("an object file" ${prefix}/bin/vyre emit ${work}/two.vyre:${kernel} --target obj
      -o ${work}/${kernel}.o)
  endforeach()
  set(objects ${work})
endif()

# The programs of the documentation.
include(${CMAKE_CURRENT_LIST_DIR}/documented.cmake)
gather_documented(${VYRE_ROOT} ${work}/outside)

# The exports of the package.
find_program(PYTHON NAMES python3 REQUIRED)
run("the list of exports" ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/exported.py
  ${prefix}/include/vyre ${work}/outside/exported)

run("the configuration of the outside project" ${CMAKE_COMMAND}
  -S ${work}/outside -B ${work}/build -G ${GENERATOR}
  -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_COMPILER=${COMPILER}
  -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -D CMAKE_CXX_FLAGS=${FLAGS}
  -D OBJECTS=${objects}
  -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_EXPORT_COMPILE_COMMANDS=ON)
file(STRINGS ${work}/build/compile_commands.json lines REGEX "${VYRE_ROOT}/(src|include)")
if(lines)
  message(FATAL_ERROR "the outside project sees the source tree: ${lines}")
endif()
run("the build of the outside project" ${CMAKE_COMMAND} --build ${work}/build)
run("the outside program" ${work}/build/outside)

file(READ ${CMAKE_CURRENT_LIST_DIR}/outside/expected.txt expected)
if(NOT output STREQUAL "vyre ${VYRE_VERSION}\n${expected}")
  message(FATAL_ERROR "the outside program printed:\n${output}\nand not:\n${expected}")
endif()

if(component)
  run("the program of two object files" ${work}/build/objects)
  if(NOT output STREQUAL "objects: 3 48\n")
    message(FATAL_ERROR "the program of two object files printed: ${output}")
  endif()
  foreach(when first used exit busy leaked)
    run("a program whose device on cpu is closed late (${when})" ${work}/build/on_cpu ${when})
    if(NOT output STREQUAL "twice: 2 4 6\n")
      message(FATAL_ERROR "the program on cpu (${when}) printed: ${output}")
    endif()
  endforeach()
endif()

set(number 0)
foreach(name IN LISTS documented_names)
  run("the program of ${name}" ${work}/build/documented ${name})
  file(READ ${work}/outside/${number}.expected expected)
  if(NOT output STREQUAL expected)
    message(FATAL_ERROR "the program of ${name} printed:\n${output}\nand not:\n${expected}")
  endif()
  math(EXPR number "${number} + 1")
endforeach()
list(LENGTH documented_names count)
if(count LESS 5)
  message(FATAL_ERROR "the documentation has ${count} programs: the search for them is broken")
endif()

file(REMOVE_RECURSE ${work})
