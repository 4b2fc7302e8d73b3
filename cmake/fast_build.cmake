# Settings that make builds fast: ccache, a fast linker, precompiled headers that targets can share.

# Everything is compiled with -fPIC: the library is also inside the shared library of the CPU backend, and targets
# share a precompiled header only if their flags agree (CMake's property would give executables -fPIE). Hidden
# symbols keep calls direct.
add_compile_options(-fPIC)

# ccache takes the dependencies from the compiler instead of preprocessing each source first, which makes a cold
# build faster, and it accepts precompiled headers only with these three settings of its `sloppiness`.
find_program(VYRE_CCACHE ccache)
if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER AND VYRE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_DEPEND=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${VYRE_CCACHE})
endif()

# Precompiled headers without time stamps are equal in every clone, so ccache finds objects that used them.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()

# mold links a test binary in a fraction of the time that GNU ld takes.
find_program(VYRE_MOLD mold)
if(VYRE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
