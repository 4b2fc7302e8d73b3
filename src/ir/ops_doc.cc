#include "ir/ops_doc.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

namespace vyre {
namespace {

struct Section {
  Opcode first;
  std::string_view title;
  std::string_view about;
};

// In the order of ops.def: a section ends where the next begins.
constexpr Section sections[] = {
    {Opcode::Const, "Constants, ids, lengths, scalars",
     "What is there before a kernel computes anything."},
    {Opcode::Add, "Arithmetic", "Total: no value of any operand is an error."},
    {Opcode::And, "Bits", ""},
    {Opcode::Fma, "Floats",
     "IEEE 754, rounded to nearest even, subnormals kept. [Operators](language.md#operators) has "
     "the corner cases."},
    {Opcode::Eq, "Comparison, choice, conversion", ""},
    {Opcode::Load, "Memory",
     "`m` is a buffer, an array or a table. [Memory](language.md#memory) has the rules."},
    {Opcode::AtomicAdd, "Atomics",
     "On elements of `out`, `inout`, `scratch` and `shared`. Options may follow as last arguments: "
     "[Atomics](language.md#atomics)."},
    {Opcode::SubgroupAdd, "Subgroups",
     "Only in flow that is uniform over the subgroup: [Subgroups](language.md#subgroups)."},
    {Opcode::Barrier, "Synchronization and faults", ""},
    {Opcode::If, "Structured control",
     "Ops that hold blocks. Their operands and results are described in [IR "
     "form](language.md#ir-form)."},
    {Opcode::Yield, "Block ends", "Every block ends with exactly one of these."},
};

/// Forms that do not follow from the row.
std::string_view special_form(Opcode code) {
  static constexpr std::pair<Opcode, std::string_view> forms[] = {
      {Opcode::Const, "7"},
      {Opcode::Add, "a + b"},
      {Opcode::Sub, "a - b"},
      {Opcode::Mul, "a * b"},
      {Opcode::Div, "a / b"},
      {Opcode::Rem, "a % b"},
      {Opcode::Neg, "-a"},
      {Opcode::And, "a & b"},
      {Opcode::Or, "a | b"},
      {Opcode::Xor, "a ^ b"},
      {Opcode::Not, "~a"},
      {Opcode::Shl, "a << b"},
      {Opcode::Shr, "a >> b"},
      {Opcode::Eq, "a == b"},
      {Opcode::Ne, "a != b"},
      {Opcode::Lt, "a < b"},
      {Opcode::Le, "a <= b"},
      {Opcode::Gt, "a > b"},
      {Opcode::Ge, "a >= b"},
      {Opcode::Cast, "u32(a)"},
      {Opcode::Bitcast, "bitcast<u32>(a)"},
      {Opcode::Load, "m[i]"},
      {Opcode::Store, "m[i] = a"},
      {Opcode::LoadAs, "load_as<u32>(m, i)"},
      {Opcode::Barrier, "barrier workgroup"},
      {Opcode::Assert, "assert(a, b)"},
      {Opcode::If, "if a { … } else { … }"},
      {Opcode::For, "for i in a..b step c { … }"},
      {Opcode::While, "while a { … }"},
      {Opcode::Region, "region \"name\" { … }"},
      {Opcode::Break, "break"},
      {Opcode::Continue, "continue"},
      {Opcode::Return, "return"},
      {Opcode::Trap, "trap a"},
  };
  for (const auto& [op, form] : forms)
    if (op == code) return form;
  return "";
}

bool is_ir_only(Opcode code) {
  return code == Opcode::Scalar || code == Opcode::LoadN || code == Opcode::StoreN ||
         code == Opcode::Yield || code == Opcode::Test;
}

std::string_view types_in_words(TypeSet set) {
  switch (set) {
    case TypeSet::None: return "";
    case TypeSet::Int: return "i8 u8 i16 u16 i32 u32 i64 u64";
    case TypeSet::Float: return "f32 f64";
    case TypeSet::F32: return "f32";
    case TypeSet::Num: return "all integers, f32 f64";
    case TypeSet::SignedNum: return "i8 i16 i32 i64 f32 f64";
    case TypeSet::Logic: return "all integers, bool";
    case TypeSet::Any: return "all integers, f32 f64, bool";
    case TypeSet::Atomic: return "i32 u32 i64 u64";
    case TypeSet::AtomicAdd: return "i32 u32 i64 u64 f32";
  }
  return "";
}

std::string_view effect_in_words(Effect effect) {
  switch (effect) {
    case Effect::Pure: return "none";
    case Effect::Read: return "reads memory";
    case Effect::Write: return "writes memory";
    case Effect::Atomic: return "reads and writes memory in one step";
    case Effect::Sync: return "synchronizes; must stand in flow that is uniform at its scope";
    case Effect::Convergent:
      return "exchanges values; must stand in flow that is uniform over the subgroup";
    case Effect::Trap: return "may fail the launch";
    case Effect::Control: return "holds blocks";
    case Effect::Exit: return "ends a block";
  }
  return "";
}

std::string_view exactness_in_words(Exactness exactness) {
  switch (exactness) {
    case Exactness::Exact: return "the same everywhere by nature";
    case Exactness::Tested:
      return "the same everywhere: native where a device passes the self-test, expanded into exact "
             "code elsewhere";
    case Exactness::Ordered: return "depends on the order of execution";
  }
  return "";
}

std::string_view attribute_in_words(AttrKind kind) {
  switch (kind) {
    case AttrKind::None: return "";
    case AttrKind::Bits: return "the constant";
    case AttrKind::Dim: return "the dimension: .x, .y or .z";
    case AttrKind::Buffer: return "the buffer";
    case AttrKind::Memory: return "the buffer; order and scope; facts that we proved";
    case AttrKind::Scope: return "the scope: subgroup, workgroup or grid";
    case AttrKind::Name: return "a name";
  }
  return "";
}

std::string counted(size_t n, std::string_view one, std::string_view many) {
  constexpr std::array<std::string_view, 5> numbers = {"no", "one", "two", "three", "four"};
  return fmt::format("{} {}", n < numbers.size() ? numbers[n] : "many", n == 1 ? one : many);
}

std::string operands_in_words(std::string_view operands) {
  std::vector<std::string> parts;
  const auto count = [&](char c) {
    return static_cast<size_t>(std::count(operands.begin(), operands.end(), c));
  };
  if (count('I')) parts.emplace_back("an index of any integer type");
  if (count('S')) parts.emplace_back("a value of any type");
  if (count('B')) parts.emplace_back("a bool");
  const size_t t = count('T');
  if (t == 1) parts.emplace_back("a value of type T");
  if (t > 1) parts.push_back(counted(t, "value", "values") + " of type T");
  if (count('*')) parts.emplace_back("values of type T");
  if (count('U'))
    parts.push_back(count('U') == 1 ? std::string("a u32") : counted(count('U'), "u32", "u32"));
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

std::string_view result_in_words(char result) {
  switch (result) {
    case 'T': return "a value of type T";
    case 'U': return "a u32";
    case 'L': return "a u64";
    case 'B': return "a bool";
    case '*': return "values of type T";
    default: return "nothing";
  }
}

struct Row {
  std::string_view label;
  std::string text;
};

std::vector<Row> rows(Opcode code, bool markdown) {
  const OpInfo& op = info(code);
  const auto quoted = [&](const std::string& s) { return markdown ? "`" + s + "`" : s; };
  std::vector<Row> list;
  const std::string form = written_form(code);
  list.push_back({"written", form.empty() ? "in IR form only" : quoted(form)});
  list.push_back({"takes", signature_in_words(code)});
  if (op.types != TypeSet::None) list.push_back({"T", std::string(types_in_words(op.types))});
  if (op.attribute != AttrKind::None)
    list.push_back({"carries", std::string(attribute_in_words(op.attribute))});
  list.push_back({"effect", std::string(effect_in_words(op.effect))});
  list.push_back({"bytes", std::string(exactness_in_words(op.exactness))});
  if (op.commutative) list.push_back({"order", "of the operands does not matter"});
  return list;
}

}  // namespace

std::string written_form(Opcode code) {
  if (is_ir_only(code)) return "";
  if (const std::string_view form = special_form(code); !form.empty()) return std::string(form);
  const OpInfo& op = info(code);
  if (op.attribute == AttrKind::Dim) return fmt::format("{}.x", op.mnemonic);
  if (op.attribute == AttrKind::Buffer) return fmt::format("{}(m)", op.mnemonic);
  if (op.operands.empty()) return std::string(op.mnemonic);
  std::string text = fmt::format("{}(", op.mnemonic);
  char name = 'a';
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (i > 0) text += ", ";
    text += op.operands[i] == 'I' ? std::string("m[i]") : std::string(1, name++);
  }
  return text + ")";
}

std::string signature_in_words(Opcode code) {
  const OpInfo& op = info(code);
  if (op.operands == "?") return "what its blocks carry and yield";
  const std::string takes = operands_in_words(op.operands);
  return fmt::format("{}; gives {}", takes.empty() ? "nothing" : takes, result_in_words(op.result));
}

std::string explain_op(Opcode code) {
  const OpInfo& op = info(code);
  std::string out = fmt::format("{}: {}\n\n", op.mnemonic, op.doc);
  for (const Row& r : rows(code, false)) out += fmt::format("  {:<8} {}\n", r.label, r.text);
  return out + fmt::format("\nSee docs/ops.md#{}\n", op.mnemonic);
}

std::string ops_markdown() {
  std::string out =
      "# Operations\n\n"
      "`vyre explain NAME` prints these entries. This file is generated from `src/ir/ops.def`;\n"
      "`build/release/bin/vyre explain --ops-markdown > docs/ops.md` makes it again.\n\n"
      "`T` is the type of the operation: its operands of type T agree, nothing is converted by "
      "itself. "
      "*Bytes* says on what the result's\n"
      "bytes depend besides the operands. How operations look in a program is in "
      "[language.md](language.md).\n\n";
  const auto ops = all_ops();
  const auto end_of = [&](size_t s) {
    return s + 1 < std::size(sections) ? static_cast<size_t>(sections[s + 1].first) : ops.size();
  };
  for (size_t s = 0; s < std::size(sections); ++s) {
    out += fmt::format("**{}**:", sections[s].title);
    for (size_t i = static_cast<size_t>(sections[s].first); i < end_of(s); ++i)
      out += fmt::format(" [{0}](#{0})", ops[i].mnemonic);
    out += "\n\n";
  }
  for (size_t s = 0; s < std::size(sections); ++s) {
    out += fmt::format("## {}\n\n", sections[s].title);
    if (!sections[s].about.empty()) out += fmt::format("{}\n\n", sections[s].about);
    for (size_t i = static_cast<size_t>(sections[s].first); i < end_of(s); ++i) {
      std::string doc(ops[i].doc);
      doc[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(doc[0])));
      if (!doc.ends_with('?')) doc += '.';
      out += fmt::format("### {}\n\n{}\n\n| | |\n|---|---|\n", ops[i].mnemonic, doc);
      for (const Row& r : rows(static_cast<Opcode>(i), true)) {
        std::string text;
        for (const char c : r.text) text += c == '|' ? std::string("\\|") : std::string(1, c);
        out += fmt::format("| {} | {} |\n", r.label, text);
      }
      out += '\n';
    }
  }
  out.pop_back();
  return out;
}

}  // namespace vyre
