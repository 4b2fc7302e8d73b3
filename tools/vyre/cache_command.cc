// vyre cache: lists, verifies and clears the compile cache.

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "runtime/cache/cache.h"
#include "support/json.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/diagnostic_output.h"

namespace vyre::cli {
namespace {

using driver::CacheDirectory;
using driver::CacheFile;
using Json = nlohmann::ordered_json;

struct Site {
  driver::CacheOptions options;
  std::optional<CacheDirectory> directory;  // nothing: it does not exist yet
  Diagnostics diagnostics;
};

Site find_site() {
  Site site;
  std::string problem;
  site.options = driver::CacheOptions::from_environment(&problem);
  if (!problem.empty())
    site.diagnostics.push_back(
        diagnose(Code::CacheSetting, {}, problem).with_fix("correct the variable, or unset it"));
  std::string why = site.options.why_no_disk;
  if (why.empty())
    site.directory =
        CacheDirectory::open(site.options.directory, CacheDirectory::Open::Existing, why);
  if (!why.empty())
    site.diagnostics.push_back(
        diagnose(Code::CacheUnusable, {}, "the cache cannot be used: " + why)
            .with_fix("name a folder that is yours alone by VYRE_CACHE_DIR"));
  return site;
}

std::string size_text(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double size = double(bytes) / 1024;
  const char* unit = "KMGT";
  for (; size >= 1000 && unit[1]; ++unit) size /= 1024;
  return size < 10 ? fmt::format("{:.1f} {}iB", size, *unit)
                   : fmt::format("{:.0f} {}iB", size, *unit);
}

std::string age_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", std::max(seconds, 0.0));
  if (seconds < 3600) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.0f} h", seconds / 3600);
  return fmt::format("{:.0f} days", seconds / 86400);
}

/// Names come from files, so control characters must not reach the terminal.
std::string shown(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 60))
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return result;
}

std::string counted(uint64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

struct Row {
  CacheFile file;
  bool readable = false;
  std::string kernel;
  double age = 0, idle = 0;  // seconds
  driver::CacheKeyFields key;
};

std::vector<Row> rows_of(const Site& site) {
  std::vector<Row> rows;
  if (!site.directory) return rows;
  const int64_t now = driver::unix_now_ns();
  for (CacheFile& file : site.directory->list()) {
    Row row{.file = std::move(file)};
    row.idle = double(now - row.file.used_ns) / 1e9;
    const auto head = site.directory->read(row.file.name, driver::kEntryHeadBytes, true);
    if (head.kind == CacheDirectory::Contents::Kind::Missing) continue;  // removed meanwhile
    if (const auto view = driver::parse_entry_head(head.bytes)) {
      const auto key = driver::read_key(view->key);
      row.readable = key.has_value();
      row.kernel = view->name;
      row.age = double(now - int64_t(view->made_ns)) / 1e9;
      if (key) row.key = *key;
    }
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tie(b.file.used_ns, a.file.name) < std::tie(a.file.used_ns, b.file.name);
  });
  return rows;
}

uint64_t bytes_of(const std::vector<Row>& rows) {
  uint64_t bytes = 0;
  for (const Row& r : rows) bytes += r.file.bytes;
  return bytes;
}

Json head_json(const Site& site) {
  return {{"ok", !has_errors(site.diagnostics)}, {"directory", site.options.directory}};
}

int finish_json(Json out, const Site& site, int code) {
  out["diagnostics"] = parse_json<Json>(to_json(site.diagnostics));
  write_out(json_text(out, 2) + "\n");
  return code;
}

Json row_json(const Row& r) {
  Json out;
  out["file"] = r.file.name;
  out["bytes"] = r.file.bytes;
  out["idle_seconds"] = r.idle;
  out["readable"] = r.readable;
  if (!r.readable) return out;
  out["kernel"] = r.kernel;
  out["age_seconds"] = r.age;
  out["backend"] = r.key.backend;
  out["target"] = r.key.target;
  out["driver_version"] = r.key.driver_version;
  out["build"] = r.key.build;
  out["subgroup_size"] = r.key.subgroup_size;
  out["stoppable"] = r.key.stoppable;
  out["extra"] = r.key.extra;
  out["fingerprint"] = r.key.fingerprint.to_hex();
  return out;
}

int list(const Site& site, bool json) {
  const std::vector<Row> rows = rows_of(site);
  if (json) {
    Json out = head_json(site);
    out["enabled"] = site.options.enabled;
    out["limit_bytes"] = site.options.disk_bytes;
    out["bytes"] = bytes_of(rows);
    out["entries"] = Json::array();
    for (const Row& r : rows) out["entries"].push_back(row_json(r));
    return finish_json(std::move(out), site, exit_done);
  }
  write_out(fmt::format("{}: {}, {} of {}{}\n", site.options.directory,
                        counted(rows.size(), "entry", "entries"), size_text(bytes_of(rows)),
                        size_text(site.options.disk_bytes),
                        site.options.enabled ? "" : "; turned off by VYRE_CACHE"));
  if (rows.empty()) return exit_done;
  constexpr auto line = "{:<24} {:<24} {:>9} {:>8} {:>8}\n";
  write_out(fmt::format(line, "kernel", "target", "size", "age", "unused"));
  for (const Row& r : rows) {
    const std::string kernel = r.readable ? shown(r.kernel) : "(damaged)";
    const std::string target =
        r.readable ? shown(fmt::format("{} {}", r.key.backend, r.key.target)) : "";
    write_out(fmt::format(line, kernel, target, size_text(r.file.bytes),
                          r.readable ? age_text(r.age) : "", age_text(r.idle)));
  }
  return exit_done;
}

/// Returns the error in a file, or ""; nothing if the file was removed meanwhile.
std::optional<std::string> mistake_in(const CacheDirectory& directory, const CacheFile& file) {
  using Kind = CacheDirectory::Contents::Kind;
  auto contents = directory.read(file.name, ~uint64_t{0});
  if (contents.kind == Kind::Missing) return std::nullopt;
  if (contents.kind == Kind::Bad) return contents.why;
  std::string why;
  const auto view = driver::parse_entry(contents.bytes, &why);
  if (!view) return why;
  if (CacheDirectory::file_name(hash128(view->key)) != file.name)
    return "it is named like another entry";
  return driver::mistake_in_entry(*view);
}

int verify(Site site, bool json) {
  uint64_t checked = 0, bytes = 0;
  Json bad = Json::array();
  auto files = site.directory ? site.directory->list() : std::vector<CacheFile>();
  std::sort(files.begin(), files.end(),
            [](const CacheFile& a, const CacheFile& b) { return a.name < b.name; });
  for (const CacheFile& file : files) {
    const auto mistake = mistake_in(*site.directory, file);
    if (!mistake) continue;
    ++checked;
    bytes += file.bytes;
    if (mistake->empty()) continue;
    bad.push_back({{"file", file.name}, {"why", *mistake}});
    site.diagnostics.push_back(
        diagnose(Code::CacheEntryDamaged, {}, fmt::format("{}: {}", file.name, *mistake))
            .with_fix("run `vyre cache clear`, or delete the file; until then it is not used"));
  }
  const int code = bad.empty() ? exit_done : exit_program_failed;
  if (json) {
    Json out = head_json(site);
    out["checked"] = checked;
    out["bytes"] = bytes;
    out["bad"] = std::move(bad);
    return finish_json(std::move(out), site, code);
  }
  write_out(fmt::format("{}: checked {}, {}: {}\n", site.options.directory,
                        counted(checked, "entry", "entries"), size_text(bytes),
                        bad.empty() ? "all good" : fmt::format("{} damaged", bad.size())));
  show(site.diagnostics, {});
  return code;
}

int clear(const Site& site, bool json) {
  CacheDirectory::Cleared cleared;
  if (site.directory) cleared = site.directory->clear();
  const int code = cleared.left == 0 ? exit_done : exit_system_failed;
  if (json) {
    Json out = head_json(site);
    out["removed"] = cleared.files;
    out["bytes"] = cleared.bytes;
    out["left"] = cleared.left;
    return finish_json(std::move(out), site, code);
  }
  write_out(fmt::format(
      "{}: removed {}, {}{}\n", site.options.directory, counted(cleared.files, "file", "files"),
      size_text(cleared.bytes),
      cleared.left == 0 ? std::string() : fmt::format("; {} cannot be removed", cleared.left)));
  return code;
}

}  // namespace

int cache(const CacheCommand& command) {
  Site site = find_site();
  if (has_errors(site.diagnostics)) {
    report(site.diagnostics, {}, command.json);
    return exit_system_failed;
  }
  if (command.action == "verify") return verify(std::move(site), command.json);
  if (!command.json) show(site.diagnostics, {});
  return command.action == "ls" ? list(site, command.json) : clear(site, command.json);
}

}  // namespace vyre::cli
