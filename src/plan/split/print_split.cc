#include <fmt/format.h>

#include <algorithm>

#include "plan/split/split_grid.h"
#include "text/print.h"

namespace vyre::plan {
namespace {

std::string constant_text(Type type, uint64_t bits) {
  if (type == Type::Bool) return bits ? "true" : "false";
  if (is_signed(type)) {
    const uint32_t unused = 64 - width_of(type);
    return fmt::format("{}", static_cast<int64_t>(bits << unused) >> unused);
  }
  return is_float(type) ? fmt::format("bits(0x{:x})", bits) : fmt::format("{}", bits);
}

class Printer {
 public:
  explicit Printer(const SplitPlan& plan) : plan_(plan) {}

  std::string run(bool with_segments) {
    out_ = fmt::format("{} piece{}, {} cut{}\n", plan_.pieces.size(),
                       plan_.pieces.size() == 1 ? "" : "s", plan_.cuts, plan_.cuts == 1 ? "" : "s");
    for (const HiddenBuffer& h : plan_.hidden) {
      constexpr std::string_view rates[] = {"for each invocation", "for each workgroup", "once"};
      out_ += fmt::format("hidden {}: {}[{}] {}\n", h.name, name(h.element), h.per,
                          rates[static_cast<int>(h.rate)]);
    }
    print_chains();
    size_t depth = 0;
    for (const Step& step : plan_.steps) {
      if (step.kind == Step::Kind::LoopEnd || step.kind == Step::Kind::IfEnd) --depth;
      out_.append(2 * depth, ' ');
      print_step(step);
      if (step.kind == Step::Kind::LoopBegin || step.kind == Step::Kind::IfBegin) ++depth;
    }
    if (with_segments)
      for (size_t i = 0; i < plan_.segments.size(); ++i)
        out_ += fmt::format("\n// segment {} of {}\n{}", i + 1, plan_.segments.size(),
                            print(plan_.segments[i]));
    return std::move(out_);
  }

 private:
  /// Where no pieces are joined, segments and pieces are the same.
  void print_chains() {
    const auto is_longer = [](const Chain& c) { return c.parent != none && c.parent != 0; };
    if (std::none_of(plan_.chains.begin(), plan_.chains.end(), is_longer)) return;
    for (size_t s = 0; s < plan_.segments.size(); ++s)
      for (const Chain& chain : plan_.chains) {
        if (chain.segment != s) continue;
        std::string pieces;
        for (const Chain* c = &chain; c->parent != none; c = &plan_.chains[c->parent])
          pieces = fmt::format("{}{}{}", c->piece + 1, pieces.empty() ? "" : ", ", pieces);
        out_ +=
            fmt::format("segment {}: piece{} {}\n", s + 1, chain.parent == 0 ? "" : "s", pieces);
      }
  }

  std::string parameters(uint32_t piece) const {
    std::string text;
    for (const PieceParameter& p : plan_.pieces[piece].parameters)
      text += (text.empty() ? "(" : ", ") + node(p.node, 0);
    return text.empty() ? text : text + ")";
  }

  void print_step(const Step& step) {
    switch (step.kind) {
      case Step::Kind::Launch:
        out_ += fmt::format("piece {}{}\n", step.piece + 1, parameters(step.piece));
        break;
      case Step::Kind::Barrier: out_ += "barrier\n"; break;
      case Step::Kind::LoopBegin:
        out_ += step.test != none ? fmt::format("while {} {{\n", node(step.test, 0))
                                  : fmt::format("while device word {} {{\n", step.word);
        break;
      case Step::Kind::IfBegin:
        out_ += fmt::format("if {}{} {{\n", step.wanted ? "" : "not ", node(step.test, 0));
        break;
      case Step::Kind::LoopEnd:
      case Step::Kind::IfEnd: out_ += "}\n"; break;
      case Step::Kind::Set:
        for (size_t i = 0; i < step.set.size(); ++i)
          out_ += fmt::format("{}v{} = {}", i == 0 ? "" : ", ", step.set[i].variable,
                              node(step.set[i].node, 0));
        out_ += "\n";
        break;
    }
  }

  /// A node is part of a graph: deep parts are left out, so that the text stays short.
  std::string node(uint32_t id, int depth) const {
    const HostNode& n = plan_.host[id];
    if (n.is_variable) return fmt::format("v{}", n.attr);
    switch (info(n.code).attribute) {
      case AttrKind::Bits: return constant_text(n.type, n.attr);
      case AttrKind::Dim: return fmt::format("{}.{}", mnemonic(n.code), "xyz"[n.attr % 3]);
      case AttrKind::Buffer: {
        const std::string& of =
            plan_.segments.empty() ? empty_ : plan_.segments[0].buffers[n.attr].name;
        return n.code == Opcode::Scalar ? of : fmt::format("{}({})", mnemonic(n.code), of);
      }
      default: break;
    }
    if (n.operands.empty()) return std::string(mnemonic(n.code));
    if (depth == 6) return "…";
    std::string text = fmt::format("{}(", mnemonic(n.code));
    for (size_t i = 0; i < n.operands.size(); ++i)
      text += (i == 0 ? "" : ", ") + node(n.operands[i], depth + 1);
    return text + ")";
  }

  const SplitPlan& plan_;
  const std::string empty_;
  std::string out_;
};

}  // namespace

std::string print(const SplitPlan& plan, bool with_segments) {
  return Printer(plan).run(with_segments);
}

}  // namespace vyre::plan
