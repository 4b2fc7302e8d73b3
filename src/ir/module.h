#pragma once

// A module is a file: kernels and graphs (functions and constants have been inlined).

#include <iterator>
#include <list>
#include <string>
#include <vector>

#include "ir/program.h"

namespace vyre {

/// A buffer that a graph passes to calls: a parameter, or an intermediate.
struct GraphBuffer {
  std::string name;
  Role role = Role::In;  // Scratch for the graph's own intermediates (`buffer t: …`)
  Type element = Type::U32;
  FormulaId count = no_formula;
  bool parameter = true;
  Place place;
};

/// One argument of a call: a buffer of the graph, or for a scalar parameter a scalar of the graph
/// or a constant.
struct GraphArg {
  GraphBufferId buffer = none;  // none: `bits` is the value
  uint64_t bits = 0;
};

/// buffer[index], read on the device when it is needed.
struct GraphElement {
  GraphBufferId buffer = none;
  uint64_t index = 0;
};

enum class GraphNodeKind : uint8_t { Call, Repeat, While };

/// Fields that nodes of a kind have.
struct GraphNodeInfo {
  std::string_view keyword;
  bool has_body = false;   // all but Call
  bool has_count = false;  // GraphNode::count
  bool has_flag = false;   // flag
  bool has_test = false;   // compare, bits
};
const GraphNodeInfo& info(GraphNodeKind kind);
inline constexpr uint32_t graph_node_kind_count = 3;

struct GraphNode;

/// Nodes in program order. Nodes keep their addresses when the list is moved or changed elsewhere.
/// Neither the copy nor the destructor takes stack for nesting.
class GraphBody : public std::list<GraphNode> {
 public:
  GraphBody() = default;
  GraphBody(const GraphBody& other);
  GraphBody(GraphBody&& other) noexcept = default;
  GraphBody& operator=(GraphBody other) noexcept;
  ~GraphBody();
};

/// A call, or a node that runs the nodes of its body.
struct GraphNode {
  GraphNodeKind kind = GraphNodeKind::Call;
  uint32_t kernel = 0;             // Call: index into Module::kernels
  std::vector<GraphArg> args;      // Call: one for each parameter, scratch ones left out
  std::vector<GraphElement> grid;  // Call: invocations from device buffers; empty: the kernel's
  FormulaId count = no_formula;    // Repeat: times; While: limit
  GraphElement flag;               // While: the element compared
  Opcode compare = Opcode::Ne;     // While: flag <compare> bits
  uint64_t bits = 0;
  Place place;
  GraphBody body = {};  // Repeat, While
  Place end = {};       // of the body's closing brace

  bool has_body() const { return kind != GraphNodeKind::Call; }
};

/// A copy of a node without the nodes of its body.
GraphNode head_of(const GraphNode& node);

struct Graph {
  std::string name;
  PublicIdMap<GraphBufferId, GraphBuffer> buffers;  // parameters in order, then intermediates
  GraphBody nodes;
  FormulaPool formulas;
  Place place;
};

struct Module {
  std::vector<Program> kernels;
  std::vector<Graph> graphs;
};

/// Index by name, or none.
uint32_t find_kernel(const Module& m, std::string_view name);
uint32_t find_graph(const Module& m, std::string_view name);

}  // namespace vyre
