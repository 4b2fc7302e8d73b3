// Mode pass: the results of passes on a kernel, and their remarks.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "opt/analysis/analysis_cache.h"
#include "opt/device_costs.h"
#include "opt/pipeline.h"
#include "tests/opt/some_inputs.h"
#include "tests/runner/kernel_blocks.h"
#include "text/print.h"
#include "wire/fingerprint.h"

namespace vyre::runner {
namespace {

/// `// pass: a,b [--costs gpu] [--shared-bytes 4096] [--no-run]`
struct PassRequest {
  std::vector<const opt::PassDescriptor*> passes;
  opt::Target target;
  bool runs = true;  // results are compared
};

/// "" if the words are a request.
std::string read_request(const std::vector<std::string>& words, PassRequest& request) {
  if (words.empty()) return "name a pass";
  auto passes = opt::parse_passes(words[0]);
  if (!passes) return brief(passes.errors());
  request.passes = std::move(*passes);
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string value = i + 1 < words.size() ? words[i + 1] : "";
    if (words[i] == "--no-run") {
      request.runs = false;
    } else if (words[i] == "--costs" && opt::find_costs(value)) {
      request.target.costs = opt::find_costs(words[++i]);
    } else if (words[i] == "--shared-bytes" &&
               std::from_chars(value.data(), value.data() + value.size(),
                               request.target.shared_bytes)
                       .ec == std::errc()) {
      ++i;
    } else {
      return fmt::format("`{}` has no meaning", words[i]);
    }
  }
  return "";
}

/// Lines of a program: its head, and its body.
struct PrintedProgram {
  std::string head;
  std::vector<std::string> body;
};

PrintedProgram print_parts(const Program& program) {
  PrintedProgram parts;
  for (std::string& line : lab::split_lines(print(program))) {
    if (parts.head.empty())
      parts.head = line.starts_with("kernel ") ? line : "";
    else if (line != "}")
      parts.body.push_back(std::move(line));
  }
  return parts;
}

class PassBlock {
 public:
  PassBlock(const Program& kernel, const PassRequest& request, std::vector<std::string>& failures)
      : before_(kernel), after_(kernel), request_(request), failures_(failures) {}

  /// Returns the comments that are true of the kernel today.
  std::vector<std::string> run() {
    for (const opt::PassDescriptor* pass : request_.passes) {
      run_pass(*pass, remarks_);
      std::vector<std::string> ignored;
      if (run_pass(*pass, ignored)) fail(fmt::format("{} changes its own result", pass->name));
    }
    if (request_.runs) compare_results();
    return describe();
  }

 private:
  bool run_pass(const opt::PassDescriptor& pass, std::vector<std::string>& remarks) {
    const Hash128 hash = fingerprint(after_);
    opt::Facts facts(after_);
    opt::PassContext context{facts, request_.target, {}, 0, false};
    const Result<bool> changed = pass.run(after_, context);
    if (!changed) {
      fail(fmt::format("{}: {}", pass.name, brief(changed.errors())));
      return false;
    }
    for (const opt::Refusal& r : context.refusals)
      if (std::find(remarks.begin(), remarks.end(), r.why) == remarks.end())
        remarks.push_back(r.why);
    if (const Diagnostics found = check(after_); has_errors(found))
      fail(fmt::format("{} makes it illegal: {}", pass.name, brief(found)));
    if (*changed != (hash != fingerprint(after_)))
      fail(fmt::format("{} says that it changed {}", pass.name, *changed ? "it" : "nothing"));
    return *changed;
  }

  void compare_results() {
    std::string differ;  // the first sizes; others may follow
    opt::for_some_sizes(before_, [&](uint64_t count, uint64_t scalar) {
      for (const auto schedule : {interp::Schedule::Order, interp::Schedule::Reverse})
        if (differ.empty() && opt::results_of(before_, count, scalar, schedule) !=
                                  opt::results_of(after_, count, scalar, schedule))
          differ = fmt::format("{} elements, scalars {}{}", count, scalar,
                               schedule == interp::Schedule::Reverse ? ", reverse order" : "");
    });
    if (!differ.empty()) fail("other results: " + differ);
  }

  std::vector<std::string> describe() const {
    std::vector<std::string> lines;
    if (fingerprint(before_) == fingerprint(after_)) {
      lines.emplace_back("// unchanged");
    } else {
      const PrintedProgram was = print_parts(before_), is = print_parts(after_);
      if (was.head != is.head) lines.push_back("// " + is.head);
      for (const std::string& line : is.body) lines.push_back("// " + line);
      if (is.body.empty()) lines.emplace_back("// empty");
    }
    for (const std::string& remark : remarks_) lines.push_back("// remark: " + remark);
    return lines;
  }

  void fail(std::string what) { failures_.push_back(std::move(what)); }

  const Program& before_;
  Program after_;
  const PassRequest& request_;
  std::vector<std::string>& failures_;
  std::vector<std::string> remarks_;
};

}  // namespace

Verdict test_pass(const TestFile& test) {
  Verdict verdict;
  const auto blocks = read_kernel_blocks(test, "pass", verdict);
  const auto loaded = cli::load_module_bytes(test.text, test.path, test.load);
  if (!loaded.module) verdict.fail("the file has errors:\n" + brief(loaded.diagnostics));
  if (!verdict.failures.empty()) return verdict;
  std::vector<std::vector<std::string>> actual;
  std::vector<std::string> failures;
  for (const KernelBlock& block : blocks) {
    PassRequest request;
    std::vector<std::string> of_block;
    if (std::string mistake = read_request(block.words, request); !mistake.empty()) {
      of_block.push_back(std::move(mistake));
      actual.push_back(block.lines);
    } else {
      const uint32_t kernel = find_kernel(*loaded.module, block.kernel);
      actual.push_back(PassBlock(loaded.module->kernels[kernel], request, of_block).run());
    }
    for (const std::string& what : of_block)
      failures.push_back(
          fmt::format("line {}: kernel `{}`: {}", block.line + 1, block.kernel, what));
  }
  compare_blocks(test, blocks, actual, std::vector<std::string>(blocks.size()), verdict);
  for (std::string& failure : failures) verdict.fail(std::move(failure));
  return verdict;
}

}  // namespace vyre::runner
