// docs/ against the code it describes: the op reference, the links of `vyre explain`, and the dumps
// of the architecture page. `vyre_text_tests docs` tests the programs and commands of the pages.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "check/uniformity.h"
#include "diagnostics/explain.h"
#include "interp/compile.h"
#include "ir/ops_doc.h"
#include "legalize/expand.h"
#include "runtime/run_kernel.h"
#include "support/file.h"
#include "tests/runtime/recording_backend.h"
#include "text/parse.h"
#include "text/parser.h"
#include "text/print.h"
#include "tools/vyre/program_file.h"
#include "wire/fingerprint.h"

namespace vyre {
namespace {

std::string page(const std::string& name) {
  const FileContents file = read_file(VYRE_SOURCE_DIR "/docs/" + name);
  EXPECT_TRUE(file) << name;
  return file.bytes;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// ---- ops.md
// ------------------------------------------------------------------------------------------------

TEST(OpsDoc, is_current) {
  EXPECT_TRUE(page("ops.md") == ops_markdown())
      << "docs/ops.md is out of date; run\n  build/release/bin/vyre explain --ops-markdown > "
         "docs/ops.md";
}

TEST(OpsDoc, has_an_entry_for_every_op) {
  const std::string text = ops_markdown();
  for (const OpInfo& op : all_ops())
    EXPECT_NE(text.find(fmt::format("\n### {}\n", op.mnemonic)), text.npos) << op.mnemonic;
}

/// A kernel that uses an op as the reference says that it is written.
std::string kernel_with(Opcode code, Type t) {
  const OpInfo& op = info(code);
  std::string form = written_form(code);
  const std::string type(name(t)), element = t == Type::Void ? "u32" : type;
  std::string names;
  char letter = 'a';
  for (const char c : op.operands == "?" ? std::string_view() : op.operands) {
    if (c == 'I') continue;
    const std::string own = c == 'U' ? "u32" : c == 'B' ? "bool" : c == 'S' ? "f32" : type;
    names += c == 'U' ? fmt::format("  let {} = len(m)\n", letter++)
                      : fmt::format("  let {} = {}(m[0])\n", letter++, own);
  }
  if (op.operands == "?")
    names = code == Opcode::For ? "  let a = m[0]\n  let b = m[1]\n  let c = m[2]\n"
                                : "  let a = bool(m[0])\n";
  names += "  let i = num_workgroups.x\n";  // uniform, as some ops need
  for (size_t at; (at = form.find("…")) != std::string::npos;)
    form.replace(at, std::string("…").size(), "m[i] = m[0]");
  const bool loop_exit = code == Opcode::Break || code == Opcode::Continue;
  const bool statement =
      op.operands == "?" || op.result == '-' || op.result == 0 || op.effect == Effect::Exit;
  std::string use = statement ? form : fmt::format("let r = {}", form);
  if (code == Opcode::Const) use = fmt::format("m[0] = {}", form);  // else it is dropped as unused
  if (loop_exit) use = fmt::format("for k in 0..3 {{ {} }}", use);
  return fmt::format("kernel k(m: inout {}[4]) workgroup(1) grid(1) {{\n{}  {}\n}}\n", element,
                     names, use);
}

TEST(OpsDoc, every_written_form_is_legal) {
  int tried = 0;
  for (size_t i = 0; i < all_ops().size(); ++i) {
    const auto code = static_cast<Opcode>(i);
    if (written_form(code).empty()) continue;
    // m holds T; the first type that fits, so that floats, integers and bools all occur.
    Type t = Type::U32;
    if (info(code).types != TypeSet::None)
      for (const Type candidate : {Type::I32, Type::F32, Type::Bool, Type::U32})
        if (contains(info(code).types, candidate)) t = candidate;
    if (code == Opcode::Neg) t = Type::I32;
    const std::string text = kernel_with(code, t);
    const auto loaded = cli::load_module_bytes(text, "form");
    for (const Diagnostic& d : loaded.diagnostics)
      EXPECT_NE(d.severity, Severity::Error) << info(code).mnemonic << ": " << d.message << "\n"
                                             << text;
    if (!loaded.module) continue;
    bool used = false;
    const Program& p = loaded.module->kernels[0];
    walk(p, [&](OpId op) { used |= p.op(op).code == code; });
    EXPECT_TRUE(used) << info(code).mnemonic << " is not in\n" << text;
    ++tried;
  }
  EXPECT_GT(tried, 90);
}

// ---- README.md
// ------------------------------------------------------------------------------------------------

TEST(DocsIndex, lists_every_page) {
  const std::string index = page("README.md");
  for (const auto& entry : std::filesystem::directory_iterator(VYRE_SOURCE_DIR "/docs")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".md" && name != "README.md")
      EXPECT_NE(index.find("](" + name + ")"), index.npos) << name;
  }
}

// ---- vyre explain
// ------------------------------------------------------------------------------------------------

TEST(ExplainLinks, lead_to_headings_that_exist) {
  std::set<std::string> anchors;
  for (const std::string& line : lines_of(page("language.md"))) {
    if (!line.starts_with("##")) continue;
    std::string slug;
    for (const char c : line.substr(line.find(' ') + 1))
      if (std::isalnum(static_cast<unsigned char>(c)) || c == ' ')
        slug += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    anchors.insert(slug);
  }
  constexpr std::string_view chapter = "docs/language.md#";
  size_t with_chapter = 0;
  for (const CodeInfo& c : all_codes()) {
    const std::string links = explain_links(c);
    EXPECT_TRUE(links.starts_with("See docs/errors.md#v0")) << links;
    const size_t at = links.find(chapter);
    if (at == links.npos) continue;
    ++with_chapter;
    const std::string anchor =
        links.substr(at + chapter.size(), links.find('\n', at) - at - chapter.size());
    EXPECT_TRUE(anchors.contains(anchor)) << to_string(c.code) << " leads to #" << anchor;
  }
  EXPECT_GT(with_chapter, 50u);
  EXPECT_NE(explain_links(*find_code("V0301")).find("#barriers-and-uniformity"), std::string::npos);
}

// ---- The dumps of architecture.md: blocks after `<!-- dump: NAME -->`
// ------------------------------------------------------------------------------------------------

constexpr const char* walked = "examples/block_sums.vyre";

struct Walked {
  text::Ast ast;
  Program program;

  Walked() {
    const std::string source = read_file(std::string(VYRE_SOURCE_DIR "/") + walked).bytes;
    ast.files.push_back({walked, source});
    Diagnostics errors;
    std::vector<text::Import> imports;
    lex(ast.files[0].text, {0, walked, false}, ast.symbols, ast.tokens, errors);
    parse_file(ast, 0, imports, errors);
    EXPECT_TRUE(errors.empty());
    program = cli::load_module_bytes(source, walked).module->kernels[0];
  }
};

/// The tokens of the line that begins with `if l < stride`.
std::string dump_tokens(const Walked& w) {
  std::string out;
  uint32_t line = 0;
  for (text::TokenId t = 0; t + 3 < w.ast.tokens.size() && line == 0; ++t)
    if (w.ast.text(t) == "if" && w.ast.text(t + 3) == "stride") line = w.ast.tokens[t].line;
  for (text::TokenId t = 0; t < w.ast.tokens.size(); ++t) {
    const text::Token& k = w.ast.tokens[t];
    if (k.line != line) continue;
    const std::string what(describe(k.kind));
    out += fmt::format("{}:{:<3} {:<8} {}\n", k.line, k.column,
                       k.kind == text::Tok::Newline ? "" : w.ast.text(t), what);
  }
  return out;
}

std::string show(const text::Ast& ast, text::ExprId id) {
  const text::Expr& e = ast.exprs[id];
  switch (e.kind) {
    case text::ExprKind::Binary:
      return fmt::format("({} {} {})", ast.text(e.token), show(ast, e.a), show(ast, e.b));
    case text::ExprKind::Index: return fmt::format("{}[{}]", ast.text(e.token), show(ast, e.a));
    case text::ExprKind::Member: return fmt::format("{}.{}", ast.text(e.token), "xyz"[e.bits]);
    default: return std::string(ast.text(e.token));
  }
}

void show(const text::Ast& ast, Range list, int depth, std::string& out) {
  using text::StmtKind;
  for (uint32_t i = 0; i < list.count; ++i) {
    const text::Stmt& s = ast.stmts[ast.ids[list.begin + i]];
    out.append(static_cast<size_t>(depth) * 2, ' ');
    switch (s.kind) {
      case StmtKind::Shared:
        out += fmt::format("Shared {} : {}[{}]\n", ast.text(s.name), name(s.type), show(ast, s.a));
        break;
      case StmtKind::Let:
        out += fmt::format("Let {} = {}\n", ast.text(s.name), show(ast, s.a));
        break;
      case StmtKind::Var:
        out += fmt::format("Var {} : {} = {}\n", ast.text(s.name), name(s.type), show(ast, s.a));
        break;
      case StmtKind::Assign:
        out += fmt::format("Assign {} = {}\n", ast.text(s.name), show(ast, s.a));
        break;
      case StmtKind::Store:
        out += fmt::format("Store {}[{}] = {}\n", ast.text(s.name), show(ast, s.a), show(ast, s.b));
        break;
      case StmtKind::Barrier: out += fmt::format("Barrier {}\n", name(s.scope)); break;
      case StmtKind::If:
      case StmtKind::While:
        out += fmt::format("{} {}\n", s.kind == StmtKind::If ? "If" : "While", show(ast, s.a));
        show(ast, s.body, depth + 1, out);
        break;
      default: out += "…\n";
    }
  }
}

std::string dump_syntax(const Walked& w) {
  std::string out;
  show(w.ast, w.ast.decls.back().body, 0, out);
  return out;
}

std::string dump_uniformity(const Walked& w) {
  const Program& p = w.program;
  const UniformityInfo u = analyze_uniformity(p);
  constexpr std::string_view words[] = {"varying", "subgroup", "workgroup", "grid"};
  std::string out = fmt::format("{:<11}{:<11}{}\n", "flow", "value", "op");
  size_t depth = 0;
  walk_blocks(p, body_block, [&](Visit what, OpId op, BlockId) {
    if (what == Visit::EnterBlock) ++depth;
    if (what == Visit::LeaveBlock) --depth;
    if (what != Visit::Op || p.op(op).code == Opcode::Const || is_exit(p.op(op).code)) return;
    const OpInfo& i = info(p.op(op).code);
    const auto results = p.results(op);
    const std::string buffer = i.attribute == AttrKind::Memory ? " " + p.buffer_of(op).name : "";
    out += fmt::format("{:<11}{:<11}{:{}}{}{}\n", words[int(u.flow(op))],
                       results.empty() ? "" : words[int(u.value(results[0]))], "", 2 * (depth - 1),
                       i.mnemonic, buffer);
  });
  return out;
}

std::string dump_flat_code(const Walked& w) {
  using interp::Do;
  constexpr std::string_view names[] = {
      "Eval",      "Fill",        "Copy",     "CopyActive", "Load",    "Store",      "Atomic",
      "Subgroup",  "IfBegin",     "ArmEnd",   "ForBegin",   "ForNext", "WhileBegin", "Test",
      "WhileNext", "LoopEnd",     "Continue", "Break",      "Return",  "Trap",       "Assert",
      "Barrier",   "GridBarrier", "Poll",     "End"};
  static_assert(std::size(names) == size_t(Do::End) + 1);
  const interp::FlatCode code = interp::compile(w.program, 1);
  std::string out;
  for (size_t n = 0; n < code.instrs.size(); ++n) {
    const interp::Instr& i = code.instrs[n];
    std::string line = fmt::format("{:>2}  {:<11}", n, names[size_t(i.what)]);
    if (i.what == Do::Eval || i.what == Do::Load || i.what == Do::Store)
      line += fmt::format("{:<7}", mnemonic(w.program.op(i.op).code));
    if (i.what == Do::Load || i.what == Do::Store) line += w.program.buffers[i.buffer].name;
    const bool jumps = i.what == Do::IfBegin || i.what == Do::ArmEnd || i.what == Do::WhileNext ||
                       i.what == Do::WhileBegin || i.what == Do::Test;
    if (jumps && i.target) line += fmt::format("to {} ", i.target);
    if (jumps && i.exit) line += fmt::format("exit {}", i.exit);
    while (line.back() == ' ') line.pop_back();
    out += line + "\n";
  }
  return out;
}

std::string dump_fingerprint(const Walked& w) {
  return fmt::format("{}\n", fingerprint(w.program).to_hex());
}

/// The program of the page that is saved under a name.
Program program_of_page(const std::string& name) {
  const std::string text = page("architecture.md"), head = "```vyre\n// " + name + "\n";
  const size_t begin = text.find(head);
  EXPECT_NE(begin, text.npos) << name;
  const size_t from = begin + head.size();
  auto loaded = cli::load_module_bytes(text.substr(from, text.find("```", from) - from), name);
  return std::move(loaded.module->kernels[0]);
}

std::string dump_legalized() {
  const auto profile = emit_exact::parse_profile("-int64");
  const auto legal = emit_exact::expand(program_of_page("next.vyre"), *profile);
  EXPECT_TRUE(legal);
  const std::string text = print(*legal);
  return text.substr(text.find("kernel "));
}

/// The commands that a backend gets for a run of the kernel with four elements.
std::string dump_submission(const Walked& w) {
  struct Line {
    std::string verb;
    driver::MemoryRange range;
  };
  std::vector<Line> lines;
  std::map<driver::MemoryHandle, std::string> names;
  driver::Recording backend;
  backend.on_command = [&](const driver::DeviceCommand& c) {
    if (const auto* upload = c.as<driver::DeviceUpload>()) lines.push_back({"Upload", upload->to});
    if (const auto* fill = c.as<driver::DeviceFill>()) lines.push_back({"Fill", fill->to});
    if (const auto* back = c.as<driver::DeviceReadback>())
      lines.push_back({"Readback", back->from});
    if (const auto* launch = c.as<driver::DeviceLaunch>()) {
      lines.push_back({fmt::format("Launch    {}: {} workgroup of {}", launch->program->name,
                                   launch->shape.workgroups(), launch->program->workgroup[0]),
                       {}});
      for (const uint32_t b : {0u, 1u})
        names[launch->buffers[b]] = launch->program->buffers[b].name;
    }
  };
  driver::Device device = *driver::Device::open(backend, 0);
  LaunchInputs inputs;
  inputs.data.resize(w.program.buffers.size());
  inputs.lengths.resize(w.program.buffers.size());
  inputs.data[0] = std::vector<std::byte>(16);
  EXPECT_TRUE(driver::run(device, w.program, inputs));
  std::string out;
  for (const Line& l : lines)
    out += l.range.memory == 0
               ? l.verb + "\n"
               : fmt::format("{:<9} {}: {} bytes\n", l.verb, names[l.range.memory], l.range.bytes);
  return out;
}

TEST(ArchitecturePage, dumps_are_current) {
  const Walked w;
  const std::pair<std::string_view, std::string> dumps[] = {
      {"tokens", dump_tokens(w)},           {"syntax", dump_syntax(w)},
      {"uniformity", dump_uniformity(w)},   {"flat code", dump_flat_code(w)},
      {"fingerprint", dump_fingerprint(w)}, {"legalized", dump_legalized()},
      {"submission", dump_submission(w)}};
  std::string text = page("architecture.md");
  bool changed = false;
  for (const auto& [name, dump] : dumps) {
    const std::string head = fmt::format("<!-- dump: {} -->\n```", name);
    const size_t begin = text.find(head);
    ASSERT_NE(begin, text.npos) << "there is no place for the dump " << name;
    const size_t from = text.find('\n', begin + head.size()) + 1, to = text.find("```", from);
    if (text.substr(from, to - from) == dump) continue;
    changed = true;
    text.replace(from, to - from, dump);
    EXPECT_TRUE(std::getenv("VYRE_BLESS"))
        << "the dump " << name << " of docs/architecture.md is now\n"
        << dump << "VYRE_BLESS=1 writes it";
  }
  if (!changed || !std::getenv("VYRE_BLESS")) return;
  EXPECT_FALSE(write_file(VYRE_SOURCE_DIR "/docs/architecture.md", text));
}

TEST(ArchitecturePage, quotes_a_row_of_the_table_of_operations) {
  const std::string text = page("architecture.md");
  const std::string head = "<!-- row of src/ir/ops.def -->\n```text\n";
  const size_t begin = text.find(head);
  ASSERT_NE(begin, text.npos);
  const size_t from = begin + head.size(), to = text.find("```", from);
  const FileContents table = read_file(VYRE_SOURCE_DIR "/src/ir/ops.def");
  ASSERT_TRUE(table);
  EXPECT_NE(table.bytes.find("\n" + text.substr(from, to - from)), std::string::npos);
}

}  // namespace
}  // namespace vyre
