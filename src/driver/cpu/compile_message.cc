#include "driver/cpu/compile_message.h"

#include <cstring>

#include "vyre/interface_id.h"
#include "wire/bytes.h"
#include "wire/wire.h"

namespace vyre::driver {
namespace {

struct RequestHead {
  std::array<char, 32> interface{};
  int64_t deadline_ns = 0;
  uint64_t bytes = 0;
  uint32_t isa = 0;
  uint32_t subgroup_size = 0;
  uint32_t stoppable = 0;
  uint32_t reserved = 0;
};

constexpr std::array<char, 32> own_interface() {
  constexpr std::string_view id = VYRE_INTERFACE_ID;
  static_assert(id.size() == 32);
  std::array<char, 32> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = id[i];
  return bytes;
}

}  // namespace

std::vector<std::byte> encode_request(const Program& program, const CompileOptions& options,
                                      const CpuOptions& cpu) {
  RequestHead head;
  head.interface = own_interface();
  if (const auto& deadline = options.limits.deadline())
    head.deadline_ns = std::chrono::nanoseconds(deadline->time_since_epoch()).count();
  head.bytes = options.limits.bytes();
  head.isa = static_cast<uint32_t>(cpu.isa);
  head.subgroup_size = options.subgroup_size;
  head.stoppable = options.stoppable;
  wire::Bytes out;
  out.raw(std::as_bytes(std::span(&head, 1)));
  out.raw(encode(program, {.locations = false}));
  return std::move(out.data);
}

Result<CompileRequest> decode_request(std::span<const std::byte> bytes) {
  RequestHead head;
  if (bytes.size() >= sizeof head) std::memcpy(&head, bytes.data(), sizeof head);
  if (head.interface != own_interface())
    return diagnose(Code::DeviceFailed, {}, "the compiler process is of another build of vyre")
        .with_fix("install libvyre_cpu.so and vyre_cpu_compiler of one build");
  Result<Program> program = decode_program(bytes.subspan(sizeof head), {.trusted = true});
  if (!program) return program.errors();
  CompileRequest request;
  request.program = std::move(*program);
  request.options.subgroup_size = head.subgroup_size;
  request.options.stoppable = head.stoppable != 0;
  request.cpu.isa = static_cast<emit_llvm::Isa>(head.isa);
  request.deadline_ns = head.deadline_ns;
  request.bytes = head.bytes;
  return request;
}

std::vector<std::byte> encode_kernel(const CpuKernel& kernel) {
  wire::Bytes out;
  out.u8(static_cast<uint8_t>(CompileEnd::Done));
  out.u64(kernel.emit_ns);
  out.raw(kernel.serialize());
  return std::move(out.data);
}

std::vector<std::byte> encode_error(const Diagnostic& error) {
  wire::Bytes out;
  out.u8(static_cast<uint8_t>(CompileEnd::Failed));
  out.u32(static_cast<uint32_t>(error.code));
  out.text(error.message);
  out.raw(std::as_bytes(std::span(error.fix)));
  return std::move(out.data);
}

std::optional<CompileAnswer> decode_answer(std::span<const std::byte> bytes) {
  if (bytes.empty()) return std::nullopt;
  CompileAnswer answer;
  answer.end = static_cast<CompileEnd>(bytes[0]);
  bytes = bytes.subspan(1);
  switch (answer.end) {
    case CompileEnd::Done:
      if (bytes.size() < 8) return std::nullopt;
      answer.emit_ns = wire::load<uint64_t>(bytes.data());
      answer.kernel = bytes.subspan(8);
      return answer;
    case CompileEnd::Failed: {
      if (bytes.size() < 8) return std::nullopt;
      const auto length = wire::load<uint32_t>(bytes.data() + 4);
      if (bytes.size() - 8 < length) return std::nullopt;
      const auto* text = reinterpret_cast<const char*>(bytes.data());
      answer.error = diagnose(static_cast<Code>(wire::load<uint32_t>(bytes.data())), {},
                              std::string(text + 8, length))
                         .with_fix(std::string(text + 8 + length, bytes.size() - 8 - length));
      return answer;
    }
    case CompileEnd::OverLimit:
    case CompileEnd::OutOfMemory: return answer;
  }
  return std::nullopt;
}

}  // namespace vyre::driver
