// Grids, workgroups and attributes of kernels.

#include "reduce/rewrite.h"

namespace vyre::reduce {

void fix_grids(Candidate& c, Choice& choice) {
  for (uint32_t k = 0; k < c.module.kernels.size(); ++k) {
    Program& p = c.module.kernels[k];
    const bool is_given = !c.is_graph() && k == 0 && c.inputs && c.inputs->grid;
    // Without inputs a grid that the launch specifies stays unspecified.
    bool fixed = (p.grid_dims > 0 || !c.inputs) && !is_given;
    for (uint32_t d = 0; d < p.grid_dims; ++d)
      fixed = fixed && p.formulas.is_constant(p.grid[d], nullptr);
    const auto wanted = grid_of(c, k);
    if (fixed || !wanted || !choice.take()) continue;
    p.grid_dims = 3;
    while (p.grid_dims > 1 && (*wanted)[p.grid_dims - 1] == 1) --p.grid_dims;
    for (uint32_t d = 0; d < 3; ++d)
      p.grid[d] = d < p.grid_dims ? p.formulas.constant((*wanted)[d]) : no_formula;
    if (is_given) c.inputs->grid.reset();
  }
}

void shrink_grids(Candidate& c, Choice& choice) {
  for (const bool to_one : {true, false})
    for (Program& p : c.module.kernels) {
      for (uint32_t d = 0; d < p.grid_dims; ++d) {
        uint64_t n = 0;
        if (!p.formulas.is_constant(p.grid[d], &n) || n <= (to_one ? 1 : 2)) continue;
        if (choice.take()) p.grid[d] = p.formulas.constant(to_one ? 1 : (n + 1) / 2);
      }
      uint64_t last = 0;
      while (p.grid_dims > 1 && p.formulas.is_constant(p.grid[p.grid_dims - 1], &last) &&
             last == 1 && choice.take())
        p.grid[--p.grid_dims] = no_formula;
    }
}

void shrink_workgroups(Candidate& c, Choice& choice) {
  for (const bool to_one : {true, false})
    for (Program& p : c.module.kernels)
      for (uint32_t& n : p.workgroup)
        if (n > (to_one ? 1u : 2u) && choice.take()) n = to_one ? 1 : (n + 1) / 2;
}

void drop_attributes(Candidate& c, Choice& choice) {
  for (Program& p : c.module.kernels) {
    if (p.subgroup != 0 && choice.take()) p.subgroup = 0;
    if (p.requires_forward_progress && choice.take()) p.requires_forward_progress = false;
    if (!p.op_id.empty() && choice.take()) p.op_id.clear();
  }
}

}  // namespace vyre::reduce
