#include "check/check_call.h"

#include <fmt/format.h>

#include <unordered_map>

#include "check/check_limits.h"
#include "check/length_match.h"
#include "ir/graph_walk.h"

namespace vyre {
namespace {

bool is_read_only(Role r) { return r == Role::In || r == Role::Uniform; }

class CallCheck {
 public:
  CallCheck(const Program& k, const Graph& g, const FormulaFacts& f, const GraphNode& c,
            bool is_reached, Diagnostics& list)
      : k_(k), g_(g), formulas_(f), call_(c), is_reached_(is_reached), list_(list) {}

  void run() {
    for (const Buffer& b : k_.buffers)
      if (b.role == Role::Scratch) check_scratch(b);
    check_grid();
    if (call_.args.size() != num_arguments(k_)) {
      add(Code::CallArgumentCount, fmt::format("{} takes {} arguments, not {}", quoted(k_.name),
                                               num_arguments(k_), call_.args.size()))
          .with_fix("give one argument for each parameter but the `scratch` ones, in order");
      return;
    }
    for (const CallArgument& a : arguments(k_, call_)) check_argument(*a.parameter, *a.given);
  }

 private:
  Diagnostic& add(Code code, std::string message) {
    list_.push_back(diagnose(code, call_.place, std::move(message)));
    return list_.back();
  }

  // Calls do not specify lengths.
  void check_scratch(const Buffer& b) {
    if (b.count != no_formula) return;
    add(Code::ScratchWithoutLength,
        fmt::format("the scratch parameter {} of {} has no length, and a call gives none",
                    quoted(b.name), quoted(k_.name)))
        .with_fix("declare its length in the kernel");
  }

  void check_grid() {
    if (k_.grid_dims == 0) {
      add(Code::CallGrid, fmt::format("{} has no grid, so a graph cannot call it", quoted(k_.name)))
          .with_fix("declare `grid(…)` in the kernel");
      return;
    }
    if (call_.grid.empty()) return;
    if (call_.grid.size() != k_.grid_dims)
      add(Code::CallGrid, fmt::format("the grid of {} has {} dimensions, not {}", quoted(k_.name),
                                      k_.grid_dims, call_.grid.size()))
          .with_fix("give as many counts as the kernel's grid has dimensions");
    for (const GraphElement& e : call_.grid) {
      if (!g_.buffers.contains(e.buffer)) {
        add(Code::BrokenProgram, "the buffer that this call takes its grid from does not exist");
        return;
      }
      const GraphBuffer& b = g_.buffers[e.buffer];
      if (b.role != Role::Scalar && is_integer(b.element)) continue;
      add(Code::CallGrid, fmt::format("a grid is read from a buffer of integers, but {} is {} {}",
                                      quoted(b.name), name(b.role), name(b.element)))
          .with_fix("use a buffer of u32");
    }
  }

  void check_argument(const Buffer& parameter, const GraphArg& arg) {
    if (arg.buffer != none && !g_.buffers.contains(arg.buffer)) {
      add(Code::BrokenProgram, "an argument of this call does not exist");
      return;
    }
    const GraphBuffer* given = arg.buffer == none ? nullptr : &g_.buffers[arg.buffer];
    const bool wants_scalar = parameter.role == Role::Scalar;
    const bool is_scalar = !given || given->role == Role::Scalar;
    if (wants_scalar != is_scalar) {
      add(Code::CallArgumentKind,
          fmt::format("{} of {} takes a {}, not a {}", quoted(parameter.name), quoted(k_.name),
                      wants_scalar ? "scalar" : "buffer", is_scalar ? "scalar" : "buffer"));
      return;
    }
    if (!given) return check_constant(parameter, arg.bits);
    if (given->element != parameter.element)
      add(Code::CallArgumentType,
          fmt::format("{} of {} is {}, but {} is {}", quoted(parameter.name), quoted(k_.name),
                      name(parameter.element), quoted(given->name), name(given->element)));
    if (is_scalar) return;
    check_role(parameter, *given);
    check_alias(parameter, *given, arg.buffer);
    check_length(parameter, *given, arg.buffer);
  }

  void check_constant(const Buffer& parameter, uint64_t bits) {
    if ((bits & ~low_mask(width_of(parameter.element))) == 0) return;
    add(Code::ConstantTooWide,
        fmt::format("the constant {:#x} has more bits than {}", bits, name(parameter.element)));
  }

  void check_role(const Buffer& parameter, const GraphBuffer& given) {
    if (is_read_only(parameter.role) || is_writable(given.role)) return;
    add(Code::CallWritesInput,
        fmt::format("{} writes to its parameter {}, but {} is `{}`", quoted(k_.name),
                    quoted(parameter.name), quoted(given.name), name(given.role)))
        .with_fix("pass a `buffer` of the graph, or its `out` or `inout`");
  }

  // Memory that is passed twice may only be read.
  void check_alias(const Buffer& parameter, const GraphBuffer& given, GraphBufferId buffer) {
    const auto [first, is_new] = passed_.emplace(buffer, &parameter);
    if (is_new) return;
    if (is_read_only(parameter.role) && is_read_only(first->second->role)) return;
    add(Code::CallAliasing,
        fmt::format("{} is given to {} twice, as {} ({}) and {} ({})", quoted(given.name),
                    quoted(k_.name), quoted(first->second->name), name(first->second->role),
                    quoted(parameter.name), name(parameter.role)))
        .with_fix("use two buffers, or one `inout` parameter");
    // A later read-only use is compared with the writing one.
    if (!is_read_only(parameter.role)) first->second = &parameter;
  }

  void check_length(const Buffer& parameter, const GraphBuffer& given, GraphBufferId buffer) {
    if (parameter.count == no_formula) return;
    const std::optional<__int128> excess = lengths_.excess(parameter, buffer);
    if (!excess || *excess == 0) return;
    uint64_t declared = 0;
    if (!is_reached_ && !k_.formulas.is_constant(parameter.count, &declared)) return;
    const std::optional<uint64_t> has = formulas_.constant(given.count);
    const auto elements = [](uint64_t n) {
      return fmt::format("{} element{}", n, n == 1 ? "" : "s");
    };
    add(Code::CallArgumentLength,
        has ? fmt::format("{} of {} has {}, but {} has {}", quoted(parameter.name), quoted(k_.name),
                          elements(uint64_t(*has + *excess)), quoted(given.name), *has)
            : fmt::format("{} of {} has {} {} than {}", quoted(parameter.name), quoted(k_.name),
                          elements(uint64_t(*excess > 0 ? *excess : -*excess)),
                          *excess > 0 ? "more" : "less", quoted(given.name)))
        .with_fix("make the lengths equal");
  }

  const Program& k_;
  const Graph& g_;
  const FormulaFacts& formulas_;
  const GraphNode& call_;
  const bool is_reached_;
  const LengthMatch lengths_{k_, g_, call_};
  Diagnostics& list_;
  std::unordered_map<GraphBufferId, const Buffer*> passed_;  // first parameter that took a buffer
};

}  // namespace

void check_call(const Program& kernel, const Graph& graph, const FormulaFacts& formulas,
                const GraphNode& call, bool is_reached, Diagnostics& list) {
  CallCheck(kernel, graph, formulas, call, is_reached, list).run();
}

}  // namespace vyre
