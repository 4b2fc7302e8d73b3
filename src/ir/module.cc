#include "ir/module.h"

namespace vyre {

uint32_t find_kernel(const Module& m, std::string_view name) {
  for (uint32_t i = 0; i < m.kernels.size(); ++i)
    if (m.kernels[i].name == name) return i;
  return none;
}

uint32_t find_graph(const Module& m, std::string_view name) {
  for (uint32_t i = 0; i < m.graphs.size(); ++i)
    if (m.graphs[i].name == name) return i;
  return none;
}

}  // namespace vyre
