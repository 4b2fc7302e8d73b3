#include "tests/legalize/judge_util.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "check/check.h"
#include "generate/random.h"
#include "ir/ssa_builder.h"
#include "legalize/expand.h"
#include "tests/legalize/degrade_util.h"
#include "tests/legalize/forms_util.h"

namespace vyre::emit_exact {

Profile profile_of(std::string_view words) {
  auto parsed = parse_profile(words);
  if (!parsed) {
    fmt::print("{}\n", parsed.errors()[0].message);
    std::abort();
  }
  return *parsed;
}

Program op_program(Opcode code, Type type, const std::vector<Type>& operands,
                   std::optional<Fixed> fixed) {
  SsaBuilder b("op");
  std::vector<ValueId> values;
  for (size_t i = 0; i < operands.size(); ++i)
    b.program.buffers.push_back({std::string(1, char('a' + i)), Role::In, operands[i]});
  const Type result = result_type(info(code).result, type);
  const FormulaId n = b.program.formulas.len(0);
  const uint32_t out = uint32_t(operands.size());
  b.program.buffers.push_back({"r", Role::Out, result, n});
  b.program.workgroup = {256, 1, 1};
  b.program.grid = {n, no_formula, no_formula};
  b.program.grid_dims = 1;
  const ValueId i = b.op(Opcode::GlobalId, Type::Void, {}, 0);
  for (size_t k = 0; k < operands.size(); ++k)
    values.push_back(b.op(Opcode::Load, operands[k], {i}, MemoryRef{.buffer = BufferId(k)}.pack()));
  if (fixed)
    values.insert(fixed->first ? values.begin() : values.end(), b.constant(type, fixed->bits));
  const ValueId r = b.op(code, type, std::span<const ValueId>(values), 0);
  b.effect(Opcode::Store, result, {i, r}, MemoryRef{.buffer = BufferId(out)}.pack());
  return b.finish();
}

LaunchInputs op_inputs(const Program& p, const std::vector<std::vector<uint64_t>>& operands) {
  LaunchInputs in;
  in.data.resize(p.buffers.size());
  in.lengths.resize(p.buffers.size());
  for (size_t k = 0; k < operands.size(); ++k) {
    const size_t size = size_of(p.buffers[k].element);
    std::vector<std::byte> bytes(operands[k].size() * size);
    for (size_t i = 0; i < operands[k].size(); ++i)
      std::memcpy(&bytes[i * size], &operands[k][i], size);
    in.data[k] = std::move(bytes);
  }
  return in;
}

LaunchInputs expanded_inputs(const Program& p, const Program& expanded,
                             const LaunchInputs& inputs) {
  LaunchInputs in = inputs;
  in.data.resize(expanded.buffers.size());
  in.lengths.resize(expanded.buffers.size());
  size_t half = p.buffers.size();
  for (size_t i = 0; i < p.buffers.size(); ++i) {
    if (size_of(p.buffers[i].element) != 8) continue;
    if (size_of(expanded.buffers[i].element) == 4 && in.lengths[i]) *in.lengths[i] *= 2;
    if (p.buffers[i].role != Role::Scalar) continue;
    for (int k = 0; k < 2 && half < expanded.buffers.size(); ++k, ++half)
      if (in.data[i])
        in.data[half] = std::vector(in.data[i]->begin() + 4 * k, in.data[i]->begin() + 4 * k + 4);
  }
  return in;
}

Ran run_on_interpreter(const Program& program, const LaunchInputs& inputs, uint32_t subgroup) {
  auto outcome = interp::run(program, inputs, {.subgroup_size = subgroup});
  if (!outcome) return {{}, outcome.errors()[0].message};
  Ran ran{std::move(outcome->buffers), ""};
  return ran;
}

namespace {

std::string first_difference(const Program& p, const LaunchInputs& in, const Ran& a, const Ran& b) {
  if (a.failed != b.failed)
    return fmt::format("fails: \"{}\" instead of \"{}\"", b.failed, a.failed);
  if (!a.failed.empty()) return "";
  for (size_t k = 0; k < p.buffers.size(); ++k) {
    const size_t size = size_of(p.buffers[k].element);
    if (a.buffers[k].size() != b.buffers[k].size()) return "another size";
    for (size_t i = 0; i < a.buffers[k].size(); i += size) {
      uint64_t x = 0, y = 0;
      std::memcpy(&x, &a.buffers[k][i], size);
      std::memcpy(&y, &b.buffers[k][i], size);
      if (x == y) continue;
      std::string text =
          fmt::format("{}[{}] is {:#x} instead of {:#x}", p.buffers[k].name, i / size, y, x);
      for (size_t d = 0; d < p.buffers.size(); ++d) {
        const size_t n = size_of(p.buffers[d].element), at = i / size * n;
        if (!in.data[d] || at + n > in.data[d]->size()) continue;
        uint64_t z = 0;
        std::memcpy(&z, in.data[d]->data() + at, n);
        text += fmt::format(" {}={:#x}", p.buffers[d].name, z);
      }
      return text;
    }
  }
  return "";
}

std::string judge_expanded(const Program& p, const LaunchInputs& inputs, const Ran& expected,
                           const Program& expanded, const Profile& profile) {
  for (const Diagnostic& d : check(without_marks(expanded)))
    if (d.severity == Severity::Error) return "not legal: " + d.message;
  if (const std::string what = forbidden(expanded, profile); !what.empty())
    return "the device has no " + what;
  const uint32_t subgroup = profile.subgroup_size;
  const LaunchInputs given = expanded_inputs(p, expanded, inputs);
  const Ran good = run_on_interpreter(expanded, given, subgroup);
  if (auto d = first_difference(p, inputs, expected, good); !d.empty()) return "expanded: " + d;
  const Ran bad = run_on_interpreter(degrade(expanded, profile), given, subgroup);
  if (auto d = first_difference(p, inputs, expected, bad); !d.empty())
    return "on a bad device: " + d;
  return "";
}

}  // namespace

std::string judge(const Program& p, const LaunchInputs& inputs, const Profile& profile,
                  bool* differs) {
  const auto expanded = expand(p, profile), with_calls = expand(p, profile, 0, true);
  if (!expanded) return "refused: " + expanded.errors()[0].message;
  const uint32_t subgroup = profile.subgroup_size;
  const Ran expected = run_on_interpreter(p, inputs, subgroup);
  std::string wrong = judge_expanded(p, inputs, expected, *expanded, profile);
  if (!wrong.empty()) return wrong;
  if (marked_ops(*with_calls)) {
    const LaunchInputs given = expanded_inputs(p, *with_calls, inputs);
    const Ran marked = run_on_interpreter(*with_calls, given, subgroup);
    if (auto d = first_difference(p, inputs, expected, marked); !d.empty()) return "marked: " + d;
    wrong = judge_expanded(p, inputs, expected, with_forms(*with_calls, profile), profile);
    if (!wrong.empty()) return "with functions: " + wrong;
  }
  if (differs)
    *differs = !first_difference(p, inputs, expected,
                                 run_on_interpreter(degrade(p, profile), inputs, subgroup))
                    .empty();
  return "";
}

// ---- Values.

std::vector<uint64_t> corners(Type t) {
  std::vector<uint64_t> list;
  if (is_float(t)) {
    const uint32_t m = t == Type::F64 ? 52 : 23;
    const uint64_t bias = t == Type::F64 ? 1023 : 127, lead = 1ull << m, inf = (2 * bias + 1) << m;
    const auto power = [&](int64_t e) { return uint64_t(int64_t(bias) + e) << m; };
    list = {0,
            1,
            2,
            3,
            lead / 2,
            lead - 2,
            lead - 1,
            lead,
            lead + 1,
            2 * lead - 1,
            2 * lead,
            3 * lead,
            power(-64) - 1,
            power(-64),
            power(-63),
            power(-102),
            power(-101) + 1,
            power(-25),
            power(-1) - 1,
            power(-1),
            power(-1) + 1,
            power(0) - 1,
            power(0),
            power(0) + 1,
            power(0) + lead / 2,
            power(1) + lead / 4,
            power(1) - 1,
            power(m - 1) + 1,
            power(m),
            power(m) + 1,
            power(m + 1) - 1,
            power(m + 1) + 1,
            power(7),
            power(15),
            power(31) - 1,
            power(31),
            power(32) - 1,
            power(32),
            power(63) - 1,
            power(63),
            power(64) - 1,
            power(64),
            power(bias) + 1,
            inf - 1,
            inf,
            inf + 1,
            inf | lead / 2,
            inf | (lead - 1)};
    if (t == Type::F64) {  // around what f32 can hold
      for (const int64_t e : {-150, -149, -127, -126, 127, 128})
        for (const uint64_t d : {0ull, 1ull, 1ull << 28, (1ull << 28) + 1, 1ull << 29, 3ull << 28})
          list.push_back(power(e) + d), list.push_back(power(e) - d);
    } else {
      for (const uint32_t b : {0x4effffffu, 0x477fff00u, 0x437f0000u, 0x43000000u, 0x46fffe00u})
        list.push_back(b);
    }
    const size_t n = list.size();
    for (size_t i = 0; i < n; ++i) list.push_back(list[i] | 1ull << (width_of(t) - 1));
    return list;
  }
  const uint32_t w = width_of(t);
  list = {0, 1};
  if (t == Type::Bool) return list;
  for (uint32_t b = 0; b < w; b += b < 4 || b + 3 > w || (b > 20 && b < 36) ? 1 : 5)
    for (const uint64_t d : {~0ull, 0ull, 1ull}) {
      list.push_back(((1ull << b) + d) & low_mask(w));
      list.push_back((~(1ull << b) + d) & low_mask(w));
    }
  for (const uint64_t x : {3ull, 5ull, 7ull, 10ull, 100ull, 0x123456789abcdefull,
                           0xaaaaaaaaaaaaaaaaull, 0xffffff7fffffffull})
    list.push_back(x & low_mask(w));
  return list;
}

std::vector<std::vector<uint64_t>> corner_operands(const std::vector<Type>& types) {
  std::vector<std::vector<uint64_t>> lists, result(types.size());
  for (const Type t : types) lists.push_back(corners(t));
  // The third operand would make too many with all of the corners of f64.
  std::vector<size_t> at(types.size(), 0);
  const size_t step = types.size() > 2 ? 3 : 1;
  if (types.size() == 4) {  // insert: all of the fields, some of the values
    for (const uint64_t offset : {0, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, -1})
      for (const uint64_t n : {0, 1, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, -1})
        for (size_t i = 0; i < lists[0].size(); i += 3) {
          const uint64_t row[] = {lists[0][i], lists[1][lists[1].size() - 1 - i], offset, n};
          for (size_t k = 0; k < 4; ++k) result[k].push_back(row[k] & low_mask(width_of(types[k])));
        }
    return result;
  }
  while (true) {
    for (size_t k = 0; k < types.size(); ++k) result[k].push_back(lists[k][at[k]]);
    size_t k = 0;
    for (; k < types.size(); ++k) {
      at[k] += k == 2 ? 1 : step;
      if (at[k] < lists[k].size()) break;
      at[k] = k == 2 ? 0 : at[k] % lists[k].size() % step;
    }
    if (k == types.size()) return result;
  }
}

std::vector<std::vector<uint64_t>> random_operands(const std::vector<Type>& types, Opcode code,
                                                   uint64_t count, uint64_t seed) {
  lab::Random random(seed * 977 + uint64_t(code));
  std::vector<std::vector<uint64_t>> result(types.size());
  std::vector<std::vector<uint64_t>> lists;
  for (const Type t : types) lists.push_back(corners(t));
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t kind = random.below(8);
    const uint64_t around = random.next();
    for (size_t k = 0; k < types.size(); ++k) {
      const Type t = types[k];
      uint64_t bits = random.next() & low_mask(width_of(t));
      if (is_float(t)) {
        const uint32_t m = t == Type::F64 ? 52 : 23, bias = t == Type::F64 ? 1023 : 127;
        const uint64_t rest = bits & ~(uint64_t(2 * bias + 1) << m);
        const auto with = [&](int64_t e) { return rest | uint64_t(std::max<int64_t>(e, 0)) << m; };
        const uint64_t base = around % (2 * bias);
        if (kind == 1) bits = with(int64_t(base) + int64_t(random.below(7)) - 3);  // alike
        if (kind == 2)
          bits = with(k == 1 ? bias - int64_t(base) + int64_t(random.below(60))
                             : int64_t(base));                                    // tiny products
        if (kind == 3) bits = with(int64_t(random.below(40)));                    // small ones
        if (kind == 4) bits = rest;                                               // subnormal
        if (kind == 5) bits = with(bias + int64_t(random.below(2 * m + 8)) - 6);  // near integers
        if (kind == 5 && random.chance(50)) bits &= ~low_mask(m - uint32_t(random.below(8)));
        if (kind == 6 && k == 1)
          bits = with(int64_t(base) + bias - int64_t(random.below(26)));  // tiny quotients
        if (kind == 6 && k != 1) bits = with(std::min<int64_t>(int64_t(base), bias - 20));
        if (kind == 7 && random.chance(60))
          bits &= ~low_mask(uint32_t(random.below(m)));  // few bits
        if (kind == 7 && k == 2)
          bits = with(int64_t(result[0].back() >> m & (2 * bias + 1)) +
                      int64_t(result[1].back() >> m & (2 * bias + 1)) - bias +
                      int64_t(random.below(3)) - 1);
      } else if (kind < 4 && t != Type::Bool) {
        bits >>= random.below(width_of(t));
        if (random.chance(40)) bits = (~bits + 1) & low_mask(width_of(t));
      }
      if (random.chance(3)) bits = random.pick(lists[k]);
      if (t == Type::Bool) bits &= 1;
      result[k].push_back(bits);
    }
  }
  return result;
}

uint64_t random_cases() {
  const char* given = std::getenv("VYRE_EXACT_CASES");
  return given ? std::strtoull(given, nullptr, 10) : 3000;
}

}  // namespace vyre::emit_exact
