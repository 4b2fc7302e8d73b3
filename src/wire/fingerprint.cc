#include "wire/fingerprint.h"

#include <algorithm>
#include <optional>

#include "ir/graph_walk.h"
#include "wire/encode.h"
#include "wire/wire_formulas.h"

namespace vyre {
namespace {

using namespace wire;

/// Collects small pieces, because hashing is fast only for larger ones.
class HashSink {
 public:
  explicit HashSink(Hasher& hasher) : hasher_(hasher) {}
  ~HashSink() { flush(); }
  HashSink(const HashSink&) = delete;
  HashSink& operator=(const HashSink&) = delete;

  template <class T>
  void put(T value) {
    if (used_ + sizeof(T) > sizeof(buffer_)) flush();
    store(buffer_ + used_, value);
    used_ += sizeof(T);
  }
  void u8(uint8_t v) { put(v); }
  void u32(uint32_t v) { put(v); }
  void u64(uint64_t v) { put(v); }
  void raw(std::span<const std::byte> bytes) {
    u64(bytes.size());
    flush();
    hasher_.add(bytes);
  }
  void text(std::string_view s) { raw(std::as_bytes(std::span(s))); }
  void hash(Hash128 h) {
    u64(h.lo);
    u64(h.hi);
  }

 private:
  void flush() {
    hasher_.add(std::span<const std::byte>(buffer_, used_));
    used_ = 0;
  }

  Hasher& hasher_;
  size_t used_ = 0;
  std::byte buffer_[4096];
};

// The kind of the next piece in the stream of a body. Every piece has a fixed form or begins with a
// count, so two bodies have the same stream only if they are the same.
constexpr uint8_t op_mark = 1;
constexpr uint8_t new_op_mark = 2;  // an op met for the first time: its name precedes it
constexpr uint8_t enter_mark = 3;
constexpr uint8_t leave_mark = 4;

void add_formulas(HashSink& out, const FormulaPool& pool) {
  out.u32(uint32_t(pool.nodes.size()));
  for (const FormulaNode& n : pool.nodes) {
    out.u8(uint8_t(n.op));
    out.u8(n.negative);
    out.u32(n.a);
    out.u32(n.b);
    out.u64(n.value);
  }
}

void add_head(HashSink& out, const Program& p) {
  const uint32_t dims = std::min<uint32_t>(p.grid_dims, 3);
  CanonicalFormulas formulas(p.formulas);
  for (const Buffer& b : p.buffers) formulas.root(b.count);
  for (uint32_t d = 0; d < dims; ++d) formulas.root(p.grid[d]);
  add_formulas(out, formulas.pool());

  out.text(p.op_id);
  for (uint32_t n : p.workgroup) out.u32(n);
  out.u32(p.subgroup);
  out.u8(p.requires_forward_progress);
  out.u32(dims);
  for (uint32_t d = 0; d < dims; ++d) out.u32(formulas.at(p.grid[d]));
  out.u32(uint32_t(p.buffers.size()));
  for (const Buffer& b : p.buffers) {
    out.u8(uint8_t(b.role));
    out.u8(uint8_t(b.element));
    out.u32(formulas.at(b.count));
    out.raw(table_of(p, b));
  }
}

struct BodyHash {
  HashSink& out;
  const Program& p;
  IdMap<ValueId, ValueId> value_map = IdMap<ValueId, ValueId>(p.values.size());
  ValueId next_value{0};
  OpTable op_table = {};

  void define(std::span<const ValueId> values) {
    out.u32(uint32_t(values.size()));
    for (ValueId v : values) {
      value_map[v] = next_value++;
      out.u8(uint8_t(p.values[v].type));
    }
  }

  void op(OpId id) {
    const Op& o = p.ops[id];
    const auto [number, is_new] = op_table.add(o.code);
    out.u8(is_new ? new_op_mark : op_mark);
    if (is_new) out.text(mnemonic(o.code));
    out.u8(number);
    out.u8(uint8_t(o.type));
    out.u8(o.n_blocks);
    out.u32(o.operands.count);
    for (ValueId v : p.operands(id))
      out.u32(value_map.contains(v) ? value_map[v].value() : uint32_t{none});
    define(p.results(id));
    const AttrKind kind = info(o.code).attribute;
    if (kind != AttrKind::None && kind != AttrKind::Name) out.u64(canonical_attr(kind, o.attr));
  }

  void run() {
    if (p.blocks.empty()) return;
    walk_blocks(p, body_block, [&](Visit what, OpId op, BlockId block) {
      switch (what) {
        case Visit::Op: this->op(op); break;
        case Visit::EnterBlock:
          out.u8(enter_mark);
          define(p.args(block));
          break;
        case Visit::LeaveBlock: out.u8(leave_mark); break;
      }
    });
  }
};

/// Fingerprints of kernels, each computed once and only on demand.
struct KernelPrints {
  const Module& module;
  std::vector<std::optional<Hash128>> known =
      std::vector<std::optional<Hash128>>(module.kernels.size());

  Hash128 operator[](uint32_t kernel) {
    if (kernel >= known.size()) return {};
    if (!known[kernel]) known[kernel] = fingerprint(module.kernels[kernel]);
    return *known[kernel];
  }
};

void add_step(HashSink& out, const GraphStep& step, const CanonicalFormulas& formulas,
              KernelPrints& kernels) {
  if (step.kind == GraphStep::Kind::End) return out.u8(end_of_body);
  const GraphNode& n = *step.node;
  const GraphNodeInfo& has = info(n.kind);
  out.u8(wire_kind(n.kind));
  if (step.is_call()) {
    out.hash(kernels[n.kernel]);
    out.u32(uint32_t(n.args.size()));
    for (const GraphArg& a : n.args) {
      out.u32(a.buffer.value());
      out.u64(a.buffer == none ? a.bits : 0);
    }
    out.u32(uint32_t(n.grid.size()));
    for (const GraphElement& e : n.grid) {
      out.u32(e.buffer.value());
      out.u64(e.index);
    }
  }
  if (has.has_flag) {
    out.u32(n.flag.buffer.value());
    out.u64(n.flag.index);
  }
  if (has.has_test) {
    out.text(mnemonic(n.compare));
    out.u64(n.bits);
  }
  if (has.has_count) out.u32(formulas.at(n.count));
}

Hash128 fingerprint(const Graph& g, KernelPrints& kernels) {
  Hasher hasher;
  {
    HashSink out(hasher);
    out.text("vyre graph 1");
    CanonicalFormulas formulas(g.formulas);
    for (const GraphBuffer& b : g.buffers) formulas.root(b.count);
    for_each_node(g.nodes, [&](const GraphNode& n) {
      if (info(n.kind).has_count) formulas.root(n.count);
    });
    add_formulas(out, formulas.pool());
    out.u32(uint32_t(g.buffers.size()));
    for (const GraphBuffer& b : g.buffers) {
      out.u8(uint8_t(b.role));
      out.u8(uint8_t(b.element));
      out.u8(b.parameter);
      out.u32(formulas.at(b.count));
    }
    const GraphSteps steps = flatten(g);
    out.u32(uint32_t(steps.size()));
    for (const GraphStep& s : steps) add_step(out, s, formulas, kernels);
  }
  return hasher.digest128();
}

}  // namespace

void add_program(Hasher& hasher, const Program& program) {
  HashSink out(hasher);
  out.text("vyre program 1");  // changes when what follows changes
  add_head(out, program);
  BodyHash{.out = out, .p = program}.run();
}

Hash128 fingerprint(const Program& program) {
  Hasher hasher;
  add_program(hasher, program);
  return hasher.digest128();
}

Hash128 fingerprint(const Graph& graph, const Module& module) {
  KernelPrints kernels{module};
  return fingerprint(graph, kernels);
}

Hash128 fingerprint(const Module& module) {
  Hasher hasher;
  {
    HashSink out(hasher);
    out.text("vyre module 1");
    KernelPrints kernels{module};
    out.u32(uint32_t(module.kernels.size()));
    for (uint32_t i = 0; i < module.kernels.size(); ++i) out.hash(kernels[i]);
    out.u32(uint32_t(module.graphs.size()));
    for (const Graph& g : module.graphs) out.hash(fingerprint(g, kernels));
  }
  return hasher.digest128();
}

}  // namespace vyre
