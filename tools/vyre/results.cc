#include "tools/vyre/results.h"

#include <fmt/format.h>

#include <set>

#include "tools/vyre/numbers.h"

namespace vyre::cli {
namespace {

class RequestParser {
 public:
  explicit RequestParser(const Target& target) : target_(target) {}

  void print(const std::string& word) {
    const size_t colon = word.find(':');
    const auto p = find("--print", word.substr(0, colon));
    if (!p) return;
    // Buffers internal to the kernel have no bytes afterwards; inputs are the given data.
    if (!is_host_input(p->role) && !is_host_output(p->role)) return not_an_output(*p, "--print");
    PrintRequest request{*p, std::nullopt};
    if (colon != std::string::npos) {
      request.first = parse_count(std::string_view(word).substr(colon + 1));
      if (!request.first)
        return bad_value("--print", word, fmt::format("write `--print {}:8`", p->name));
    }
    requests_.print.push_back(std::move(request));
  }

  void out(const std::string& word) {
    const auto assignment = split_assignment("--out", word);
    if (!assignment) return add(assignment.errors());
    const auto p = find("--out", assignment->name);
    if (!p) return;
    if (!is_host_output(p->role)) return not_an_output(*p, "--out");
    const std::string& value = assignment->value;
    if (value.size() < 2 || value[0] != '@')
      return bad_value("--out", word, fmt::format("write `--out {}=@FILE`", p->name));
    if (!written_.insert(p->name).second) {
      errors_.push_back(
          diagnose(Code::GivenTwice, {},
                   fmt::format("`--out {}` names a buffer that another `--out` names", word))
              .with_fix("keep one of them"));
      return;
    }
    requests_.files.push_back({*p, value.substr(1)});
  }

  Result<ResultRequests> take() {
    if (!errors_.empty()) return std::move(errors_);
    return std::move(requests_);
  }

 private:
  std::optional<Parameter> find(const std::string& flag, const std::string& name) {
    auto p = find_parameter(target_, name, flag);
    if (p) return std::move(*p);
    add(p.errors());
    return std::nullopt;
  }

  void not_an_output(const Parameter& p, const std::string& flag) {
    errors_.push_back(
        diagnose(Code::NotAnOutput, {},
                 fmt::format("`{}` cannot show `{}`, which is `{}`", flag, p.name, describe(p)))
            .with_fix("name an `out` or `inout` buffer"));
  }

  void bad_value(const std::string& flag, const std::string& word, std::string fix) {
    errors_.push_back(
        diagnose(Code::BadOptionValue, {}, fmt::format("`{} {}` has no meaning", flag, word))
            .with_fix(std::move(fix)));
  }

  void add(const Diagnostics& more) { errors_.insert(errors_.end(), more.begin(), more.end()); }

  const Target& target_;
  ResultRequests requests_;
  Diagnostics errors_;
  std::set<std::string> written_;
};

std::string line(const std::string& name, const std::string& values) {
  return values.empty() ? name + ":\n" : fmt::format("{}: {}\n", name, values);
}

}  // namespace

Result<ResultRequests> parse_requests(const std::vector<std::string>& print,
                                      const std::vector<std::string>& out, const Target& target) {
  RequestParser parser(target);
  for (const std::string& word : print) parser.print(word);
  for (const std::string& word : out) parser.out(word);
  return parser.take();
}

std::vector<bool> requested_outputs(const Target& target, const ResultRequests& requests,
                                    bool previews) {
  if (requests.print.empty() && (previews || requests.files.empty())) return {};
  std::vector<bool> outputs(target.buffer_count());
  for (const PrintRequest& r : requests.print) outputs[r.parameter.buffer] = true;
  for (const FileRequest& r : requests.files) outputs[r.parameter.buffer] = true;
  return outputs;
}

const Bytes& bytes_of(const Parameter& p, const Launch& launch, const RunResult& result) {
  return is_host_output(p.role) ? result.buffers[p.buffer] : *launch.inputs.data[p.buffer];
}

std::string printed_results(const Target& target, const ResultRequests& requests,
                            const Launch& launch, const RunResult& result) {
  std::string text;
  for (const PrintRequest& r : requests.print)
    text += line(r.parameter.name,
                 print_elements(r.parameter.element, bytes_of(r.parameter, launch, result),
                                r.first.value_or(~uint64_t{0})));
  if (!requests.print.empty() || !requests.files.empty()) return text;

  for (const Parameter& p : target.parameters) {
    if (!is_host_output(p.role)) continue;
    const Bytes& bytes = result.buffers[p.buffer];
    const uint64_t count = bytes.size() / size_of(p.element);
    std::string values = fmt::format("{}[{}]", name(p.element), count);
    if (count != 0) values += ' ' + print_elements(p.element, bytes, preview_elements);
    if (count > preview_elements) values += " …";
    text += line(p.name, values);
  }
  return text;
}

void open_files(const std::vector<std::string>& out, OutputFiles& outputs, Diagnostics& mistakes) {
  for (const std::string& word : out) {
    const size_t at = word.find("=@");
    if (at != word.npos && at + 2 < word.size())
      outputs.open(fmt::format("`{}`", word.substr(0, at)), word.substr(at + 2), mistakes);
  }
}

Diagnostics write_files(const ResultRequests& requests, const Launch& launch,
                        const RunResult& result, OutputFiles& outputs) {
  Diagnostics errors;
  for (const bool direct : {false, true})
    for (const FileRequest& f : requests.files) {
      // Data that was written directly cannot be undone.
      if (outputs.is_direct(f.path) != direct || (direct && !errors.empty())) continue;
      const Diagnostics failed = outputs.write(f.path, bytes_of(f.parameter, launch, result));
      errors.insert(errors.end(), failed.begin(), failed.end());
    }
  return errors;
}

}  // namespace vyre::cli
