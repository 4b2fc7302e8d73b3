#include "runtime/cache/cache_key.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/runtime/cache/cache_util.h"
#include "tests/wire/samples_util.h"
#include "wire/fingerprint.h"

namespace vyre::driver {
namespace {

/// Programs, devices and options that must not share code.
std::map<std::string, CacheKey> different_keys() {
  const Program p = toy_program(1);
  const DeviceInfo d = toy_device();
  std::map<std::string, CacheKey> keys;
  keys["itself"] = make_key(p, d, {});
  keys["another constant"] = make_key(toy_program(2), d, {});
  keys["another shared size"] = make_key(toy_program(1, 65), d, {});
  keys["another order of bindings"] = make_key(toy_program(1, 64, true), d, {});
  Program other = p;
  other.workgroup[0] = 32;
  keys["another workgroup"] = make_key(other, d, {});

  keys["a subgroup size"] = make_key(p, d, {.subgroup_size = 8});
  keys["not stoppable"] = make_key(p, d, {.stoppable = false});
  keys["an extra"] = make_key(p, d, {.extra = {"a=1"}});
  keys["two extras"] = make_key(p, d, {.extra = {"a=1", "b=2"}});
  keys["extras joined"] = make_key(p, d, {.extra = {"a=1b=2"}});
  keys["an empty extra"] = make_key(p, d, {.extra = {""}});

  const auto device = [&](const char* name, auto change) {
    DeviceInfo copy = d;
    change(copy);
    keys[name] = make_key(p, copy, {});
  };
  device("another backend", [](DeviceInfo& i) { i.backend = "to"; });
  device("another target", [](DeviceInfo& i) { i.target = "toy_2"; });
  device("the same letters elsewhere", [](DeviceInfo& i) {
    i.backend = "toyt";
    i.target = "oy_1";
  });
  device("another driver", [](DeviceInfo& i) { i.driver_version = "1.1"; });
  device("another default", [](DeviceInfo& i) { i.limits.default_subgroup_size = 16; });

  CacheKeyFields fields = *read_key(keys["itself"].bytes);
  fields.build += "x";
  keys["another build"] = seal(fields);
  return keys;
}

TEST(CacheKey, differs_in_everything_that_code_depends_on) {
  std::map<std::string, std::string> by_bytes;
  std::map<Hash128, std::string> by_hash;
  for (const auto& [name, key] : different_keys()) {
    EXPECT_TRUE(by_bytes.emplace(key.bytes, name).second) << name << " = " << by_bytes[key.bytes];
    EXPECT_TRUE(by_hash.emplace(key.hash, name).second) << name << " = " << by_hash[key.hash];
  }
}

TEST(CacheKey, is_the_same_for_the_same_and_for_other_names_and_places) {
  const Program p = toy_program(1);
  Program renamed = p;
  renamed.name = "other";
  renamed.buffers[0].name = "q";
  for (std::string& s : renamed.strings) s += "x";
  renamed.locations[0].line = 99;
  const CompileOptions unsorted{.extra = {"b=2", "a=1"}}, sorted{.extra = {"a=1", "b=2"}};
  EXPECT_EQ(make_key(p, toy_device(), sorted).bytes,
            make_key(renamed, toy_device(), unsorted).bytes);
  EXPECT_EQ(nameless_wire(p), nameless_wire(renamed));
  EXPECT_TRUE(same_but_for_names(p, renamed));
}

TEST(CachedProgram, arrays_are_the_same_only_if_the_wire_form_is) {
  std::vector<Program> programs = {toy_program(1), toy_program(2), toy_program(1, 65),
                                   toy_program(1, 64, true)};
  const auto add = [&](const Program& from, auto change) { change(programs.emplace_back(from)); };
  const Program p = rich_program();
  programs.push_back(p);
  add(p, [](Program& q) { q.op_id += "x"; });
  add(p, [](Program& q) { q.workgroup[1] = 7; });
  add(p, [](Program& q) { q.subgroup = 16; });
  add(p, [](Program& q) { q.grid_dims = 1; });
  add(p, [](Program& q) { q.grid[1] = q.grid[0]; });
  add(p, [](Program& q) { q.requires_forward_progress = false; });
  add(p, [](Program& q) { q.table_bytes[0] ^= std::byte{1}; });
  add(p, [](Program& q) { q.formulas.nodes.back().value ^= 1; });
  for (const OpId id : p.ops.ids()) {
    if (info(p.ops[id].code).attribute == AttrKind::Bits)
      add(p, [&](Program& q) { q.ops[id].attr ^= 1; });
    if (p.ops[id].operands.count == 2)
      add(p, [&](Program& q) {
        auto list = q.list(q.ops[id].operands);
        std::swap(list[0], list[1]);
      });
  }
  for (uint32_t seed = 0; seed < 50; ++seed) programs.push_back(random_program(seed));
  std::vector<CacheBytes> wires;
  for (const Program& q : programs) wires.push_back(nameless_wire(q));
  for (size_t i = 0; i < programs.size(); ++i)
    for (size_t j = 0; j < programs.size(); ++j) {
      if (same_but_for_names(programs[i], programs[j])) {
        EXPECT_EQ(wires[i], wires[j]) << i << " " << j;
      }
    }
  EXPECT_TRUE(same_but_for_names(p, rich_program()));
  EXPECT_TRUE(same_but_for_names(nameless(p), p));
}

TEST(CacheKey, reads_back_what_it_holds) {
  for (const auto& [name, key] : different_keys()) {
    const auto fields = read_key(key.bytes);
    ASSERT_TRUE(fields) << name;
    EXPECT_EQ(seal(*fields).bytes, key.bytes) << name;
  }
  const auto fields = read_key(different_keys()["two extras"].bytes);
  EXPECT_EQ(fields->fingerprint, fingerprint(toy_program(1)));
  EXPECT_EQ(fields->extra, (std::vector<std::string>{"a=1", "b=2"}));
  EXPECT_EQ(fields->build, build_id());
}

TEST(CacheKey, hostile_bytes_are_no_key) {
  const std::string good = different_keys()["with lines"].bytes;
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(read_key(good.substr(0, n))) << n;
  EXPECT_FALSE(read_key(good + "x"));
  for (size_t n = 0; n < good.size(); ++n)
    for (const char c : {'\0', '\1', '\x7f', '\xff'}) {
      std::string bytes = good;
      bytes[n] = c;
      if (const auto fields = read_key(bytes)) {
        EXPECT_EQ(seal(*fields).bytes, bytes);
      }
    }
}

TEST(CacheKey, build_is_known_to_the_linker) {
  // "0.1.0 b10d204 eb8e…": without the last word, edited trees of one commit would share code.
  const std::string& id = build_id();
  EXPECT_GE(id.size() - id.rfind(' '), 17u) << id;
}

}  // namespace
}  // namespace vyre::driver
