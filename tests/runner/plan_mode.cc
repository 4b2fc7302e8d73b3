// Mode plan: the plan of a graph, and that it does not change results.
//
// Every block states the whole plan for its lengths: launches, elided buffers, reused memory,
// cleared buffers, and why calls stay separate launches. The graph then runs on the interpreter,
// and with and without the plan on every available device; all must agree.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "differential/device_spec.h"
#include "plan/plan_file.h"
#include "runtime/registry.h"
#include "runtime/run_graph.h"
#include "tests/runner/block_runner.h"
#include "tests/runner/run_observation.h"
#include "tests/runner/test_file.h"

namespace vyre::runner {
namespace {

/// A line of a plan as a test says it.
struct Said {
  Expect kind = Expect::Plan;
  std::string text;
  std::string why;  // of a refusal, whose text is the name alone
};

std::string_view key_of(Expect kind) {
  switch (kind) {
    case Expect::Plan: return "plan";
    case Expect::Elided: return "elided";
    case Expect::Reused: return "reused";
    case Expect::Cleared: return "cleared";
    default: return "refused";
  }
}

bool overlap(const plan::PlannedGraph& p, GraphBufferId a, GraphBufferId b) {
  const plan::Placement x = p.plan.reuse.placement[a], y = p.plan.reuse.placement[b];
  if (x.slot == plan::Placement::own || x.slot != y.slot) return false;
  const Graph& g = p.fused.graph();
  return x.offset < y.offset + p.fused.shape.bytes(g, b) &&
         y.offset < x.offset + p.fused.shape.bytes(g, a);
}

std::vector<Said> describe(const plan::PlannedGraph& p, const Module& m, const Graph& g) {
  const GraphSteps steps = flatten(g);
  const auto kernel = [&](uint32_t node) { return m.kernels[steps[node].node->kernel].name; };
  std::vector<Said> all;
  std::vector<std::string> elided, cleared;
  for (const plan::FusionGroup& group : p.plan.fusion.groups) {
    std::string text;
    for (size_t i = 0; i < group.calls.size(); ++i)
      text += i == 0 ? kernel(group.calls[0])
                     : fmt::format(" + {} ({})", kernel(group.calls[i]), name(group.joins[i - 1]));
    all.push_back({Expect::Plan, std::move(text), ""});
    for (const GraphBufferId b : group.elided) elided.push_back(g.buffers[b].name);
  }
  if (!elided.empty())
    all.push_back({Expect::Elided, fmt::format("{}", fmt::join(elided, " ")), ""});
  const Graph& fused = p.fused.graph();
  for (const GraphBufferId a : fused.buffers.ids())
    for (const GraphBufferId b : fused.buffers.ids())
      if (a < b && overlap(p, a, b))
        all.push_back({Expect::Reused,
                       fmt::format("{} {}", fused.buffers[a].name, fused.buffers[b].name), ""});
  for (const auto& [arm, buffer] : p.plan.reuse.clears)
    cleared.push_back(fused.buffers[buffer].name);
  if (!cleared.empty())
    all.push_back({Expect::Cleared, fmt::format("{}", fmt::join(cleared, " ")), ""});
  for (const plan::FusionRefusal& r : p.plan.fusion.refusals)
    all.push_back({Expect::Refused, kernel(r.call), r.why});
  return all;
}

/// `far "a piece" "another"`: the name and all pieces are there.
bool fits(const Expectation& e, const Said& said) {
  const std::vector<std::string> words = split_words(e.text);
  if (e.kind != said.kind) return false;
  if (e.kind != Expect::Refused) return fmt::format("{}", fmt::join(words, " ")) == said.text;
  if (words.empty() || words[0] != said.text) return false;
  for (size_t i = 1; i < words.size(); ++i)
    if (said.why.find(words[i]) == std::string::npos) return false;
  return true;
}

std::string line_of(const Said& s) {
  return s.why.empty() ? fmt::format("// {}: {}", key_of(s.kind), s.text)
                       : fmt::format("// {}: {} \"{}\"", key_of(s.kind), s.text, s.why);
}

class PlanBlock {
 public:
  PlanBlock(const TestFile& test, const RunBlock& block, Verdict& verdict)
      : test_(test), block_(block), verdict_(verdict) {}

  /// The lines that are true of the block today; none if it could not be planned.
  std::vector<std::string> run() {
    if (!load()) return {};
    compare_plan();
    const Observation whole = observe(target_, cli::execute(target_, *launch_));
    for (const Expectation& e : block_.expectations)
      if (!is_of_plan(e.kind))
        if (const std::string m = mismatch(e, whole); !m.empty()) fail(m, e.line);
    run_on_devices(whole);
    return blessed(whole);
  }

 private:
  bool load() {
    cli::LoadOptions options = test_.load;
    auto constants = cli::parse_constants(block_.launch.flags.constants);
    if (!constants) return fail_with(constants.errors());
    options.constants.merge(*constants);
    loaded_ = cli::load_module_bytes(test_.text, test_.path, options);
    if (!loaded_.module) return fail_with(loaded_.diagnostics);
    auto target = cli::choose_target(loaded_, block_.launch.name, test_.path);
    if (!target) return fail_with(target.errors());
    target_ = std::move(*target);
    if (!target_.graph) {
      fail(fmt::format("`{}` is no graph", target_.name()));
      return false;
    }
    auto launch = cli::bind_launch(block_.launch.flags, target_);
    if (!launch) return fail_with(launch.errors());
    launch_ = std::move(*launch);
    const auto shape =
        resolve_graph(*target_.graph, launch_->inputs.data, launch_->inputs.lengths, 0);
    if (!shape) return fail_with(shape.errors());
    // The interpreter's limits and a fixed cost table, so that the plan is the same on every
    // machine.
    plan::PlanOptions how;
    const auto choice = driver::choose("interp");
    if (!choice) return fail_with(choice.errors());
    how.fusion = driver::fusion_options(choice->backend->probe(nullptr)[choice->index]);
    how.fusion.costs = opt::cpu_costs;
    auto planned = plan::plan_graph(*target_.module, *target_.graph, *shape, how);
    if (!planned) return fail_with(planned.errors());
    planned_ = std::move(*planned);
    return true;
  }

  void compare_plan() {
    said_ = describe(planned_, *target_.module, *target_.graph);
    kept_.assign(said_.size(), nullptr);
    size_t expected = 0;
    for (const Expectation& e : block_.expectations) {
      if (!is_of_plan(e.kind)) continue;
      ++expected;
      // Launches and refusals come in order; two calls may have one name.
      size_t at = 0;
      while (at < said_.size() && (kept_[at] || !fits(e, said_[at]))) ++at;
      bool in_order = true;
      for (size_t later = at + 1; later < said_.size(); ++later)
        in_order = in_order && !(kept_[later] && said_[later].kind == e.kind);
      if (at == said_.size())
        fail(fmt::format("the plan has no `{}: {}`", key_of(e.kind), e.text), e.line);
      else if (!in_order)
        fail(fmt::format("`{}: {}` is in the wrong order", key_of(e.kind), e.text), e.line);
      if (at < said_.size()) kept_[at] = &e;
    }
    if (expected == 0) fail("no `// plan:` says what is expected");
    for (size_t i = 0; i < said_.size(); ++i)
      if (!kept_[i]) fail("not expected: " + line_of(said_[i]).substr(3));
  }

  void run_on_devices(const Observation& whole) {
    for (const lab::PresentDevice& d : lab::present_devices()) {
      run_on(d.name, "unplanned", whole, false, nullptr);
      run_on(d.name, "planned", whole, true, nullptr);
    }
    // By the plan above, as a file has it.
    const auto read =
        plan::read_plan(plan::write_plan(planned_, *target_.module, *target_.graph), "the plan");
    if (!read) return fail("the plan cannot be read back:\n" + brief(read.errors()));
    run_on("interp", "from a file", whole, true, std::make_shared<const plan::GraphPlan>(*read));
  }

  void run_on(const std::string& name, std::string_view how, const Observation& whole, bool planned,
              std::shared_ptr<const plan::GraphPlan> plan) {
    auto device = driver::Device::open(name);
    if (!device) return fail(fmt::format("{}: {}", name, brief(device.errors())));
    driver::RunOptions options;
    options.fuse = options.reuse = planned;
    options.plan = std::move(plan);
    options.time_limit = launch_->options.time_limit;
    const auto ran = driver::run_graph(*device, *target_.module, *target_.graph,
                                       {launch_->inputs.data, launch_->inputs.lengths}, options);
    Observation got;
    if (!ran) got.errors = ran.errors();
    for (const cli::Parameter& p : target_.parameters)
      if (ran && is_host_output(p.role))
        got.outputs.push_back({p.name, p.element, ran->buffers[p.buffer]});
    if (const std::string d = difference(whole, got); !d.empty())
      fail(fmt::format("on {}, {}: {}", name, how, d));
  }

  std::vector<std::string> blessed(const Observation& whole) const {
    std::vector<std::string> lines;
    for (size_t i = 0; i < said_.size(); ++i)
      lines.push_back(kept_[i] ? fmt::format("// {}: {}", key_of(said_[i].kind), kept_[i]->text)
                               : line_of(said_[i]));
    std::vector<Expectation> of_run;
    for (const Expectation& e : block_.expectations)
      if (!is_of_plan(e.kind)) of_run.push_back(e);
    if (!of_run.empty())
      for (std::string& line : expected_lines(of_run, whole)) lines.push_back(std::move(line));
    return lines;
  }

  bool fail_with(const Diagnostics& errors) {
    fail(brief(errors));
    return false;
  }
  void fail(const std::string& what, std::optional<size_t> line = {}) {
    verdict_.fail(fmt::format("line {}: {}", line.value_or(block_.line) + 1, what));
  }

  const TestFile& test_;
  const RunBlock& block_;
  Verdict& verdict_;
  cli::LoadedModule loaded_;
  cli::Target target_;
  std::optional<cli::Launch> launch_;
  plan::PlannedGraph planned_;
  std::vector<Said> said_;
  std::vector<const Expectation*> kept_;  // by said_: the line that expects it
};

}  // namespace

Verdict test_plan(const TestFile& test) {
  Verdict verdict;
  const auto blocks = read_run_blocks(test, verdict, true);
  if (!verdict.failures.empty()) return verdict;
  std::vector<bool> dropped(test.lines.size());
  std::vector<std::vector<std::string>> inserted(test.lines.size() + 1);
  for (const RunBlock& block : blocks) {
    const std::vector<std::string> lines = PlanBlock(test, block, verdict).run();
    if (lines.empty()) continue;  // what cannot be planned is not blessed
    for (const Expectation& e : block.expectations)
      for (size_t i = 0; i < e.lines; ++i) dropped[e.line + i] = true;
    inserted[block.insert_at] = lines;
  }
  if (verdict.failures.empty()) return verdict;
  std::vector<std::string> lines;
  for (size_t i = 0; i <= test.lines.size(); ++i) {
    lines.insert(lines.end(), inserted[i].begin(), inserted[i].end());
    if (i < test.lines.size() && !dropped[i]) lines.push_back(test.lines[i]);
  }
  verdict.blessed = join_lines(lines);
  return verdict;
}

}  // namespace vyre::runner
