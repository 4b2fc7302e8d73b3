#include "text/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <unordered_set>

#include "diagnostics/budget.h"
#include "support/big_stack.h"
#include "text/lower/lower.h"
#include "text/parser.h"

namespace vyre {
namespace {

using namespace text;

constexpr size_t max_imports = 1000;

/// Reads one file into the Ast; its imports are appended.
void add_file(Ast& ast, std::string name, std::string source, std::vector<Import>& imports,
              Diagnostics& errors) {
  if (source.substr(0, 3) == "\xef\xbb\xbf") source.erase(0, 3);  // a byte order mark
  const uint16_t file = uint16_t(ast.files.size());
  ast.source_bytes += source.size();
  ast.files.push_back({std::move(name), std::move(source)});
  const SourceFile& f = ast.files.back();
  const auto whole_file = [&](Code code, std::string message, std::string fix, Place place) {
    errors.push_back(diagnose(code, std::move(place), std::move(message)).with_fix(std::move(fix)));
  };
  if (f.text.size() > max_source_bytes)
    return whole_file(
        Code::SourceTooLarge,
        fmt::format("{} bytes of source, at most {} are read", f.text.size(), max_source_bytes),
        "split the file", {f.name, 1, 1, 1});
  if (const size_t bad = find_invalid_utf8(f.text); bad != std::string::npos) {
    const size_t line_start =
        f.text.rfind('\n', bad) == std::string::npos ? 0 : f.text.rfind('\n', bad) + 1;
    const uint32_t line =
        uint32_t(std::count(f.text.begin(), f.text.begin() + long(bad), '\n')) + 1;
    return whole_file(
        Code::InvalidUtf8, fmt::format("byte {} (0x{:02x}) is no UTF-8", bad, uint8_t(f.text[bad])),
        "save the file as UTF-8 text", {f.name, line, uint32_t(bad - line_start + 1), 1});
  }
  const TokenId begin = TokenId(ast.tokens.size());
  LexOptions options{file, f.name};
  options.left_out = &ast.errors_left_out;
  if (ast.budget->limited()) options.poll = [&] { ast.poll(); };
  lex(f.text, options, ast.symbols, ast.tokens, errors);
  parse_file(ast, begin, imports, errors);
}

/// The file and everything it imports, each file once.
void load(Ast& ast, std::string source, const ParseOptions& options, Diagnostics& errors) {
  std::vector<Import> imports;
  std::unordered_set<std::string> known = {options.file_name};
  add_file(ast, options.file_name, std::move(source), imports, errors);
  for (size_t i = 0; i < imports.size(); ++i) {
    const Import import = imports[i];
    const auto fail = [&](const std::string& why, std::string fix) {
      errors.push_back(diagnose(Code::ImportFailed, ast.place(import.token),
                                fmt::format("cannot import `{}`: {}", import.path, why))
                           .with_fix(std::move(fix)));
    };
    if (i == max_imports)
      return fail(fmt::format("a program has at most {} imports", max_imports),
                  "join some of the files");
    if (!options.resolver) {
      fail("imports cannot be read here", "give the path relative to this file");
      continue;
    }
    std::string name =
        options.resolver.name(import.path, ast.files[ast.tokens[import.token].file].name);
    if (!known.insert(name).second) continue;
    ast.budget->check(ast.bytes());
    FileContents file = options.resolver.read(
        name, max_source_bytes - std::min(ast.source_bytes, max_source_bytes));
    if (file)
      add_file(ast, std::move(name), std::move(file.bytes), imports, errors);
    else
      fail(file.error->what, "give the path relative to this file");
  }
}

/// Returns whether the parser found an error between the declaration's name and its end.
bool is_broken(const Ast& ast, const Decl& d, std::span<const Diagnostic> syntax) {
  const Token& first = ast.tokens[d.name];
  const Token& last = ast.tokens[d.end ? d.end : d.name];
  return std::any_of(syntax.begin(), syntax.end(), [&](const Diagnostic& e) {
    return e.place.file == ast.files[first.file].name && e.place.line >= first.line &&
           e.place.line <= last.line;
  });
}

/// Lowers constants, kernels, graphs, then functions that no kernel calls, until the context has
/// ended. `syntax`: the number of diagnostics from the parser. Declarations that it could not read
/// are not lowered.
void lower_module(ModuleContext& context, size_t syntax, ParseOutcome& outcome) {
  Module module;
  const Diagnostics found(outcome.diagnostics.begin(), outcome.diagnostics.begin() + long(syntax));
  const auto each = [&](DeclKind kind, bool own, auto&& fn) {
    for (const Decl& d : context.ast.decls) {
      if (context.ended) return;
      if (d.kind == kind && (context.ast.tokens[d.name].file == 0) == own &&
          !is_broken(context.ast, d, found))
        fn(d);
    }
  };
  for (uint32_t i = 0; i < context.ast.decls.size() && !context.ended; ++i)
    if (context.ast.decls[i].kind == DeclKind::Const)
      context.constant(i, context.ast.decls[i].name);
  for (bool own : {true, false}) {
    each(DeclKind::Kernel, own, [&](const Decl& d) {
      context.kernel_of_symbol.emplace(context.ast.tokens[d.name].symbol,
                                       uint32_t(module.kernels.size()));
      module.kernels.push_back(lower_kernel(context, d));
    });
    if (own) outcome.own_kernels = module.kernels.size();
  }
  for (bool own : {true, false}) {
    each(DeclKind::Graph, own,
         [&](const Decl& d) { module.graphs.push_back(lower_graph(context, d, module)); });
    if (own) outcome.own_graphs = module.graphs.size();
  }
  for (size_t i = 0; i < context.ast.decls.size() && !context.ended; ++i) {
    const Decl& d = context.ast.decls[i];
    if (d.kind == DeclKind::Function && !context.called[i] && !is_broken(context.ast, d, found))
      lower_function_alone(context, d);
  }
  report_recursion(context);
  if (context.options.lint && outcome.own_kernels > 0 && !has_errors(outcome.diagnostics))
    check_unused(context);
  outcome.module = std::move(module);
}

}  // namespace

namespace {

/// Errors in `--const` names that no constant has.
void check_overrides(ModuleContext& context) {
  std::vector<std::string> names;
  for (const Decl& d : context.ast.decls)
    if (d.kind == DeclKind::Const) names.emplace_back(context.ast.text(d.name));
  const std::unordered_set<std::string_view> known(names.begin(), names.end());
  for (const auto& [name, value] : context.options.constants) {
    if (known.contains(name)) continue;
    const auto near = context.nearest_name(name, names);
    context.diagnostics.push_back(
        diagnose(Code::UnknownConstant, {},
                 fmt::format("there is no constant `{}` to override", name))
            .with_fix(near.empty() ? "name a `const` of the module"
                                   : fmt::format("did you mean `{}`?", near)));
  }
}

void parse_within(Budget& budget, Ast& ast, std::string source, const ParseOptions& options,
                  ParseOutcome& outcome) {
  ast.budget = &budget;
  load(ast, std::move(source), options, outcome.diagnostics);
  const size_t syntax = outcome.diagnostics.size();
  ModuleContext context(ast, options, outcome.diagnostics, budget);
  context.kept_bytes = ast.bytes();
  analyse(context);
  const bool readable = !has_errors(outcome.diagnostics);
  if (readable && ast.decls.empty())
    outcome.diagnostics.push_back(
        diagnose(Code::EmptyModule, {options.file_name, 0, 0, 1},
                 fmt::format("`{}` declares nothing", options.file_name))
            .with_fix("write a kernel: `kernel name(…) workgroup(64) grid(n) { … }`"));
  if (readable && !options.constants.empty()) check_overrides(context);
  lower_module(context, syntax, outcome);
  if (syntax > 0) {  // a name may be missing because its declaration could not be read
    std::erase_if(outcome.diagnostics,
                  [](const Diagnostic& d) { return follows_from_syntax(d.code); });
  }
}

ParseOutcome parse_here(std::string source, const ParseOptions& options) {
  ParseOutcome outcome;
  if (auto fault = fault_of_time_limit(options.time_limit)) {
    outcome.diagnostics.push_back(std::move(*fault));
    return outcome;
  }
  Budget budget(options.time_limit, options.memory_limit);
  Ast ast;
  try {
    const BudgetPoll poll(budget);
    parse_within(budget, ast, std::move(source), options, outcome);
  } catch (const BudgetExceeded& exceeded) {
    outcome.diagnostics.push_back(budget.diagnostic(
        exceeded, fmt::format("reading `{}`", options.file_name), {options.file_name, 0, 0, 1}));
  }
  if (has_errors(outcome.diagnostics)) outcome.module.reset();
  std::stable_sort(outcome.diagnostics.begin(), outcome.diagnostics.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return a.place.file == b.place.file && a.place.line && b.place.line &&
                            a.place.line < b.place.line;
                   });
  outcome.errors_left_out = ast.errors_left_out;
  for (SourceFile& f : ast.files) outcome.sources[f.name] = std::move(f.text);
  return outcome;
}

}  // namespace

ParseOutcome parse(std::string source, const ParseOptions& options) {
  ParseOutcome outcome;
  run_on_big_stack([&] { outcome = parse_here(std::move(source), options); });
  return outcome;
}

}  // namespace vyre
