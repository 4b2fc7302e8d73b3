// Loads, stores and atomics: bounds in every space, storage types, byte offsets, neighbours.

#include "interp/interp_memory.h"

#include <sys/mman.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "ir/eval/eval.h"
#include "tests/interp/interp_kernel_util.h"

namespace vyre::interp {
namespace {

using U = std::vector<uint32_t>;

constexpr Type index_types[] = {Type::I8,  Type::U8,  Type::I16, Type::U16,
                                Type::I32, Type::U32, Type::I64, Type::U64};

TEST(Memory, loads_and_stores_outside_do_nothing_in_every_space) {
  for (const Role role : {Role::InOut, Role::Scratch, Role::Shared, Role::Private}) {
    Kernel k(16);
    const uint32_t b = k.buffer(role, Type::U32, 8);
    const uint32_t y = k.buffer(Role::Out, Type::U32, 32);
    k.grid(16);
    k.store(b, k.lid(), k.add(k.lid(), k.u32(100)));  // lanes 8 to 15 are dropped
    k.barrier(Scope::Workgroup);
    k.store(y, k.lid(), k.load(b, k.lid()));
    k.store(y, k.add(k.lid(), k.u32(16)), k.load(b, k.op(Opcode::Not, Type::U32, {k.lid()})));
    LaunchInputs in;
    if (role == Role::InOut) in.data.push_back(to_bytes(U(8)));
    const auto out = must_run(k.finish(), in);
    const U got = from_bytes<uint32_t>(out.buffers[y]);
    for (uint32_t l = 0; l < 32; ++l) {
      const uint32_t expected = l < 8 ? 100 + l : 0;
      // A private array has one copy a lane: element l of lane l.
      EXPECT_EQ(got[l], expected) << name(role) << " lane " << l;
    }
  }
}

TEST(Memory, constant_and_dynamic_indices_of_every_type_are_compared_as_numbers) {
  for (const Type t : index_types) {
    Kernel k(1);
    const uint32_t x = k.buffer(Role::In, Type::U32);
    const uint32_t y = k.buffer(Role::Out, Type::U32, 4);
    k.grid(1);
    const uint64_t minus_one = low_mask(width_of(t));
    k.store(y, k.u32(0), k.load(x, k.constant(t, 3)));
    k.store(y, k.u32(1), k.load(x, k.constant(t, minus_one)));
    k.store(y, k.u32(2), k.load(x, k.constant(t, 100)));
    k.store(y, k.constant(t, minus_one), k.u32(9));
    U data(100);
    std::iota(data.begin(), data.end(), 1u);
    const U got =
        from_bytes<uint32_t>(must_run(k.finish(), Given().data(0, data).inputs).buffers[y]);
    EXPECT_EQ(got, (U{4, 0, 0, 0})) << name(t);
  }
}

TEST(Memory, an_index_is_never_truncated) {
  Kernel k(1);
  const uint32_t x = k.buffer(Role::In, Type::U32);
  const uint32_t y = k.buffer(Role::Out, Type::U32, 3);
  k.grid(1);
  k.store(y, k.u32(0), k.load(x, k.constant(Type::U64, (1ull << 32) + 1)));
  k.store(y, k.u32(1), k.load(x, k.constant(Type::I64, ~0ull << 32 | 1)));
  k.store(y, k.u32(2), k.load(x, k.constant(Type::U64, 1)));
  EXPECT_EQ(
      from_bytes<uint32_t>(must_run(k.finish(), Given().data(0, U{5, 6, 7}).inputs).buffers[y]),
      (U{0, 0, 6}));
}

TEST(Memory, neighbouring_lanes_at_every_offset_and_at_the_tail) {
  for (const Type t : {Type::U32, Type::I32, Type::U64, Type::I64, Type::U16})
    for (const uint32_t offset : {0u, 1u, 7u, 37u, 63u, 64u, 65u, 0xffffffffu - 10}) {
      Kernel k(64);
      const uint32_t x = k.buffer(Role::In, Type::U16);
      const uint32_t y = k.buffer(Role::Out, Type::U16, 100);
      k.grid(64);
      const ValueId i = k.op(Opcode::Cast, t, {k.add(k.gid(), k.u32(offset))});
      k.store(y, i, k.load(x, i));
      std::vector<uint16_t> data(100);
      std::iota(data.begin(), data.end(), uint16_t(1));
      const auto got =
          from_bytes<uint16_t>(must_run(k.finish(), Given().data(0, data).inputs).buffers[y]);
      std::vector<uint16_t> expected(100, 0);
      for (uint32_t g = 0; g < 64; ++g) {
        const uint32_t at32 = g + offset;
        const uint64_t at = t == Type::U16 ? uint16_t(at32) : at32;
        if (at < 100 && !(t == Type::I32 && int32_t(at32) < 0)) expected[at] = uint16_t(at + 1);
      }
      ASSERT_EQ(got, expected) << name(t) << " offset " << offset;
    }
}

TEST(Memory, zero_length_buffers) {
  Kernel k(4);
  const uint32_t x = k.buffer(Role::In, Type::F32);
  const uint32_t y = k.buffer(Role::Out, Type::F32, 0);
  const uint32_t z = k.buffer(Role::Out, Type::U32, 1);
  k.grid(4);
  k.store(y, k.gid(), k.load(x, k.gid()));
  k.store(z, k.u32(0), k.add(k.op(Opcode::Len, Type::Void, {}, x), k.u32(1)));
  const auto out = must_run(k.finish(), Given().data<float>(0, {}).inputs);
  EXPECT_TRUE(out.buffers[y].empty());
  EXPECT_EQ(from_bytes<uint32_t>(out.buffers[z]), U{1});
}

TEST(Memory, bools_are_bytes_and_any_other_byte_is_true) {
  Kernel k(4);
  const uint32_t x = k.buffer(Role::In, Type::Bool);
  const uint32_t y = k.buffer(Role::Out, Type::Bool, 4);
  const uint32_t z = k.buffer(Role::Out, Type::Bool, 4);
  k.grid(4);
  k.store(y, k.gid(), k.load(x, k.gid()));
  k.store(z, k.gid(),
          k.op(Opcode::LoadAs, Type::Bool, {k.gid()}, MemoryRef{.buffer = BufferId(x)}.pack()));
  const auto out = must_run(k.finish(), Given().data<uint8_t>(0, {0, 1, 2, 0x80}).inputs);
  EXPECT_EQ(from_bytes<uint8_t>(out.buffers[y]), (std::vector<uint8_t>{0, 1, 1, 1}));
  EXPECT_EQ(from_bytes<uint8_t>(out.buffers[z]), (std::vector<uint8_t>{0, 1, 1, 1}));
}

TEST(Memory, narrow_stores_leave_their_neighbours_alone) {
  Kernel k(16);
  const uint32_t y = k.buffer(Role::InOut, Type::U8);
  k.grid(16);
  k.begin_if(k.eq(k.rem(k.gid(), k.u32(3)), k.u32(0)));
  k.store(y, k.gid(), k.constant(Type::U8, 0));
  k.end_if();
  std::vector<uint8_t> expected(16, 0xaa);
  const std::vector<uint8_t> before = expected;
  for (int i = 0; i < 16; i += 3) expected[i] = 0;
  EXPECT_EQ(from_bytes<uint8_t>(must_run(k.finish(), Given().data(0, before).inputs).buffers[y]),
            expected);
}

TEST(Memory, half_floats_convert_both_ways) {
  for (const Type t : {Type::F16, Type::BF16}) {
    Kernel k(64);
    const uint32_t x = k.buffer(Role::In, t), y = k.buffer(Role::Out, t, 65536),
                   z = k.buffer(Role::Out, Type::F32, 65536);
    k.grid(65536);
    k.store(y, k.gid(), k.load(x, k.gid()));
    k.store(z, k.gid(), k.load(x, k.gid()));
    std::vector<uint16_t> all(65536);
    std::iota(all.begin(), all.end(), uint16_t(0));
    const auto out = must_run(k.finish(), Given().data(0, all).inputs);
    const auto got = from_bytes<uint16_t>(out.buffers[y]);
    const auto wide = from_bytes<float>(out.buffers[z]);
    for (uint32_t i = 0; i < 65536; ++i) {
      const float f = t == Type::F16 ? from_f16(uint16_t(i)) : from_bf16(uint16_t(i));
      ASSERT_EQ(got[i], std::isnan(f) ? (t == Type::F16 ? 0x7e00 : 0x7fc0) : i);
      ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]),
                std::isnan(f) ? canonical_nan_f32 : std::bit_cast<uint32_t>(f));
    }
  }
}

TEST(Memory, stored_nans_are_canonical) {
  Kernel k(4);
  const uint32_t x = k.buffer(Role::In, Type::F32), y = k.buffer(Role::Out, Type::F32, 4);
  const uint32_t x64 = k.buffer(Role::In, Type::F64), y64 = k.buffer(Role::Out, Type::F64, 4);
  k.grid(4);
  k.store(y, k.gid(), k.load(x, k.gid()));
  k.store(y64, k.gid(), k.load(x64, k.gid()));
  const auto out = must_run(
      k.finish(),
      Given()
          .data<uint32_t>(x, {0xffc12345, 0x7f800001, 0xff800000, 0x80000000})
          .data<uint64_t>(x64, {0xfff8000000000001, 0x7ff0000000000001, 0x7ff0000000000000, 1})
          .inputs);
  EXPECT_EQ(from_bytes<uint32_t>(out.buffers[y]),
            (U{0x7fc00000, 0x7fc00000, 0xff800000, 0x80000000}));
  EXPECT_EQ(from_bytes<uint64_t>(out.buffers[y64]),
            (std::vector<uint64_t>{0x7ff8000000000000, 0x7ff8000000000000, 0x7ff0000000000000, 1}));
}

TEST(Memory, load_as_reads_any_offset_and_needs_all_its_bytes) {
  Kernel k(16);
  const uint32_t x = k.buffer(Role::In, Type::U8), y = k.buffer(Role::Out, Type::U32, 16);
  const uint32_t z = k.buffer(Role::Out, Type::U64, 16);
  k.grid(16);
  k.store(y, k.gid(),
          k.op(Opcode::LoadAs, Type::U32, {k.gid()}, MemoryRef{.buffer = BufferId(x)}.pack()));
  const ValueId signed_at = k.op(Opcode::Cast, Type::I8, {k.sub(k.gid(), k.u32(1))});
  k.store(z, k.gid(),
          k.op(Opcode::LoadAs, Type::U64, {signed_at}, MemoryRef{.buffer = BufferId(x)}.pack()));
  std::vector<uint8_t> data(11);
  std::iota(data.begin(), data.end(), uint8_t(1));
  const auto out = must_run(k.finish(), Given().data(0, data).inputs);
  const auto got = from_bytes<uint32_t>(out.buffers[y]);
  const auto got64 = from_bytes<uint64_t>(out.buffers[z]);
  for (uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(got[i], i + 4 <= 11 ? 0x04030201u + i * 0x01010101u : 0) << i;
    EXPECT_EQ(got64[i],
              i >= 1 && i - 1 + 8 <= 11 ? 0x0807060504030201u + (i - 1) * 0x0101010101010101u : 0)
        << i;
  }
}

TEST(Memory, load_n_and_store_n_check_each_element) {
  for (const Type t : {Type::U32, Type::I32, Type::U64, Type::I64, Type::U8}) {
    Kernel k(8);
    const uint32_t x = k.buffer(Role::In, Type::U32), y = k.buffer(Role::Out, Type::U32, 10);
    k.grid(8);
    // Indices -1, 1, 3, … 13, each with two neighbours; at 8 bits -1 is 255.
    const ValueId i =
        k.op(Opcode::Cast, t,
             {k.op(Opcode::Cast, Type::I32, {k.sub(k.mul(k.gid(), k.u32(2)), k.u32(1))})});
    const auto pair = k.load_n(Type::U32, i, 2, MemoryRef{.buffer = BufferId(x)}.pack());
    k.store_n(Type::U32, i, pair, MemoryRef{.buffer = BufferId(y)}.pack());
    const U got = from_bytes<uint32_t>(
        must_run(k.finish(), Given().data(0, U{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}).inputs).buffers[y]);
    // A signed -1 has element 0 as its second neighbour; an unsigned one is far outside and never
    // wraps.
    EXPECT_EQ(got, (U{is_signed(t) ? 1u : 0u, 2, 3, 4, 5, 6, 7, 8, 9, 10})) << name(t);
  }
}

TEST(Memory, consecutive_bits_that_wrap_are_not_consecutive_places) {
  const uint64_t bytes = (1ull << 32) + 4096;  // address space only: pages come when touched
  void* const room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(room, MAP_FAILED);
  std::byte* const base = static_cast<std::byte*>(room);
  const View view{base, bytes, bytes, 0};
  base[0] = std::byte{1};
  base[(1ull << 32) - 1] = std::byte{2};
  base[1ull << 32] = std::byte{3};
  base[1ull << 31] = std::byte{4};
  std::vector<uint32_t> index(32);
  std::iota(index.begin(), index.end(), 0xfffffff0u);
  const std::vector<uint8_t> active(32, 1);
  std::vector<uint8_t> out(32, 9);
  Access a{&view, 32, true, active.data(), index.data(), out.data(), nullptr, nullptr, 0, nullptr};
  find_load(Type::U8, Type::U32)(a);
  EXPECT_EQ(out[15], 2);
  EXPECT_EQ(out[16], 1);
  std::iota(index.begin(), index.end(), 0x7ffffff0u);  // as i32 the second half is negative
  find_load(Type::U8, Type::I32)(a);
  EXPECT_EQ(out[16], 0);
  find_load(Type::U8, Type::U32)(a);
  EXPECT_EQ(out[16], 4);
  munmap(room, bytes);
}

TEST(Memory, tables_and_scalars_and_lengths) {
  Kernel k(8);
  const uint32_t t = k.buffer(Role::Table, Type::U16, 4);
  const uint32_t a = k.buffer(Role::Scalar, Type::I8), y = k.buffer(Role::Out, Type::U32, 8);
  k.program.buffers[t].table_offset = 2;
  k.program.table_bytes = to_bytes<uint16_t>({99, 10, 20, 30, 40, 98});
  k.grid(8);
  const ValueId scalar = k.op(Opcode::Cast, Type::U32, {k.op(Opcode::Scalar, Type::I8, {}, a)});
  const ValueId entry = k.op(Opcode::Cast, Type::U32, {k.load(t, k.gid())});
  const ValueId length = k.op(Opcode::Cast, Type::U32, {k.op(Opcode::Len64, Type::Void, {}, y)});
  k.store(y, k.gid(), k.add(k.add(scalar, entry), k.mul(length, k.u32(1000))));
  EXPECT_EQ(
      from_bytes<uint32_t>(must_run(k.finish(), Given().data<int8_t>(a, {-2}).inputs).buffers[y]),
      (U{8008, 8018, 8028, 8038, 7998, 7998, 7998, 7998}));
}

TEST(Memory, private_arrays_are_zero_for_every_invocation) {
  Kernel k(4);
  const uint32_t w = k.buffer(Role::Private, Type::U32, 3),
                 y = k.buffer(Role::Out, Type::U32, 4096);
  k.grid(4096);
  const ValueId before = k.load(w, k.rem(k.gid(), k.u32(3)));
  for (uint32_t i = 0; i < 3; ++i) k.store(w, k.u32(i), k.u32(77));
  k.store(y, k.gid(), before);
  EXPECT_EQ(from_bytes<uint32_t>(must_run(k.finish()).buffers[y]), U(4096, 0));
}

// ---- Atomics.

template <class T>
struct AtomicCase {
  Opcode code;
  T before, value, after;
};
template <class T>
void check_atomics(Type t, const std::vector<AtomicCase<T>>& cases) {
  for (const AtomicCase<T>& c : cases)
    for (const Type index : {Type::U32, Type::I8, Type::U64}) {
      Kernel k(1);
      const uint32_t x = k.buffer(Role::InOut, t), old = k.buffer(Role::Out, t, 2);
      k.grid(1);
      const ValueId v =
          k.constant(t, static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(c.value)));
      k.store(old, k.u32(0), k.atomic(c.code, x, {k.constant(index, 1), v}));
      k.store(old, k.u32(1), k.atomic(c.code, x, {k.constant(index, 3), v}));  // outside
      const auto out = must_run(k.finish(), Given().data<T>(0, {T(1), c.before, T(2)}).inputs);
      EXPECT_EQ(from_bytes<T>(out.buffers[x]), (std::vector<T>{T(1), c.after, T(2)}))
          << mnemonic(c.code) << ' ' << name(t);
      EXPECT_EQ(from_bytes<T>(out.buffers[old]), (std::vector<T>{c.before, T(0)}))
          << mnemonic(c.code) << ' ' << name(t);
    }
}

TEST(Atomics, each_op_on_each_type) {
  check_atomics<uint32_t>(Type::U32, {{Opcode::AtomicAdd, 0xffffffff, 2, 1},
                                      {Opcode::AtomicSub, 1, 2, 0xffffffff},
                                      {Opcode::AtomicMin, 0x80000000, 3, 3},
                                      {Opcode::AtomicMax, 0x80000000, 3, 0x80000000},
                                      {Opcode::AtomicAnd, 12, 10, 8},
                                      {Opcode::AtomicOr, 12, 10, 14},
                                      {Opcode::AtomicXor, 12, 10, 6},
                                      {Opcode::AtomicExchange, 5, 6, 6}});
  check_atomics<int32_t>(Type::I32, {{Opcode::AtomicAdd, INT32_MAX, 1, INT32_MIN},
                                     {Opcode::AtomicSub, INT32_MIN, 1, INT32_MAX},
                                     {Opcode::AtomicMin, 3, -4, -4},
                                     {Opcode::AtomicMax, 3, -4, 3},
                                     {Opcode::AtomicExchange, 1, -1, -1}});
  check_atomics<int64_t>(Type::I64, {{Opcode::AtomicAdd, INT64_MAX, 1, INT64_MIN},
                                     {Opcode::AtomicMin, 3, -4, -4},
                                     {Opcode::AtomicMax, -9, -4, -4},
                                     {Opcode::AtomicAnd, -1, 7, 7},
                                     {Opcode::AtomicOr, 8, 7, 15},
                                     {Opcode::AtomicXor, -1, 1, -2}});
  check_atomics<uint64_t>(Type::U64, {{Opcode::AtomicAdd, ~0ull, 2, 1},
                                      {Opcode::AtomicMin, ~0ull, 3, 3},
                                      {Opcode::AtomicMax, ~0ull, 3, ~0ull},
                                      {Opcode::AtomicSub, 0, 1, ~0ull},
                                      {Opcode::AtomicExchange, 1, 2, 2}});
}

TEST(Atomics, cas_load_and_store) {
  Kernel k(1);
  const uint32_t x = k.buffer(Role::InOut, Type::U32), old = k.buffer(Role::Out, Type::U32, 3);
  k.grid(1);
  k.store(old, k.u32(0), k.atomic(Opcode::AtomicCas, x, {k.u32(0), k.u32(5), k.u32(50)}));
  k.store(old, k.u32(1), k.atomic(Opcode::AtomicCas, x, {k.u32(1), k.u32(5), k.u32(50)}));
  k.store(old, k.u32(2), k.atomic(Opcode::AtomicLoad, x, {k.u32(2)}));
  k.effect(Opcode::AtomicStore, Type::U32, {k.u32(3), k.u32(9)},
           MemoryRef{.buffer = BufferId(x)}.pack());
  k.effect(Opcode::AtomicStore, Type::U32, {k.u32(4), k.u32(9)},
           MemoryRef{.buffer = BufferId(x)}.pack());
  const auto out = must_run(k.finish(), Given().data(0, U{5, 6, 7, 8}).inputs);
  EXPECT_EQ(from_bytes<uint32_t>(out.buffers[x]), (U{50, 6, 7, 9}));
  EXPECT_EQ(from_bytes<uint32_t>(out.buffers[old]), (U{5, 6, 7}));
}

TEST(Atomics, float_add_rounds_each_time_and_stores_canonical_nans) {
  Kernel k(4);
  const uint32_t x = k.buffer(Role::InOut, Type::F32), v = k.buffer(Role::In, Type::F32);
  k.grid(4);
  k.atomic(Opcode::AtomicAdd, x, {k.gid(), k.load(v, k.gid())});
  const auto out =
      must_run(k.finish(), Given()
                               .data<uint32_t>(0, {0x4b800000, 0x7f800000, 0x00000001, 0x80000000})
                               .data<uint32_t>(1, {0x3f800000, 0xff800000, 0x00000001, 0x80000000})
                               .inputs);
  EXPECT_EQ(from_bytes<uint32_t>(out.buffers[x]),
            (U{0x4b800000, 0x7fc00000, 0x00000002, 0x80000000}));
}

TEST(Atomics, only_active_lanes_take_part) {
  for (const Options& options : all_schedules()) {
    Kernel k(64);
    const uint32_t y = k.buffer(Role::Out, Type::U32, 2);
    k.grid(1000);
    k.begin_if(k.lt(k.rem(k.gid(), k.u32(10)), k.u32(3)));
    k.atomic(Opcode::AtomicAdd, y, {k.u32(0), k.gid()});
    k.begin_else();
    k.atomic(Opcode::AtomicMax, y, {k.u32(1), k.gid()});
    k.end_if();
    uint32_t sum = 0, most = 0;
    for (uint32_t i = 0; i < 1024; ++i) i % 10 < 3 ? sum += i : most = i;
    EXPECT_EQ(from_bytes<uint32_t>(must_run(k.finish(), {}, options).buffers[y]), (U{sum, most}));
  }
}

}  // namespace
}  // namespace vyre::interp
