#pragma once

// Programs as data: the output of the parser, the C++ writer and the wire decoder, and the input of
// the checker, the printer and the interpreter.
//
//   Program    one kernel: name, buffers in order of declaration, workgroup, grid, and a body in
//              SSA form with structured control flow: flat arrays.
//   OpId, ValueId, BlockId, BufferId, GraphBufferId   indices into these arrays and into the
//              buffers of a graph, which do not convert into each other; IdMap is an array that
//              only its id indexes. Buffers and lists by buffer take numbers, too.
//   Module     the kernels and graphs of a file. find_kernel, find_graph and find_buffer go by name
//              and give an index, or vyre::none.
//   Graph      calls of kernels over named buffers: a tree of nodes. for_each_call(graph.nodes, fn)
//              visits the calls, flatten(graph) lists all nodes as steps.
//   Buffer     name, Role (In, InOut, Out, Scratch, Shared, Private, Uniform, Scalar, Table),
//              element Type and count. Data is given and returned by index into Program::buffers.
//   Type       Bool, I8 … U64, F32, F64, and for elements of buffers F16 and BF16.
//   Opcode     an operation; info(opcode) is its row in the table of operations.
//   stats(p)   counts of a program.
//
// To inspect programs: name, buffers, workgroup, grid, walk(program, fn), op(id), operands(id),
// results(id), type(value). To create them, use vyre/parse.h or vyre/kernel.h: arrays edited by
// hand must be followed by compact() and check().
//
// Programs and modules are values: a copy is independent, and const access from several threads is
// safe.
//
//   for (const vyre::Buffer& b : program.buffers)
//     if (vyre::is_host_input(b.role)) fmt::print("{}: {}\n", b.name, vyre::name(b.element));
//   size_t loads = 0;
//   vyre::walk(program, [&](vyre::OpId id) {
//     loads += program.op(id).code == vyre::Opcode::Load;
//   });

#include "ir/graph_walk.h"
#include "ir/module.h"
#include "ir/ops.h"
#include "ir/program.h"
#include "ir/stats.h"
#include "ir/types.h"

namespace vyre {

/// Index of the buffer called `name`, or none. Takes time linear in the number of buffers.
inline uint32_t find_buffer(const Program& program, std::string_view name) {
  for (uint32_t i = 0; i < program.buffers.size(); ++i)
    if (program.buffers[i].name == name) return i;
  return none;
}
inline uint32_t find_buffer(const Graph& graph, std::string_view name) {
  for (uint32_t i = 0; i < graph.buffers.size(); ++i)
    if (graph.buffers[i].name == name) return i;
  return none;
}

}  // namespace vyre
