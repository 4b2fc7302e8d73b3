#include "differential/opt_subjects.h"

#include <fmt/format.h>

#include "generate/random.h"
#include "ir/expand_functions.h"
#include "ir/ir_builder.h"
#include "opt/pipeline.h"
#include "transform/long_loops.h"

namespace vyre::lab {
namespace {

using PassList = std::vector<const opt::PassDescriptor*>;

/// A single pass runs on one of this many programs.
constexpr uint32_t turns = 4;

/// All kernels of the program optimized; null: with the passes of the release profile.
Result<Generated> optimized(const Generated& g, const PassList* passes) {
  Generated out = g;
  opt::OptimizeOptions options;
  if (passes) options.passes = *passes;
  options.schedule.check = true;
  options.schedule.dump = g.leaves_files;
  for (Program& kernel : out.module.kernels)
    if (const auto report = opt::optimize(kernel, options); !report) return report.errors();
  return out;
}

/// Runs the optimized program with the inputs and outputs of the given one. Buffers of the host
/// keep their numbers; later ones may have been removed.
Result<Outputs> run_optimized(const Generated& g, const PassList* passes,
                              const std::function<Result<Outputs>(const Generated&)>& run) {
  auto out = optimized(g, passes);
  if (!out) return out.errors();
  if (g.is_graph()) return run(*out);
  const size_t left = out->module.kernels[0].buffers.size();
  if (out->inputs.data.size() > left) out->inputs.data.resize(left);
  if (out->inputs.lengths.size() > left) out->inputs.lengths.resize(left);
  auto got = run(*out);
  if (got && !got->buffers.empty()) got->buffers.resize(g.module.kernels[0].buffers.size());
  return got;
}

Result<Outputs> interpret(const Generated& g) { return reference(g); }

/// Some of the passes, in a random order; passes that a pass requires come before it. `last` is the
/// last of them, unless it is required earlier.
PassList random_passes(uint64_t seed, const opt::PassDescriptor* last = nullptr) {
  Random random(seed ^ 0x6f70743a72616e64ull);
  PassList chosen;
  const auto all = opt::all_passes();
  const auto has = [&](std::string_view name) {
    for (const auto* p : chosen)
      if (p->name == name) return true;
    return false;
  };
  const std::function<void(const opt::PassDescriptor*)> add = [&](const opt::PassDescriptor* pass) {
    if (has(pass->name)) return;
    for (const std::string_view name : pass->requires_passes) add(opt::find_pass(name));
    chosen.push_back(pass);
  };
  const uint64_t wanted = random.between(2, all.size());
  for (uint64_t i = 0; i < wanted; ++i) add(random.pick(all));
  if (last) add(last);
  return chosen;
}

}  // namespace

void assert_marks(Program& p) {
  std::vector<OpId> marked;
  walk(p, [&](OpId op) {
    if (info(p.op(op).code).attribute == AttrKind::Memory && p.memory(op).in_bounds)
      marked.push_back(op);
  });
  for (const OpId op : marked) {
    IrBuilder b(p);
    b.before(op);
    // A negative index is a large number, and the last element of the access must be in bounds.
    const Op o = p.op(op);
    const ValueId index = b.op(Opcode::Cast, Type::U64, {p.operand(op, 0)});
    uint64_t more = 0;
    if (o.code == Opcode::LoadN) more = o.results.count - 1;
    if (o.code == Opcode::StoreN) more = o.operands.count - 2;
    if (o.code == Opcode::LoadAs) more = size_of(o.type) - 1;
    const ValueId last = b.op(Opcode::SatAdd, Type::U64, {index, b.constant(Type::U64, more)});
    const ValueId count = b.op(Opcode::Len64, Type::Void, {}, p.op(op).buffer().value());
    const ValueId inside = b.op(Opcode::Lt, Type::U64, {last, count});
    const ValueId code = b.constant(Type::U32, 4242);
    b.effect(Opcode::Assert, Type::Void, {inside, code});
  }
  compact(p);
}

namespace {

Result<Outputs> run_with_asserts(const Generated& g) {
  const PassList passes = random_passes(g.seed, opt::find_pass("eliminate_bounds_checks"));
  return run_optimized(g, &passes, [](const Generated& optimized) {
    Generated with_asserts = optimized;
    for (Program& kernel : with_asserts.module.kernels) assert_marks(kernel);
    return reference(with_asserts);
  });
}

/// Runs every innermost loop in chunks of a few iterations, as emitters for GPUs divide long ones.
Result<Outputs> run_divided(const Generated& g) {
  Generated divided = g;
  for (Program& kernel : divided.module.kernels) {
    expand_functions(kernel);
    divide_long_loops(kernel, {.unpolled_trips = 0, .chunk_ops = 64, .whiles = true});
  }
  return reference(divided);
}

}  // namespace

std::vector<Subject> opt_subjects() {
  std::vector<Subject> list;
  uint32_t turn = 0;
  for (const opt::PassDescriptor* pass : opt::all_passes()) {
    Subject s;
    s.name = fmt::format("opt:{}", pass->name);
    s.run = [pass](const Generated& g) {
      const PassList one = {pass};
      return run_optimized(g, &one, interpret);
    };
    s.turns = turns;
    s.turn = turn++ % turns;
    list.push_back(std::move(s));
  }
  list.push_back(
      {"opt:pipeline", [](const Generated& g) { return run_optimized(g, nullptr, interpret); }});
  list.push_back({"opt:random", [](const Generated& g) {
                    const PassList passes = random_passes(g.seed);
                    return run_optimized(g, &passes, interpret);
                  }});
  list.push_back({"opt:in_bounds", run_with_asserts});
  list.push_back({"opt:long_loops", run_divided});
  return list;
}

std::vector<Subject> optimized_subjects(const Subject& device) {
  Subject pipeline = device;
  pipeline.name = fmt::format("opt:pipeline:{}", device.name);
  pipeline.run = [run = device.run](const Generated& g) { return run_optimized(g, nullptr, run); };
  Subject random = device;
  random.name = fmt::format("opt:random:{}", device.name);
  random.run = [run = device.run](const Generated& g) {
    const PassList passes = random_passes(g.seed + 1);
    return run_optimized(g, &passes, run);
  };
  random.turns = turns;
  return {std::move(pipeline), std::move(random)};
}

}  // namespace vyre::lab
