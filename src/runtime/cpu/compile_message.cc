#include "runtime/cpu/compile_message.h"

#include <cstring>
#include <type_traits>

#include "vyre/interface_id.h"
#include "wire/wire.h"
#include "wire/wire_bytes.h"

namespace vyre::driver {
namespace {

struct RequestHead {
  std::array<char, 32> interface{};
  int64_t deadline_ns = 0;
  uint64_t bytes = 0;
  uint32_t isa = 0;
  uint32_t subgroup_size = 0;
  uint8_t stoppable = 0;
  uint8_t emits = 0;  // the next four belong to an EmitRequest
  uint8_t form = 0;
  uint8_t listing = 0;
  uint8_t optimize = 0;
  std::array<uint8_t, 3> reserved{};
  uint32_t symbol_bytes = 0;  // the symbol follows the head
  uint32_t reserved_too = 0;
};
static_assert(std::has_unique_object_representations_v<RequestHead>);

constexpr std::array<char, 32> own_interface() {
  constexpr std::string_view id = VYRE_INTERFACE_ID;
  static_assert(id.size() == 32);
  std::array<char, 32> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = id[i];
  return bytes;
}

RequestHead head_of(const CompileLimits& limits) {
  RequestHead head;
  head.interface = own_interface();
  if (const auto& deadline = limits.deadline())
    head.deadline_ns = std::chrono::nanoseconds(deadline->time_since_epoch()).count();
  head.bytes = limits.bytes();
  return head;
}

/// Reads the output of encode_listing(). A read beyond the end gives zeros and sets `is_whole` to
/// false.
struct Reader {
  std::span<const std::byte> bytes;
  bool is_whole = true;

  uint32_t u32() {
    if (bytes.size() < 4) return is_whole = false, 0;
    const auto value = wire::load<uint32_t>(bytes.data());
    bytes = bytes.subspan(4);
    return value;
  }
  std::string text() {
    const uint32_t length = u32();
    if (bytes.size() < length) return is_whole = false, "";
    std::string value(reinterpret_cast<const char*>(bytes.data()), length);
    bytes = bytes.subspan(length);
    return value;
  }
};

wire::Bytes done(uint64_t emit_ns) {
  wire::Bytes out;
  out.u8(static_cast<uint8_t>(CompileEnd::Done));
  out.u64(emit_ns);
  return out;
}

}  // namespace

std::vector<std::byte> encode_request(const Program& program, const CompileOptions& options,
                                      const CpuOptions& cpu) {
  RequestHead head = head_of(options.limits);
  head.isa = static_cast<uint32_t>(cpu.isa);
  head.subgroup_size = options.subgroup_size;
  head.stoppable = options.stoppable;
  wire::Bytes out;
  out.raw(std::as_bytes(std::span(&head, 1)));
  out.raw(encode(program, {.locations = false}));
  return std::move(out.data);
}

std::vector<std::byte> encode_request(const Program& program, const EmitRequest& request,
                                      const CompileLimits& limits) {
  RequestHead head = head_of(limits);
  head.isa = static_cast<uint32_t>(request.options.isa);
  head.subgroup_size = request.options.subgroup_size;
  head.stoppable = request.options.stoppable;
  head.emits = 1;
  head.form = static_cast<uint8_t>(request.form);
  head.listing = request.listing;
  head.optimize = request.optimize;
  head.symbol_bytes = static_cast<uint32_t>(request.symbol.size());
  wire::Bytes out;
  out.raw(std::as_bytes(std::span(&head, 1)));
  out.raw(std::as_bytes(std::span(request.symbol)));
  out.raw(encode(program));
  return std::move(out.data);
}

Result<CompileRequest> decode_request(std::span<const std::byte> bytes) {
  RequestHead head;
  if (bytes.size() >= sizeof head) std::memcpy(&head, bytes.data(), sizeof head);
  if (head.interface != own_interface() || bytes.size() - sizeof head < head.symbol_bytes)
    return diagnose(Code::DeviceFailed, {}, "the compiler process is of another build of vyre")
        .with_fix("install libvyre_cpu.so and vyre_cpu_compiler of one build");
  bytes = bytes.subspan(sizeof head);
  const auto* symbol = reinterpret_cast<const char*>(bytes.data());
  Result<Program> program = decode_program(bytes.subspan(head.symbol_bytes), {.trusted = true});
  if (!program) return program.errors();
  CompileRequest request;
  request.program = std::move(*program);
  request.options.subgroup_size = head.subgroup_size;
  request.options.stoppable = head.stoppable != 0;
  request.cpu.isa = static_cast<emit_llvm::Isa>(head.isa);
  if (head.emits) {
    EmitRequest& emit = request.emit.emplace();
    emit.form = static_cast<CpuEmitRequest::Form>(head.form);
    emit.listing = head.listing != 0;
    emit.optimize = head.optimize != 0;
    emit.options.isa = request.cpu.isa;
    emit.options.subgroup_size = head.subgroup_size;
    emit.options.stoppable = head.stoppable != 0;
    emit.symbol.assign(symbol, head.symbol_bytes);
  }
  request.deadline_ns = head.deadline_ns;
  request.bytes = head.bytes;
  return request;
}

std::vector<std::byte> encode_kernel(const CpuKernel& kernel) {
  wire::Bytes out = done(kernel.emit_ns);
  out.raw(kernel.serialize());
  return std::move(out.data);
}

std::vector<std::byte> encode_code(std::string_view code) {
  wire::Bytes out = done(0);
  out.raw(std::as_bytes(std::span(code)));
  return std::move(out.data);
}

std::vector<std::byte> encode_listing(const Listing& listing) {
  wire::Bytes out = done(0);
  out.text(listing.language);
  out.u32(static_cast<uint32_t>(listing.files.size()));
  for (const std::string& file : listing.files) out.text(file);
  for (const ListingLine& l : listing.lines) {
    out.text(l.text);
    out.u32(l.file);
    out.u32(l.line);
    out.u32(l.column);
  }
  return std::move(out.data);
}

std::optional<Listing> decode_listing(std::span<const std::byte> bytes) {
  Reader in{bytes};
  Listing listing;
  listing.language = in.text();
  const uint32_t files = in.u32();
  for (uint32_t i = 0; i < files && in.is_whole; ++i) listing.files.push_back(in.text());
  while (in.is_whole && !in.bytes.empty()) {
    ListingLine l;
    l.text = in.text();
    l.file = in.u32();
    l.line = in.u32();
    l.column = in.u32();
    if (l.line != 0 && l.file >= files) in.is_whole = false;
    listing.lines.push_back(std::move(l));
  }
  if (!in.is_whole) return std::nullopt;
  return listing;
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
      answer.result = bytes.subspan(8);
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
