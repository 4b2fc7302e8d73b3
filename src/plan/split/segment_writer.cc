#include "plan/split/segment_writer.h"

#include <algorithm>
#include <optional>

#include "plan/split/hidden_access.h"
#include "plan/split/host_steps.h"
#include "plan/split/segment_walk.h"

namespace vyre::plan {
namespace {

/// Copies into a segment, which gets only the locations and names that it uses.
class SegmentCopier : public Cloner {
 public:
  SegmentCopier(const Program& from, IrBuilder& writer)
      : Cloner(from, writer), locations_(from.locations.size()), strings_(from.strings.size()) {}

  /// Begins a segment: the program's head.
  void begin(uint32_t segment, const std::vector<HiddenBuffer>& hidden) {
    segment_ = segment + 1;
    Program& to = b_.p;
    to = Program();
    to.name = from_.name;
    to.op_id = from_.op_id;
    to.workgroup = from_.workgroup;
    to.subgroup = from_.subgroup;
    to.grid = from_.grid;
    to.grid_dims = from_.grid_dims;
    to.requires_forward_progress = from_.requires_forward_progress;
    to.formulas = from_.formulas;
    to.table_bytes = from_.table_bytes;
    to.loc = location(from_.loc);
    to.buffers = from_.buffers;
    for (Buffer& b : to.buffers) b.loc = location(b.loc);
    for (const HiddenBuffer& h : hidden)
      to.buffers.push_back({h.name, Role::Scratch, h.element, no_formula, 0, none});
    b_.block = to.add_block(none);
    b_.loc = none;
  }

  LocId location(LocId loc) override {
    if (loc >= from_.locations.size()) return none;
    // The chain of calls, outermost first: a location refers to earlier ones only.
    chain_.clear();
    for (LocId at = loc; at != none && locations_[at].segment != segment_;
         at = from_.locations[at].inlined_at)
      chain_.push_back(at);
    while (!chain_.empty()) {
      const LocId at = chain_.back();
      chain_.pop_back();
      Location copy = from_.locations[at];
      copy.file = string(copy.file);
      if (copy.inlined_at != none) copy.inlined_at = locations_[copy.inlined_at].id;
      locations_[at] = {segment_, static_cast<LocId>(b_.p.locations.size())};
      b_.p.locations.push_back(copy);
    }
    return locations_[loc].id;
  }

 protected:
  /// Uniform loads of the grid become those of a workgroup.
  uint64_t attribute(OpId op) override {
    if (from_.op(op).code != Opcode::UniformLoad) return from_.op(op).attr;
    MemoryRef m = from_.memory(op);
    m.scope = Scope::Workgroup;
    return m.pack();
  }
  StringId string(StringId s) override {
    if (s >= from_.strings.size()) return none;
    if (strings_[s].segment != segment_) {
      strings_[s] = {segment_, static_cast<StringId>(b_.p.strings.size())};
      b_.p.strings.push_back(from_.strings[s]);
    }
    return strings_[s].id;
  }

 private:
  struct Copied {
    uint32_t segment = 0;
    uint32_t id = none;
  };
  uint32_t segment_ = 0;
  std::vector<Copied> locations_, strings_;
  std::vector<LocId> chain_;
};

class SegmentWriter : public SegmentWalk {
 public:
  SegmentWriter(const SplitFacts& facts, const LiveValues& live, SplitPlan& plan)
      : SegmentWalk(facts),
        live_(live),
        plan_(plan),
        steps_(facts, live, plan),
        w_(program_),
        copier_(p_, w_),
        hidden_(p_, live, w_),
        present_in_(p_.values.size(), none) {}

  std::vector<Program> finish() {
    steps_.finish();
    plan_.cuts = segment_;
    return std::move(pieces_);
  }

 private:
  const SegmentNeeds& needs() const { return live_.segments[segment_]; }

  // ---- Segments.

  std::vector<HostArm> host_arms() const { return host_arms(frames_); }
  std::vector<HostArm> host_arms(std::span<const Frame> frames) const {
    std::vector<HostArm> arms;
    for (const Frame& frame : frames)
      if (p_.op(frame.op).code == Opcode::If && f_.host[p_.operand(frame.op, 0)])
        arms.push_back({frame.op, frame.arm});
    return arms;
  }

  /// Marks that the piece has an effect here: it must be launched at least where this place is
  /// reached.
  void note_effect() { note_effect(frames_); }
  void note_effect(std::span<const Frame> frames) {
    const std::vector<HostArm> now = host_arms(frames);
    if (!has_effect_) {
      launched_in_ = now;
      has_effect_ = true;
      return;
    }
    size_t same = 0;
    while (same < now.size() && same < launched_in_.size() && now[same] == launched_in_[same])
      ++same;
    launched_in_.resize(same);
  }

  void begin_segment() override {
    has_effect_ = false;
    copier_.begin(segment_, live_.hidden);
    hidden_.begin_segment();
    load_parameters();
    guard_op_ = none;
    if (guard() != none) {
      const ValueId goes_on = hidden_.load_word(live_.live_slot[guard()]);
      guard_op_ = w_.open(Opcode::If, {&goes_on, 1}, 2);
      w_.block = program_.op(guard_op_).first_block;
    }
    hidden_.copy_arrays(needs().restore, /*save=*/false);
    for (const ValueId v : needs().imports) import(v);
  }

  void load_parameters() {
    for (const ValueId v : needs().parameters) {
      const uint64_t buffer = program_.buffers.size();
      program_.buffers.push_back({"", Role::Scalar, p_.type(v), no_formula, 0, none});
      copier_.map[v] = w_.op(Opcode::Scalar, p_.type(v), {}, buffer);
      present_in_[v] = segment_;
    }
  }

  void import(ValueId v) {
    if (f_.is_parameter(v) || f_.cost[v] != SplitFacts::never) return compute_again(v);
    const ValueId home = f_.home(v);
    const Slot& slot = live_.slots[home];
    // A store to the slot in the same segment must come after the loads of all invocations.
    const bool uniform = needs().sync || f_.is_carried(v) || live_.owner[home] != home;
    ValueId value = hidden_.load(slot, p_.type(v), uniform);
    if (needs().sync && f_.uniformity.value(home) == Uniformity::Subgroup)
      value = w_.op(Opcode::SubgroupBroadcast, p_.type(v), {value, w_.constant(Type::U32, 0)});
    copier_.map[v] = value;
  }

  /// At most a few ops deep: SplitFacts::cost.
  void compute_again(ValueId v) {
    if (present_in_[v] == segment_) return;
    present_in_[v] = segment_;
    const OpId def = p_.values[v].def;
    for (const ValueId operand : p_.operands(def)) compute_again(operand);
    copier_.copy(def);
  }

  bool ended(BlockId block) const {
    const OpId last = program_.blocks[block].last;
    return last != none && is_exit(program_.op(last).code);
  }

  void end_segment() override {
    for (size_t i = frames_.size(); i-- > 0;)
      if (frames_[i].opened) end_part(frames_[i]);
    w_.loc = none;
    if (!ended(w_.block)) hidden_.copy_arrays(needs().save, /*save=*/true);
    if (guard_op_ != none) {
      const BlockId first = program_.op(guard_op_).first_block;
      for (const BlockId b : {first, first + 1}) {
        w_.block = b;
        if (!ended(b)) w_.exit(Opcode::Yield, {});
      }
      w_.block = body_block;
    }
    if (!ended(body_block)) w_.exit(Opcode::Return, {});
    remove_unused();
    if (!has_effect_ || !has_effect()) return;
    compact(program_);
    steps_.launch(used_parameters(), launched_in_);
    pieces_.push_back(std::move(program_));
  }

  void barrier() override { steps_.barrier(host_arms()); }

  /// Users have larger ids than their operands, so one sweep finds all.
  void remove_unused() {
    IdMap<ValueId, uint32_t> uses = count_uses(program_);
    for (const OpId id : program_.ops.ids() | std::views::reverse) {
      const Op& o = program_.op(id);
      const Effect effect = info(o.code).effect;
      // No op relies on the barriers of uniform loads that the writer inserted.
      const bool own =
          o.code == Opcode::UniformLoad && !p_.buffers.contains(program_.memory(id).buffer);
      const bool removable =
          effect == Effect::Pure || effect == Effect::Read || effect == Effect::Convergent || own;
      if (!removable || o.parent == none) continue;
      const auto results = program_.results(id);
      if (std::any_of(results.begin(), results.end(), [&](ValueId v) { return uses[v] != 0; }))
        continue;
      for (const ValueId v : program_.operands(id)) --uses[v];
      program_.unlink(id);
    }
  }

  /// Returns the parameters that are left, and removes the scalars of the others.
  std::vector<ValueId> used_parameters() {
    const size_t first = p_.buffers.size() + live_.hidden.size();
    std::vector<ValueId> used;
    std::vector<Buffer> scalars;
    walk(program_, [&](OpId id) {  // each is loaded once
      Op& o = program_.op(id);
      if (o.code != Opcode::Scalar || o.attr < first) return;
      used.push_back(needs().parameters[o.attr - first]);
      scalars.push_back(program_.buffers[o.attr]);
      o.attr = first + used.size() - 1;
    });
    program_.buffers.resize(first);
    program_.buffers.insert(program_.buffers.end(), scalars.begin(), scalars.end());
    return used;
  }

  bool has_effect() const {
    bool found = false;
    walk(program_, [&](OpId id) {
      const Opcode code = program_.op(id).code;
      const Effect effect = info(code).effect;
      found |= effect == Effect::Write || effect == Effect::Atomic || effect == Effect::Trap ||
               code == Opcode::Trap || code == Opcode::While;
    });
    return found;
  }

  // ---- Regions and ifs.

  void open(Frame& frame) override {
    const Op& o = p_.op(frame.op);
    w_.loc = copier_.location(o.loc);
    std::vector<ValueId> operands;
    for (const ValueId v : p_.operands(frame.op)) operands.push_back(copier_.map[v]);
    uint64_t attr = o.attr;
    if (o.code == Opcode::Region)
      attr = program_.add_string(p_.string(static_cast<StringId>(o.attr)));
    frame.copy = w_.open(o.code, operands, o.n_blocks, attr);
    w_.block = program_.op(frame.copy).first_block + frame.arm;
  }

  void switch_arm(Frame& frame) override {
    w_.block = program_.op(frame.copy).first_block + frame.arm;
  }

  /// Ends the part of an op that continues in the next segment.
  void end_part(const Frame& frame) {
    for (uint32_t b = 0; b < p_.op(frame.op).n_blocks; ++b) {
      w_.block = program_.op(frame.copy).first_block + b;
      if (!ended(w_.block)) w_.exit(Opcode::Yield, {});
    }
    w_.block = program_.op(frame.copy).parent;
  }

  void close(Frame& frame) override {
    if (!frame.opened) return;
    const Op& o = p_.op(frame.op);
    std::vector<uint32_t> which;
    std::vector<Type> types;
    for (uint32_t i = 0; i < o.results.count; ++i) {
      if (!f_.needed[p_.result(frame.op, i)]) continue;
      which.push_back(i);
      types.push_back(p_.type(p_.result(frame.op, i)));
    }
    for (uint32_t b = 0; b < o.n_blocks; ++b) {
      w_.block = program_.op(frame.copy).first_block + b;
      if (ended(w_.block)) continue;
      std::vector<ValueId> values;
      for (size_t k = 0; k < which.size(); ++k)
        values.push_back(f_.yields(frame.op, b)
                             ? copier_.map[p_.operand(f_.end_of(frame.op, b), which[k])]
                             : w_.constant(types[k], 0));  // it trapped in an earlier segment
      w_.exit(Opcode::Yield, values);
    }
    w_.block = program_.op(frame.copy).parent;
    const std::vector<ValueId> results = w_.set_results(frame.copy, types);
    for (size_t k = 0; k < which.size(); ++k) {
      const ValueId v = p_.result(frame.op, which[k]);
      copier_.map[v] = results[k];
      if (live_.slots[v].first != none) note_effect(std::span(frames_).first(frames_.size() - 1));
      keep(v);
    }
  }

  // ---- Ops.

  void keep(ValueId v) {
    if (live_.slots[v].first != none) hidden_.store(live_.slots[v], copier_.map[v]);
  }

  void visit(OpId op) override {
    if (f_.plain[op].effect || p_.op(op).code == Opcode::Trap) note_effect();
    copier_.copy(op);
    w_.loc = copier_.location(p_.op(op).loc);
    for (const ValueId v : p_.results(op)) {
      if (live_.slots[v].first != none) note_effect();
      keep(v);
    }
  }

  // ---- Loops.

  /// Stores the values that the loop carries, and whether it continues.
  void carry(OpId loop, std::span<const ValueId> values) {
    const auto args = p_.args(p_.op(loop).first_block);
    const bool counted = f_.is_host_loop(loop);
    const auto moves = [&](size_t i) {
      if (live_.slots[args[i]].first == none) return false;
      const ValueId home = f_.home(values[i]);
      return live_.slots[home].first == none || live_.owner[home] != live_.owner[args[i]];
    };
    bool any = false;
    for (size_t i = 0; i < args.size(); ++i) any |= moves(i);
    if (counted && !any) return;
    note_effect();
    open_path();
    w_.loc = copier_.location(p_.op(loop).loc);
    for (size_t i = 0; i < args.size(); ++i)
      if (moves(i)) hidden_.store(live_.slots[args[i]], copier_.map[values[i]]);
    if (counted) return;
    std::vector<ValueId> next;
    for (size_t i = 0; i < args.size(); ++i) next.push_back(copier_.map[values[i]]);
    for (size_t i = 0; i < args.size(); ++i) copier_.map[args[i]] = next[i];
    OpId at = p_.blocks[p_.op(loop).first_block].first;
    for (; p_.op(at).code != Opcode::Test; at = p_.op(at).next) copier_.copy(at);
    hidden_.store_word(live_.live_slot[loop], live_.word[loop], copier_.map[p_.operand(at, 0)]);
  }

  void enter_loop(OpId loop) override { carry(loop, p_.operands(loop)); }
  void repeat_loop(OpId loop) override { carry(loop, p_.operands(f_.end_of(loop, 1))); }
  void begin_loop(OpId loop) override { steps_.begin_loop(loop, host_arms(), live_.word[loop]); }
  void end_loop(OpId loop) override { steps_.end_loop(loop); }

  const LiveValues& live_;
  SplitPlan& plan_;
  HostSteps steps_;
  std::vector<Program> pieces_;
  Program program_;
  IrBuilder w_;
  SegmentCopier copier_;
  HiddenAccess hidden_;
  bool has_effect_ = false;
  std::vector<HostArm> launched_in_;  // the innermost branches around all effects of the piece
  OpId guard_op_ = none;
  IdMap<ValueId, uint32_t> present_in_;  // by value: the segment that has rematerialized it
};

}  // namespace

std::vector<Program> write_pieces(const SplitFacts& facts, const LiveValues& live,
                                  SplitPlan& plan) {
  SegmentWriter writer(facts, live, plan);
  writer.run();
  return writer.finish();
}

}  // namespace vyre::plan
