#include "plan/fusion/handoff_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "opt/analysis/tile_bounds.h"

namespace vyre::plan {
namespace {

using opt::TileForms;
using opt::TileWindow;
using opt::Wide;

// Limit of indices, so that 32 bits distinguish elements from indices that wrapped below zero.
constexpr Wide most_index = Wide(1) << 31;

/// Accesses to one buffer.
struct Access {
  OpId op;
  uint32_t elements;  // load_n: as many
};

/// Lines of all accesses together, and the most workgroups for which they hold.
struct Span {
  Wide stride = 0, low = 0, high = 0;
  bool is_exact = true;
  uint64_t most_groups = 0;
  bool operator==(const Span&) const = default;
};

class Finder {
 public:
  Finder(const Program& producer, BufferId producer_buffer, const Program& consumer,
         BufferId consumer_buffer, uint64_t budget, std::string& why_not)
      : producer_(producer),
        consumer_(consumer),
        out_(producer_buffer),
        in_(consumer_buffer),
        budget_(budget),
        why_not_(why_not) {}

  std::optional<HandoffFacts> run() {
    if (!check_buffers() || !check_producer() || !check_consumer()) return std::nullopt;
    const auto stores = find_span(producer_, stores_, true);
    if (!stores) return std::nullopt;
    const auto loads = find_span(consumer_, loads_, false);
    if (!loads) return std::nullopt;
    return combine(*stores, *loads);
  }

 private:
  bool refuse(std::string why) {
    why_not_ = std::move(why);
    return false;
  }

  bool check_buffers() {
    const Buffer &out = producer_.buffers[out_], &in = consumer_.buffers[in_];
    if (out.role != Role::Out)
      return refuse(fmt::format("`{}` takes `{}` as {}, and a tile needs `out`", producer_.name,
                                out.name, name(out.role)));
    if (in.role != Role::In)
      return refuse(fmt::format("`{}` takes `{}` as {}, and a tile needs `in`", consumer_.name,
                                in.name, name(in.role)));
    if (out.element != in.element)
      return refuse(fmt::format("`{}` has elements of different types in `{}` and `{}`", in.name,
                                producer_.name, consumer_.name));
    return true;
  }

  // ---- The producer.

  bool check_producer() {
    const Program& p = producer_;
    if (p.grid_dims != 1 || p.workgroup[1] != 1 || p.workgroup[2] != 1)
      return refuse(fmt::format("the launch of `{}` has more than one dimension", producer_.name));
    for (const BufferId i : p.buffers.ids()) {
      const Buffer& b = p.buffers[i];
      if (i == out_ || !is_writable(b.role) || b.role == Role::Private) continue;
      if (is_parameter(b.role) && b.role != Role::Scratch)
        return refuse(fmt::format("`{}` also writes `{}`", p.name, b.name));
      return refuse(fmt::format("`{}` has {} memory `{}`", p.name, name(b.role), b.name));
    }
    std::string why;
    walk(p, [&](OpId op) {
      if (why.empty()) why = why_not_producer_op(op);
    });
    if (!why.empty()) return refuse(std::move(why));
    if (stores_.empty())
      return refuse(fmt::format("`{}` never stores `{}`", p.name, p.buffers[out_].name));
    return true;
  }

  std::string why_not_producer_op(OpId op) {
    const Op& o = producer_.op(op);
    const auto has = [&](std::string_view what) {
      return fmt::format("`{}` has {}", producer_.name, what);
    };
    switch (info(o.code).effect) {
      case Effect::Atomic: return has("an atomic");
      case Effect::Sync: return has("a barrier");
      case Effect::Convergent: return has(fmt::format("subgroup operation `{}`", mnemonic(o.code)));
      case Effect::Trap: return fmt::format("`{}` may trap", producer_.name);
      default: break;
    }
    if (o.code == Opcode::Trap) return fmt::format("`{}` may trap", producer_.name);
    if (o.code == Opcode::LaneId || o.code == Opcode::SubgroupSize)
      return has(fmt::format("subgroup operation `{}`", mnemonic(o.code)));
    if (info(o.code).attribute != AttrKind::Memory || producer_.memory(op).buffer != out_)
      return "";
    const std::string& buffer = producer_.buffers[out_].name;
    if (info(o.code).effect == Effect::Read)
      return fmt::format("`{}` also loads `{}`", producer_.name, buffer);
    if (o.code == Opcode::StoreN)
      return fmt::format("`{}` stores `{}` by vectors", producer_.name, buffer);
    stores_.push_back({op, 1});
    return "";
  }

  // ---- The consumer.

  bool check_consumer() {
    const Program& p = consumer_;
    if (p.grid_dims > 1)
      return refuse(fmt::format("the launch of `{}` has more than one dimension", p.name));
    std::string why;
    walk(p, [&](OpId op) {
      if (why.empty()) why = why_not_consumer_op(op);
    });
    if (!why.empty()) return refuse(std::move(why));
    if (loads_.empty())
      return refuse(fmt::format("`{}` never loads `{}`", p.name, p.buffers[in_].name));
    return true;
  }

  std::string why_not_consumer_op(OpId op) {
    const Op& o = consumer_.op(op);
    if (o.code == Opcode::Barrier && Scope(o.attr) == Scope::Grid)
      return fmt::format("`{}` has a grid barrier", consumer_.name);
    if (info(o.code).attribute != AttrKind::Memory) return "";
    const MemoryRef m = consumer_.memory(op);
    if (o.code == Opcode::UniformLoad && m.scope == Scope::Grid)
      return fmt::format("`{}` has a grid barrier", consumer_.name);
    if (m.buffer != in_) return "";
    if (o.code == Opcode::LoadAs)
      return fmt::format("`{}` reads `{}` as another type", consumer_.name,
                         consumer_.buffers[in_].name);
    loads_.push_back({op, o.code == Opcode::LoadN ? o.results.count : 1});
    return "";
  }

  // ---- Lines.

  /// The position of all accesses. The number of workgroups decides which indices can wrap, and the
  /// stride decides how many there may be: found with one workgroup, then proved for as many as
  /// fit.
  std::optional<Span> find_span(const Program& p, const std::vector<Access>& accesses,
                                bool by_invocation) {
    const opt::Ranges ranges(p);
    const auto first = span_of(p, ranges, accesses, by_invocation, 1);
    if (!first) return std::nullopt;
    const Wide a_group = first->stride * (by_invocation ? p.workgroup[0] : 1);
    const Wide widest = std::max<Wide>(a_group, p.workgroup[0]);
    const Wide room = most_index - std::max<Wide>(first->high, 0);
    std::optional<Span> s;
    // Numbers on the way to the index may be a few times as large.
    for (const int share : {1, 4, 16, 64}) {
      const uint64_t groups = room > 0 ? uint64_t(room / widest / share) : 0;
      if (groups == 0) break;
      s = span_of(p, ranges, accesses, by_invocation, groups);
      if (!s) continue;
      const TileForms any(p, ranges, TileForms::most_workgroups(p));
      (by_invocation ? stores_same_ : loads_inside_) = is_same(p, any, accesses, by_invocation, *s);
      return s;
    }
    if (s || why_not_.empty())
      why_not_ = fmt::format("indices of `{}` in `{}` exceed 31 bits",
                             p.buffers[by_invocation ? out_ : in_].name, p.name);
    return std::nullopt;
  }

  static std::optional<TileWindow> window_of(const TileForms& forms, const Program& p,
                                             const Access& access, bool by_invocation) {
    const ValueId index = p.operand(access.op, 0);
    auto w = by_invocation ? forms.by_invocation(index, access.op) : forms.window(index, access.op);
    if (!w) return w;
    w->high += access.elements - 1;
    // Narrow numbers wrap far below the end of a buffer.
    if (!w->exact && width_of(p.type(index)) < 32) return std::nullopt;
    return w;
  }

  std::optional<Span> span_of(const Program& p, const opt::Ranges& ranges,
                              const std::vector<Access>& accesses, bool by_invocation,
                              uint64_t groups) {
    const TileForms forms(p, ranges, groups);
    const std::string& buffer = p.buffers[by_invocation ? out_ : in_].name;
    std::optional<Span> s;
    for (const Access& access : accesses) {
      const auto w = window_of(forms, p, access, by_invocation);
      const std::string index = fmt::format("index of `{}` in `{}` (line {})", buffer, p.name,
                                            p.place(p.op(access.op).loc).line);
      if (by_invocation && (!w || w->group <= 0)) {
        refuse(fmt::format("the {} does not grow with global_id.x", index));
        return std::nullopt;
      }
      if (!w || w->low < -most_index || w->high >= most_index) {
        refuse(fmt::format("the {} has no bounds in its workgroup", index));
        return std::nullopt;
      }
      if (w->group < 0) {
        refuse(fmt::format("the {} decreases from workgroup to workgroup", index));
        return std::nullopt;
      }
      if (s && s->stride != w->group) {
        refuse(fmt::format("the {} advances by {} per {}, another one by {}", index,
                           int64_t(w->group), by_invocation ? "invocation" : "workgroup",
                           int64_t(s->stride)));
        return std::nullopt;
      }
      if (!s) s = Span{w->group, w->low, w->high, true, groups};
      s->low = std::min(s->low, w->low);
      s->high = std::max(s->high, w->high);
      s->is_exact &= w->exact;
    }
    return s;
  }

  /// True if all accesses have this span in launches of any size.
  static bool is_same(const Program& p, const TileForms& forms, const std::vector<Access>& accesses,
                      bool by_invocation, const Span& s) {
    return std::all_of(accesses.begin(), accesses.end(), [&](const Access& access) {
      const auto w = window_of(forms, p, access, by_invocation);
      return w && w->group == s.stride && w->low >= s.low && w->high <= s.high;
    });
  }

  std::optional<HandoffFacts> combine(const Span& stores, const Span& loads) {
    HandoffFacts f;
    HandoffWindow& w = f.window;
    w.stride = int64_t(loads.stride);
    w.first = int64_t(loads.low);
    w.last = int64_t(loads.high);
    w.writer_stride = int64_t(stores.stride);
    w.low = int64_t(stores.low);
    w.high = int64_t(stores.high);
    w.elements = uint64_t(loads.high - loads.low + 1);
    w.bytes = w.elements * size_of(consumer_.buffers[in_].element);
    if (w.bytes > budget_) {
      refuse(fmt::format("a tile of {} elements of `{}` has {} bytes, and the limit is {}",
                         w.elements, consumer_.buffers[in_].name, w.bytes, budget_));
      return std::nullopt;
    }
    // Invocations between that of the first element and that of the last one. Where a window can
    // begin anywhere in the elements that an invocation writes, one more may be needed.
    const Wide a = stores.stride, spread = stores.high - stores.low;
    f.is_aligned = loads.stride % a == 0;
    if (f.is_aligned)
      w.invocations = uint64_t(floor_div(loads.high - stores.low, a) -
                               ceil_div(loads.low - stores.high, a) + 1);
    else
      w.invocations = uint64_t((Wide(w.elements) - 1 + spread) / a + 1);
    if (w.invocations == 0) {
      refuse(fmt::format("`{}` stores no element of `{}` that `{}` loads", producer_.name,
                         consumer_.buffers[in_].name, consumer_.name));
      return std::nullopt;
    }
    const Wide covered = a * Wide(w.invocations);
    w.recomputed = loads.stride >= covered
                       ? 0
                       : 1.0 - double(int64_t(loads.stride)) / double(int64_t(covered));
    f.most_producer_groups = stores.most_groups;
    f.most_consumer_groups = loads.most_groups;
    f.stores_from_zero = stores.low >= 0;
    f.loads_inside = loads_inside_;
    // From the first invocation's lowest element to the last one's highest.
    f.stores_inside = stores_same_ && f.is_aligned &&
                      a * ceil_div(loads.low - stores.high, a) + stores.low >= loads.low &&
                      a * floor_div(loads.high - stores.low, a) + stores.high <= loads.high;
    // An index that wraps below zero lies past the end of every buffer of at most this size.
    if ((!loads.is_exact && loads.low < 0) || (!stores.is_exact && stores.low < 0))
      f.most_count = uint64_t(most_index);
    return f;
  }

  static Wide floor_div(Wide a, Wide b) { return a / b - (a % b < 0); }
  static Wide ceil_div(Wide a, Wide b) { return -floor_div(-a, b); }

  const Program& producer_;
  const Program& consumer_;
  const BufferId out_, in_;
  const uint64_t budget_;
  std::string& why_not_;
  std::vector<Access> stores_, loads_;
  bool loads_inside_ = false, stores_same_ = false;
};

}  // namespace

std::optional<HandoffFacts> find_handoff(const Program& producer, BufferId producer_buffer,
                                         const Program& consumer, BufferId consumer_buffer,
                                         uint64_t budget, std::string& why_not) {
  why_not.clear();
  return Finder(producer, producer_buffer, consumer, consumer_buffer, budget, why_not).run();
}

std::optional<HandoffWindow> find_handoff_window(const Program& producer, uint32_t producer_buffer,
                                                 const Program& consumer, uint32_t consumer_buffer,
                                                 uint64_t budget, std::string& why_not) {
  const auto facts = find_handoff(producer, BufferId(producer_buffer), consumer,
                                  BufferId(consumer_buffer), budget, why_not);
  if (!facts) return std::nullopt;
  return facts->window;
}

}  // namespace vyre::plan
