#include "programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "check/check.h"
#include "text/parse.h"

namespace bench {
namespace {

using namespace vyre;

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream in{std::string(line.substr(0, line.find('#')))};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

void read_head(const std::vector<std::string>& words, std::vector<ProgramEntry>& all) {
  if (words.size() != 3) throw std::runtime_error("an entry is `kernel NAME FILE[:ENTRY]`");
  const size_t colon = words[2].find(':');
  all.push_back({.is_graph = words[0] == "graph",
                 .name = words[1],
                 .file = words[2].substr(0, colon),
                 .entry = colon == std::string::npos ? "" : words[2].substr(colon + 1)});
}

void read_line(const std::vector<std::string>& words, ProgramEntry& entry) {
  if (words[0] == "@tolerance" && words.size() == 2) {
    entry.tolerance = std::strtod(words[1].c_str(), nullptr);
    return;
  }
  if (words[0] == "@zero" && words.size() == 2) {
    entry.zeroed.push_back(words[1]);
    return;
  }
  ProgramEntry::Line line{.parameter = words[0]};
  size_t at = 1;
  if (at < words.size() && words[at] != "=") line.count = words[at++];
  if (at < words.size() && words[at] == "=") {
    line.data.assign(words.begin() + long(at) + 1, words.end());
    at = words.size();
  }
  if (at != words.size()) throw std::runtime_error("a line is `PARAMETER [COUNT] [= DATA]`");
  entry.lines.push_back(std::move(line));
}

/// A parameter of a kernel or of a graph.
struct ParameterView {
  const std::string& name;
  Role role;
  Type element;
  FormulaId count;
};

/// Parameters with their index into the buffers of the kernel or graph.
std::vector<std::pair<size_t, ParameterView>> parameters_of(const BenchProgram& p) {
  std::vector<std::pair<size_t, ParameterView>> all;
  if (p.is_graph) {
    for (size_t i = 0; i < p.graph().buffers.size(); ++i)
      if (const GraphBuffer& b = p.graph().buffers[i]; b.parameter)
        all.emplace_back(i, ParameterView{b.name, b.role, b.element, b.count});
  } else {
    for (size_t i = 0; i < p.kernel().buffers.size(); ++i)
      if (const vyre::Buffer& b = p.kernel().buffers[i];
          is_parameter(b.role) && b.role != Role::Scratch)
        all.emplace_back(i, ParameterView{b.name, b.role, b.element, b.count});
  }
  return all;
}

uint64_t scalar_bits(Type t, double value) {
  if (t == Type::F32) return std::bit_cast<uint32_t>(float(value));
  if (t == Type::F64) return std::bit_cast<uint64_t>(value);
  return uint64_t(int64_t(value)) & low_mask(width_of(t));
}

void read_text(BenchProgram& p, const ProgramEntry& entry, const std::string& text) {
  ParseOutcome parsed = parse(text, {.file_name = entry.file});
  if (!parsed.module) throw std::runtime_error(render(parsed.diagnostics, parsed.sources));
  const Diagnostics wrong = check(*parsed.module);
  if (has_errors(wrong)) throw std::runtime_error(render(wrong, parsed.sources));
  p.module = std::move(*parsed.module);
  const size_t count = entry.is_graph ? p.module.graphs.size() : p.module.kernels.size();
  if (!entry.entry.empty())
    p.index =
        entry.is_graph ? find_graph(p.module, entry.entry) : find_kernel(p.module, entry.entry);
  else if (count != 1)
    throw std::runtime_error(fmt::format("{} has {} entries; name one", entry.file, count));
  if (p.index == none)
    throw std::runtime_error(fmt::format("{} has no `{}`", entry.file, entry.entry));
}

template <class T>
T take(Result<T> result) {
  if (!result) throw std::runtime_error(render(result.errors(), {}));
  return std::move(*result);
}

using Optionals = std::vector<std::optional<uint64_t>>;

/// Fills in counts of inputs that have a formula.
void evaluate_counts(const BenchProgram& p, Optionals& counts, const Optionals& scalars) {
  const auto parameters = parameters_of(p);
  FormulaEnv env;
  env.len = [&](uint32_t i) { return static_cast<__int128>(counts[i].value_or(0)); };
  env.scalar = [&](uint32_t i) { return static_cast<__int128>(scalars[i].value_or(0)); };
  env.name = [](uint32_t i) { return std::to_string(i); };
  const FormulaPool& formulas = p.is_graph ? p.graph().formulas : p.kernel().formulas;
  for (const auto& [index, view] : parameters)
    if (!counts[index] && view.count != no_formula)
      counts[index] = take(evaluate(formulas, view.count, env, view.name));
}

/// Arguments with scalars set and counts of all buffers, as the program's formulas have them.
void resolve_sizes(BenchProgram& p, const ProgramEntry& entry, ProgramSize size) {
  const auto parameters = parameters_of(p);
  const size_t buffers = p.is_graph ? p.graph().buffers.size() : p.kernel().buffers.size();
  Optionals counts(buffers), scalars(buffers);
  for (const ProgramEntry::Line& line : entry.lines) {
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const auto& q) { return q.second.name == line.parameter; });
    if (found == parameters.end())
      throw std::runtime_error(fmt::format("unknown parameter `{}`", line.parameter));
    const auto& [index, view] = *found;
    if (view.role == Role::Scalar)
      scalars[index] = scalar_bits(view.element, select_number(line.count, size));
    else if (!line.count.empty())
      counts[index] = uint64_t(select_number(line.count, size));
  }
  evaluate_counts(p, counts, scalars);
  if (p.is_graph)
    p.shape = take(resolve_graph(p.graph(), counts, scalars));
  else
    p.launch = take(resolve_launch(p.kernel(), counts, scalars, std::nullopt));
  std::vector<uint64_t> all = p.launch.counts;
  if (p.is_graph) all = p.shape.counts;
  for (const auto& [index, view] : parameters) {
    if (view.role == Role::Scalar && !scalars[index])
      throw std::runtime_error(fmt::format("scalar `{}` has no value", view.name));
    p.arguments.push_back(
        {.name = view.name,
         .role = view.role,
         .element = view.element,
         .bits = scalars[index].value_or(0),
         .count = all[index],
         .zeroed = std::count(entry.zeroed.begin(), entry.zeroed.end(), view.name) > 0});
  }
}

}  // namespace

std::vector<ProgramEntry> parse_programs(std::string_view text) {
  std::vector<ProgramEntry> all;
  int number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string> words = words_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (words.empty()) continue;
    try {
      if (words[0] == "kernel" || words[0] == "graph")
        read_head(words, all);
      else if (all.empty())
        throw std::runtime_error("a parameter before the first entry");
      else
        read_line(words, all.back());
    } catch (const std::runtime_error& e) {
      throw std::runtime_error(fmt::format("programs.txt:{}: {}", number, e.what()));
    }
  }
  return all;
}

std::vector<ProgramEntry> program_entries(bool graphs) {
  std::vector<ProgramEntry> some;
  for (ProgramEntry& e : parse_programs(program_file("programs.txt")))
    if (e.is_graph == graphs) some.push_back(std::move(e));
  return some;
}

double select_number(const std::string& list, ProgramSize size) {
  std::string_view rest = list;
  for (int i = 0; i < int(size) && rest.find('/') != rest.npos; ++i)
    rest.remove_prefix(rest.find('/') + 1);
  const std::string one(rest.substr(0, rest.find('/')));
  char* end = nullptr;
  double value = std::strtod(one.c_str(), &end);
  if (*end == 'K' || *end == 'M') value *= *end++ == 'K' ? 1 << 10 : 1 << 20;
  if (one.empty() || *end) throw std::runtime_error(fmt::format("`{}` is not a number", one));
  return value;
}

BenchProgram make_program(const ProgramEntry& entry, const std::string& text, ProgramSize size) {
  BenchProgram p{.name = entry.name, .tolerance = entry.tolerance, .is_graph = entry.is_graph};
  try {
    read_text(p, entry, text);
    resolve_sizes(p, entry, size);
    uint64_t seed = 0;
    for (ProgramArgument& a : p.arguments) {
      ++seed;
      if (a.is_scalar() || !is_host_input(a.role)) continue;
      const auto line = std::find_if(entry.lines.begin(), entry.lines.end(),
                                     [&](const auto& l) { return l.parameter == a.name; });
      static const std::vector<std::string> any_bits;
      a.data = make_data(line == entry.lines.end() ? any_bits : line->data, a.element, a.count,
                         seed, size);
    }
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(fmt::format("{}: {}", entry.name, e.what()));
  }
  return p;
}

BenchProgram load_program(const ProgramEntry& entry, ProgramSize size) {
  const std::string text(program_file(entry.file));
  if (text.empty()) throw std::runtime_error(fmt::format("bench/{} is missing", entry.file));
  return make_program(entry, text, size);
}

}  // namespace bench
