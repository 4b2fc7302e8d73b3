#include "interp/interp_machine.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "interp/interp_subgroup.h"

namespace vyre::interp {

namespace {
constexpr uint64_t poll_instructions = 1 << 12;
}

const uint32_t* Machine::lane_order() {
  if (orders_.empty()) return nullptr;
  const size_t choices = orders_.size() / code_.lanes;
  return orders_.data() + (choices == 1 ? 0 : random_.next() % choices) * code_.lanes;
}

bool Machine::else_first() {
  if (schedule_ == Schedule::Order) return false;
  return schedule_ == Schedule::Reverse || (random_.next() >> 63) != 0;
}

bool Machine::out_of_time(OpId op) {
  next_poll_ = executed_ + poll_instructions;
  if (!clock_.expired(lane_ops_)) return false;
  stopped_at_ = op;
  return true;
}

void Machine::record_traps(const Frame& frame, const uint8_t* lanes, const uint32_t* codes,
                           OpId op) {
  const auto key = [](const std::array<uint32_t, 3>& id) {
    return std::make_tuple(id[2], id[1], id[0]);
  };
  for (uint32_t l = 0; l < code_.lanes; ++l) {
    if (!lanes[l]) continue;
    const auto id = invocation(frame, l);
    if (!trap_ || key(id) < key(trap_->invocation)) trap_ = TrapReport{id, codes[l], op};
  }
}

/// Notifies the observer of a load, store or atomic. Done: the run continues. Out of line, so that
/// runs without an observer keep their registers.
__attribute__((noinline)) Stop Machine::observe(const Frame& frame, const Instr& i, Mask active,
                                                const uint32_t* order) {
  const auto at = [&](Slot slot) -> const void* {
    return slot == no_slot ? nullptr : frame.base + uint64_t{slot} * 64;
  };
  const Next next = observer_->touch(frame, i,
                                     {.lanes = code_.lanes,
                                      .all = active.count() == code_.lanes,
                                      .active = active.bytes,
                                      .index = at(i.in[0]),
                                      .expected = at(i.in[1]),
                                      .old = at(i.out),
                                      .value = at(i.in[2] == no_slot ? i.in[1] : i.in[2]),
                                      .order = order});
  if (next == Next::GoOn) return Stop::Done;
  if (next == Next::Stop) return Stop::Refused;
  return out_of_time(i.op) ? Stop::TimedOut : Stop::Done;
}

Stop Machine::run(Frame& frame, uint64_t quantum) {
  std::byte* const base = frame.base;
  const auto at = [base](Slot slot) -> void* { return base + uint64_t{slot} * 64; };
  const auto mask = [&](Slot slot) { return Mask{static_cast<uint8_t*>(at(slot)), code_.stride}; };
  const auto flags = [&](Slot slot) { return static_cast<const uint8_t*>(at(slot)); };
  const Mask active = mask(code_.active), dead = mask(code_.dead);
  const uint32_t lanes = code_.lanes;
  uint64_t back_edges = 0;

  for (uint32_t pc = frame.pc;;) {
    const Instr& i = code_.instrs[pc];
    ++pc;
    ++executed_;
    lane_ops_ += active.count();
    switch (i.what) {
      case Do::Eval: {
        const void* in[4];
        for (uint32_t k = 0; k < i.operands; ++k) in[k] = at(i.in[k]);
        i.eval(lanes, at(i.out), in);
        break;
      }
      case Do::Fill:
        switch (i.width) {
          case 1:
            std::fill_n(static_cast<uint8_t*>(at(i.out)), lanes, static_cast<uint8_t>(i.bits));
            break;
          case 2:
            std::fill_n(static_cast<uint16_t*>(at(i.out)), lanes, static_cast<uint16_t>(i.bits));
            break;
          case 4:
            std::fill_n(static_cast<uint32_t*>(at(i.out)), lanes, static_cast<uint32_t>(i.bits));
            break;
          default: std::fill_n(static_cast<uint64_t*>(at(i.out)), lanes, i.bits);
        }
        break;
      case Do::CopyActive:
        if (active.empty()) break;
        if (active.count() != lanes) {
          switch (i.width) {
            case 1: copy_active<uint8_t>(lanes, active.bytes, at(i.out), at(i.in[0])); break;
            case 2: copy_active<uint16_t>(lanes, active.bytes, at(i.out), at(i.in[0])); break;
            case 4: copy_active<uint32_t>(lanes, active.bytes, at(i.out), at(i.in[0])); break;
            default: copy_active<uint64_t>(lanes, active.bytes, at(i.out), at(i.in[0]));
          }
          break;
        }
        [[fallthrough]];
      case Do::Copy: std::memcpy(at(i.out), at(i.in[0]), uint64_t{lanes} * i.width); break;

      case Do::Load:
      case Do::Store: {
        if (active.empty()) break;
        const bool is_store = i.what == Do::Store;
        const uint32_t* const order = is_store ? lane_order() : nullptr;
        i.memory({.view = &frame.views[i.buffer],
                  .lanes = lanes,
                  .all = active.count() == lanes,
                  .active = active.bytes,
                  .index = at(i.in[0]),
                  .value = at(is_store ? i.in[1] : i.out),
                  .value2 = nullptr,
                  .old = nullptr,
                  .plus = i.plus,
                  .order = order});
        if (observer_ != nullptr) [[unlikely]]
          if (const Stop s = observe(frame, i, active, order); s != Stop::Done) return s;
        break;
      }
      case Do::Atomic: {
        if (active.empty()) break;
        const uint32_t* const order = lane_order();
        i.atomic({.view = &frame.views[i.buffer],
                  .lanes = lanes,
                  .all = active.count() == lanes,
                  .active = active.bytes,
                  .index = at(i.in[0]),
                  .value = i.in[1] == no_slot ? nullptr : at(i.in[1]),
                  .value2 = i.in[2] == no_slot ? nullptr : at(i.in[2]),
                  .old = i.out == no_slot ? nullptr : at(i.out),
                  .plus = 0,
                  .order = order});
        if (observer_ != nullptr) [[unlikely]]
          if (const Stop s = observe(frame, i, active, order); s != Stop::Done) return s;
        break;
      }
      case Do::Subgroup:
        if (active.empty()) break;
        run_subgroup({.code = i.code,
                      .type = i.type,
                      .lanes = lanes,
                      .size = subgroup_size_,
                      .active = active.bytes,
                      .value = at(i.in[0]),
                      .operand = i.in[1] == no_slot ? nullptr : at(i.in[1]),
                      .out = at(i.out)},
                     scratch_);
        break;

      case Do::IfBegin: {
        const Mask joined = mask(i.mask_a), waiting = mask(i.mask_b);
        const uint8_t* condition = flags(i.in[0]);
        set_empty(joined);
        set_empty(waiting);
        if (active.empty()) {
          pc = i.exit;
          break;
        }
        if (i.else_empty) {
          where_not(joined, active, condition);
          if (joined.count() == active.count())
            pc = i.exit;  // no lane takes the then block: active lanes are unchanged
          else if (!joined.empty())
            keep(active, condition);
          break;
        }
        where_not(waiting, active, condition);
        if (waiting.empty()) break;  // all take the then block
        if (waiting.count() == active.count()) {
          set_empty(waiting);
          pc = i.target;
          break;
        }
        if (else_first()) {
          where(joined, active, condition);  // the then block is pending
          assign(active, waiting);
          assign(waiting, joined);
          set_empty(joined);
          pc = i.target;
        } else {
          keep(active, condition);
        }
        break;
      }
      case Do::ArmEnd: {
        const Mask joined = mask(i.mask_a), waiting = mask(i.mask_b);
        if (!waiting.empty()) {
          unite(joined, active);
          assign(active, waiting);
          set_empty(waiting);
          pc = i.target;
        } else {
          unite(active, joined);
          pc = active.empty() ? i.escape : i.exit;
        }
        break;
      }

      case Do::ForBegin: {
        assign(mask(i.mask_a), active);
        set_empty(mask(i.mask_b));
        if (!active.empty())
          active.count() =
              i.loop->begin(lanes, active.bytes, at(i.out), at(i.in[0]), at(i.in[1]), at(i.in[2]));
        if (active.empty()) pc = i.exit;
        break;
      }
      case Do::WhileBegin:
        assign(mask(i.mask_a), active);
        set_empty(mask(i.mask_b));
        if (active.empty()) pc = i.exit;
        break;
      case Do::Test:
        if (!active.empty()) keep(active, flags(i.in[0]));
        if (active.empty()) pc = i.exit;
        break;
      case Do::ForNext:
      case Do::WhileNext: {
        const Mask next = mask(i.mask_b);
        unite(active, next);
        set_empty(next);
        if (i.what == Do::ForNext && !active.empty())
          active.count() = i.loop->next(lanes, active.bytes, at(i.out), at(i.in[1]), at(i.in[2]));
        if (active.empty()) break;  // to the LoopEnd
        pc = i.target;
        if (executed_ >= next_poll_ && out_of_time(i.op)) return Stop::TimedOut;
        if (quantum != 0 && ++back_edges >= quantum) {
          frame.pc = pc;
          return Stop::Quantum;
        }
        break;
      }
      case Do::LoopEnd:
        assign(active, mask(i.mask_a));
        drop(active, dead);
        if (active.empty()) pc = i.escape;
        break;
      case Do::Continue:
        unite(mask(i.mask_b), active);
        set_empty(active);
        break;
      case Do::Break: set_empty(active); break;
      case Do::Return:
        unite(dead, active);
        set_empty(active);
        break;

      case Do::Trap:
        if (active.empty()) break;
        record_traps(frame, active.bytes, static_cast<const uint32_t*>(at(i.in[0])), i.op);
        unite(dead, active);
        set_empty(active);
        break;
      case Do::Assert: {
        if (active.empty()) break;
        scratch_.resize(std::max<size_t>(scratch_.size(), code_.stride + 64));
        const Mask failed = {reinterpret_cast<uint8_t*>(scratch_.data()), code_.stride};
        where_not(failed, active, flags(i.in[0]));
        if (failed.empty()) break;
        record_traps(frame, failed.bytes, static_cast<const uint32_t*>(at(i.in[1])), i.op);
        unite(dead, failed);
        drop(active, failed);
        break;
      }
      case Do::Barrier:
        if (!active.empty())
          observer_->arrive(frame, i, Scope(i.bits), active.bytes,
                            dead.empty() ? nullptr : dead.bytes);
        break;
      case Do::GridBarrier:
        if (observer_ != nullptr && !active.empty())
          observer_->arrive(frame, i, Scope::Grid, active.bytes,
                            dead.empty() ? nullptr : dead.bytes);
        frame.pc = pc;
        return Stop::GridBarrier;
      case Do::Poll:
        if (executed_ >= next_poll_ && out_of_time(i.op)) return Stop::TimedOut;
        break;
      case Do::End: frame.pc = pc - 1; return Stop::Done;
    }
  }
}

}  // namespace vyre::interp
