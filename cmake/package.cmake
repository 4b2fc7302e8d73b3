# Files that `cmake --install` installs: the library with its headers and find_package(vyre), the
# command line with its man page and completions, examples, editor files and documentation.
# scripts/package packs the component `cli`.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# ---- the library ---------------------------------------------------------------------------------

add_library(vyre::vyre ALIAS vyre)
install(TARGETS vyre EXPORT vyreTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(CODE "
  set(VYRE_ROOT \"${PROJECT_SOURCE_DIR}\")
  set(VYRE_BUILD \"${PROJECT_BINARY_DIR}\")
  set(VYRE_INCLUDEDIR \"${CMAKE_INSTALL_INCLUDEDIR}\")")
install(SCRIPT cmake/install_headers.cmake)

# Opened by name when a program uses the CPU backend.
if(TARGET vyre_cpu)
  install(TARGETS vyre_cpu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS vyre_cpu_compiler RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/vyre)
if(VYRE_STATIC)
  set(VYRE_NEEDS_FMT OFF)
else()
  set(VYRE_NEEDS_FMT ON)
endif()
configure_package_config_file(cmake/vyreConfig.cmake.in ${PROJECT_BINARY_DIR}/vyreConfig.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS CMAKE_INSTALL_LIBDIR)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/vyreConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/vyreConfig.cmake ${PROJECT_BINARY_DIR}/vyreConfigVersion.cmake
  DESTINATION ${package_folder})

# ---- the command line ----------------------------------------------------------------------------

if(TARGET vyre-cli)
  install(TARGETS vyre-cli EXPORT vyreTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT cli)

  # The program generates these files when it is built, so that installing needs no other target.
  set(help_folder ${PROJECT_BINARY_DIR}/help)
  file(MAKE_DIRECTORY ${help_folder})
  add_custom_command(TARGET vyre-cli POST_BUILD
    COMMAND vyre-cli help --man > ${help_folder}/vyre.1
    COMMAND vyre-cli help --completion bash > ${help_folder}/vyre.bash
    COMMAND vyre-cli help --completion zsh > ${help_folder}/_vyre
    COMMAND vyre-cli help --completion fish > ${help_folder}/vyre.fish
    BYPRODUCTS ${help_folder}/vyre.1 ${help_folder}/vyre.bash ${help_folder}/_vyre
      ${help_folder}/vyre.fish
    COMMENT "Writing man page and completions"
    VERBATIM)

  install(FILES ${help_folder}/vyre.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT cli)
  install(FILES ${help_folder}/vyre.bash RENAME vyre
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT cli)
  install(FILES ${help_folder}/_vyre DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
    COMPONENT cli)
  install(FILES ${help_folder}/vyre.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT cli)
endif()

install(EXPORT vyreTargets NAMESPACE vyre:: DESTINATION ${package_folder})

# ---- what people read ----------------------------------------------------------------------------

install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/vyre COMPONENT cli)
install(DIRECTORY editors DESTINATION ${CMAKE_INSTALL_DATADIR}/vyre)
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT cli)
install(FILES CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
