#include "interp/compile.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "interp/counters.h"
#include "interp/liveness.h"
#include "interp/slots.h"

namespace vyre::interp {
namespace {

constexpr uint32_t packed_lanes = 512;     // a frame's values stay in the first-level cache
constexpr size_t max_kept_constants = 256;  // further ones are filled in again where they are used
constexpr uint32_t poll_distance = 2048;    // instructions without a loop between looks at the clock
constexpr uint32_t chain_end = ~0u;

bool uses_subgroups(const Program& p) {
  bool found = false;
  walk(p, [&](OpId op) { found |= info(p.op(op).code).effect == Effect::Convergent; });
  return found;
}

class Compiler {
 public:
  Compiler(const Program& program, uint64_t max_groups)
      : p_(program), live_(find_liveness(program)), slots_(prepare(program, max_groups)) {}

  FlatCode run() {
    code_.active = slots_.take_mask();
    code_.dead = slots_.take_mask();
    walk_blocks(p_, 0, [&](Visit what, uint32_t id) {
      if (what == Visit::Op) visit(id);
      else if (what == Visit::EnterBlock) enter(id);
      else leave(id);
    });
    code_.units = slots_.units();
    return std::move(code_);
  }

 private:
  /// A control op whose blocks are being compiled.
  struct Open {
    OpId op;
    Slot mask_a = no_slot, mask_b = no_slot;
    uint32_t begin = 0;        // IfBegin, ForBegin or WhileBegin
    uint32_t then_end = 0;     // ArmEnd of the then arm
    uint32_t body = 0;         // where the next iteration begins
    uint32_t test = chain_end;  // Test
    bool else_empty = false;
    std::vector<Slot> carried;  // of a loop: its arguments and results
  };

  uint32_t prepare(const Program& p, uint64_t max_groups) {
    const uint64_t lanes = std::max<uint64_t>(1, uint64_t{p.workgroup[0]} * p.workgroup[1] * p.workgroup[2]);
    code_.program = &p;
    code_.uses_subgroups = uses_subgroups(p);
    const bool shared = std::any_of(p.buffers.begin(), p.buffers.end(),
                                    [](const Buffer& b) { return b.role == Role::Shared; });
    // Workgroups that wait for each other in a loop must not share a frame: its lanes leave together.
    const bool pack = !shared && !code_.uses_subgroups && !p.requires_forward_progress;
    code_.group_lanes = static_cast<uint32_t>(lanes);
    code_.groups = pack ? static_cast<uint32_t>(std::clamp<uint64_t>(packed_lanes / lanes, 1, std::max<uint64_t>(1, max_groups))) : 1;
    code_.lanes = code_.group_lanes * code_.groups;
    code_.stride = (code_.lanes + 63) / 64 * 64;
    slot_of_.assign(p.values.size(), no_slot);
    kept_.assign(p.values.size(), false);
    return code_.stride;
  }

  uint32_t here() const { return static_cast<uint32_t>(code_.instrs.size()); }

  Instr& emit(Do what, OpId op) {
    if (++since_poll_ >= poll_distance) {
      since_poll_ = 0;
      Instr poll;
      poll.what = Do::Poll;
      poll.op = loops_.empty() ? op : open_[loops_.back()].op;
      code_.instrs.push_back(poll);
    }
    Instr i;
    i.what = what;
    i.op = op;
    code_.instrs.push_back(i);
    return code_.instrs.back();
  }

  Slot slot(ValueId v) const { return slot_of_[v]; }
  uint32_t width(ValueId v) const { return size_of(p_.type(v)); }

  Slot define(ValueId v) { return slot_of_[v] = slots_.take(width(v)); }

  Slot keep(ValueId v) {
    kept_[v] = true;
    return slot_of_[v] = slots_.take_for_ever(width(v));
  }

  void release(OpId op) {
    for (ValueId v = live_.first[op]; v != none; v = live_.next[v])
      if (!kept_[v] && slot_of_[v] != no_slot) slots_.give(slot_of_[v], width(v));
  }

  // ---- Ops.

  void visit(OpId id) {
    const Op& op = p_.op(id);
    switch (info(op.code).effect) {
      case Effect::Control: return begin(id);
      case Effect::Exit: return leave_block(id);
      case Effect::Pure: pure(id); break;
      case Effect::Read:
      case Effect::Write: memory(id); break;
      case Effect::Atomic: atomic(id); break;
      case Effect::Convergent: subgroup(id); break;
      case Effect::Sync: sync(id); break;
      case Effect::Trap: {
        Instr& i = emit(Do::Assert, id);
        i.in = {slot(p_.operand(id, 0)), slot(p_.operand(id, 1)), no_slot, no_slot};
        break;
      }
    }
    release(id);
  }

  void pure(OpId id) {
    const Op& op = p_.op(id);
    const ValueId result = p_.result(id);
    switch (op.code) {
      case Opcode::Const:
      case Opcode::NumWorkgroups:
      case Opcode::WorkgroupSize:
      case Opcode::SubgroupSize:
      case Opcode::Len:
      case Opcode::Len64:
      case Opcode::Scalar: return constant(id, result);
      case Opcode::GlobalId:
      case Opcode::LocalId:
      case Opcode::WorkgroupId:
      case Opcode::LaneId: return lane_id(id, result);
      default: break;
    }
    const auto operands = p_.operands(id);
    const Slot out = define(result);
    Instr& i = emit(Do::Eval, id);
    i.out = out;
    i.operands = static_cast<uint8_t>(operands.size());
    for (size_t k = 0; k < operands.size(); ++k) i.in[k] = slot(operands[k]);
    i.eval = find_eval(op.code, op.type, p_.type(operands[0]));
  }

  void constant(OpId id, ValueId result) {
    const Op& op = p_.op(id);
    const Type type = p_.type(result);
    const auto key = std::make_tuple(op.code, type, op.attr);
    const auto found = constants_.find(key);
    if (found != constants_.end()) {
      slot_of_[result] = found->second;
      kept_[result] = true;
      return;
    }
    if (op.code == Opcode::Const && constants_.size() >= max_kept_constants) {
      const Slot out = define(result);
      Instr& i = emit(Do::Fill, id);
      i.out = out;
      i.width = static_cast<uint8_t>(size_of(type));
      i.bits = op.attr;
      return;
    }
    const Slot out = keep(result);
    constants_.emplace(key, out);
    code_.constants.push_back({out, type, op.code, op.attr});
  }

  void lane_id(OpId id, ValueId result) {
    const Op& op = p_.op(id);
    const auto key = std::make_tuple(op.code, Type::U32, op.attr);
    const auto found = constants_.find(key);
    if (found != constants_.end()) {
      slot_of_[result] = found->second;
      kept_[result] = true;
      return;
    }
    const Slot out = keep(result);
    constants_.emplace(key, out);
    code_.ids.push_back({out, op.code, static_cast<uint32_t>(op.attr)});
  }

  /// Emits the widening of an index that the memory functions do not take. `type` becomes the new one.
  Slot index(OpId id, bool as_64_bits, Type* type, Slot* temporary) {
    const ValueId v = p_.operand(id, 0);
    *type = p_.type(v);
    *temporary = no_slot;
    if (as_64_bits ? size_of(*type) == 8 : is_direct_index(*type)) return slot(v);
    const Type wide = as_64_bits ? (is_signed(*type) ? Type::I64 : Type::U64)
                                 : (is_signed(*type) ? Type::I32 : Type::U32);
    *temporary = slots_.take(size_of(wide));
    Instr& i = emit(Do::Eval, id);
    i.out = *temporary;
    i.operands = 1;
    i.in[0] = slot(v);
    i.eval = find_eval(Opcode::Cast, wide, *type);
    *type = wide;
    return *temporary;
  }

  void memory(OpId id) {
    const Op& op = p_.op(id);
    const MemoryRef ref = p_.memory(id);
    const Type element = p_.buffers[ref.buffer].element;
    Type type;
    Slot temporary;
    const Slot at = index(id, false, &type, &temporary);
    const bool is_store = op.code == Opcode::Store || op.code == Opcode::StoreN;
    const auto values = is_store ? p_.operands(id).subspan(1) : p_.results(id);
    for (uint32_t k = 0; k < values.size(); ++k) {
      const Slot value = is_store ? slot(values[k]) : define(values[k]);
      Instr& i = emit(is_store ? Do::Store : Do::Load, id);
      i.buffer = ref.buffer;
      i.plus = k;
      i.in[0] = at;
      (is_store ? i.in[1] : i.out) = value;
      i.memory = op.code == Opcode::LoadAs ? find_load_as(op.type, type)
                 : is_store                ? find_store(element, type)
                                           : find_load(element, type);
    }
    if (temporary != no_slot) slots_.give(temporary, size_of(type));
  }

  void atomic(OpId id) {
    const Op& op = p_.op(id);
    Type type;
    Slot temporary;
    const Slot at = index(id, true, &type, &temporary);
    const auto operands = p_.operands(id);
    const Slot out = p_.results(id).empty() ? no_slot : define(p_.result(id));
    Instr& i = emit(Do::Atomic, id);
    i.buffer = p_.memory(id).buffer;
    i.out = out;
    i.in[0] = at;
    for (size_t k = 1; k < operands.size(); ++k) i.in[k] = slot(operands[k]);
    i.atomic = find_atomic(op.code, op.type);
    if (temporary != no_slot) slots_.give(temporary, 8);
  }

  void subgroup(OpId id) {
    const Op& op = p_.op(id);
    const auto operands = p_.operands(id);
    const Slot out = define(p_.result(id));
    Instr& i = emit(Do::Subgroup, id);
    i.code = op.code;
    i.type = p_.type(operands[0]);
    i.out = out;
    for (size_t k = 0; k < operands.size(); ++k) i.in[k] = slot(operands[k]);
  }

  /// All lanes of a frame run in lock step, so a barrier of a workgroup or less is already there.
  void sync(OpId id) {
    const bool is_load = p_.op(id).code == Opcode::UniformLoad;
    const Scope scope = is_load ? p_.memory(id).scope : Scope(p_.op(id).attr);
    const bool grid = scope == Scope::Grid;
    code_.grid_sync |= grid;
    if (grid) emit(Do::GridBarrier, id);
    if (is_load) memory(id);
    if (is_load && grid) emit(Do::GridBarrier, id);
  }

  // ---- Control.

  void begin(OpId id) {
    const Op& op = p_.op(id);
    Open o;
    o.op = id;
    const auto results = p_.results(id);
    std::vector<Slot> places;
    for (const ValueId v : results) places.push_back(define(v));
    if (op.code == Opcode::Region) {
      open_.push_back(std::move(o));
      return;
    }
    o.mask_a = slots_.take_mask();
    o.mask_b = slots_.take_mask();
    if (op.code == Opcode::If) {
      const BlockId other = p_.block(id, 1);
      const Op& first = p_.op(p_.blocks[other].first);
      o.else_empty = first.code == Opcode::Yield && first.operands.count == 0;
      o.begin = here_of(Do::IfBegin, id);
      Instr& i = code_.instrs[o.begin];
      i.in[0] = slot(p_.operand(id, 0));
      i.else_empty = o.else_empty;
      i.mask_a = o.mask_a;
      i.mask_b = o.mask_b;
    } else {
      const bool is_for = op.code == Opcode::For;
      const BlockId header = p_.block(id, 0);
      const auto initial = p_.operands(id).subspan(is_for ? 3 : 0);
      const auto args = p_.args(header).subspan(is_for ? 1 : 0);
      for (size_t k = 0; k < args.size(); ++k) {
        slot_of_[args[k]] = places[k];
        copy(Do::CopyActive, id, places[k], slot(initial[k]), width(args[k]));
      }
      o.carried = std::move(places);
      Slot counter = no_slot;
      if (is_for) counter = define(p_.args(header)[0]);
      o.begin = here_of(is_for ? Do::ForBegin : Do::WhileBegin, id);
      Instr& i = code_.instrs[o.begin];
      i.mask_a = o.mask_a;
      i.mask_b = o.mask_b;
      if (is_for) {
        i.out = counter;
        for (uint32_t k = 0; k < 3; ++k) i.in[k] = slot(p_.operand(id, k));
        i.loop = find_counter(p_.type(p_.args(header)[0]));
      }
      o.body = here();
      loops_.push_back(static_cast<uint32_t>(open_.size()));
    }
    open_.push_back(std::move(o));
  }

  uint32_t here_of(Do what, OpId id) {
    emit(what, id);
    return here() - 1;
  }

  void copy(Do what, OpId id, Slot to, Slot from, uint32_t bytes) {
    if (to == from) return;
    Instr& i = emit(what, id);
    i.out = to;
    i.in[0] = from;
    i.width = static_cast<uint8_t>(bytes);
  }

  /// Copies the operands of `exit` into the loop's carried values, as if all at once: an operand that is
  /// itself a carried value, overwritten by an earlier copy, is set aside first.
  void carry(OpId exit, const Open& loop) {
    const auto from = p_.operands(exit);
    const BlockId header = p_.block(loop.op, 0);
    const uint32_t skip = p_.op(loop.op).code == Opcode::For ? 1 : 0;
    std::vector<Slot> sources(from.size());
    std::vector<size_t> aside;
    for (size_t k = 0; k < from.size(); ++k) {
      const Value& v = p_.values[from[k]];
      sources[k] = slot(from[k]);
      const bool is_carried = v.def == none && v.block == header && v.index >= skip;
      if (!is_carried || v.index - skip >= k || sources[k] == loop.carried[k]) continue;
      const Slot temporary = slots_.take(width(from[k]));
      copy(Do::Copy, exit, temporary, sources[k], width(from[k]));
      sources[k] = temporary;
      aside.push_back(k);
    }
    for (size_t k = 0; k < from.size(); ++k)
      copy(Do::CopyActive, exit, loop.carried[k], sources[k], width(from[k]));
    for (const size_t k : aside) slots_.give(sources[k], width(from[k]));
  }

  void leave_block(OpId id) {
    const Op& op = p_.op(id);
    const OpId parent = p_.blocks[op.parent].parent;
    switch (op.code) {
      case Opcode::Yield:
        if (is_loop(p_.op(parent).code)) {
          carry(id, open_.back());
        } else {
          const auto from = p_.operands(id);
          const auto to = p_.results(parent);
          for (size_t k = 0; k < from.size(); ++k)
            copy(Do::CopyActive, id, slot(to[k]), slot(from[k]), width(from[k]));
        }
        break;
      case Opcode::Test: {
        Open& o = open_.back();
        o.test = here_of(Do::Test, id);
        code_.instrs[o.test].in[0] = slot(p_.operand(id, 0));
        break;
      }
      case Opcode::Break:
        carry(id, open_[loops_.back()]);
        emit(Do::Break, id);
        break;
      case Opcode::Continue: {
        const Open& loop = open_[loops_.back()];
        carry(id, loop);
        emit(Do::Continue, id).mask_b = loop.mask_b;
        break;
      }
      case Opcode::Return: emit(Do::Return, id); break;
      case Opcode::Trap: emit(Do::Trap, id).in[0] = slot(p_.operand(id, 0)); break;
      default: break;
    }
    release(id);
  }

  // ---- Blocks. Instructions that may find themselves without an active lane jump to the end of the
  // block around; until that is known they form a chain through their `escape` fields.

  void may_escape(uint32_t instr) {
    code_.instrs[instr].escape = chains_.back();
    chains_.back() = instr;
  }
  void end_chain(uint32_t to) {
    for (uint32_t i = chains_.back(); i != chain_end;) {
      const uint32_t next = code_.instrs[i].escape;
      code_.instrs[i].escape = to;
      i = next;
    }
    chains_.pop_back();
  }

  bool is_region(BlockId block) const {
    const OpId parent = p_.blocks[block].parent;
    return parent != none && p_.op(parent).code == Opcode::Region;
  }

  void enter(BlockId block) {
    if (is_region(block)) return;  // its chain is that of the block around
    chains_.push_back(chain_end);
    const OpId parent = p_.blocks[block].parent;
    if (parent == none || p_.op(parent).code != Opcode::If || block != p_.block(parent, 1)) return;
    const Open& o = open_.back();  // the else arm begins
    code_.instrs[o.begin].target = here();
    code_.instrs[o.then_end].target = here();
  }

  void leave(BlockId block) {
    const OpId parent = p_.blocks[block].parent;
    if (parent == none) {
      end_chain(here_of(Do::End, none));
      return;
    }
    const Opcode code = p_.op(parent).code;
    if (code == Opcode::If) leave_arm(parent, block == p_.block(parent, 1));
    else if (code == Opcode::While && block == p_.block(parent, 0)) end_chain(open_.back().test);
    else if (code == Opcode::Region) close(parent);
    else leave_loop(parent);
  }

  void leave_arm(OpId id, bool is_else) {
    const Open& o = open_.back();
    uint32_t end = chain_end;
    if (!is_else || !o.else_empty) {
      end = here_of(Do::ArmEnd, id);
      Instr& i = code_.instrs[end];
      i.mask_a = o.mask_a;
      i.mask_b = o.mask_b;
      i.target = o.begin + 1;  // of the else arm's end; the then arm's is set when the else arm begins
    }
    end_chain(end);
    if (!is_else) {
      open_.back().then_end = end;
      return;
    }
    code_.instrs[o.begin].exit = here();
    code_.instrs[o.then_end].exit = here();
    if (end != chain_end) code_.instrs[end].exit = here();
    may_escape(o.then_end);
    if (end != chain_end) may_escape(end);
    close(id);
  }

  void leave_loop(OpId id) {
    const Open& o = open_.back();
    const bool is_for = p_.op(id).code == Opcode::For;
    const uint32_t next = here_of(is_for ? Do::ForNext : Do::WhileNext, id);
    {
      const Instr& first = code_.instrs[o.begin];
      Instr& i = code_.instrs[next];
      i.in = first.in;
      i.out = first.out;
      i.bits = first.bits;
      i.loop = first.loop;
      i.mask_a = o.mask_a;
      i.mask_b = o.mask_b;
      i.target = o.body;
    }
    end_chain(next);
    const uint32_t end = here_of(Do::LoopEnd, id);
    code_.instrs[end].mask_a = o.mask_a;
    code_.instrs[o.begin].exit = end;
    code_.instrs[next].exit = end;
    if (!is_for) code_.instrs[o.test].exit = end;
    may_escape(end);
    loops_.pop_back();
    close(id);
  }

  void close(OpId id) {
    const Open& o = open_.back();
    if (o.mask_a != no_slot) {
      slots_.give_mask(o.mask_a);
      slots_.give_mask(o.mask_b);
    }
    open_.pop_back();
    release(id);
  }

  const Program& p_;
  FlatCode code_;
  std::vector<Slot> slot_of_;  // by value
  std::vector<bool> kept_;     // the slot belongs to no value alone
  Liveness live_;
  Slots slots_;
  std::map<std::tuple<Opcode, Type, uint64_t>, Slot> constants_;
  std::vector<Open> open_;
  std::vector<uint32_t> loops_;   // indices into open_
  std::vector<uint32_t> chains_;  // one for each open block that is no region's
  uint32_t since_poll_ = 0;
};

}  // namespace

FlatCode compile(const Program& program, uint64_t max_groups) { return Compiler(program, max_groups).run(); }

}  // namespace vyre::interp
