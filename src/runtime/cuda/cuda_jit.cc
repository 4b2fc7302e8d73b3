#include "runtime/cuda/cuda_jit.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>

#include "runtime/cuda/device_info.h"

namespace vyre::driver::cuda {
namespace {

constexpr size_t log_bytes = 16 << 10;
constexpr size_t most_notes = 20;

/// Returns the number after the word "line", or 0.
size_t line_named_in(std::string_view message) {
  const size_t at = message.find("line ");
  size_t number = 0;
  if (at != message.npos)
    std::from_chars(message.data() + at + 5, message.data() + message.size(), number);
  return number;
}

std::string_view line_of(std::string_view text, size_t number) {
  for (; number > 1 && !text.empty(); --number)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.substr(0, text.find('\n'));
}

/// Adds one note per line of the compiler's log.
void add_log(Diagnostic& d, std::string_view log, std::string_view text) {
  for (size_t notes = 0; !log.empty() && notes < most_notes;) {
    const size_t end = std::min(log.find('\n'), log.size());
    const std::string_view message = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (message.empty()) continue;
    const size_t line = line_named_in(message);
    d.note(line ? fmt::format("{}; that line is `{}`", message, line_of(text, line))
                : std::string(message));
    ++notes;
  }
}

Diagnostic refused(Context& context, Status status, std::string_view log, const std::string& text,
                   emit_ptx::Arch arch, const std::string& kernel, const Place& place) {
  const Api& api = context.api;
  if (is_sticky(status) || status == Status::OutOfMemory)
    return context.failed(status, fmt::format("`{}` was compiled", kernel));
  if (status == Status::UnsupportedPtxVersion || status == Status::NoBinaryForGpu) {
    const auto [major, minor] = ptx_of_driver(api.version);
    Diagnostic d = diagnose(
        Code::DriverTooOld, place,
        fmt::format(
            "kernel `{}` is PTX {} for {}; {} has a driver of CUDA {}, which knows PTX {}.{}",
            kernel, emit_ptx::ptx_version(arch), emit_ptx::name(arch), context.name,
            version_text(api.version), major, minor));
    d.note(api.describe(status));
    add_log(d, log, text);
    return d.with_fix("update the driver, or use another device");
  }
  Diagnostic d = diagnose(Code::CodeRejected, place,
                          fmt::format("the driver of {} refused the code of `{}`: {}", context.name,
                                      kernel, api.describe(status)));
  add_log(d, log, text);
  if (status == Status::JitCompilerNotFound)
    return d.with_fix("install libnvidia-ptxjitcompiler, which is a part of the driver");
  return d.with_fix("run the kernel on another backend, and report it with the program");
}

/// The linker; always destroyed at the end.
struct Linker {
  const Api& api;
  LinkHandle handle = nullptr;
  ~Linker() {
    if (handle) api.link_destroy(handle);
  }
};

}  // namespace

Result<std::vector<std::byte>> compile_ptx(Context& context, const std::string& text,
                                           emit_ptx::Arch arch, bool lines,
                                           const std::string& kernel, const Place& place) {
  if (context.is_lost()) return context.loss();
  const Api& api = context.api;
  const Current current(context);
  std::vector<char> errors(log_bytes);
  std::array keys = {JitOption::ErrorLog, JitOption::ErrorLogBytes, JitOption::LineInfo};
  std::array<void*, 3> values = {errors.data(), reinterpret_cast<void*>(log_bytes),
                                 reinterpret_cast<void*>(size_t{1})};
  Linker linker{api};
  void* code = nullptr;
  size_t bytes = 0;
  Status s = api.link_create(lines ? 3 : 2, keys.data(), values.data(), &linker.handle);
  if (s == Status::Success)  // the zero byte at the end is part of it
    s = api.link_add(linker.handle, jit_input_ptx, const_cast<char*>(text.c_str()), text.size() + 1,
                     kernel.c_str(), 0, nullptr, nullptr);
  if (s == Status::Success) s = api.link_complete(linker.handle, &code, &bytes);
  if (s != Status::Success) {
    const std::string_view log(errors.data(), strnlen(errors.data(), errors.size()));
    return refused(context, s, log, text, arch, kernel, place);
  }
  const auto* begin = static_cast<const std::byte*>(code);
  return std::vector<std::byte>(begin, begin + bytes);
}

Result<std::shared_ptr<Module>> Module::load(std::shared_ptr<Context> context,
                                             std::span<const std::byte> image, const char* entry) {
  if (context->is_lost()) return context->loss();
  const Current current(*context);
  const std::shared_ptr<Module> made(new Module(context));
  Status s = context->api.module_load(&made->handle_, image.data(), 0, nullptr, nullptr);
  if (s != Status::Success) {
    made->handle_ = nullptr;
    return context->failed(s, "code was loaded");
  }
  s = context->api.module_function(&made->function, made->handle_, entry);
  if (s != Status::Success) return context->failed(s, "an entry was looked for");
  return made;
}

Module::~Module() {
  if (!handle_ || context_->is_lost()) return;
  const Current current(*context_);
  context_->api.module_unload(handle_);
}

}  // namespace vyre::driver::cuda
