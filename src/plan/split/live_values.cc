#include "plan/split/live_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "plan/split/segment_walk.h"
#include "plan/split/slot_sharing.h"

namespace vyre::plan {
namespace {

using Rate = HiddenBuffer::Rate;

class LoadMerger : public SegmentWalk {
 public:
  explicit LoadMerger(SplitFacts& facts) : SegmentWalk(facts), merged_(facts.plain.size(), false) {}
  IdMap<OpId, bool> merged_;

 private:
  // Until loads are merged, the load is alone in its segment; the next one counts.
  void begin_segment() override { writes_ = 0; }
  void visit(OpId op) override {
    if (is_grid_sync(p_, op)) {
      load_ = op;
      load_segment_ = segment_;
      branches_ = host_branches();
    } else {
      writes_ |= f_.plain[op].writes;
    }
  }
  void end_segment() override {
    if (load_ == none || segment_ != load_segment_ + 1) return;
    // Every path from the load leads over this split point: no branch that the host decides ends or
    // begins before.
    merged_[load_] = host_branches() == branches_ && !(writes_ & bit_of(p_.memory(load_).buffer));
    load_ = none;
  }

  using Branches = std::vector<std::pair<OpId, uint32_t>>;  // an `if` and one of its blocks
  Branches host_branches() const {
    Branches list;
    for (const Frame& frame : frames_)
      if (p_.op(frame.op).code == Opcode::If && f_.host[p_.operand(frame.op, 0)])
        list.emplace_back(frame.op, frame.arm);
    return list;
  }

  Branches branches_;  // around the load
  uint64_t writes_ = 0;
  OpId load_ = none;
  uint32_t load_segment_ = 0;
};

class LiveWalk : public SegmentWalk {
 public:
  LiveWalk(const SplitFacts& facts, LiveValues& out)
      : SegmentWalk(facts),
        out_(out),
        defined_in_(p_.values.size(), none),
        imported_in_(p_.values.size(), none),
        parameter_in_(p_.values.size(), none),
        first_(p_.values.size(), 0),
        last_(p_.values.size(), 0),
        last_use_(p_.values.size(), 0),
        sharing_(p_.values.size()) {
    out_.slots.resize(p_.values.size());
    out_.live_slot.assign(p_.ops.size(), none);
    out_.word.assign(p_.ops.size(), none);
  }

  void finish() {
    find_arrays();
    extend_over_loops();
    share_slots();
    assign_slots();
    lay_out();
  }

 private:
  SegmentNeeds& now() { return out_.segments[segment_]; }

  void begin_segment() override {
    out_.segments.emplace_back();
    for (const Frame& frame : frames_)
      if (p_.op(frame.op).code == Opcode::While) {
        now().first_of_loop = frame.first_segment;
        break;
      }
  }

  void define(ValueId v) { defined_in_[v] = segment_; }

  void use(ValueId v) {
    if (!f_.top[v]) return;
    const bool carried = f_.is_carried(v);
    if (!carried && defined_in_[v] == segment_) return;
    if (imported_in_[v] != segment_) {
      imported_in_[v] = segment_;
      now().imports.push_back(v);
    }
    if (f_.is_parameter(v) || f_.cost[v] != SplitFacts::never) return find_parameters(v);
    keep(v);
  }

  /// The values that the host computes for a value that is rematerialized. At most a few ops deep.
  void find_parameters(ValueId v) {
    if (parameter_in_[v] == segment_) return;
    parameter_in_[v] = segment_;
    if (f_.is_parameter(v)) return now().parameters.push_back(v);
    for (const ValueId operand : p_.operands(p_.values[v].def)) find_parameters(operand);
  }

  /// The value has a slot from where it is defined to here; if a loop around this place does not
  /// hold the definition, up to the loop's end.
  void keep(ValueId v) {
    const ValueId home = f_.home(v);
    if (out_.slots[home].first == none) {
      out_.slots[home].first = 0;  // numbered later
      kept_.push_back(home);
      first_[home] = defined_in_[home];
    }
    last_[home] = std::max(last_[home], segment_);
    const auto loop = std::find_if(frames_.begin(), frames_.end(), [&](const Frame& frame) {
      return p_.op(frame.op).code == Opcode::While && frame.first_segment > first_[home];
    });
    if (loop != frames_.end()) until_end_.emplace_back(loop->op, home);
    note_use(v);
  }

  /// The interval of a value itself, without that of others at its home.
  void note_use(ValueId v) {
    last_use_[v] = std::max(last_use_[v], 2 * segment_);
    // An argument is defined anew by each iteration: it lives past inner loops only.
    const bool is_argument = p_.values[v].def == none;
    const uint32_t defined = defined_in_[v] + is_argument;
    const auto loop = std::find_if(frames_.begin(), frames_.end(), [&](const Frame& frame) {
      return p_.op(frame.op).code == Opcode::While && frame.first_segment > defined;
    });
    if (loop != frames_.end()) used_until_end_.emplace_back(loop->op, v);
  }

  void visit(OpId op) override {
    const PlainOp& plain = f_.plain[op];
    now().sync |= plain.sync;
    now().reads |= plain.reads;
    now().writes |= plain.writes;
    for (const ValueId v : p_.operands(op)) use(v);
    for (uint32_t b = 0; b < p_.op(op).n_blocks; ++b)
      walk(p_, p_.op(op).first_block + b, [&](OpId inner) {
        for (const ValueId v : p_.operands(inner)) use(v);
      });
    for (const ValueId v : p_.results(op)) define(v);
  }

  void open(Frame& frame) override {
    if (p_.op(frame.op).code == Opcode::If) use(p_.operand(frame.op, 0));
  }

  void close(Frame& frame) override {
    const Op& o = p_.op(frame.op);
    for (uint32_t i = 0; i < o.results.count; ++i) {
      const ValueId result = p_.result(frame.op, i);
      if (!f_.needed[result]) continue;
      for (uint32_t b = 0; b < o.n_blocks; ++b)
        if (f_.yields(frame.op, b)) use(p_.operand(f_.end_of(frame.op, b), i));
      define(result);
    }
  }

  void enter_loop(OpId loop) override {
    const Op& o = p_.op(loop);
    open_if_carrying(loop);
    for (uint32_t i = 0; i < o.results.count; ++i) {
      const ValueId arg = p_.args(o.first_block)[i];
      define(arg);
      if (in_memory(arg)) use(p_.operand(loop, i));
    }
    if (f_.is_host_loop(loop)) return;
    out_.live_slot[loop] = live_words_++;
    out_.word[loop] = words_++;
    use_test(loop);
  }

  void repeat_loop(OpId loop) override {
    const Op& o = p_.op(loop);
    open_if_carrying(loop);
    for (uint32_t i = 0; i < o.results.count; ++i)
      if (in_memory(p_.args(o.first_block)[i])) use(p_.operand(f_.end_of(loop, 1), i));
    if (!f_.is_host_loop(loop)) use_test(loop);
  }

  bool in_memory(ValueId arg) const { return f_.needed[arg] && !f_.is_parameter(arg); }

  /// The carried values of the loop are spilled at this place.
  void open_if_carrying(OpId loop) {
    const auto args = p_.args(p_.op(loop).first_block);
    const bool carries =
        std::any_of(args.begin(), args.end(), [&](ValueId v) { return in_memory(v); });
    if (carries || !f_.is_host_loop(loop)) open_path();
  }

  /// The test is computed again at the end of each iteration, from the next arguments.
  void use_test(OpId loop) {
    const BlockId test = p_.op(loop).first_block;
    const auto outside = [&](ValueId v) {
      const Value& value = p_.values[v];
      if (value.def == none) return value.block != test;
      return p_.op(value.def).parent != test;
    };
    for (OpId at = p_.blocks[test].first; at != none; at = p_.op(at).next)
      for (const ValueId v : p_.operands(at))
        if (outside(v)) use(v);
  }

  void end_loop(OpId loop) override {
    const uint32_t first = frames_.back().first_segment;
    bool outermost = true;
    for (size_t i = 0; i + 1 < frames_.size(); ++i)
      outermost &= p_.op(frames_[i].op).code != Opcode::While;
    if (outermost)
      for (uint32_t s = first; s <= segment_; ++s) out_.segments[s].last_of_loop = segment_;
    last_of_loop_.emplace_back(loop, segment_);
    for (const ValueId v : p_.results(loop)) define(v);
  }

  // ---- Arrays. No segment is known to overwrite a whole array, so only the order of segments
  // matters: all segments before or after one, and all segments of its outermost loop, may access
  // it.

  void find_arrays() {
    const size_t n = out_.segments.size();
    uint64_t arrays = 0;
    for (const BufferId i : p_.buffers.ids())
      if (p_.buffers[i].role == Role::Shared || p_.buffers[i].role == Role::Private)
        arrays |= bit_of(i);
    std::vector<uint64_t> written(n + 1, 0), read(n + 1, 0);  // before a segment; from a segment on
    for (size_t s = 0; s < n; ++s) written[s + 1] = written[s] | out_.segments[s].writes;
    for (size_t s = n; s-- > 0;) read[s] = read[s + 1] | out_.segments[s].reads;
    uint64_t kept = 0;
    for (size_t s = 0; s < n; ++s) {
      SegmentNeeds& needs = out_.segments[s];
      const bool in_loop = needs.first_of_loop != none;
      const uint64_t later = read[in_loop ? needs.first_of_loop : s + 1];
      const uint64_t earlier = written[in_loop ? needs.last_of_loop + 1 : s];
      needs.save = needs.writes & later & arrays;
      needs.restore = (needs.reads | needs.save) & earlier & arrays;
      kept |= needs.save;
    }
    for (SegmentNeeds& needs : out_.segments) needs.restore &= kept;
    for (const BufferId i : p_.buffers.ids()) {
      if (!(kept & bit_of(i))) continue;
      KeptArray array;
      array.array = i;
      p_.formulas.is_constant(p_.buffers[i].count, &array.count);
      out_.arrays.push_back(array);
    }
  }

  // ---- Slots. Values that are not live at the same time share one.

  void extend_over_loops() {
    IdMap<OpId, uint32_t> loop_end(p_.ops.size(), 0);
    for (const auto& [loop, segment] : last_of_loop_) loop_end[loop] = segment;
    for (const auto& [loop, home] : until_end_) last_[home] = std::max(last_[home], loop_end[loop]);
    for (const auto& [loop, v] : used_until_end_)
      last_use_[v] = std::max(last_use_[v], 2 * loop_end[loop] + 2);
  }

  bool is_kept(ValueId home) const { return out_.slots[home].first != none; }

  /// Variables that loops carry, and the values assigned to them at the beginning and the way back.
  void share_slots() {
    for (const ValueId v : kept_)
      if (!f_.is_carried(v)) sharing_.add(v, {2 * defined_in_[v] + 1, last_use_[v]});
    for (const auto& [loop, last] : last_of_loop_) {
      const Op& o = p_.op(loop);
      for (uint32_t i = 0; i < o.results.count; ++i) {
        const ValueId arg = p_.args(o.first_block)[i];
        sharing_.add(arg, {2 * defined_in_[arg] + 1, last_use_[arg]});
        sharing_.add(arg, {2 * last + 1, last_use_[p_.result(loop, i)]});
      }
    }
    // Inner loops come first: they move most often.
    for (const auto& [loop, last] : last_of_loop_) {
      const Op& o = p_.op(loop);
      for (uint32_t i = 0; i < o.results.count; ++i) {
        const ValueId arg = p_.args(o.first_block)[i];
        if (f_.yields(loop, 1)) share(arg, p_.operand(f_.end_of(loop, 1), i));
        share(arg, p_.operand(loop, i));
      }
    }
    out_.owner.resize(p_.values.size());
    for (const auto v : out_.owner.ids()) out_.owner[v] = sharing_.find(v);
    for (const ValueId v : kept_) {
      const ValueId owner = out_.owner[v];
      if (owner == v) continue;
      first_[owner] = std::min(first_[owner], first_[v]);
      last_[owner] = std::max(last_[owner], last_[v]);
    }
  }

  void share(ValueId arg, ValueId assigned) {
    const ValueId home = f_.home(assigned);
    if (!f_.top[assigned] || !is_kept(arg) || !is_kept(home)) return;
    if (f_.uniformity.value(arg) == f_.uniformity.value(home)) sharing_.merge(arg, home);
  }

  void assign_slots() {
    std::stable_sort(kept_.begin(), kept_.end(),
                     [&](ValueId a, ValueId b) { return first_[a] < first_[b]; });
    // By rate and words: free slots, and those in use by the segment after which they are free.
    using InUse = std::pair<uint32_t, uint32_t>;
    std::priority_queue<InUse, std::vector<InUse>, std::greater<>> in_use[2][2];
    std::vector<uint32_t> free_slots[2][2];
    uint32_t words[2] = {0, live_words_};
    for (const ValueId v : kept_) {
      if (out_.owner[v] != v) continue;
      Slot& slot = out_.slots[v];
      const bool uniform = f_.uniformity.value(v) >= Uniformity::Workgroup;
      slot.rate = uniform ? Rate::PerWorkgroup : Rate::PerInvocation;
      slot.words = width_of(p_.type(v)) > 32 ? 2 : 1;
      auto& used = in_use[uniform][slot.words - 1];
      auto& spare = free_slots[uniform][slot.words - 1];
      for (; !used.empty() && used.top().first < first_[v]; used.pop())
        spare.push_back(used.top().second);
      if (spare.empty()) {
        spare.push_back(words[uniform]);
        words[uniform] += slot.words;
      }
      slot.first = spare.back();
      spare.pop_back();
      used.emplace(last_[v], slot.first);
    }
    for (const ValueId v : kept_) out_.slots[v] = out_.slots[out_.owner[v]];
    value_words_[0] = words[0];
    value_words_[1] = words[1];
  }

  // ---- Hidden buffers: one for each rate and element.

  uint32_t hidden(Rate rate, Type element) {
    for (uint32_t i = 0; i < out_.hidden.size(); ++i)
      if (out_.hidden[i].rate == rate && out_.hidden[i].element == element) return i;
    constexpr std::string_view rates[] = {"invocation", "workgroup", "once"};
    std::string text = fmt::format("kept_by_{}_{}", rates[static_cast<int>(rate)], name(element));
    if (rate == Rate::Once) text = "kept_once";
    const auto taken = [&](const Buffer& b) { return b.name == text; };
    while (std::any_of(p_.buffers.begin(), p_.buffers.end(), taken)) text += '_';
    out_.hidden.push_back({element, rate, 0, text});
    return static_cast<uint32_t>(out_.hidden.size() - 1);
  }

  void lay_out() {
    const auto words = [&](Rate rate, uint64_t count, uint32_t& index) {
      if (count == 0) return;
      index = hidden(rate, Type::U32);
      out_.hidden[index].per += count;
    };
    words(Rate::PerInvocation, value_words_[0], out_.by_invocation);
    words(Rate::PerWorkgroup, value_words_[1], out_.by_workgroup);
    words(Rate::Once, words_, out_.once);
    for (KeptArray& array : out_.arrays) {
      const Buffer& b = p_.buffers[array.array];
      array.hidden =
          hidden(b.role == Role::Shared ? Rate::PerWorkgroup : Rate::PerInvocation, b.element);
      array.offset = out_.hidden[array.hidden].per;
      out_.hidden[array.hidden].per += array.count;
    }
  }

  LiveValues& out_;
  IdMap<ValueId, uint32_t> defined_in_, imported_in_, parameter_in_;  // by value: a segment
  IdMap<ValueId, uint32_t> first_, last_;  // by home: segments in which it is spilled
  IdMap<ValueId, uint32_t> last_use_;      // by value: a point, as in LiveInterval
  SlotSharing sharing_;
  std::vector<ValueId> kept_;
  std::vector<std::pair<OpId, ValueId>> until_end_, used_until_end_;
  std::vector<std::pair<OpId, uint32_t>> last_of_loop_;
  uint32_t live_words_ = 0, words_ = 0;
  uint32_t value_words_[2] = {0, 0};  // by invocation, by workgroup
};

}  // namespace

void merge_uniform_loads(SplitFacts& facts) {
  LoadMerger merger(facts);
  merger.run();
  facts.merged = std::move(merger.merged_);
}

LiveValues find_live_values(const SplitFacts& facts) {
  LiveValues out;
  LiveWalk walk(facts, out);
  walk.run();
  walk.finish();
  return out;
}

}  // namespace vyre::plan
