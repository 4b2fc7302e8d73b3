// The list of configurations. A new backend, pass or plan adds its Subject to all_subjects.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "check/check.h"
#include "differential/device_spec.h"
#include "differential/device_subject.h"
#include "differential/differential.h"
#include "differential/mismatch_judge.h"
#include "differential/opt_subjects.h"
#include "differential/plan_subjects.h"
#include "runtime/registry.h"
#include "text/parse.h"
#include "text/print.h"
#include "wire/fingerprint.h"
#include "wire/wire.h"

namespace vyre::lab {
namespace {

bool chooses_subgroup(const Generated& g) { return g.fixed_subgroup() == 0; }

// ---- The interpreter in other orders and at other subgroup sizes.

void add_interpreters(std::vector<Subject>& list) {
  constexpr std::pair<interp::Schedule, std::string_view> schedules[] = {
      {interp::Schedule::Order, "order"},
      {interp::Schedule::Reverse, "reverse"},
      {interp::Schedule::Random, "random"}};
  for (const uint32_t size : {32u, 8u, 16u, 64u})
    for (const auto& [schedule, name] : schedules) {
      if (size == 32 && schedule == interp::Schedule::Order) continue;  // the reference itself
      Subject s;
      s.name = fmt::format("interp:{}:{}", name, size);
      s.subgroup_size = size;
      if (size != 32) s.applies = chooses_subgroup;
      s.run = [size = size, schedule = schedule](const Generated& g) {
        return run_interpreter(g.module, g,
                               {.subgroup_size = size, .schedule = schedule, .seed = g.seed});
      };
      list.push_back(std::move(s));
    }
}

// ---- Through text and through bytes.

Diagnostic changed(std::string what) {
  return diagnose(Code::RoundTripChanged, {}, std::move(what));
}

/// Runs the copy, if it is still the same program.
Result<Outputs> run_copy(const Module& copy, const Generated& g, std::string_view how) {
  if (fingerprint(copy) != fingerprint(g.module))
    return changed(fmt::format("the fingerprint changed through {}", how));
  for (const Diagnostic& d : check(copy))
    if (d.severity == Severity::Error)
      return changed(fmt::format("the checker refuses what came back from {}: {}", how, d.message));
  return run_interpreter(copy, g, {});
}

Result<Outputs> run_from_text(const Generated& g) {
  const std::string text = print(g.module);
  const ParseOutcome parsed = parse(text, {.file_name = "<printed>"});
  if (!parsed.module)
    return changed(fmt::format("the printed program does not parse: {}:{}: {}",
                               parsed.diagnostics[0].place.line, parsed.diagnostics[0].place.column,
                               parsed.diagnostics[0].message));
  if (print(*parsed.module) != text)
    return changed("the printed program prints differently after parsing");
  return run_copy(*parsed.module, g, "text");
}

Result<Outputs> run_from_wire(const Generated& g) {
  const auto bytes = encode(g.module);
  const auto decoded = decode_module(bytes);
  if (!decoded)
    return changed("the encoded program does not decode: " + decoded.errors()[0].message);
  if (encode(*decoded) != bytes)
    return changed("the encoded program has another encoding after decoding");
  return run_copy(*decoded, g, "wire form");
}

// ---- The sanitizer, which must find neither races nor values that depend on the order. It has no
// outputs.

Result<Outputs> run_sanitized(const Generated& g) {
  if (auto finding = unspecified_result(g)) return std::move(*finding);
  return reference(g);
}

// ---- Devices, through the runtime.

/// The interpreter is a group already; the interpreter as a device is another member of it.
std::string subject_name(const std::string& device) {
  return device == "interp" ? "interp:driver" : device;
}

constexpr uint64_t slow_device_turns = 25;

/// Devices are opened on first use, so that runs of other configurations do not wait for a GPU.
void add_devices(std::vector<Subject>& list) {
  for (const PresentDevice& d : present_devices()) {
    Subject s;
    s.name = subject_name(d.name);
    s.subgroup_size = d.info.limits.default_subgroup_size;
    s.run = [name = d.name, opened = std::make_shared<std::optional<Subject>>()](
                const Generated& g) -> Result<Outputs> {
      if (!*opened) {
        auto subject = open_subject({name, {}, {}}, name);
        if (!subject) return std::move(subject.errors());
        *opened = std::move(*subject);
      }
      return (*opened)->run(g);
    };
    const auto add = [&](Subject subject) {
      // Devices that `auto` skips are slow: unless selected by name they take few programs.
      if (!d.info.not_automatic.empty()) subject.turns *= slow_device_turns;
      list.push_back(std::move(subject));
    };
    if (d.name != "interp")
      for (Subject& o : optimized_subjects(s)) add(std::move(o));
    add(random_plan_subject(d.name, s.subgroup_size));
    add(std::move(s));
  }
}

bool is_backend(const std::string& name) {
  const std::string kind = name.substr(0, name.find(':'));
  const auto all = driver::backend_entries();
  return std::any_of(all.begin(), all.end(), [&](const auto& e) { return e.name == kind; });
}

}  // namespace

std::vector<Subject> all_subjects() {
  std::vector<Subject> list;
  add_interpreters(list);
  list.push_back({"text", run_from_text});
  list.push_back({"wire", run_from_wire});
  list.push_back({"sanitizer", run_sanitized});
  for (Subject& s : opt_subjects()) list.push_back(std::move(s));
  for (Subject& s : plan_subjects()) list.push_back(std::move(s));
  add_devices(list);
  return list;
}

Result<std::vector<Subject>> choose_subjects(const std::vector<std::string>& names) {
  const std::vector<Subject> all = all_subjects();
  if (names.empty()) return all;
  std::vector<std::string> known;
  for (const Subject& s : all)
    if (std::find(known.begin(), known.end(), s.group()) == known.end()) known.push_back(s.group());
  for (const Subject& s : all)
    if (std::find(known.begin(), known.end(), s.name) == known.end()) known.push_back(s.name);
  Diagnostics errors;
  std::vector<Subject> chosen;
  for (const Subject& s : all)
    if (std::any_of(names.begin(), names.end(),
                    [&](const auto& n) { return n == s.name || n == s.group(); })) {
      chosen.push_back(s);
      chosen.back().turns = 1;  // selected by name, it takes every program
      chosen.back().turn = 0;
    }
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (name.find('[') != name.npos) {  // a device with options
      const auto spec = parse_device_spec(name);
      auto subject = spec ? open_subject(*spec, name) : Result<Subject>(spec.errors());
      if (subject)
        chosen.push_back(std::move(*subject));
      else
        errors.insert(errors.end(), subject.errors().begin(), subject.errors().end());
      continue;
    }
    if (is_backend(name)) {  // known, but unavailable: the runtime reports why
      const auto device = driver::Device::open(name);
      if (!device) {
        errors.insert(errors.end(), device.errors().begin(), device.errors().end());
        continue;
      }
    }
    Diagnostic d = diagnose(Code::UnknownSubject, {},
                            fmt::format("there is nothing called `{}` to fuzz", name));
    d.note(fmt::format("there are: {}", fmt::join(known, ", ")));
    const std::string_view near = nearest(name, known);
    errors.push_back(
        d.with_fix(near.empty() ? "use one of these names" : fmt::format("write `{}`", near)));
  }
  if (!errors.empty()) return errors;
  return chosen;
}

}  // namespace vyre::lab
