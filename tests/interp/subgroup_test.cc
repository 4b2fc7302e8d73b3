// Subgroup operations against tests/data/subgroup.tbl, and the moves of values that it does not
// have.

#include <fstream>
#include <map>
#include <sstream>

#include "tests/interp/interp_kernel_util.h"

namespace vyre::interp {
namespace {

using U = std::vector<uint32_t>;

struct Line {
  std::string text;
  Opcode code;
  Type type;
  uint32_t size, lanes;
  std::vector<uint64_t> in, out;
};

std::vector<Line> read_table() {
  std::vector<Line> lines;
  std::ifstream file(VYRE_SOURCE_DIR "/tests/data/subgroup.tbl");
  for (std::string text; std::getline(file, text);) {
    std::istringstream words(text);
    std::string op, type, s, n, word;
    words >> op >> type >> s >> n;
    Line l{text,
           *find_op(op),
           *find_type(type),
           uint32_t(std::stoul(s.substr(2))),
           uint32_t(std::stoul(n.substr(2))),
           {},
           {}};
    while (words >> word && word != "=") l.in.push_back(std::stoull(word, nullptr, 16));
    while (words >> word) l.out.push_back(std::stoull(word, nullptr, 16));
    lines.push_back(std::move(l));
  }
  return lines;
}

std::vector<std::byte> pack(const std::vector<uint64_t>& values, uint32_t size) {
  std::vector<std::byte> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(bytes.data() + i * size, &values[i], size);
  return bytes;
}

TEST(Subgroup, table_lines_with_a_fixed_and_a_chosen_size) {
  const auto lines = read_table();
  ASSERT_GT(lines.size(), 100u);
  for (const Line& l : lines)
    for (const bool fixed : {true, false}) {
      Kernel k(l.lanes);
      const Type result = result_type(info(l.code).result, l.type);
      const uint32_t x = k.buffer(Role::In, l.type), y = k.buffer(Role::Out, result, l.lanes);
      k.grid(l.lanes);
      if (fixed) k.program.subgroup = l.size;
      const Type t = info(l.code).types == TypeSet::None ? Type::Void : l.type;
      k.store(y, k.gid(), k.op(l.code, t, {k.load(x, k.gid())}));
      LaunchInputs in;
      in.data.push_back(pack(l.in, size_of(l.type)));
      Options options;
      options.subgroup_size = fixed ? 32 : l.size;
      ASSERT_EQ(must_run(k.finish(), in, options).buffers[y], pack(l.out, size_of(result)))
          << l.text;
    }
}

TEST(Subgroup, each_subgroup_of_a_workgroup_is_its_own) {
  Kernel k(5, 4);  // 20 lanes: subgroups of 8, 8 and 4 in linear order
  const uint32_t y = k.buffer(Role::Out, Type::U32, 20), lanes = k.buffer(Role::Out, Type::U32, 20);
  k.program.subgroup = 8;
  k.grid(5, 4);
  const ValueId l = k.add(k.lid(0), k.mul(k.lid(1), k.u32(5)));
  k.store(y, l, k.op(Opcode::SubgroupAdd, Type::U32, {l}));
  k.store(lanes, l, k.add(k.id(Opcode::LaneId), k.mul(k.id(Opcode::SubgroupSize), k.u32(100))));
  const auto out = must_run(k.finish());
  U sums(20), ids(20);
  for (uint32_t i = 0; i < 20; ++i) {
    sums[i] = i < 8 ? 28 : i < 16 ? 92 : 70;
    ids[i] = 800 + i % 8;
  }
  EXPECT_EQ(from_bytes<uint32_t>(out.buffers[y]), sums);
  EXPECT_EQ(from_bytes<uint32_t>(out.buffers[lanes]), ids);
}

/// Lane l of 12 (subgroups of 8, the second partial) gets code(100 + l, amount(l)).
U shuffled(Opcode code, uint32_t amount, bool varying) {
  Kernel k(12);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 12);
  k.program.subgroup = 8;
  k.grid(12);
  const ValueId by = varying ? k.add(k.lid(), k.u32(amount)) : k.u32(amount);
  k.store(y, k.lid(), k.op(code, Type::U32, {k.add(k.lid(), k.u32(100)), by}));
  return from_bytes<uint32_t>(must_run(k.finish()).buffers[y]);
}

TEST(Subgroup, shuffles_from_lanes_that_do_not_exist_give_0) {
  EXPECT_EQ(shuffled(Opcode::SubgroupBroadcast, 3, false),
            (U{103, 103, 103, 103, 103, 103, 103, 103, 111, 111, 111, 111}));
  EXPECT_EQ(shuffled(Opcode::SubgroupBroadcast, 5, false),
            (U{105, 105, 105, 105, 105, 105, 105, 105, 0, 0, 0, 0}));
  EXPECT_EQ(shuffled(Opcode::SubgroupBroadcast, 8, false), U(12, 0));
  EXPECT_EQ(shuffled(Opcode::SubgroupShuffleUp, 2, false),
            (U{0, 0, 100, 101, 102, 103, 104, 105, 0, 0, 108, 109}));
  EXPECT_EQ(shuffled(Opcode::SubgroupShuffleDown, 2, false),
            (U{102, 103, 104, 105, 106, 107, 0, 0, 110, 111, 0, 0}));
  EXPECT_EQ(shuffled(Opcode::SubgroupShuffleDown, 0xffffffff, false), U(12, 0));
  EXPECT_EQ(shuffled(Opcode::SubgroupShuffleUp, 0xffffffff, false), U(12, 0));
  EXPECT_EQ(shuffled(Opcode::SubgroupShuffleXor, 4, false),
            (U{104, 105, 106, 107, 100, 101, 102, 103, 0, 0, 0, 0}));
  EXPECT_EQ(shuffled(Opcode::SubgroupShuffleXor, 9, false), U(12, 0));
  EXPECT_EQ(shuffled(Opcode::SubgroupShuffle, 1, true),
            (U{101, 102, 103, 104, 105, 106, 107, 0, 0, 0, 0, 0}));
}

TEST(Subgroup, moves_every_type) {
  for (int t = 1; t < type_count; ++t) {
    const Type type = Type(t);
    if (!is_value(type)) continue;
    Kernel k(4);
    const uint32_t x = k.buffer(Role::In, type), y = k.buffer(Role::Out, type, 4);
    k.grid(4);
    k.store(y, k.lid(), k.op(Opcode::SubgroupShuffleXor, type, {k.load(x, k.lid()), k.u32(1)}));
    const std::vector<uint64_t> in = {0, 1, 1, 0}, expected = {1, 0, 0, 1};
    LaunchInputs inputs;
    inputs.data.push_back(pack(in, size_of(type)));
    EXPECT_EQ(must_run(k.finish(), inputs).buffers[y], pack(expected, size_of(type))) << name(type);
  }
}

TEST(Subgroup, votes) {
  Kernel k(12);
  const uint32_t any = k.buffer(Role::Out, Type::Bool, 12),
                 all = k.buffer(Role::Out, Type::Bool, 12);
  k.program.subgroup = 4;
  k.grid(12);
  const ValueId c = k.lt(k.lid(), k.u32(6));  // all of subgroup 0, half of 1, none of 2
  k.store(any, k.lid(), k.op(Opcode::SubgroupAny, Type::Void, {c}));
  k.store(all, k.lid(), k.op(Opcode::SubgroupAll, Type::Void, {c}));
  const auto out = must_run(k.finish());
  EXPECT_EQ(from_bytes<uint8_t>(out.buffers[any]),
            (std::vector<uint8_t>{1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(from_bytes<uint8_t>(out.buffers[all]),
            (std::vector<uint8_t>{1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Subgroup, subgroups_in_different_arms_do_not_mix) {
  Kernel k(16);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 16);
  k.program.subgroup = 8;
  k.grid(16);
  const VarId v = k.declare(k.u32(0));
  k.begin_if(k.op(Opcode::SubgroupAny, Type::Void, {k.lt(k.lid(), k.u32(8))}));
  k.set(v, k.op(Opcode::SubgroupAdd, Type::U32, {k.lid()}));
  k.begin_else();
  k.set(v, k.op(Opcode::SubgroupMax, Type::U32, {k.lid()}));
  k.end_if();
  k.store(y, k.lid(), k.get(v));
  for (uint32_t i = 0; const uint32_t got : from_bytes<uint32_t>(must_run(k.finish()).buffers[y]))
    EXPECT_EQ(got, i++ < 8 ? 28u : 15u);
}

TEST(Subgroup, bool_logic) {
  Kernel k(6);
  const uint32_t y = k.buffer(Role::Out, Type::Bool, 18);
  k.program.subgroup = 8;
  k.grid(6);
  const ValueId c = k.op(Opcode::Ne, Type::U32, {k.lid(), k.u32(2)});
  k.store(y, k.lid(), k.op(Opcode::SubgroupAnd, Type::Bool, {c}));
  k.store(y, k.add(k.lid(), k.u32(6)), k.op(Opcode::SubgroupOr, Type::Bool, {c}));
  k.store(y, k.add(k.lid(), k.u32(12)), k.op(Opcode::SubgroupXor, Type::Bool, {c}));
  const auto got = from_bytes<uint8_t>(must_run(k.finish()).buffers[y]);
  for (uint32_t i = 0; i < 18; ++i) EXPECT_EQ(got[i], i < 6 ? 0 : 1) << i;  // five are true
}

TEST(Subgroup, sizes_that_cannot_be_are_refused) {
  Kernel k(4);
  k.grid(4);
  const Program p = k.finish();
  for (const uint32_t size : {0u, 3u, 48u, 128u}) {
    Options o;
    o.subgroup_size = size;
    EXPECT_EQ(must_fail(p, {}, o).at(0).code, Code::BadSubgroupSize) << size;
  }
}

}  // namespace
}  // namespace vyre::interp
