// Finds recursive functions among those that are checked without being expanded.

#include <fmt/format.h>

#include <unordered_map>

#include "text/lower/lower.h"

namespace vyre::text {
namespace {

constexpr size_t max_notes = 100;

/// A depth-first walk over the calls; a call of a function that is being visited closes a cycle.
/// Runs in time linear in the number of calls.
class RecursionSearch {
 public:
  explicit RecursionSearch(ModuleContext& context)
      : context_(context), calls_(context.checked_calls) {
    // The calls of a function are adjacent: each function is lowered once.
    for (uint32_t i = 0; i < calls_.size(); ++i)
      ++calls_of_.try_emplace(calls_[i].caller, Range{i, 0}).first->second.count;
  }

  void run() {
    for (const FunctionCall& call : calls_)
      if (visit(call.caller)) finish_visits();
  }

 private:
  enum class State : uint8_t { New, Open, Done };
  struct Visit {
    uint32_t function;
    uint32_t next;  // of its calls
  };

  bool visit(uint32_t function) {
    State& state = state_[function];
    if (state != State::New) return false;
    state = State::Open;
    path_.push_back({function, 0});
    return true;
  }

  void finish_visits() {
    while (!path_.empty()) {
      Visit& v = path_.back();
      const auto found = calls_of_.find(v.function);
      if (found == calls_of_.end() || v.next == found->second.count) {
        state_[v.function] = State::Done;
        path_.pop_back();
        continue;
      }
      const FunctionCall& call = calls_[found->second.begin + v.next++];
      if (const State s = state_[call.callee]; s == State::Open)
        report(call);
      else if (s == State::New)
        visit(call.callee);
    }
  }

  void report(const FunctionCall& call) {
    const Ast& ast = context_.ast;
    Diagnostic& d =
        context_.error(call.token, Code::RecursiveFunction,
                       fmt::format("`{}` calls itself", ast.text(ast.decls[call.callee].name)));
    for (size_t i = path_.size(); i-- > 1 && d.notes.size() < max_notes;) {
      const Visit& caller = path_[i - 1];
      d.note("called from here",
             ast.place(calls_[calls_of_[caller.function].begin + caller.next - 1].token));
    }
    d.note("functions are always inlined, so they cannot recurse").with_fix("write a loop");
  }

  ModuleContext& context_;
  const std::vector<FunctionCall>& calls_;
  std::unordered_map<uint32_t, Range> calls_of_;
  std::unordered_map<uint32_t, State> state_;
  std::vector<Visit> path_;
};

}  // namespace

void report_recursion(ModuleContext& context) {
  if (!context.ended) RecursionSearch(context).run();
}

}  // namespace vyre::text
