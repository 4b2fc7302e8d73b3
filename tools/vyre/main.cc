// vyre: the command line. Selects the command; each has a separate file.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>
#include <stdexcept>
#include <string_view>

#include "tools/vyre/commands.h"
#include "tools/vyre/diagnostic_output.h"

namespace vyre::cli {
namespace {

struct Dispatch {
  int operator()(const TextCommand& c) const {
    write_out(c.text);
    return exit_done;
  }
  int operator()(const RunCommand& c) const { return run(c); }
  int operator()(const CheckCommand& c) const { return check(c); }
  int operator()(const EmitCommand& c) const { return emit(c); }
  int operator()(const OptCommand& c) const { return optimize(c); }
  int operator()(const BisectCommand& c) const { return bisect(c); }
  int operator()(const ReduceCommand& c) const { return reduce(c); }
  int operator()(const PlanCommand& c) const { return plan(c); }
  int operator()(const FormatCommand& c) const { return format(c); }
  int operator()(const ExplainCommand& c) const { return explain(c); }
  int operator()(const DevicesCommand& c) const { return devices(c); }
  int operator()(const CacheCommand& c) const { return cache(c); }
  int operator()(const FuzzCommand& c) const { return fuzz(c); }
  int operator()(const CertifyCommand& c) const { return certify(c); }
};

int run_command(const std::vector<std::string>& words, bool json) {
  const auto command = parse_command_line(words);
  if (command) return std::visit(Dispatch{}, *command);
  if (words.empty()) write_out(help_text());
  return report(command.errors(), {}, json);
}

/// Reports that memory is exhausted; if the report itself needs too much memory, prints a fixed
/// line.
int out_of_memory(bool json) {
  try {
    return report({diagnose(Code::OutOfMemory, {}, "the machine has no more memory")
                       .with_fix("use smaller buffers, or free memory")},
                  {}, json);
  } catch (const std::bad_alloc&) {
    constexpr std::string_view text = "error[V0521]: the machine has no more memory\n";
    (void)!::write(STDERR_FILENO, text.data(), text.size());
    return exit_system_failed;
  }
}

int guarded(std::span<char* const> words, bool json) {
  // No other exceptions cross the library's API: the standard library throws these when memory is
  // exhausted or a size is too large.
  try {
    return run_command({words.begin(), words.end()}, json);
  } catch (const std::bad_alloc&) {
    return out_of_memory(json);
  } catch (const std::length_error&) {
    return out_of_memory(json);
  } catch (const std::exception& e) {
    return report({diagnose(Code::InternalError, {}, fmt::format("vyre failed: {}", e.what()))
                       .with_fix("report it, with the command and its files")},
                  {}, json);
  }
}

/// Opens descriptors 0 to 2 on /dev/null if they are closed: the next opened file would take the
/// number, and printed text would be written to it.
void open_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF && ::open("/dev/null", O_RDWR) != fd)
      std::_Exit(exit_system_failed);
}

}  // namespace
}  // namespace vyre::cli

int main(int argc, char** argv) {
  using namespace vyre;
  cli::open_standard_streams();   // first: before any file is opened
  std::signal(SIGXFSZ, SIG_IGN);  // so that a full quota is an error of write() and not fatal
  const std::span<char* const> words(argv + std::min(argc, 1), argv + argc);
  // Determined before the words are parsed, because they may be wrong.
  const bool json = std::any_of(words.begin(), words.end(),
                                [](std::string_view word) { return word == "--json"; });
  const int code = cli::guarded(words, json);
  if (!cli::output_failed()) return code;
  cli::show({diagnose(Code::CannotWrite, {}, "cannot write to standard output")
                 .with_fix("free some space, or write elsewhere")},
            {});
  return cli::exit_system_failed;
}
