#include "runtime/cuda/cuda_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "support/hash.h"

namespace vyre::driver::cuda {
namespace {

using Kind = WorkShape::Kind;

constexpr uint64_t most_x = (uint64_t{1} << 31) - 1, most_y = 65535;

template <class T>
void put(std::byte*& at, T value) {
  std::memcpy(at, &value, sizeof value);
  at += sizeof value;
}

Result<> add_launch(WorkList& list, const DeviceLaunch& c, uint32_t command, uint32_t inside) {
  const std::array<uint64_t, 3>& n = c.shape.num_workgroups;
  const unsigned __int128 all = static_cast<unsigned __int128>(n[0]) * n[1] * n[2];
  if (all == 0) return Ok{};
  auto& kernel = static_cast<Kernel&>(*c.kernel);
  Work w;
  w.shape.kind = Kind::Launch;
  w.shape.function = kernel.direct();
  if (fits_grid(n)) {
    for (size_t d = 0; d < 3; ++d) w.shape.grid[d] = static_cast<unsigned>(n[d]);
    w.shape.grid[0] = (w.shape.grid[0] + c.coarse - 1) / c.coarse;
  } else {
    const unsigned __int128 rows = (all + most_x - 1) / most_x;
    if (rows > most_y)
      return diagnose(Code::KernelTooLarge, c.program->place(c.program->loc),
                      fmt::format("the grid of `{}` has {} x {} x {} workgroups; a launch has at "
                                  "most {} x {}",
                                  kernel.name, n[0], n[1], n[2], most_x, most_y))
          .with_fix("use larger workgroups, or a loop in the kernel");
    const Result<FunctionHandle> linear = kernel.linear();
    if (!linear) return linear.errors();
    w.shape.function = *linear;
    w.shape.grid = {static_cast<unsigned>((all + rows - 1) / rows), static_cast<unsigned>(rows), 1};
  }
  w.shape.block = kernel.workgroup;
  w.shape.shared_bytes = static_cast<unsigned>(kernel.info.dynamic_shared_bytes);
  w.shape.cooperative = kernel.info.grid_barrier;
  w.shape.uses_control = kernel.info.uses_control;
  w.shape.uses_stop = kernel.info.uses_stop;
  w.shape.parameter_bytes = kernel.info.parameter_bytes;
  w.command = command;
  w.inside = inside;
  if (w.shape.uses_control) w.control = list.controls++;
  list.uses_stop |= w.shape.uses_stop;
  ++list.launches;

  w.parameters = static_cast<uint32_t>(list.parameters.size());
  list.parameters.resize(w.parameters + w.shape.parameter_bytes);
  std::byte* at = list.parameters.data() + w.parameters + emit_ptx::num_workgroups_offset;
  for (size_t d = 0; d < 3; ++d) put(at, static_cast<uint32_t>(n[d]));
  put(at, uint32_t{0});
  for (const Kernel::Parameter& p : kernel.parameters) {
    if (p.is_scalar) {
      put(at, c.scalars[p.buffer]);
      continue;
    }
    put(at, c.buffers[p.buffer] + (c.offsets.contains(p.buffer) ? c.offsets[p.buffer] : 0));
    put(at, c.shape.counts[p.buffer]);
  }
  list.works.push_back(w);
  return Ok{};
}

Work work_on(const MemoryRange& to, uint32_t command, uint32_t inside) {
  Work w;
  w.command = command;
  w.inside = inside;
  w.data.to = to.memory + to.offset;
  w.data.bytes = to.bytes;
  return w;
}

Result<> add_plain(WorkList& list, const DeviceCommand& c, uint32_t command, uint32_t inside) {
  if (const auto* launch = c.as<DeviceLaunch>()) return add_launch(list, *launch, command, inside);
  if (const auto* copy = c.as<DeviceCopy>()) {
    Work w = work_on(copy->to, command, inside);
    w.shape.kind = Kind::Copy;
    w.data.from = copy->source + copy->source_offset;
    if (w.data.bytes != 0) list.works.push_back(w);
  } else if (const auto* fill = c.as<DeviceFill>()) {
    Work w = work_on(fill->to, command, inside);
    w.shape.kind = Kind::Fill;
    w.shape.element_bytes = (w.data.to | w.data.bytes) % 4 == 0 ? 4 : 1;
    w.data.value = fill->value;
    if (w.data.bytes != 0) list.works.push_back(w);
  }
  return Ok{};
}

unsigned fill_value(const Work& w) {
  return w.shape.element_bytes == 4 ? w.data.value * 0x01010101u : w.data.value;
}

}  // namespace

void WorkList::clear() {
  works.clear();
  parameters.clear();
  controls = launches = 0;
  uses_stop = has_loop = false;
}

bool WorkList::same_shape(const WorkList& other) const {
  return std::equal(works.begin(), works.end(), other.works.begin(), other.works.end(),
                    [](const Work& a, const Work& b) { return a.shape == b.shape; });
}

bool WorkList::same_data(const WorkList& other) const {
  return parameters == other.parameters &&
         std::equal(works.begin(), works.end(), other.works.begin(), other.works.end(),
                    [](const Work& a, const Work& b) { return a.data == b.data; });
}

uint64_t WorkList::shape_hash() const {
  // A hash that distinguishes most lists; same_shape() decides.
  uint64_t h = works.size();
  for (const Work& w : works) {
    const auto function = reinterpret_cast<uintptr_t>(w.shape.function);
    h = (h ^ function ^ (uint64_t{w.shape.grid[0]} << 40) ^ static_cast<uint64_t>(w.shape.kind)) *
        0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return h;
}

bool fits_grid(const std::array<uint64_t, 3>& n) {
  return n[0] <= most_x && n[1] <= most_y && n[2] <= most_y;
}

bool overlaps(const DeviceCopy& c) {
  const DevicePointer to = c.to.memory + c.to.offset, from = c.source + c.source_offset;
  return to < from + c.to.bytes && from < to + c.to.bytes;
}

Result<> add_body(WorkList& list, const std::vector<DeviceCommand>& body, uint32_t number) {
  for (uint32_t i = 0; i < body.size(); ++i)
    if (Result<> done = add_plain(list, body[i], number, i); !done) return done;
  return Ok{};
}

Result<> add_work(WorkList& list, const DeviceCommand& c, uint32_t number) {
  const auto* const l = c.as<DeviceLoop>();
  if (!l) return add_plain(list, c, number, 0);
  const size_t at = list.works.size();
  Work loop = work_on(l->word, number, 0);
  loop.shape.kind = Kind::Loop;
  loop.data.rounds = l->rounds;
  loop.control = list.controls++;
  list.works.push_back(loop);
  list.has_loop = list.uses_stop = true;
  if (Result<> done = add_body(list, *l->body, number); !done) return done;
  list.works[at].shape.body = static_cast<uint32_t>(list.works.size() - at - 1);
  return Ok{};
}

void set_addresses(std::byte* parameters, DevicePointer control, DevicePointer stop) {
  std::memcpy(parameters + emit_ptx::control_offset, &control, sizeof control);
  std::memcpy(parameters + emit_ptx::stop_offset, &stop, sizeof stop);
}

Status enqueue(const Api& api, const Work& w, std::byte* parameters, StreamHandle stream) {
  const WorkShape& s = w.shape;
  switch (s.kind) {
    case Kind::Fill:
      return s.element_bytes == 4
                 ? api.fill_words(w.data.to, fill_value(w), w.data.bytes / 4, stream)
                 : api.fill_bytes(w.data.to, w.data.value, w.data.bytes, stream);
    case Kind::Copy: return api.copy(w.data.to, w.data.from, w.data.bytes, stream);
    case Kind::Loop: return Status::NotSupported;
    case Kind::Launch: break;
  }
  void* block[] = {parameters};  // the entry has one parameter, the block
  if (s.cooperative)
    return api.launch_cooperative(s.function, s.grid[0], s.grid[1], s.grid[2], s.block[0],
                                  s.block[1], s.block[2], s.shared_bytes, stream, block);
  return api.launch(s.function, s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2],
                    s.shared_bytes, stream, block, nullptr);
}

KernelNode kernel_node(const Work& w, void** parameters) {
  KernelNode node;
  node.function = w.shape.function;
  std::copy(w.shape.grid.begin(), w.shape.grid.end(), node.grid);
  std::copy(w.shape.block.begin(), w.shape.block.end(), node.block);
  node.shared_bytes = w.shape.shared_bytes;
  node.parameters = parameters;
  return node;
}

MemsetNode memset_node(const Work& w) {
  MemsetNode node;
  node.to = w.data.to;
  node.value = fill_value(w);
  node.element_bytes = w.shape.element_bytes;
  node.width = w.data.bytes / w.shape.element_bytes;
  return node;
}

CopyNode copy_node(const Work& w) {
  CopyNode node;
  node.from.device = w.data.from;
  node.to.device = w.data.to;
  node.from.pitch = node.to.pitch = node.width_bytes = w.data.bytes;
  node.from.height = node.to.height = 1;
  return node;
}

}  // namespace vyre::driver::cuda
