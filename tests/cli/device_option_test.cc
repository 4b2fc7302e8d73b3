// `--backend 'cpu[threads=1]'` in every command that takes a device.

#include "support/json.h"
#include "tests/cli/cli_util.h"

namespace vyre {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

class BackendOptions : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    file("k.vyre",
         "kernel k(y: inout u32[4]) workgroup(4) grid(4) {\n  y[global_id.x] += 1\n}\n"
         "graph g(y: inout u32[4]) { call k(y) }\n");
  }
  /// A command with all that it needs, but for the device.
  static std::vector<Words> commands() {
    return {{"run", "k.vyre:k", "--in", "y=1,2,3,4", "--backend"},
            {"run", "k.vyre:g", "--in", "y=1,2,3,4", "--backend"},
            {"opt", "k.vyre:k", "--backend"},
            {"emit", "k.vyre:k", "--target", "ptx", "--backend"},
            {"plan", "k.vyre:g", "--in", "y=1,2,3,4", "--backend"},
            {"bisect", "k.vyre:k", "--in", "y=1,2,3,4", "--backend"},
            {"certify", "--quick", "--only", "memory/fresh", "--backend"},
            {"fuzz", "--count", "1", "--backends"}};
  }
};

TEST_F(BackendOptions, mistakes_are_errors_in_every_command) {
  const std::pair<const char*, const char*> mistakes[] = {{"interp[shedule=reverse]", "V0724"},
                                                          {"interp[threads=1]", "V0724"},
                                                          {"interp[schedule=none]", "V0607"},
                                                          {"interp[schedule]", "V0607"},
                                                          {"interp[subgroup=3]", "V0607"},
                                                          {"interp[split=1]", "V0607"},
                                                          {"interp[split,split]", "V0610"},
                                                          {"interp[split", "V0701"},
                                                          {"interp[]", "V0701"}};
  for (Words words : commands()) {
    words.emplace_back();
    for (const auto& [name, code] : mistakes) {
      words.back() = name;
      const auto r = vyre(words);
      expect_exit(r, 2);
      expect_code(r, code);
    }
  }
}

TEST_F(BackendOptions, are_used_where_something_runs_and_refused_elsewhere) {
  for (Words words : commands()) {
    words.emplace_back("interp[schedule=reverse,subgroup=8]");
    const auto r = vyre(words);
    const bool runs = words[0] != "opt" && words[0] != "emit";
    expect_exit(r, runs ? 0 : 2);
    if (!runs) expect_code(r, "V0606");
  }
  file("race.vyre",
       "kernel k(y: out u32[2]) workgroup(64) grid(64) {\n"
       "  y[0] = global_id.x\n  y[1] = subgroup_size\n}\n");
  const auto y = [&](const Words& more) {
    Words words = {"run", "race.vyre", "--print", "y"};
    words.insert(words.end(), more.begin(), more.end());
    return vyre(words).out;
  };
  EXPECT_EQ(y({"--backend", "interp[schedule=reverse,subgroup=8]"}), "y: 0 8\n");
  EXPECT_EQ(y({"--backend", "interp[schedule=reverse,subgroup=8]", "--subgroup-size", "16"}),
            "y: 0 16\n");
  EXPECT_EQ(y({"--backend", "interp[schedule=reverse]", "--schedule", "order"}), "y: 63 32\n");
  EXPECT_EQ(y({"--backend", "auto[subgroup=4]", "--schedule", "reverse"}), "y: 0 4\n");
}

TEST_F(BackendOptions, random_schedules_take_seeds_as_flags_do) {
  file("order.vyre",
       "kernel k(y: out u32[1]) workgroup(64) grid(4096) {\n  y[0] = global_id.x\n}\n");
  const auto y = [&](const Words& more) {
    Words words = {"run", "order.vyre", "--print", "y", "--backend"};
    words.insert(words.end(), more.begin(), more.end());
    const auto r = vyre(words);
    expect_exit(r, 0);
    return r.out;
  };
  const std::string sixteen = y({"interp[schedule=random:16]"});
  EXPECT_EQ(y({"interp", "--schedule", "random:16"}), sixteen);
  EXPECT_EQ(y({"interp", "--schedule", "random:0x10"}), sixteen);
  EXPECT_NE(y({"interp", "--schedule", "random:0"}), sixteen);
}

TEST_F(BackendOptions, are_listed_by_devices) {
  const auto r = vyre({"devices", "-v"});
  expect_exit(r, 0);
  for (const char* line :
       {"options           split", "schedule=order|reverse|random:N", "coarsen=1 to 16"})
    EXPECT_NE(r.out.find(line), std::string::npos) << line << "\n" << r.out;
  const Json all = Json::parse(vyre({"devices", "--json"}).out);
  for (const Json& backend : all["backends"]) {
    if (backend["name"] != "interp") continue;
    const Json& options = backend["devices"][0]["options"];
    ASSERT_EQ(options.size(), 4u) << options;
    EXPECT_EQ(options[3]["name"], "schedule");
    EXPECT_EQ(options[3]["type"], "word");
    EXPECT_EQ(options[3]["range"], "order|reverse|random:N");
    EXPECT_EQ(options[2]["range"], "1 to 16");
  }
}

}  // namespace
}  // namespace vyre
