#pragma once

// Writes a few random kernels and a graph that calls them, so that kernels read the results of
// others. Internal to the generator.

#include <vector>

#include "generate/generate.h"
#include "generate/kernel_writer.h"

namespace vyre::lab {

class GraphWriter {
 public:
  GraphWriter(Random& random, const GenerateOptions& options) : r_(random), options_(options) {}
  Generated write();

 private:
  /// A buffer or scalar of the graph. Parameters are moved to the front at the end, so indices are
  /// not final.
  struct Slot {
    Role role = Role::In;
    Type element = Type::U32;
    uint64_t count = 0;  // for a scalar its bits
    std::vector<std::byte> data;
  };

  GraphNode call(uint32_t kernel);
  GraphArg scalar_argument(Type type, uint64_t bits);
  GraphBufferId buffer_argument(const Buffer& parameter, uint64_t count,
                                std::vector<GraphBufferId>& taken);
  GraphBufferId add_slot(Role role, Type element, uint64_t count);
  GraphBufferId integer_slot(bool or_bool);
  void add_nodes(GraphNode call);
  void declare();

  Random& r_;
  const GenerateOptions& options_;
  Generated g_;
  Graph graph_;
  std::vector<WrittenKernel> kernels_;
  IdMap<GraphBufferId, Slot> slots_;
};

}  // namespace vyre::lab
