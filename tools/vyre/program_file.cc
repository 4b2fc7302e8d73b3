#include "tools/vyre/program_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <span>

#include "text/parse.h"
#include "wire/wire.h"

namespace vyre::cli {
namespace {

using Clock = std::chrono::steady_clock;

uint64_t since(Clock::time_point begin) {
  return static_cast<uint64_t>(std::chrono::nanoseconds(Clock::now() - begin).count());
}

bool is_identifier(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0]))) return false;
  for (const char c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  return true;
}

bool exists(const std::string& file) {
  std::error_code ignored;
  return file == "-" || std::filesystem::exists(file, ignored);
}

void append(Diagnostics& list, Diagnostics more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
}

/// Reduces the time limit by the time used, in whole milliseconds; to at least one, as 0 means no
/// limit.
LoadOptions without(LoadOptions options, uint64_t used_ns) {
  if (options.time_limit > 0) {
    const double left = options.time_limit - static_cast<double>(used_ns) / 1e9;
    options.time_limit = std::max(std::ceil(left * 1e3), 1.0) / 1e3;
  }
  return options;
}

void decode(const std::string& bytes, const std::string& name, const LoadOptions& options,
            LoadedModule& loaded) {
  const auto raw = std::as_bytes(std::span(bytes));
  const auto fail = [&](Diagnostics errors) {
    for (Diagnostic& d : errors)
      if (d.place.file.empty()) d.place.file = name;
    append(loaded.diagnostics, std::move(errors));
  };
  if (!options.constants.empty())
    loaded.diagnostics.push_back(
        diagnose(
            Code::ConstantOfWire, {.file = name},
            fmt::format("`{}` is a wire file, where constants have their values for good", name))
            .with_fix("give `--const` when the wire file is made: `vyre check FILE --const … "
                      "--emit-wire F`"));
  const DecodeOptions limits{.time_limit = options.time_limit,
                             .memory_limit = options.memory_limit};
  if (wire_kind(raw) == WireKind::Program) {
    auto program = decode_program(raw, limits);
    if (!program) return fail(std::move(program.errors()));
    loaded.module.emplace().kernels.push_back(std::move(*program));
  } else {
    auto module = decode_module(raw, limits);
    if (!module) return fail(std::move(module.errors()));
    loaded.module = std::move(*module);
  }
  loaded.own_kernels = loaded.module->kernels.size();
  loaded.own_graphs = loaded.module->graphs.size();
}

void parse_text(std::string bytes, const std::string& name, const LoadOptions& options,
                LoadedModule& loaded) {
  ParseOptions parse_options;
  parse_options.file_name = name;
  parse_options.constants = options.constants;
  parse_options.lint = true;
  if (options.imports) parse_options.resolver = file_resolver({options.import_root});
  parse_options.time_limit = options.time_limit;
  parse_options.memory_limit = options.memory_limit;
  ParseOutcome outcome = parse(std::move(bytes), parse_options);
  loaded.module = std::move(outcome.module);
  loaded.sources = std::move(outcome.sources);
  loaded.own_kernels = outcome.own_kernels;
  loaded.own_graphs = outcome.own_graphs;
  append(loaded.diagnostics, std::move(outcome.diagnostics));
  if (const uint64_t n = outcome.errors_left_out; n > 0)
    loaded.diagnostics.push_back(
        diagnose(Code::MoreNotShown, {.file = name},
                 fmt::format("{} more error{} not shown", n, n == 1 ? " is" : "s are")));
}

}  // namespace

FileAndName split_file_and_name(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || !is_identifier(std::string_view(text).substr(colon + 1)))
    return {text, ""};
  std::string file = text.substr(0, colon);
  if (file.empty() || (!exists(file) && exists(text))) return {text, ""};
  return {std::move(file), text.substr(colon + 1)};
}

std::string shown_name(const std::string& file) { return file == "-" ? "<stdin>" : file; }

ProgramText read_program_text(const std::string& file, uint64_t max_bytes) {
  FileContents contents = read_file(file, max_bytes);
  if (contents) return {std::move(contents.bytes), {}};
  const std::string name = shown_name(file);
  // The limit of read_file is above the parser's, so the same code applies.
  const bool too_large = contents.error->code == EFBIG;
  Diagnostic d = diagnose(too_large ? Code::SourceTooLarge : Code::MissingFile, {.file = name},
                          fmt::format("cannot read `{}`: {}", name, contents.error->what));
  if (!too_large) d.with_fix("give the path of a vyre program, or `-` for standard input");
  return {"", std::move(d)};
}

LoadedModule load_module(const std::string& file, const LoadOptions& options) {
  const auto begin = Clock::now();
  ProgramText text =
      read_program_text(file, options.memory_limit ? std::min(options.memory_limit, kDefaultFileCap)
                                                   : kDefaultFileCap);
  const uint64_t read_ns = since(begin);
  LoadedModule loaded;
  if (!text.error)
    loaded = load_module_bytes(std::move(text.bytes), shown_name(file), without(options, read_ns));
  else
    loaded.diagnostics.push_back(std::move(*text.error));
  loaded.parse_ns += read_ns;
  return loaded;
}

LoadedModule load_module_bytes(std::string bytes, const std::string& name,
                               const LoadOptions& options) {
  LoadedModule loaded;
  const auto begin = Clock::now();
  if (is_wire(std::as_bytes(std::span(bytes))))
    decode(bytes, name, options, loaded);
  else
    parse_text(std::move(bytes), name, options, loaded);
  loaded.parse_ns = since(begin);
  const auto parsed = Clock::now();
  if (loaded.module && !options.illegal_too) {
    CheckOptions check_options = options.check;
    check_options.time_limit = without(options, loaded.parse_ns).time_limit;
    check_options.memory_limit = options.memory_limit;
    append(loaded.diagnostics, check(*loaded.module, check_options));
  }
  loaded.check_ns = since(parsed);
  if (has_errors(loaded.diagnostics)) loaded.module.reset();
  return loaded;
}

}  // namespace vyre::cli
