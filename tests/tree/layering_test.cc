// A folder of src/ includes only itself and folders above it in the table of docs/architecture.md,
// and code for one target does not include another target's.
// Reading the includes shows it, because all of our includes are written "folder/file.h". Names of
// headers and sources are unique, so that a name finds its file.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/file.h"

namespace vyre {
namespace {

// The folders of the table in docs/architecture.md, lowest layer first.
const std::vector<std::string>& layers() {
  static const std::vector<std::string> list = [] {
    std::vector<std::string> found;
    const std::string page = read_file(VYRE_SOURCE_DIR "/docs/architecture.md").bytes;
    constexpr std::string_view row = "\n| [src/";
    for (size_t at = page.find(row); at != page.npos; at = page.find(row, at + 1)) {
      const size_t begin = at + row.size();
      const std::string folder = page.substr(begin, page.find_first_of("]/", begin) - begin);
      if (found.empty() || found.back() != folder) found.push_back(folder);
    }
    return found;
  }();
  return list;
}

// Position among the layers, or -1.
int layer_of(std::string_view folder) {
  const auto at = std::find(layers().begin(), layers().end(), folder);
  return at == layers().end() ? -1 : static_cast<int>(at - layers().begin());
}

std::string_view first_part(std::string_view path) { return path.substr(0, path.find('/')); }

struct Include {
  int line = 0;
  bool quoted = false;
  std::string_view target;
};

std::vector<Include> includes_of(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  const auto skip_blank = [&](std::string_view s) {
    s.remove_prefix(std::min(s.find_first_not_of(kBlank), s.size()));
    return s;
  };
  std::vector<Include> found;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = skip_blank(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!rest.starts_with('#')) continue;
    rest = skip_blank(rest.substr(1));
    if (!rest.starts_with("include")) continue;
    rest = skip_blank(rest.substr(std::string_view("include").size()));
    if (rest.empty() || (rest[0] != '"' && rest[0] != '<')) continue;
    const bool quoted = rest[0] == '"';
    rest.remove_prefix(1);
    found.push_back({line, quoted, rest.substr(0, rest.find(quoted ? '"' : '>'))});
  }
  return found;
}

bool may_use_llvm(std::string_view path) {
  return path.starts_with("src/codegen/llvm/") || path.starts_with("src/runtime/cpu/");
}

// The target that code is for: "ptx" for src/codegen/ptx/ and src/runtime/cuda/, "common" for what
// targets share, "" for all other code. `path` begins inside src/.
std::string_view target_of(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> folders[] = {
      {"codegen/common/", "common"}, {"codegen/llvm/", "llvm"}, {"runtime/cpu/", "llvm"},
      {"codegen/ptx/", "ptx"},       {"runtime/cuda/", "ptx"},  {"codegen/spirv/", "spirv"},
      {"runtime/vulkan/", "spirv"}};
  for (const auto& [folder, target] : folders)
    if (path.starts_with(folder)) return target;
  return "";
}

// Why this include is wrong, or "".
std::string mistake_in(std::string_view path, const Include& include) {
  const std::string_view target = include.target;
  const std::string_view folder = first_part(target);
  if (folder == "llvm" || folder == "llvm-c" || folder == "clang") {
    return may_use_llvm(path) ? "" : "LLVM belongs to src/codegen/llvm and src/runtime/cpu";
  }
  if (folder == "tools") return "the library knows nothing of the tools";
  if (!include.quoted) {
    // <sanitizer/tsan_interface.h> is the compiler's.
    const std::string file = VYRE_SOURCE_DIR "/src/" + std::string(target);
    return std::filesystem::exists(file) ? "our headers are included in quotes" : "";
  }
  if (target.find("..") != target.npos || target.starts_with('.') || target.starts_with('/')) {
    return "the path is not relative to src/";
  }
  if (!target.ends_with(".h") && !target.ends_with(".def") && !target.ends_with(".inc")) {
    return "not a header";
  }
  const bool is_public = path.starts_with("include/");
  if (folder == "vyre") {
    // Public headers sit on top of all layers; the two that CMake writes, below.
    const bool is_written = target == "vyre/version.h" || target == "vyre/interface_id.h";
    return is_public || is_written ? "" : "src/ does not use the public headers";
  }
  const int to = layer_of(folder);
  if (to < 0 || target == folder) return "an include is written \"folder/file.h\"";
  if (is_public) return "";
  const std::string_view inside = path.substr(std::string_view("src/").size());
  const std::string_view own = target_of(inside), used = target_of(target);
  if (!own.empty() && !used.empty() && used != "common" && used != own)
    return "code for one target does not use another's; what they share is in src/codegen/common";
  const int from = layer_of(first_part(inside));
  if (from < 0) return "this folder is not in the list of layers";
  return to <= from ? "" : "a layer includes only itself and lower layers";
}

// `path` is relative to the repository. Lines "path:line: "target": why".
std::vector<std::string> layering_violations(std::string_view path, std::string_view text) {
  std::vector<std::string> found;
  for (const Include& include : includes_of(text)) {
    const std::string why = mistake_in(path, include);
    if (why.empty()) continue;
    found.push_back(std::string(path) + ":" + std::to_string(include.line) + ": \"" +
                    std::string(include.target) + "\": " + why);
  }
  return found;
}

// One violation, and the words it must contain.
void expect_violation(std::string_view path, std::string_view text, std::string_view words) {
  const std::vector<std::string> found = layering_violations(path, text);
  ASSERT_EQ(found.size(), 1u) << path << ": " << text;
  EXPECT_NE(found[0].find(words), std::string::npos) << found[0];
}

TEST(Layering, holds_in_every_source) {
  namespace fs = std::filesystem;
  const fs::path root = VYRE_SOURCE_DIR;
  std::vector<std::string> violations;
  int files = 0;
  for (const char* top : {"src", "include"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".cc" && extension != ".h" && extension != ".def" && extension != ".inc") {
        continue;
      }
      const FileContents file = read_file(entry.path().string());
      ASSERT_TRUE(file) << file.error->what;
      const std::string path = fs::relative(entry.path(), root).generic_string();
      for (std::string& v : layering_violations(path, file.bytes))
        violations.push_back(std::move(v));
      ++files;
    }
  }
  for (const std::string& violation : violations) ADD_FAILURE() << violation;
  EXPECT_GT(files, 5) << "the sources were not found under " << root;
}

TEST(Layering, every_folder_of_src_is_a_layer) {
  namespace fs = std::filesystem;
  EXPECT_GE(layers().size(), 15u) << "the table of docs/architecture.md was not read";
  for (const std::string& layer : layers())
    EXPECT_TRUE(fs::is_directory(fs::path(VYRE_SOURCE_DIR) / "src" / layer)) << layer;
  for (const auto& entry : fs::directory_iterator(fs::path(VYRE_SOURCE_DIR) / "src")) {
    EXPECT_TRUE(entry.is_directory()) << entry.path();
    EXPECT_GE(layer_of(entry.path().filename().string()), 0) << entry.path();
  }
}

TEST(Tree, every_folder_of_src_has_a_readme) {
  namespace fs = std::filesystem;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(VYRE_SOURCE_DIR) / "src")) {
    if (!entry.is_directory()) continue;
    const std::string path = entry.path().generic_string();
    if (path.ends_with("/diagnostics/codes") || path.ends_with("/report/page")) continue;  // data
    EXPECT_TRUE(fs::exists(entry.path() / "README.md")) << path;
  }
}

// A public header may have the name of the one that it stands for.
TEST(Tree, names_of_sources_are_unique) {
  namespace fs = std::filesystem;
  const fs::path root = VYRE_SOURCE_DIR;
  std::map<std::string, std::string> files;
  for (const char* top : {"src", "tools", "tests", "bench", "fuzz", "examples"})
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string name = entry.path().filename().string();
      if ((!name.ends_with(".h") && !name.ends_with(".cc")) || name == "main.cc") continue;
      const std::string path = fs::relative(entry.path(), root).generic_string();
      if (path.starts_with("tests/package/")) continue;  // projects of their own
      const auto [it, added] = files.emplace(name, path);
      EXPECT_TRUE(added) << path << " and " << it->second << " have one name";
    }
  EXPECT_GT(files.size(), 500u);
}

TEST(Layering, accepts_own_and_lower_layers) {
  const auto accepts = [](std::string_view path, std::string_view text) {
    return layering_violations(path, text).empty();
  };
  EXPECT_TRUE(accepts("src/check/check.cc",
                      "#include \"check/check.h\"\n"
                      "#include <vector>\n"
                      "#include <fmt/format.h>\n"
                      "  #  include \"ir/ops.def\"\n"
                      "#include \"diagnostics/result.h\"\n"
                      "#include \"vyre/version.h\"\n"));
  EXPECT_TRUE(accepts("src/opt/passes/fold.cc", "#include \"opt/passes/fold.h\"\n"));
  EXPECT_TRUE(accepts("src/codegen/llvm/jit.cc", "#include \"llvm/IR/Module.h\"\n"));
  EXPECT_TRUE(
      accepts("include/vyre/vyre.h", "#include \"ir/ssa_builder.h\"\n#include \"vyre/other.h\"\n"));
}

TEST(Layering, rejects_a_higher_layer_and_names_the_line) {
  expect_violation("src/ir/program.h", "#pragma once\n\n#include \"text/parser.h\"\n",
                   "src/ir/program.h:3: \"text/parser.h\": a layer includes only");
  expect_violation("src/text/parser.cc", "#include \"wire/wire.h\"", "lower layers");
}

TEST(Layering, rejects_every_violation_of_a_file) {
  EXPECT_EQ(
      layering_violations("src/support/a.cc", "#include \"ir/types.h\"\n#include \"fuzz/fuzz.h\"\n")
          .size(),
      2u);
}

struct BadInclude {
  const char* path;
  const char* line;
  const char* why;
};

constexpr BadInclude kBadIncludes[] = {
    {"src/ir/a.cc", "#include \"types.h\"", "folder/file.h"},
    {"src/ir/a.cc", "#include \"../support/hash.h\"", "not relative to src/"},
    {"src/ir/a.cc", "#include \"./types.h\"", "not relative to src/"},
    {"src/ir/a.cc", "#include \"support/../text/lexer.h\"", "not relative to src/"},
    {"src/ir/a.cc", "#include \"src/ir/types.h\"", "folder/file.h"},
    {"src/ir/a.cc", "#include \"ir/b.cc\"", "not a header"},
    {"src/ir/a.cc", "#include <support/hash.h>", "in quotes"},
    {"src/ir/a.cc", "#include <text/lexer.h>", "in quotes"},
    {"src/ir/a.cc", "#include \"vyre/vyre.h\"", "public headers"},
    {"src/extra/a.cc", "#include \"ir/types.h\"", "not in the list"},
    {"src/codegen/ptx/a.cc", "#include <llvm/IR/Module.h>", "LLVM"},
    {"src/runtime/cuda/a.cc", "#include \"llvm-c/Core.h\"", "LLVM"},
    {"src/codegen/spirv/a.cc", "#include \"codegen/ptx/ptx_abi.h\"", "another's"},
    {"src/runtime/vulkan/a.cc", "#include \"codegen/ptx/ptx_abi.h\"", "another's"},
    {"src/codegen/common/a.cc", "#include \"codegen/llvm/isa.h\"", "another's"},
    {"include/vyre/vyre.h", "#include <llvm/IR/Module.h>", "LLVM"},
    {"src/fuzz/a.cc", "#include \"tools/vyre/run_command.h\"", "tools"},
    {"include/vyre/vyre.h", "#include \"tools/vyre/run_command.h\"", "tools"},
    {"include/vyre/vyre.h", "#include \"run.h\"", "folder/file.h"},
};

TEST(Layering, rejects_the_table_of_bad_includes) {
  for (const BadInclude& bad : kBadIncludes) expect_violation(bad.path, bad.line, bad.why);
}

}  // namespace
}  // namespace vyre
