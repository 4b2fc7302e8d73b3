#include "wire/wire_formulas.h"

namespace vyre::wire {

CanonicalFormulas::CanonicalFormulas(const FormulaPool& pool)
    : from_(pool), map_(pool.nodes.size(), no_formula) {}

size_t CanonicalFormulas::NodeHash::operator()(const FormulaNode& n) const {
  uint64_t h = n.value * 0x9e3779b97f4a7c15ull;
  h = (h ^ h >> 32 ^ (uint64_t{n.a} << 32 | n.b)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ h >> 29 ^ (uint64_t(n.op) << 1 | uint64_t{n.negative})) * 0x94d049bb133111ebull;
  return size_t(h ^ h >> 31);
}

FormulaId CanonicalFormulas::add(const FormulaNode& node) {
  const auto [it, is_new] = known_.emplace(node, FormulaId(out_.nodes.size()));
  if (is_new) out_.nodes.push_back(node);
  return it->second;
}

FormulaId CanonicalFormulas::root(FormulaId id) {
  if (id >= from_.nodes.size()) return no_formula;
  std::vector<FormulaId> stack = {id};
  while (!stack.empty()) {
    const FormulaId at = stack.back();
    if (map_[at] != no_formula) {
      stack.pop_back();
      continue;
    }
    const FormulaNode& n = from_.nodes[at];
    if (is_leaf(n.op)) {
      const bool constant = n.op == FormulaOp::Const;
      map_[at] = add({.op = n.op,
                      .a = constant ? 0 : n.a,
                      .value = constant ? n.value : 0,
                      .negative = constant && n.negative && n.value != 0});
    } else if (n.a >= at || n.b >= at) {
      // Refers forward, so it is not a formula.
      map_[at] = add({.op = n.op, .a = no_formula, .b = no_formula});
    } else if (map_[n.a] == no_formula) {
      stack.push_back(n.a);
      continue;
    } else if (map_[n.b] == no_formula) {
      stack.push_back(n.b);
      continue;
    } else {
      map_[at] = add({.op = n.op, .a = map_[n.a], .b = map_[n.b]});
    }
    stack.pop_back();
  }
  return map_[id];
}

void write(Bytes& out, const FormulaPool& pool) {
  const size_t section = out.begin_section(tag("FORM"));
  out.u32(uint32_t(pool.nodes.size()));
  for (const FormulaNode& n : pool.nodes) {
    out.u8(uint8_t(n.op));
    out.u8(n.negative);
    out.u16(0);
    out.u32(n.a);
    out.u32(n.b);
    out.u64(n.value);
  }
  out.end_section(section);
}

void read(Reader& in, FormulaPool& pool) {
  Reader r = in.section(tag("FORM"));
  const uint32_t count = r.count(formula_size, "formula nodes");
  pool.nodes.reserve(count);
  for (uint32_t i = 0; i < count && r.ok(); ++i) {
    FormulaNode n;
    n.op = FormulaOp(r.below(formula_op_count, "formula operation"));
    n.negative = r.below(2, "sign") != 0;
    r.zero<uint16_t>();
    n.a = r.u32();
    n.b = r.u32();
    n.value = r.u64();
    const bool constant = n.op == FormulaOp::Const;
    if (!is_leaf(n.op) && (n.a >= i || n.b >= i))
      r.fail(Code::WireBadId, fmt::format("formula {} refers to formulas {} and {}", i, n.a, n.b));
    if (is_leaf(n.op) && (n.b != 0 || (constant && n.a != 0)))
      r.fail(Code::WireReservedBits,
             fmt::format("formula {} has operands that it does not use", i));
    if (!constant && (n.value != 0 || n.negative))
      r.fail(Code::WireReservedBits, fmt::format("formula {} has a value but is no constant", i));
    if (n.negative && n.value == 0)
      r.fail(Code::WireNotCanonical, fmt::format("formula {} is a zero with a sign", i));
    pool.nodes.push_back(n);
  }
  r.expect_end("the formulas");
}

void check(const FormulaPool& pool, const std::vector<FormulaId>& roots, size_t buffers,
           FirstError& failure) {
  if (failure.error) return;
  for (size_t i = 0; i < pool.nodes.size(); ++i) {
    const FormulaNode& n = pool.nodes[i];
    if (is_leaf(n.op) && n.op != FormulaOp::Const && n.a >= buffers) {
      failure.fail(Code::WireBadId,
                   fmt::format("formula {} refers to parameter {}, there are {}", i, n.a, buffers));
      return;
    }
  }
  CanonicalFormulas canonical(pool);
  for (FormulaId root : roots) canonical.root(root);
  if (!(canonical.pool() == pool))
    failure.fail(Code::WireNotCanonical, "formulas are unused, repeated or out of order");
}

}  // namespace vyre::wire
