// The initial contents of a frame: constants, ids, zeroed arrays.

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "interp/interp_machine.h"

namespace vyre::interp {
namespace {

constexpr uint64_t align = 64;

uint64_t aligned(uint64_t bytes) { return (bytes + align - 1) / align * align; }

template <class T>
void fill(void* to, uint32_t lanes, uint64_t bits) {
  std::fill_n(static_cast<T*>(to), lanes, static_cast<T>(bits));
}
void fill(void* to, uint32_t width, uint32_t lanes, uint64_t bits) {
  switch (width) {
    case 1: return fill<uint8_t>(to, lanes, bits);
    case 2: return fill<uint16_t>(to, lanes, bits);
    case 4: return fill<uint32_t>(to, lanes, bits);
    default: return fill<uint64_t>(to, lanes, bits);
  }
}

bool is_array(Role r) { return r == Role::Shared || r == Role::Private; }

}  // namespace

uint64_t frame_bytes(const FlatCode& code, const LaunchShape& shape) {
  using Wide = unsigned __int128;
  const Program& p = *code.program;
  Wide bytes = Wide{code.units} * 64 + align;
  for (const BufferId i : p.buffers.ids()) {
    if (!is_array(p.buffers[i].role)) continue;
    const Wide one = Wide{shape.counts[i]} * size_of(p.buffers[i].element);
    bytes += one * (p.buffers[i].role == Role::Private ? code.lanes : 1) + align;
  }
  return saturating(bytes);
}

Machine::Machine(const FlatCode& code, const LaunchShape& shape, IdMap<BufferId, View> buffers,
                 IdMap<BufferId, uint64_t> scalars, uint32_t subgroup_size, const Options& options,
                 Clock& clock)
    : code_(code),
      shape_(shape),
      buffers_(std::move(buffers)),
      scalars_(std::move(scalars)),
      subgroup_size_(subgroup_size),
      schedule_(options.schedule),
      clock_(clock),
      observer_(options.observer),
      random_(options.seed) {
  const Program& p = *code.program;
  for (auto& list : local_) list.resize(code.group_lanes);
  for (uint32_t l = 0; l < code.group_lanes; ++l) {
    const uint32_t x = std::max(1u, p.workgroup[0]), y = std::max(1u, p.workgroup[1]);
    local_[0][l] = l % x;
    local_[1][l] = l / x % y;
    local_[2][l] = l / x / y;
  }

  const int permutations = schedule_ == Schedule::Order     ? 0
                           : schedule_ == Schedule::Reverse ? 1
                                                            : 8;
  orders_.resize(static_cast<size_t>(permutations) * code.lanes);
  for (int k = 0; k < permutations; ++k) {
    const auto first = orders_.begin() + static_cast<ptrdiff_t>(k) * code.lanes;
    std::iota(first, first + code.lanes, 0u);
    if (schedule_ == Schedule::Reverse)
      std::reverse(first, first + code.lanes);
    else
      for (uint32_t l = code.lanes; l > 1; --l)
        std::swap(first[l - 1], first[static_cast<ptrdiff_t>(random_.next() % l)]);
  }

  frame_bytes_ = interp::frame_bytes(code, shape);
}

Frame Machine::make_frame() const {
  const Program& p = *code_.program;
  Frame f;
  f.memory = ZeroedMemory(frame_bytes_);
  const auto address = reinterpret_cast<uintptr_t>(f.memory.data());
  f.base = f.memory.data() + (aligned(address) - address);
  f.views = buffers_;
  uint64_t place = code_.units * 64;
  for (const BufferId i : p.buffers.ids()) {
    const Buffer& b = p.buffers[i];
    if (!is_array(b.role)) continue;
    const uint64_t bytes = shape_.counts[i] * size_of(b.element);
    const bool is_private = b.role == Role::Private;
    f.views[i] = {f.base + place, shape_.counts[i], bytes, is_private ? bytes : 0};
    place += aligned(is_private ? bytes * code_.lanes : bytes);
  }
  for (const Constant& c : code_.constants) {
    uint64_t bits = 0;
    switch (c.code) {
      case Opcode::Const: bits = c.attr; break;
      case Opcode::NumWorkgroups: bits = shape_.num_workgroups[c.attr]; break;
      case Opcode::WorkgroupSize: bits = p.workgroup[c.attr]; break;
      case Opcode::SubgroupSize: bits = subgroup_size_; break;
      case Opcode::Len:
      case Opcode::Len64: bits = shape_.counts[BufferId(c.attr)]; break;
      case Opcode::Scalar:
        bits = c.type == Type::Bool ? scalars_[BufferId(c.attr)] != 0 : scalars_[BufferId(c.attr)];
        break;
      default: break;
    }
    fill(f.base + uint64_t{c.slot} * 64, size_of(c.type), code_.lanes, bits);
  }
  return f;
}

namespace {

/// Coordinates of a workgroup from its linear number, x fastest.
std::array<uint32_t, 3> coordinates(unsigned __int128 group, const LaunchShape& shape) {
  const uint64_t x = shape.num_workgroups[0], y = shape.num_workgroups[1];
  if (group <= ~0ull) {
    const auto g = static_cast<uint64_t>(group);
    return {static_cast<uint32_t>(g % x), static_cast<uint32_t>(g / x % y),
            static_cast<uint32_t>(g / x / y)};
  }
  return {static_cast<uint32_t>(group % x), static_cast<uint32_t>(group / x % y),
          static_cast<uint32_t>(group / x / y)};
}

}  // namespace

std::array<uint32_t, 3> Machine::invocation(const Frame& frame, uint32_t lane) const {
  const uint32_t local = lane % code_.group_lanes;
  std::array<uint32_t, 3> id = coordinates(frame.first_group + lane / code_.group_lanes, shape_);
  for (int d = 0; d < 3; ++d) id[d] = id[d] * code_.program->workgroup[d] + local_[d][local];
  return id;
}

void Machine::fill_ids(Frame& frame) const {
  const uint32_t n = code_.group_lanes;
  for (uint32_t g = 0; g < frame.group_count; ++g) {
    const std::array<uint32_t, 3> group = coordinates(frame.first_group + g, shape_);
    for (const Id& id : code_.ids) {
      uint32_t* out =
          reinterpret_cast<uint32_t*>(frame.base + uint64_t{id.slot} * 64) + uint64_t{g} * n;
      const uint32_t first =
          id.code == Opcode::GlobalId ? group[id.dim] * code_.program->workgroup[id.dim] : 0;
      switch (id.code) {
        case Opcode::WorkgroupId: std::fill_n(out, n, group[id.dim]); break;
        case Opcode::LaneId:
          for (uint32_t l = 0; l < n; ++l) out[l] = l % subgroup_size_;
          break;
        default:  // global_id, local_id
          for (uint32_t l = 0; l < n; ++l) out[l] = first + local_[id.dim][l];
      }
    }
  }
}

/// Returns false if the time limit has passed: arrays may be as large as memory.
bool Machine::zero_arrays(Frame& frame) {
  if (std::exchange(frame.is_fresh, false)) return true;
  constexpr uint64_t part = 4 << 20;
  for (const BufferId i : frame.views.ids()) {
    if (!is_array(code_.program->buffers[i].role)) continue;
    const View& v = frame.views[i];
    const uint64_t bytes = v.lane_stride ? v.lane_stride * code_.lanes : v.bytes;
    for (uint64_t at = 0; at < bytes; at += part) {
      if (at > 0 && clock_.expired()) return false;
      std::memset(v.base + at, 0, std::min(part, bytes - at));
    }
  }
  return true;
}

bool Machine::start(Frame& frame, unsigned __int128 first, uint32_t count) {
  frame.pc = 0;
  frame.first_group = first;
  frame.group_count = count;
  fill_ids(frame);
  const Mask active = {reinterpret_cast<uint8_t*>(frame.base + uint64_t{code_.active} * 64),
                       code_.stride};
  const Mask dead = {reinterpret_cast<uint8_t*>(frame.base + uint64_t{code_.dead} * 64),
                     code_.stride};
  const uint32_t present = count * code_.group_lanes;
  std::memset(active.bytes, 0, code_.stride);
  std::memset(active.bytes, 1, present);
  active.count() = present;
  set_empty(dead);
  return zero_arrays(frame);
}

}  // namespace vyre::interp
