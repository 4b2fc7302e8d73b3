// The list of transformations. A new one is a function and a row.

#include "reduce/transform.h"

namespace vyre::reduce {
namespace {

constexpr Transform transforms[] = {
    {"remove_graphs", "removes graphs", remove_graphs},
    {"remove_kernels", "removes kernels that no graph calls", remove_kernels},
    {"call_to_kernel", "replaces a graph by one of its calls, with the data it gets",
     call_to_kernel},
    {"skip_first_calls", "replaces the first calls of a graph by what they computed",
     skip_first_calls},
    {"remove_nodes", "removes calls and loops of graphs", remove_nodes},
    {"unwrap_graph_loops", "replaces loops of graphs by their bodies", unwrap_graph_loops},
    {"remove_ops", "removes ops, with zeros for their results", remove_ops},
    {"exits_to_yields", "lets break, continue, return and trap go on", exits_to_yields},
    {"bound_whiles", "makes `while` a `for` with one, two or four iterations", bound_whiles},
    {"unwrap_blocks", "replaces if, for and region by one of their blocks", unwrap_blocks},
    {"shorten_loops", "makes loops count from 0 to 1, 2 or 4", shorten_loops},
    {"drop_carried", "replaces carried values by their initial ones", drop_carried},
    {"use_operand", "replaces results by operands of the same type", use_operand},
    {"use_earlier_value", "replaces results by the latest value of the same type",
     use_earlier_value},
    {"skip_operands", "takes indices and sources of casts from what computes them", skip_operands},
    {"use_zero", "replaces results of control ops by zeros", use_zero},
    {"use_one", "replaces results by ones", use_one},
    {"inline_scalars", "replaces scalar parameters by their values", inline_scalars},
    {"remove_buffers", "removes parameters, arrays and tables with their accesses", remove_buffers},
    {"remove_graph_buffers", "removes buffers of graphs that no call takes", remove_graph_buffers},
    {"share_constants", "makes one constant of equal ones", share_constants},
    {"shorten_graph_loops", "makes loops of graphs repeat once or twice", shorten_graph_loops},
    {"drop_call_grids", "lets calls use the grids of their kernels", drop_call_grids},
    {"fix_lengths", "replaces formulas of lengths by their values", fix_lengths},
    {"fix_grids", "replaces formulas of grids by their values", fix_grids},
    {"shrink_buffers", "shortens buffers and arrays", shrink_buffers},
    {"shrink_grids", "shrinks grids", shrink_grids},
    {"shrink_workgroups", "shrinks workgroups", shrink_workgroups},
    {"drop_initial_data", "makes `inout` parameters `out`", drop_initial_data},
    {"drop_attributes", "drops fixed subgroups, op ids and the like", drop_attributes},
    {"simplify_memory_ops", "drops orders and scopes, and accesses one element",
     simplify_memory_ops},
    {"constants_to_zero", "makes constants 0", constants_to_zero},
    {"constants_to_one", "makes constants 1", constants_to_one},
    {"halve_constants", "halves constants", halve_constants},
    {"data_to_zero", "makes input elements 0", data_to_zero},
    {"data_to_one", "makes input elements 1", data_to_one},
    {"halve_data", "halves input elements", halve_data},
};

}  // namespace

std::span<const Transform> all_transforms() { return transforms; }

}  // namespace vyre::reduce
