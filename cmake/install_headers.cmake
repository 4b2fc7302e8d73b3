# Installs include/vyre and the headers of src/ that it needs, and no others.
#
# Inside the repository headers include one another as "ir/program.h". Installed unchanged they would
# need an include folder that adds `ir`, `text`, `check` … to the names of every program that uses
# vyre. Therefore they are installed in vyre/internal/, and their includes are rewritten: the include
# folder of users contains only `vyre`.
#
# Run by `cmake --install`. Needs VYRE_ROOT (the repository), VYRE_BUILD (for the generated version.h
# and a stage) and VYRE_INCLUDEDIR.

set(stage ${VYRE_BUILD}/install_headers)
file(REMOVE_RECURSE ${stage})

set(include_line "(#[ \t]*include[ \t]*\")([^\"\n]+)\"")

# Writes `from` to the stage as `to`, and adds what it includes to the list `queue`.
function(stage_header from to)
  file(READ ${from} text)
  string(REGEX MATCHALL "${include_line}" lines "${text}")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "${include_line}" "\\2" target "${line}")
    if(EXISTS ${VYRE_ROOT}/src/${target})
      string(REPLACE "\"${target}\"" "\"vyre/internal/${target}\"" text "${text}")
      list(APPEND queue ${target})
    elseif(NOT target MATCHES "^vyre/")
      message(FATAL_ERROR "${from} includes \"${target}\", which is neither in src/ nor public")
    endif()
  endforeach()
  file(WRITE ${stage}/vyre/${to} "${text}")
  set(queue ${queue} PARENT_SCOPE)
endfunction()

set(queue)
file(GLOB public_headers RELATIVE ${VYRE_ROOT}/include/vyre ${VYRE_ROOT}/include/vyre/*.h)
foreach(header IN LISTS public_headers)
  stage_header(${VYRE_ROOT}/include/vyre/${header} ${header})
endforeach()
stage_header(${VYRE_BUILD}/generated/vyre/version.h version.h)

while(queue)
  list(POP_FRONT queue header)
  if(NOT EXISTS ${stage}/vyre/internal/${header})
    stage_header(${VYRE_ROOT}/src/${header} internal/${header})
  endif()
endwhile()

if(IS_ABSOLUTE "${VYRE_INCLUDEDIR}")
  set(destination "${VYRE_INCLUDEDIR}")
else()
  set(destination "${CMAKE_INSTALL_PREFIX}/${VYRE_INCLUDEDIR}")
endif()
file(INSTALL DESTINATION "${destination}" TYPE DIRECTORY FILES ${stage}/vyre)
