// Each rule of simplify as a program, and simplify on random programs.
#include <gtest/gtest.h>

#include "generate/generate.h"
#include "generate/random.h"
#include "ir/ssa_builder.h"
#include "opt/analysis/value_range.h"
#include "opt/passes/simplify.h"
#include "opt/passes/simplify_rules.h"
#include "tests/opt/pass_util.h"
#include "tests/opt/straight_line_util.h"

namespace vyre::opt {
namespace {

using lab::Random;
using Kind = RuleNode::Kind;

/// The left side of a rule as a kernel: variables are scalars, constants are as given.
struct Writer {
  const Rule& rule;
  Type t;
  std::array<uint64_t, Rule::most_variables> constants{};
  SsaBuilder b{"k"};
  std::array<BufferId, Rule::most_variables> scalars{};

  BufferId add_buffer(std::string name, Role role, Type element) {
    Buffer buffer;
    buffer.name = std::move(name);
    buffer.role = role;
    buffer.element = element;
    b.program.buffers.push_back(buffer);
    return BufferId(b.program.buffers.size() - 1);
  }

  ValueId write(uint8_t id) {
    const RuleNode& node = rule[id];
    if (node.kind == Kind::Variable)
      return b.op(Opcode::Scalar, rule.op_type(id, t), {}, scalars[node.index].value());
    if (node.kind == Kind::Constant) return b.constant(rule.op_type(id, t), constants[node.index]);
    if (node.kind == Kind::Literal)
      return b.constant(rule.op_type(id, t), rule.literal_bits(id, t));
    std::vector<ValueId> operands;
    for (uint8_t i = 0; i < node.count; ++i) operands.push_back(write(node.operands[i]));
    return b.op(node.code, rule.op_type(id, t), std::span<const ValueId>(operands));
  }

  Program run(const std::vector<Type>& types) {
    for (uint8_t i = 0; i < rule.variables; ++i)
      scalars[i] = add_buffer(std::string(1, char('a' + i)), Role::Scalar, types[i]);
    const BufferId out = add_buffer("out", Role::Out, rule.value_type(rule.left, t));
    const ValueId result = write(rule.left);
    MemoryRef memory;
    memory.buffer = out;
    b.effect(Opcode::Store, rule.value_type(rule.left, t), {b.constant_u32(0), result},
             memory.pack());
    b.return_();
    Program p = b.program;
    // One value for each scalar, however often the rule names it.
    IdMap<BufferId, ValueId> first(p.buffers.size());
    IdMap<ValueId, ValueId> map = identity(p.values);
    for (const ValueId v : map.ids()) {
      const OpId def = p.values[v].def;
      if (def == none || p.op(def).code != Opcode::Scalar) continue;
      ValueId& known = first[p.op(def).buffer()];
      if (known == none) known = v;
      map[v] = known;
    }
    replace_values(p, map);
    compact(p);
    return p;
  }
};

std::vector<Type> variable_types(const Rule& rule, Type t) {
  std::vector<Type> types(rule.variables, t);
  for (uint8_t id = 0; id < rule.nodes.size(); ++id)
    if (rule[id].kind == Kind::Variable) types[rule[id].index] = rule.op_type(id, t);
  return types;
}

TEST(SimplifyPrograms, every_rule_does_something_and_keeps_the_value) {
  Random random(3);
  const ExactFloats exact;
  constexpr Type types[] = {Type::Bool, Type::I8,  Type::U8,  Type::I16, Type::U16, Type::I32,
                            Type::U32,  Type::I64, Type::U64, Type::F32, Type::F64};
  for (const Rule& rule : all_rules())
    for (const Type t : types) {
      if (!contains(rule.text.types, t)) continue;
      int tried = 0;
      for (int n = 0; n < 4000 && tried < 5; ++n) {
        Writer w{rule, t};
        for (uint8_t i = 0; i < rule.constants; ++i) {
          uint64_t bits = random.next() >> random.below(64);
          if (random.below(3) == 0) bits = uint64_t{1} << random.below(width_of(t));
          if (t == Type::F32) bits = std::bit_cast<uint32_t>(float(1 << random.below(9)));
          if (t == Type::F64) bits = std::bit_cast<uint64_t>(double(1 << random.below(9)));
          if (i > 0 && is_integer(t) && random.below(4) == 0) bits |= ~w.constants[0];
          if (i > 0 && is_integer(t) && random.below(8) == 0) bits = ~w.constants[0];
          w.constants[i] = bits & low_mask(width_of(t));
        }
        for (uint8_t id = 0; id < rule.nodes.size(); ++id)  // an offset is u32, whatever T is
          if (rule[id].kind == Kind::Constant)
            w.constants[rule[id].index] &= low_mask(width_of(rule.op_type(id, t)));
        if (rule.condition != Rule::nothing && !rule.compute(rule.condition, t, w.constants))
          continue;
        ++tried;
        const std::vector<Type> leaves = variable_types(rule, t);
        const Program before = w.run(leaves);
        const PassResult after = run_once(simplify, before);
        ASSERT_TRUE(after.changed) << rule.text.left << " for " << name(t) << "\n" << print(before);

        constexpr size_t lanes = 64;
        std::map<std::string, Lanes> inputs;
        for (uint8_t i = 0; i < rule.variables; ++i) {
          Lanes& in = inputs[std::string(1, char('a' + i))];
          const size_t size = size_of(leaves[i]);
          in.resize(lanes * size);
          for (size_t l = 0; l < lanes; ++l) {
            uint64_t bits = (random.next() >> random.below(64)) & low_mask(width_of(leaves[i]));
            if (is_float(leaves[i]))
              bits = leaves[i] == Type::F32 ? std::bit_cast<uint32_t>(float(int(bits % 100)) - 50)
                                            : std::bit_cast<uint64_t>(double(int(bits % 100)) - 50);
            std::memcpy(&in[l * size], &bits, size);
          }
        }
        ASSERT_EQ(run_straight(before, lanes, inputs), run_straight(after.program, lanes, inputs))
            << rule.text.left << " for " << name(t) << "\n"
            << print(before) << print(after.program);
      }
      EXPECT_GT(tried, 0) << rule.text.left << " for " << name(t);
    }
}

/// Ranges see more of a simpler program now and then, so a second run may still find something; it
/// must come to rest soon.
TEST(SimplifyPrograms, comes_to_rest_on_random_programs) {
  size_t twice = 0, changed = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Program p = lab::generate(seed, {.graphs = false}).module.kernels[0];
    int rounds = 0;
    while (rounds < 6) {
      PassResult r = run_once(simplify, p);
      if (!r.changed) break;
      p = std::move(r.program);
      ++rounds;
    }
    EXPECT_LT(rounds, 6) << seed;
    changed += rounds > 0;
    twice += rounds > 1;
  }
  std::printf("%zu changed, %zu more than once\n", changed, twice);
  EXPECT_GT(changed, 100u);
  EXPECT_LT(twice * 10, changed);
}

}  // namespace
}  // namespace vyre::opt
