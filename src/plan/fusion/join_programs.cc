#include "plan/fusion/join_programs.h"

#include <algorithm>

#include "check/check_limits.h"
#include "plan/fusion/join_body.h"
#include "plan/fusion/join_head.h"

namespace vyre::plan {
namespace {

/// The one element of a buffer that an invocation has.
struct Slot {
  Type element = Type::U32;
  VarId variable = 0;
  BufferId array = none;  // instead of a variable, where storing rounds
};

class Joiner {
 public:
  Joiner(std::string name, const std::vector<GraphBufferId>& gone)
      : b(shorten(std::move(name))), head(b, gone) {}

  static std::string shorten(std::string name) {
    constexpr size_t room = 16;
    return name.substr(0, limits::name_bytes - room);
  }

  ValueId as_u64(ValueId v) {
    return b.type(v) == Type::U64 ? v : b.op(Opcode::Cast, Type::U64, {v});
  }

  /// Returns `index < count` as a bool. `count` is the same for all invocations, so that the
  /// comparison of a 32-bit index is a 32-bit one: with the last index, unless there is none.
  ValueId is_below(ValueId index, ValueId count) {
    const auto number = [&](uint64_t n) { return b.constant(Type::U64, n); };
    if (b.type(index) != Type::U32) return b.op(Opcode::Lt, Type::U64, {as_u64(index), count});
    // Named in order: the evaluation order of arguments is unspecified.
    const ValueId last =
        b.op(Opcode::Min, Type::U64,
             {b.op(Opcode::Sub, Type::U64, {count, number(1)}), number(0xffffffff)});
    const ValueId below =
        b.op(Opcode::Le, Type::U32, {index, b.op(Opcode::Cast, Type::U32, {last})});
    const ValueId any = b.op(Opcode::Ne, Type::U64, {count, number(0)});
    return b.op(Opcode::And, Type::Bool, {any, below});
  }

  Slot make_slot(std::string_view name, Type element) {
    Slot s;
    s.element = element;
    if (is_storage_only(element))
      s.array = head.add_private(name, element, 1);
    else
      s.variable = b.declare(b.constant(element, 0));
    return s;
  }
  ValueId zero(Type element) { return b.constant(value_type(element), 0); }
  uint64_t reference(const Slot& s) const { return MemoryRef{.buffer = s.array}.pack(); }
  ValueId get(const Slot& s) {
    if (s.array == none) return b.get(s.variable);
    return b.op(Opcode::Load, value_type(s.element), {b.constant(Type::U32, 0)}, reference(s));
  }
  void set(const Slot& s, ValueId value) {
    if (s.array == none) return b.set(s.variable, value);
    b.effect(Opcode::Store, value_type(s.element), {b.constant(Type::U32, 0), value}, reference(s));
  }

  Part finish(const Part& launch, uint32_t launched_as) {
    Part part;
    head.take_grid(launch);
    b.return_();
    part.program = b.finish();
    part.memory = head.memory();
    part.origin = head.origin();
    part.launch = launched_as;
    return part;
  }

  SsaBuilder b;
  JoinedHead head;
};

std::string joined_name(const std::string& a, const std::string& b) { return a + "_" + b; }

void merge_head(Program& to, const Program& from) {
  to.requires_forward_progress |= from.requires_forward_progress;
  if (from.subgroup) to.subgroup = from.subgroup;
}

// ---- In order.

/// Accesses to buffers that are gone become those of slots.
class SlotCopy : public BodyCopy {
 public:
  SlotCopy(Joiner& joiner, const Part& part, const Program& body,
           std::map<GraphBufferId, Slot>& slots)
      : BodyCopy(joiner.b, body, joiner.head.buffers_of(part)),
        j_(joiner),
        part_(part),
        slots_(slots) {}

 protected:
  ValueId access(OpId op) override {
    const Op& o = from_.op(op);
    const GraphBufferId memory = part_.memory[o.buffer()];
    const auto length = [&] { return j_.head.count_of(memory); };
    if (o.code == Opcode::Len64) return length();
    if (o.code == Opcode::Len) return b_.op(Opcode::Cast, Type::U32, {length()});
    const Slot& slot = slots_.at(memory);
    const ValueId before = j_.get(slot);
    // All accesses of an invocation have one index: outside of the buffer nothing was ever stored.
    if (o.code == Opcode::Load) return before;
    const ValueId inside = j_.is_below(mapped(from_.operand(op, 0)), length());
    j_.set(slot, b_.op(Opcode::Select, value_type(slot.element),
                       {inside, mapped(from_.operand(op, 1)), before}));
    return none;
  }

 private:
  Joiner& j_;
  const Part& part_;
  std::map<GraphBufferId, Slot>& slots_;
};

// ---- By recomputation.

class ProducerCopy : public BodyCopy {
 public:
  ProducerCopy(Joiner& joiner, const Part& part, const Program& body, const Slot& result,
               ValueId invocation, ValueId workgroups)
      : BodyCopy(joiner.b, body, joiner.head.buffers_of(part)),
        j_(joiner),
        result_(result),
        invocation_(invocation),
        workgroups_(workgroups) {}

 protected:
  ValueId access(OpId op) override {
    const Op& o = from_.op(op);
    if (o.code == Opcode::Store) {
      j_.set(result_, mapped(from_.operand(op, 1)));
      return none;
    }
    const ValueId count = count_;
    return o.code == Opcode::Len64 ? count : b_.op(Opcode::Cast, Type::U32, {count});
  }
  ValueId replace(OpId op) override {
    const Op& o = from_.op(op);
    const auto number = [&](uint32_t n) { return b_.constant(Type::U32, n); };
    switch (o.code) {
      case Opcode::GlobalId: return o.attr == 0 ? invocation_ : number(0);
      case Opcode::LocalId:
        if (o.attr != 0) return number(0);
        return b_.op(Opcode::Rem, Type::U32, {invocation_, number(from_.workgroup[0])});
      case Opcode::WorkgroupId:
        if (o.attr != 0) return number(0);
        return b_.op(Opcode::Div, Type::U32, {invocation_, number(from_.workgroup[0])});
      case Opcode::NumWorkgroups: return o.attr == 0 ? workgroups_ : number(1);
      case Opcode::WorkgroupSize: return number(from_.workgroup[o.attr]);
      default: return none;
    }
  }

 public:
  ValueId count_ = none;

 private:
  Joiner& j_;
  const Slot& result_;
  ValueId invocation_, workgroups_;
};

/// Straight code that costs no more than a branch around it would.
bool is_short(const Program& body) {
  constexpr size_t most_ops = 64;
  size_t ops = 0;
  bool straight = true;
  walk(body, [&](OpId op) {
    ++ops;
    straight &= body.op(op).n_blocks == 0 || body.op(op).code == Opcode::Region;
  });
  return straight && ops <= most_ops;
}

class ConsumerCopy : public BodyCopy {
 public:
  ConsumerCopy(Joiner& joiner, const Part& part, const Program& body, const Part& producer,
               const Program& producer_body, GraphBufferId handed, BufferId workgroups,
               int64_t scale, int64_t offset, Slot& rounded)
      : BodyCopy(joiner.b, body, joiner.head.buffers_of(part)),
        j_(joiner),
        producer_(producer),
        producer_body_(producer_body),
        handed_(handed),
        workgroups_(workgroups),
        scale_(scale),
        offset_(offset),
        rounded_(rounded) {}

 protected:
  ValueId access(OpId op) override {
    const Op& o = from_.op(op);
    const ValueId count = j_.head.count_of(handed_);
    if (o.code == Opcode::Len64) return count;
    if (o.code == Opcode::Len) return b_.op(Opcode::Cast, Type::U32, {count});
    const ValueId groups = b_.op(Opcode::Scalar, Type::U32, {}, workgroups_.value());
    const Invocation at = invocation_that_writes(mapped(from_.operand(op, 0)), count, groups);
    Slot result = rounded_;
    if (rounded_.array == none)
      result.variable = b_.declare(j_.zero(rounded_.element));
    else
      j_.set(result, j_.zero(rounded_.element));
    // The body has no effects, so executing it unconditionally is correct, and faster than a branch
    // if it is short.
    const bool always = is_short_ && rounded_.array == none;
    if (!always) b_.begin_if(at.exists);
    b_.begin_region(producer_body_.name);
    ProducerCopy copy(j_, producer_, producer_body_, result, at.id, groups);
    copy.count_ = count;
    copy.run();
    b_.end_region();
    if (always)
      return b_.op(Opcode::Select, value_type(rounded_.element),
                   {at.exists, j_.get(result), j_.zero(rounded_.element)});
    b_.end_if();
    return j_.get(result);
  }

 private:
  struct Invocation {
    ValueId exists = none;  // bool
    ValueId id = none;      // u32
  };

  /// Returns the invocation that writes element `index`, if the element exists and is written.
  Invocation invocation_that_writes(ValueId index, ValueId count, ValueId groups) {
    const auto number = [&](uint64_t n) { return b_.constant(Type::U64, n); };
    const auto both = [&](ValueId x, ValueId y) { return b_.op(Opcode::And, Type::Bool, {x, y}); };
    const ValueId invocations =
        b_.op(Opcode::Mul, Type::U64,
              {b_.op(Opcode::Cast, Type::U64, {groups}), number(producer_body_.workgroup[0])});
    if (scale_ == 1 && offset_ == 0 && b_.program.type(index) == Type::U32) {
      // Below a bound that is the same for all, and that fits the index: one narrow comparison.
      const ValueId bound = b_.op(Opcode::Min, Type::U64, {count, invocations});
      return {j_.is_below(index, bound), index};
    }
    index = j_.as_u64(index);
    ValueId writes = b_.op(Opcode::Lt, Type::U64, {index, count});
    ValueId id = index;
    if (offset_ != 0)  // below the offset it wraps to far above every invocation
      id = b_.op(Opcode::Sub, Type::U64, {index, number(uint64_t(offset_))});
    if (scale_ != 1) {
      const ValueId scale = number(uint64_t(scale_));
      const ValueId rest = b_.op(Opcode::Rem, Type::U64, {id, scale});
      writes = both(writes, b_.op(Opcode::Eq, Type::U64, {rest, number(0)}));
      id = b_.op(Opcode::Div, Type::U64, {id, scale});
    }
    writes = both(writes, b_.op(Opcode::Lt, Type::U64, {id, invocations}));
    return {writes, b_.op(Opcode::Cast, Type::U32, {id})};
  }

  Joiner& j_;
  const Part& producer_;
  const Program& producer_body_;
  const bool is_short_ = is_short(producer_body_);
  GraphBufferId handed_;
  BufferId workgroups_;
  int64_t scale_, offset_;
  Slot& rounded_;
};

}  // namespace

Part make_part(const Program& program, IdMap<BufferId, GraphBufferId> memory, uint32_t kernel) {
  Part part{program, std::move(memory), {}, kernel};
  for (const BufferId i : program.buffers.ids())
    part.origin.push_back({JoinedParameter::Kind::Buffer, kernel, i.value()});
  return part;
}

Part join_in_order(const std::vector<Part>& parts, const std::vector<GraphBufferId>& elided) {
  std::string name = parts[0].program.name;
  for (size_t i = 1; i < parts.size(); ++i) name = joined_name(name, parts[i].program.name);
  Joiner j(std::move(name), elided);
  for (const Part& part : parts) j.head.add_parameters(part);
  for (const Part& part : parts) j.head.add_arrays(part);
  std::map<GraphBufferId, Slot> slots;
  for (const Part& part : parts)
    for (const BufferId i : part.memory.ids())
      if (j.head.is_gone(part.memory[i]) && !slots.contains(part.memory[i]))
        slots[part.memory[i]] =
            j.make_slot(part.program.buffers[i].name, part.program.buffers[i].element);
  for (const auto& [memory, slot] : slots)  // an array is zeros once, but this may run again
    if (slot.array != none) j.set(slot, j.zero(slot.element));
  std::vector<GraphBufferId> touched;
  for (const Part& part : parts) {
    merge_head(j.b.program, part.program);
    // An `out` argument is zeros when its call starts.
    for (const BufferId i : part.memory.ids()) {
      const GraphBufferId m = part.memory[i];
      if (!j.head.is_gone(m)) continue;
      const bool again = std::find(touched.begin(), touched.end(), m) != touched.end();
      if (again && part.program.buffers[i].role == Role::Out)
        j.set(slots.at(m), j.zero(slots.at(m).element));
      touched.push_back(m);
    }
    const Program body = with_one_return(part.program);
    j.b.begin_region(part.program.name);
    SlotCopy(j, part, body, slots).run();
    j.b.end_region();
  }
  return j.finish(parts[0], parts[0].launch);
}

Part join_by_recomputing(const Part& producer, const Part& consumer, GraphBufferId handed,
                         int64_t scale, int64_t offset) {
  const std::vector<GraphBufferId> gone = {handed};
  Joiner j(joined_name(producer.program.name, consumer.program.name), gone);
  j.head.add_parameters(producer);
  j.head.add_parameters(consumer);
  const BufferId workgroups =
      j.head.add_scalar("workgroups_of_" + Joiner::shorten(producer.program.name), Type::U32,
                        {JoinedParameter::Kind::NumWorkgroups, producer.launch, 0});
  j.head.add_arrays(producer);
  j.head.add_arrays(consumer);
  Slot rounded;
  for (const BufferId i : producer.memory.ids())
    if (producer.memory[i] == handed) {
      rounded.element = producer.program.buffers[i].element;
      if (is_storage_only(rounded.element))
        rounded.array = j.head.add_private(producer.program.buffers[i].name, rounded.element, 1);
    }
  merge_head(j.b.program, consumer.program);
  const Program producer_body = with_one_return(producer.program);
  const Program consumer_body = with_one_return(consumer.program);
  j.b.begin_region(consumer.program.name);
  ConsumerCopy(j, consumer, consumer_body, producer, producer_body, handed, workgroups, scale,
               offset, rounded)
      .run();
  j.b.end_region();
  return j.finish(consumer, consumer.launch);
}

JoinedProgram finish(Part part) {
  JoinedProgram joined;
  for (const BufferId i : part.program.buffers.ids()) {
    const Role role = part.program.buffers[i].role;
    if (is_parameter(role) && role != Role::Scratch) joined.parameters.push_back(part.origin[i]);
  }
  joined.program = std::move(part.program);
  return joined;
}

}  // namespace vyre::plan
