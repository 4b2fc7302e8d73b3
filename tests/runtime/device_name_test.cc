#include "runtime/device_name.h"

#include <gtest/gtest.h>

#include "runtime/registry.h"
#include "runtime/run_kernel.h"
#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

using Strings = std::vector<std::string>;

TEST(DeviceName, has_options_in_brackets) {
  const auto name = parse_device_name("cuda:1[threads=1,isa=x86-64-v2,split,subgroup=8]");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->device, "cuda:1");
  EXPECT_TRUE(name->split);
  EXPECT_EQ(name->subgroup_size, 8u);
  EXPECT_EQ(name->extra, (Strings{"isa=x86-64-v2", "threads=1"}));
  EXPECT_TRUE(name->has_options());
  EXPECT_FALSE(parse_device_name("cuda:1")->has_options());
}

TEST(DeviceName, malformed_names_are_errors) {
  for (const char* wrong :
       {"", "[split]", "cpu[", "cpu[threads=1", "cpu[=1]", "cpu[]", "cpu[a=1,]", "cpu[split]x"})
    EXPECT_EQ(code_of(parse_device_name(wrong)), Code::UnknownDevice) << wrong;
  for (const char* wrong : {"cpu[subgroup=3]", "cpu[subgroup]", "cpu[subgroup=]", "cpu[split=1]",
                            "cpu[subgroup=128]", "cpu[subgroup=08]"})
    EXPECT_EQ(code_of(parse_device_name(wrong)), Code::BadOptionValue) << wrong;
  for (const char* wrong : {"cpu[a=1,a=2]", "cpu[split,split]"})
    EXPECT_EQ(code_of(parse_device_name(wrong)), Code::GivenTwice) << wrong;
}

TEST(DeviceName, lists_are_split_outside_of_brackets) {
  EXPECT_EQ(split_device_names("a,cpu[b=1,c=2],d"), (Strings{"a", "cpu[b=1,c=2]", "d"}));
}

TEST(DeviceOptions, words_and_numbers_have_ranges) {
  const DeviceOption table[] = {
      {.name = "n", .type = DeviceOption::Type::Integer, .min = 2, .max = 10},
      {.name = "w", .type = DeviceOption::Type::Word, .values = "in|out|random:N"},
      {.name = "t", .type = DeviceOption::Type::Text, .values = "list"},
  };
  const Strings good = {"n=2",   "n=10", "w=in",      "w=random:18446744073709551615",
                        "t=a b", "t=",   "coarsen=16"};
  EXPECT_TRUE(option_mistakes(good, table, "toy").empty());
  for (const char* wrong :
       {"n=1", "n=11", "n=", "n", "n=2x", "n=-2", "n=0x2", "n=2 ", "w=", "w=i", "w=in|out",
        "w=random:", "w=random:N", "w=random:x", "w=random", "t", "coarsen=0", "coarsen=17"}) {
    const auto mistakes = option_mistakes(Strings{wrong}, table, "toy");
    ASSERT_EQ(mistakes.size(), 1u) << wrong;
    EXPECT_EQ(mistakes[0].code, Code::BadOptionValue) << wrong;
    EXPECT_FALSE(mistakes[0].fix.empty());
  }
  const auto unknown = option_mistakes(Strings{"coarse=1", "=1", "", "zebra=1"}, table, "toy");
  ASSERT_EQ(unknown.size(), 4u);
  for (const Diagnostic& d : unknown) EXPECT_EQ(d.code, Code::UnknownDeviceOption);
  EXPECT_EQ(unknown[0].fix, "write `coarsen`");
}

TEST(DeviceOptions, tables_of_all_backends_are_sound) {
  for (const Probed& p : probe_all())
    for (const DeviceInfo& d : p.devices) {
      EXPECT_FALSE(d.options.empty()) << d.backend;
      for (const DeviceOption& o : d.options) {
        EXPECT_FALSE(o.sentence.empty()) << o.name;
        EXPECT_EQ(o.type == DeviceOption::Type::Integer, o.max > 0) << o.name;
        EXPECT_EQ(find_option(o.name, common_options()), nullptr) << o.name;
        EXPECT_EQ(find_option(o.name, name_options()), nullptr) << o.name;
      }
    }
}

TEST(Registry, names_have_options_of_their_device) {
  EXPECT_EQ(choose("interp[schedule=reverse,split]")->name.extra, (Strings{"schedule=reverse"}));
  EXPECT_TRUE(choose("auto[split,coarsen=1]"));
  const auto unknown = choose("interp[shedule=reverse]");
  ASSERT_EQ(code_of(unknown), Code::UnknownDeviceOption);
  EXPECT_EQ(unknown.errors()[0].fix, "write `schedule`");
  EXPECT_EQ(code_of(choose("interp[threads=1]")), Code::UnknownDeviceOption);
  EXPECT_EQ(code_of(choose("auto[schedule=reverse]")), Code::UnknownDeviceOption);
  EXPECT_EQ(code_of(choose("interp[schedule=sideways]")), Code::BadOptionValue);
  EXPECT_EQ(code_of(choose("interp[schedule]")), Code::BadOptionValue);
  EXPECT_EQ(code_of(choose("interp[")), Code::UnknownDevice);
}

/// The subgroup size and the last lane that stores into y[0].
std::vector<uint32_t> ran(Device d, const CompileOptions& compile = {}) {
  const Program p = kernel(
      "kernel k(y: out u32[2]) workgroup(64) grid(64) {\n"
      "  y[0] = global_id.x\n  y[1] = subgroup_size\n}\n");
  RunOptions o;
  o.compile = compile;
  const auto r = run(d, p, {}, o);
  EXPECT_TRUE(r) << render(r.errors(), {});
  std::vector<uint32_t> y(2);
  if (r) std::memcpy(y.data(), r->buffers[0].data(), 8);
  return y;
}

TEST(Device, options_of_its_name_hold_for_every_compile) {
  using U = std::vector<uint32_t>;
  EXPECT_EQ(ran(*Device::open("interp")), (U{63, 32}));
  EXPECT_EQ(ran(*Device::open("interp[schedule=reverse,subgroup=8]")), (U{0, 8}));
  CompileOptions own;
  own.subgroup_size = 16;
  own.extra = {"schedule=order"};
  EXPECT_EQ(ran(*Device::open("interp[schedule=reverse,subgroup=8]"), own), (U{63, 16}))
      << "those of a call win";
  const Program p = kernel(
      "kernel k(x: inout u32[]) workgroup(8) grid(len(x)) {\n x[global_id.x] = 1\n barrier grid\n "
      "x[global_id.x] += x[0] }");
  EXPECT_EQ(Device::open("interp")->compile(p)->segments(), 1u);
  EXPECT_EQ(Device::open("interp[split]")->compile(p)->segments(), 2u);
}

TEST(Device, unknown_options_of_a_compile_are_errors) {
  Device d = *Device::open("interp");
  const Program p =
      kernel("kernel k(x: inout u32[]) workgroup(8) grid(len(x)) { x[global_id.x] = 1 }");
  CompileOptions o;
  o.extra = {"schedul=reverse"};
  EXPECT_EQ(code_of(d.compile(p, o)), Code::UnknownDeviceOption);
  o.extra = {"split"};
  EXPECT_EQ(code_of(d.compile(p, o)), Code::UnknownDeviceOption) << "it is of OpenOptions";
  o.extra = {"schedule=none"};
  EXPECT_EQ(code_of(d.compile(p, o)), Code::BadOptionValue);
  o.extra = {"schedule=random:7"};
  EXPECT_TRUE(d.compile(p, o));
}

}  // namespace
}  // namespace vyre::driver
