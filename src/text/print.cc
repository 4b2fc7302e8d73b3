#include "text/print.h"

#include <fmt/format.h>

#include <set>

#include "ir/graph_walk.h"
#include "support/append.h"
#include "text/lexer.h"
#include "text/lower/literal.h"

namespace vyre {
namespace {

bool is_identifier(std::string_view s) {
  if (s.empty() || s.size() > text::max_name_bytes || (s[0] >= '0' && s[0] <= '9')) return false;
  for (char c : s)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
      return false;
  static const std::set<std::string_view> words = {
      "kernel", "fn",    "const", "graph",    "import", "let",  "var",   "if",  "else",
      "for",    "while", "break", "continue", "return", "true", "false", "inf", "nan"};
  return !words.contains(s) && !find_type(s);
}

/// Names are for readers and may be any string in a foreign program: makes them valid identifiers.
template <class Names>
Names printable_names(const Names& names, std::string_view fallback) {
  Names result;
  std::set<std::string> used;
  for (const std::string& n : names) {
    std::string base = is_identifier(n) ? n : fmt::format("{}{}", fallback, result.size());
    std::string unique = base;
    for (int k = 1; !used.insert(unique).second; ++k) unique = fmt::format("{}_{}", base, k);
    result.push_back(unique);
  }
  return result;
}

std::string quote(std::string_view s) {
  std::string r = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') r += '\\';
    if (c == '\n')
      r += "\\n";
    else
      r += c;
  }
  return r + "\"";
}

class Printer {
 public:
  /// The position in the text at which the line of an op begins.
  struct Mark {
    size_t at = 0;
    OpId op = none;
  };

  Printer(const Program& p, std::string name, std::string& out)
      : p_(p), name_(std::move(name)), out_(out), numbers_(p.values.size(), none) {
    IdMap<BufferId, std::string> names;
    for (const Buffer& b : p.buffers) names.push_back(b.name);
    buffers_ = printable_names(names, "b");
  }

  void run() {
    header();
    tables_and_arrays();
    body();
    out_ += "}\n";
  }
  std::vector<Mark>* marks = nullptr;

 private:
  std::string formula(FormulaId f) const {
    return print(p_.formulas, f, [&](uint32_t i) {
      return buffers_.contains(BufferId(i)) ? buffers_[BufferId(i)] : std::string("?");
    });
  }

  void header() {
    out_ += fmt::format("kernel {}(", name_);
    bool first = true;
    for (const BufferId i : p_.buffers.ids()) {
      const Buffer& b = p_.buffers[i];
      if (!is_parameter(b.role)) continue;
      if (!first) out_ += ", ";
      first = false;
      if (b.role == Role::Scalar)
        out_ += fmt::format("{}: {}", buffers_[i], name(b.element));
      else
        out_ += fmt::format("{}: {} {}[{}]", buffers_[i], name(b.role), name(b.element),
                            b.count == no_formula ? "" : formula(b.count));
    }
    out_ += fmt::format(") workgroup({}", p_.workgroup[0]);
    if (p_.workgroup[1] != 1 || p_.workgroup[2] != 1) out_ += fmt::format(", {}", p_.workgroup[1]);
    if (p_.workgroup[2] != 1) out_ += fmt::format(", {}", p_.workgroup[2]);
    out_ += ")";
    if (p_.subgroup) out_ += fmt::format(" subgroup({})", p_.subgroup);
    if (p_.grid_dims) {
      out_ += " grid(";
      for (uint32_t i = 0; i < p_.grid_dims; ++i) out_ += (i ? ", " : "") + formula(p_.grid[i]);
      out_ += ")";
    }
    if (!p_.op_id.empty()) out_ += fmt::format(" op_id({})", quote(p_.op_id));
    if (p_.requires_forward_progress) out_ += " requires(forward_progress)";
    out_ += " {\n";
  }

  void tables_and_arrays() {
    for (const BufferId i : p_.buffers.ids()) {
      const Buffer& b = p_.buffers[i];
      if (b.role == Role::Shared)
        out_ +=
            fmt::format("  shared {}: {}[{}]\n", buffers_[i], name(b.element), formula(b.count));
      if (b.role == Role::Private)
        out_ += fmt::format("  var {}: {}[{}]\n", buffers_[i], name(b.element), formula(b.count));
      if (b.role != Role::Table) continue;
      uint64_t count = 0;
      p_.formulas.is_constant(b.count, &count);
      out_ += fmt::format("  const {}: {}[{}] = bytes(", buffers_[i], name(b.element), count);
      // As bytes: every bit of every element type survives.
      const uint64_t n = count * size_of(b.element);
      for (uint64_t k = 0; k < n; ++k)
        out_ += fmt::format("{}0x{:02x}",
                            k == 0   ? ""
                            : k % 24 ? ", "
                                     : ",\n    ",
                            unsigned(p_.table_bytes[b.table_offset + k]));
      out_ += ")\n";
    }
  }

  void indent() { out_.append(2 * depth_, ' '); }
  void value(ValueId v) { append(out_, "%{}", numbers_[v]); }
  void define(ValueId v) {
    numbers_[v] = next_++;
    value(v);
  }
  void values(std::span<const ValueId> list) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (i) out_ += ", ";
      value(list[i]);
    }
  }
  void types(std::span<const ValueId> list) {
    if (list.empty()) return;
    out_ += " : ";
    for (size_t i = 0; i < list.size(); ++i) {
      if (i) out_ += ", ";
      out_ += name(p_.type(list[i]));
    }
  }
  void results(OpId id) {
    const auto r = p_.results(id);
    for (size_t i = 0; i < r.size(); ++i) {
      if (i) out_ += ", ";
      define(r[i]);
    }
    if (!r.empty()) out_ += " = ";
  }

  void body() {
    depth_ = 0;
    walk_blocks(p_, body_block, [&](Visit what, OpId op, BlockId block) {
      if (what == Visit::EnterBlock) enter(block);
      if (what == Visit::LeaveBlock) leave(block);
      if (what == Visit::Op) this->op(op);
    });
  }

  void enter(BlockId b) {
    const OpId parent = p_.blocks[b].parent;
    if (parent != none && b > p_.op(parent).first_block) {
      const OpId first = p_.blocks[b].first;
      const bool is_while = p_.op(parent).code == Opcode::While;
      const bool nothing = p_.op(first).code == Opcode::Yield && p_.operands(first).empty();
      if (is_while || !nothing) {  // an empty else block is not written
        indent();
        out_ += is_while ? "} do {\n" : "} else {\n";
      }
    }
    ++depth_;
  }
  void leave(BlockId b) {
    --depth_;
    const OpId parent = p_.blocks[b].parent;
    if (parent == none) return;
    const Op& o = p_.op(parent);
    if (b + 1 == o.first_block + o.n_blocks) {
      indent();
      out_ += "}\n";
    }
  }

  void carried(OpId id, uint32_t first_operand, uint32_t first_arg) {
    const auto args = p_.args(p_.op(id).first_block);
    const auto inits = p_.operands(id);
    for (size_t i = first_arg; i < args.size(); ++i) {
      out_ += i == first_arg ? " with " : ", ";
      define(args[i]);
      out_ += " = ";
      value(inits[first_operand + i - first_arg]);
    }
    types(args.subspan(first_arg));
  }

  void op(OpId id) {
    const Op& o = p_.op(id);
    const auto in = p_.operands(id);
    const bool ends_quietly =
        in.empty() && o.next == none &&
        (o.code == Opcode::Yield || (o.code == Opcode::Return && o.parent == body_block));
    if (ends_quietly) return;
    if (marks) marks->push_back({out_.size(), id});
    indent();
    if (o.code == Opcode::For || o.code == Opcode::While) {
      // Carried values are defined inside, results outside: number the results first, as they are
      // written first.
      results(id);
      out_ += mnemonic(o.code);
      if (o.code == Opcode::For) {
        out_ += " ";
        define(p_.args(o.first_block)[0]);
        out_ += " in ";
        value(in[0]);
        out_ += "..";
        value(in[1]);
        out_ += " step ";
        value(in[2]);
        carried(id, 3, 1);
      } else {
        carried(id, 0, 0);
      }
      out_ += " {\n";
      return;
    }
    results(id);
    out_ += mnemonic(o.code);
    switch (info(o.code).attribute) {
      case AttrKind::Bits: out_ += " " + text::print_literal(o.type, o.attr); break;
      case AttrKind::Dim: out_ += fmt::format(".{}", "xyz"[o.attr % 3]); break;
      case AttrKind::Buffer: out_ += " " + buffers_[o.buffer()]; break;
      case AttrKind::Scope: out_ += fmt::format(" {}", name(static_cast<Scope>(o.attr))); break;
      case AttrKind::Name: out_ += " " + quote(p_.string(StringId(o.attr))); break;
      case AttrKind::Memory: return memory(id);
      case AttrKind::None: break;
    }
    if (!in.empty()) out_ += " ";
    values(in);
    if (o.code == Opcode::If || o.code == Opcode::Region) {
      types(p_.results(id));
      out_ += " {";
    } else if (o.type != Type::Void) {
      out_ += fmt::format(" : {}", name(o.type));
    }
    out_ += "\n";
  }

  void memory(OpId id) {
    const Op& o = p_.op(id);
    const MemoryRef m = p_.memory(id);
    const auto in = p_.operands(id);
    out_ += fmt::format(" {}[", buffers_[m.buffer]);
    value(in[0]);
    out_ += "]";
    for (ValueId v : in.subspan(1)) {
      out_ += ", ";
      value(v);
    }
    if (m.acq_rel) out_ += " acq_rel";
    const Effect e = info(o.code).effect;
    if (e == Effect::Atomic && m.scope == Scope::Workgroup) out_ += " workgroup";
    if (o.code == Opcode::UniformLoad && m.scope == Scope::Grid) out_ += " grid";
    if (m.in_bounds) out_ += " in_bounds";
    if (m.read_only) out_ += " read_only";
    if (m.align_log2) out_ += fmt::format(" align({})", 1u << m.align_log2);
    if (info(o.code).result != '-') out_ += fmt::format(" : {}", name(o.type));
    out_ += "\n";
  }

  const Program& p_;
  std::string name_;
  std::string& out_;
  IdMap<ValueId, uint32_t> numbers_;
  IdMap<BufferId, std::string> buffers_;
  uint32_t next_ = 0;
  size_t depth_ = 0;
};

void print_graph(const Graph& g, const std::string& graph_name,
                 const std::vector<std::string>& kernels, const Module& m, std::string& out) {
  IdMap<GraphBufferId, std::string> raw;
  for (const GraphBuffer& b : g.buffers) raw.push_back(b.name);
  const IdMap<GraphBufferId, std::string> names = printable_names(raw, "b");
  const auto formula = [&](FormulaId f) {
    return f == no_formula ? std::string() : print(g.formulas, f, [&](uint32_t i) {
      return names.contains(GraphBufferId(i)) ? names[GraphBufferId(i)] : std::string("?");
    });
  };
  out += fmt::format("graph {}(", graph_name);
  bool first = true;
  for (const GraphBufferId i : g.buffers.ids()) {
    const GraphBuffer& b = g.buffers[i];
    if (!b.parameter) continue;
    if (!first) out += ", ";
    first = false;
    if (b.role == Role::Scalar)
      out += fmt::format("{}: {}", names[i], name(b.element));
    else
      out +=
          fmt::format("{}: {} {}[{}]", names[i], name(b.role), name(b.element), formula(b.count));
  }
  out += ") {\n";
  for (const GraphBufferId i : g.buffers.ids())
    if (!g.buffers[i].parameter)
      out += fmt::format("  buffer {}: {}[{}]\n", names[i], name(g.buffers[i].element),
                         formula(g.buffers[i].count));
  const auto element = [&](const GraphElement& e) {
    return fmt::format("{}[{}]", names[e.buffer], e.index);
  };
  for (const GraphStep& step : flatten(g)) {
    const GraphNode& n = *step.node;
    out.append(2 * (step.depth + 1), ' ');
    if (step.kind == GraphStep::Kind::End) {
      out += "}\n";
      continue;
    }
    switch (n.kind) {
      case GraphNodeKind::Repeat: out += fmt::format("repeat {} {{\n", formula(n.count)); break;
      case GraphNodeKind::While: {
        static constexpr std::pair<Opcode, std::string_view> symbols[] = {
            {Opcode::Eq, "=="}, {Opcode::Ne, "!="}, {Opcode::Lt, "<"},
            {Opcode::Le, "<="}, {Opcode::Gt, ">"},  {Opcode::Ge, ">="}};
        std::string_view symbol = "!=";
        for (const auto& s : symbols)
          if (s.first == n.compare) symbol = s.second;
        out += fmt::format("while {} {} {} limit {} {{\n", element(n.flag), symbol,
                           text::print_literal(g.buffers[n.flag.buffer].element, n.bits),
                           formula(n.count));
        break;
      }
      case GraphNodeKind::Call: {
        out += fmt::format("call {}(", kernels[n.kernel]);
        const std::vector<CallArgument> known = arguments(m.kernels[n.kernel], n);
        for (size_t i = 0; i < n.args.size(); ++i) {
          const Type type = i < known.size() ? known[i].parameter->element : Type::U64;
          if (i) out += ", ";
          out += n.args[i].buffer != none ? names[n.args[i].buffer]
                                          : text::print_literal(type, n.args[i].bits);
        }
        out += ")";
        for (size_t i = 0; i < n.grid.size(); ++i)
          out += (i ? ", " : " grid(") + element(n.grid[i]);
        out += n.grid.empty() ? "\n" : ")\n";
        break;
      }
    }
  }
  out += "}\n";
}

}  // namespace

std::string print(const Program& p) {
  std::string out = "vyre 1\n\n";
  Printer(p, is_identifier(p.name) ? p.name : "k0", out).run();
  return out;
}

Listing print_lines(const Program& p) {
  std::string out;
  std::vector<Printer::Mark> marks;
  Printer printer(p, is_identifier(p.name) ? p.name : "k0", out);
  printer.marks = &marks;
  printer.run();
  Listing listing;
  listing.language = "vyre";
  auto mark = marks.begin();
  for (size_t at = 0; at < out.size();) {
    const size_t end = out.find('\n', at);
    Place place = at == 0 ? p.place(p.loc) : Place{};
    if (mark != marks.end() && mark->at == at) place = p.place(p.op((mark++)->op).loc);
    listing.add(out.substr(at, end - at), place);
    at = end + 1;
  }
  return listing;
}

std::string print(const Module& m) {
  std::string out = "vyre 1\n";
  std::vector<std::string> raw;
  for (const Program& k : m.kernels) raw.push_back(k.name);
  for (const Graph& g : m.graphs) raw.push_back(g.name);
  const std::vector<std::string> names = printable_names(raw, "k");
  const std::vector<std::string> kernels(names.begin(), names.begin() + long(m.kernels.size()));
  for (size_t i = 0; i < m.kernels.size(); ++i) {
    out += "\n";
    Printer(m.kernels[i], names[i], out).run();
  }
  for (size_t i = 0; i < m.graphs.size(); ++i) {
    out += "\n";
    print_graph(m.graphs[i], names[m.kernels.size() + i], kernels, m, out);
  }
  return out;
}

}  // namespace vyre
