# The Vulkan backend needs headers only: volk is compiled in, and opens libvulkan.so.1 when the backend
# is used. Without the headers a stub reports that the backend is missing.

option(VYRE_VULKAN "Build the Vulkan backend" ON)
find_path(VYRE_VOLK_INCLUDE volk.h)
find_path(VYRE_VULKAN_INCLUDE vulkan/vulkan.h)
if(VYRE_VULKAN AND VYRE_VOLK_INCLUDE AND VYRE_VULKAN_INCLUDE)
  list(FILTER vyre_sources EXCLUDE REGEX "/src/runtime/vulkan/vulkan_absent\\.cc$")
  set(VYRE_HAVE_VULKAN ON)
else()
  list(FILTER vyre_sources EXCLUDE REGEX "/src/runtime/vulkan/")
  list(APPEND vyre_sources ${PROJECT_SOURCE_DIR}/src/runtime/vulkan/vulkan_absent.cc)
  set(VYRE_HAVE_VULKAN OFF)
  message(STATUS "the Vulkan backend is left out (needs libvulkan-dev and libvulkan-volk-dev)")
endif()
