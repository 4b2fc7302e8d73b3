#include "check/uniformity.h"

#include <algorithm>
#include <utility>

namespace vyre {
namespace {

// The uniformity of an op's results without regard to its operands; Grid: no restriction.
Uniformity source_level(const Program& p, OpId id, const UniformityRules& rules) {
  const Op& op = p.ops[id];
  switch (op.code) {
    case Opcode::GlobalId:
    case Opcode::LocalId:
      return rules.rows && op.attr > 0 ? Uniformity::Subgroup : Uniformity::Varying;
    case Opcode::LaneId:
    case Opcode::SubgroupScanAdd:
    case Opcode::SubgroupShuffle:
    case Opcode::SubgroupShuffleUp:
    case Opcode::SubgroupShuffleDown:
    case Opcode::SubgroupShuffleXor: return Uniformity::Varying;
    case Opcode::WorkgroupId: return Uniformity::Workgroup;
    case Opcode::UniformLoad: return needed_for(p.memory(id).scope);
    default: break;
  }
  switch (info(op.code).effect) {
    case Effect::Atomic: return Uniformity::Varying;
    case Effect::Convergent: return Uniformity::Subgroup;
    case Effect::Read: {
      const Role role = p.buffer_of(id).role;
      const bool constant = role == Role::In || role == Role::Uniform || role == Role::Table;
      if (constant) return Uniformity::Grid;
      return rules.lockstep && role != Role::Private ? Uniformity::Subgroup : Uniformity::Varying;
    }
    default: return Uniformity::Grid;
  }
}

// Returns whether the results depend on the operands. Those of synchronizing ops do not.
bool passes_operands(Opcode code) {
  const Effect e = info(code).effect;
  return e == Effect::Pure || e == Effect::Read;
}

enum Leaving { by_return, by_break, by_continue, ways };

}  // namespace

// Walks the program once, in order, and adds nodes and edges; then spreads the levels.
class UniformityAnalysis {
 public:
  UniformityAnalysis(const Program& p, const UniformityRules& rules) : p_(p), rules_(rules) {
    info_.values_ = static_cast<uint32_t>(p.values.size());
    info_.level_.assign(p.values.size(), Uniformity::Grid);
    info_.flow_of_op_.assign(p.ops.size(), none);
  }

  UniformityInfo run() {
    flow_ = add_flow(FlowNode::Kind::Body, none);
    walk_blocks(p_, body_block, [this](Visit what, OpId op, BlockId block) {
      switch (what) {
        case Visit::Op: visit(op); break;
        case Visit::EnterBlock: enter(block); break;
        case Visit::LeaveBlock: leave(block); break;
      }
    });
    spread();
    add_outer_flow();
    return std::move(info_);
  }

 private:
  using FlowNode = UniformityInfo::FlowNode;

  // A control op whose blocks are being walked.
  struct Frame {
    OpId op = none;
    uint32_t before = none;    // the flow before it
    uint32_t root = none;      // of a loop: the flow at the start of an iteration
    uint32_t test_end = none;  // of a while: the flow at `test`
    // Joins of the exits that leave it from inside, none where there is none.
    std::array<uint32_t, ways> exits = {none, none, none};
    OpId first_return = none;           // of those that leave it
    std::vector<OpId> yields;           // reached; of a loop also its continues: the ways back
    std::vector<OpId> breaks;           // reached; of a loop
    std::vector<uint32_t> yield_flows;  // the flow at each of `yields`
    std::vector<uint32_t> break_flows;
  };

  /// A node of a value or, by number, of flow.
  struct Node {
    Node(ValueId v) : index(v.value()) {}
    Node(uint32_t flow) : index(flow) {}
    uint32_t index;
  };
  void edge(Node from, Node to) { edges_.emplace_back(from.index, to.index); }

  uint32_t add_flow(FlowNode::Kind kind, OpId op) {
    const uint32_t node = static_cast<uint32_t>(info_.level_.size());
    info_.level_.push_back(Uniformity::Grid);
    const uint32_t outer = loops_.empty() ? none : frames_[loops_.back()].before;
    info_.flows_.push_back({kind, op, outer});
    return node;
  }

  // ---- The walk. flow_ is the flow at the current point; none where it cannot be reached.

  void visit(OpId id) {
    const Op& op = p_.ops[id];
    info_.flow_of_op_[id] = flow_;
    if (is_control(op.code)) return open(id);
    if (is_exit(op.code)) return exit(id);
    if (op.results.count == 0) return;
    const Uniformity level = source_level(p_, id, rules_);
    for (const ValueId v : p_.results(id)) {
      if (level != Uniformity::Grid) info_.level_[v.value()] = level;
      if (level == Uniformity::Varying || !passes_operands(op.code)) continue;
      for (const ValueId operand : p_.operands(id)) edge(operand, v);
    }
  }

  void open(OpId id) {
    Frame f;
    f.op = id;
    f.before = flow_;
    frames_.push_back(std::move(f));
    if (!is_loop(p_.ops[id].code)) return;
    loops_.push_back(static_cast<uint32_t>(frames_.size() - 1));
    if (flow_ != none) frames_.back().root = add_flow(FlowNode::Kind::Loop, id);
  }

  void enter(BlockId block) {
    const OpId owner = p_.blocks[block].parent;
    if (owner == none) return;
    Frame& f = frames_.back();
    const Op& op = p_.ops[owner];
    switch (op.code) {
      case Opcode::If: {
        flow_ = f.before == none ? none : arm(f.op, f.before, p_.operand(f.op, 0));
        break;
      }
      case Opcode::For: {
        flow_ = f.root;
        if (flow_ != none)
          for (uint32_t i = 0; i < 3; ++i) edge(p_.operand(f.op, i), flow_);
        break;
      }
      case Opcode::While: {
        if (block == op.first_block)
          flow_ = f.root;
        else
          flow_ = f.test_end == none ? none : arm(f.op, f.test_end, test_value(f.op));
        break;
      }
      default: break;  // a region's flow continues
    }
  }

  uint32_t arm(OpId op, uint32_t before, ValueId condition) {
    const uint32_t node = add_flow(FlowNode::Kind::Arm, op);
    edge(condition, node);
    edge(before, node);
    return node;
  }

  ValueId test_value(OpId loop) const {
    return p_.operand(p_.blocks[p_.ops[loop].first_block].last, 0);
  }

  void exit(OpId id) {
    const uint32_t flow = std::exchange(flow_, none);
    if (flow == none) return;
    switch (p_.ops[id].code) {
      case Opcode::Yield:
        frames_.back().yields.push_back(id);
        frames_.back().yield_flows.push_back(flow);
        break;
      case Opcode::Test: frames_.back().test_end = flow; break;
      case Opcode::Return: leave_by(by_return, id, flow); break;
      case Opcode::Break: {
        leave_by(by_break, id, flow);
        frames_[loops_.back()].breaks.push_back(id);
        frames_[loops_.back()].break_flows.push_back(flow);
        break;
      }
      case Opcode::Continue: {
        leave_by(by_continue, id, flow);
        frames_[loops_.back()].yields.push_back(id);
        frames_[loops_.back()].yield_flows.push_back(flow);
        break;
      }
      default: break;  // a trap ends the launch: no invocation waits for the trapped one
    }
  }

  void leave_by(Leaving way, OpId id, uint32_t flow) {
    if (frames_.empty()) return;
    const uint32_t node = add_flow(FlowNode::Kind::Exit, id);
    edge(flow, node);
    join(frames_.back(), way, node, id);
  }

  void join(Frame& f, Leaving way, uint32_t node, OpId op) {
    if (f.exits[way] == none) f.exits[way] = add_flow(FlowNode::Kind::After, f.op);
    if (way == by_return && f.first_return == none) f.first_return = op;
    edge(node, f.exits[way]);
  }

  void leave(BlockId block) {
    const OpId owner = p_.blocks[block].parent;
    if (owner == none) return;
    const Op& op = p_.ops[owner];
    if (block != op.first_block + (op.n_blocks - 1)) return;
    if (is_loop(op.code))
      close_loop();
    else
      close_plain();
  }

  // ---- The end of an `if` or region.

  void close_plain() {
    const Frame f = std::move(frames_.back());
    frames_.pop_back();
    const bool is_if = p_.ops[f.op].code == Opcode::If;
    merge_plain(f);
    for (int way = 0; way < ways; ++way)
      if (f.exits[way] != none && !frames_.empty())
        join(frames_.back(), static_cast<Leaving>(way), f.exits[way], f.first_return);
    if (f.yields.empty())
      flow_ = none;
    else
      flow_ = is_if ? after(f, {by_return, by_break, by_continue}) : f.yield_flows[0];
  }

  // A result is the value that one of the branches yields; the condition selects which. Branches
  // that yield the same value assign nothing.
  void merge_plain(const Frame& f) {
    const Op& op = p_.ops[f.op];
    for (uint32_t i = 0; i < op.results.count; ++i) {
      const ValueId result = p_.result(f.op, i);
      for (const OpId yield : f.yields) edge(p_.operand(yield, i), result);
      if (op.code != Opcode::If) continue;
      const bool same =
          f.yields.size() == 2 && p_.operand(f.yields[0], i) == p_.operand(f.yields[1], i);
      if (!same) edge(p_.operand(f.op, 0), result);
    }
  }

  uint32_t after(const Frame& f, std::initializer_list<Leaving> which) {
    uint32_t node = none;
    for (const Leaving way : which) {
      if (f.exits[way] == none) continue;
      if (node == none) {
        node = add_flow(FlowNode::Kind::After, f.op);
        edge(f.before, node);
      }
      edge(f.exits[way], node);
    }
    return node == none ? f.before : node;
  }

  // ---- The end of a loop.

  void close_loop() {
    const Frame f = std::move(frames_.back());
    const bool is_for = p_.ops[f.op].code == Opcode::For;
    // Once some have left, the others may iterate again, unless no path leads back.
    if (f.root != none && !f.yields.empty()) {
      for (const uint32_t exit : f.exits)
        if (exit != none) edge(exit, f.root);
      if (!is_for && f.test_end != none) edge(test_value(f.op), f.root);
    }
    frames_.pop_back();
    loops_.pop_back();
    merge_loop(f);
    if (f.exits[by_return] != none && !frames_.empty()) {
      // Outside of the loop, the set of invocations that returned depends also on the set that
      // entered it.
      const uint32_t node = add_flow(FlowNode::Kind::Exit, f.first_return);
      edge(f.exits[by_return], node);
      edge(f.before, node);
      join(frames_.back(), by_return, node, f.first_return);
    }
    const bool goes_on = f.before != none && (is_for || f.test_end != none || !f.breaks.empty());
    flow_ = goes_on ? after(f, {by_return}) : none;
  }

  void merge_loop(const Frame& f) {
    const Op& op = p_.ops[f.op];
    const bool is_for = op.code == Opcode::For;
    const uint32_t skip = is_for ? 3 : 0;
    const auto args = p_.args(op.first_block).subspan(is_for ? 1 : 0);
    if (is_for) {
      const ValueId counter = p_.args(op.first_block)[0];
      edge(p_.operand(f.op, 0), counter);
      edge(p_.operand(f.op, 2), counter);
    }
    for (uint32_t i = 0; i < op.results.count; ++i) {
      const ValueId init = p_.operand(f.op, skip + i);
      merge_argument(f, args[i], init, i);
      merge_result(f, args[i], init, i);
    }
  }

  // The argument is the initial value, then the value of the back edge. With several back edges
  // that carry different values it depends on which one was taken.
  void merge_argument(const Frame& f, ValueId arg, ValueId init, uint32_t i) {
    edge(init, arg);
    bool same = true;
    for (const OpId back : f.yields) {
      edge(p_.operand(back, i), arg);
      same = same && p_.operand(back, i) == p_.operand(f.yields[0], i);
    }
    if (same) return;
    for (const uint32_t flow : f.yield_flows) edge(flow, arg);
  }

  // The result is the argument at the last test, or the value of a break: it depends on when and
  // where the loop was left, unless the loop never changes it.
  void merge_result(const Frame& f, ValueId arg, ValueId init, uint32_t i) {
    const ValueId result = p_.result(f.op, i);
    const auto unchanged = [&](OpId exit) {
      return p_.operand(exit, i) == arg || p_.operand(exit, i) == init;
    };
    edge(init, result);
    if (std::all_of(f.yields.begin(), f.yields.end(), unchanged) &&
        std::all_of(f.breaks.begin(), f.breaks.end(), unchanged))
      return;
    edge(arg, result);
    for (const OpId exit : f.breaks) edge(p_.operand(exit, i), result);
    for (const uint32_t flow : f.break_flows) edge(flow, result);
    if (p_.ops[f.op].code == Opcode::For)
      for (uint32_t k = 0; k < 3; ++k) edge(p_.operand(f.op, k), result);
    else if (f.test_end != none)
      edge(test_value(f.op), result);
  }

  // ---- Levels.

  // Edges by their start, as offsets into one array.
  void sort_edges() {
    begin_.assign(info_.level_.size() + 1, 0);
    for (const auto& [from, to] : edges_) ++begin_[from + 1];
    for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    targets_.resize(edges_.size());
    std::vector<uint32_t> at(begin_.begin(), begin_.end() - 1);
    for (const auto& [from, to] : edges_) targets_[at[from]++] = to;
    edges_ = {};
  }

  // Lowest level first: the level that reaches a node first is its lowest. Breadth first, so that
  // reasons are short.
  void spread() {
    sort_edges();
    const size_t nodes = info_.level_.size();
    std::vector<Uniformity> own = std::exchange(info_.level_, {});
    info_.level_.assign(nodes, Uniformity::Grid);
    info_.cause_.assign(nodes, none);
    info_.source_.assign(nodes, none);
    std::vector<uint32_t> queue;
    queue.reserve(nodes);
    for (const Uniformity level :
         {Uniformity::Varying, Uniformity::Subgroup, Uniformity::Workgroup}) {
      queue.clear();
      const auto lower = [&](uint32_t node, uint32_t cause) {
        if (info_.level_[node] != Uniformity::Grid) return;
        info_.level_[node] = level;
        info_.cause_[node] = cause;
        info_.source_[node] = cause == none ? node : info_.source_[cause];
        queue.push_back(node);
      };
      for (uint32_t node = 0; node < nodes; ++node)
        if (own[node] == level) lower(node, none);
      for (size_t i = 0; i < queue.size(); ++i)
        for (uint32_t e = begin_[queue[i]]; e < begin_[queue[i] + 1]; ++e)
          lower(targets_[e], queue[i]);
    }
  }

  // The flow around a loop has an earlier node than the flow in it.
  void add_outer_flow() {
    info_.absolute_.resize(info_.flows_.size());
    for (size_t i = 0; i < info_.flows_.size(); ++i) {
      const uint32_t outer = info_.flows_[i].outer;
      info_.absolute_[i] = info_.level_[info_.values_ + i];
      if (outer != none)
        info_.absolute_[i] = std::min(info_.absolute_[i], info_.absolute_[outer - info_.values_]);
    }
  }

  const Program& p_;
  const UniformityRules rules_;
  UniformityInfo info_;
  uint32_t flow_ = none;
  std::vector<Frame> frames_;
  std::vector<uint32_t> loops_;  // frames that are loops
  std::vector<std::pair<uint32_t, uint32_t>> edges_;
  std::vector<uint32_t> begin_;
  std::vector<uint32_t> targets_;
};

UniformityInfo analyze_uniformity(const Program& program, const UniformityRules& rules) {
  return UniformityAnalysis(program, rules).run();
}

}  // namespace vyre
