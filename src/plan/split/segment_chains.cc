#include "plan/split/segment_chains.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "check/check_limits.h"
#include "ir/cloner.h"
#include "ir/eval/eval.h"

namespace vyre::plan {
namespace {

using Kind = Step::Kind;

/// Finds the chains that can occur: a walk over the steps that follows both outcomes of every test.
class ChainFinder {
 public:
  /// `max_pieces`: of one chain. `open`: by piece, whether another piece may follow it.
  ChainFinder(const SplitPlan& plan, const std::vector<bool>& open, size_t max_pieces,
              size_t max_parameters)
      : plan_(plan), open_(open), max_pieces_(max_pieces), max_parameters_(max_parameters) {
    infos_.emplace_back();
    chains.emplace_back();
  }

  /// False if there would be more chains than `budget`.
  bool run(size_t budget) {
    visit(0, 0);
    while (!stack_.empty()) {
      const State s = stack_.back();
      stack_.pop_back();
      step(s);
      if (chains.size() > budget) return false;
    }
    launched.resize(chains.size());
    return true;
  }

  std::vector<Chain> chains;
  std::vector<bool> launched;  // by chain

 private:
  using State = std::pair<uint32_t, uint32_t>;  // the next step, the chain so far
  struct Info {
    size_t pieces = 0, parameters = 0;
  };

  void visit(uint32_t step, uint32_t chain) {
    if (seen_.emplace(step, chain).second) stack_.emplace_back(step, chain);
  }

  uint32_t launch(uint32_t chain) {
    launched.resize(chains.size());
    if (chain != 0) launched[chain] = true;
    return 0;
  }

  bool may_extend(uint32_t chain, uint32_t piece) const {
    if (chain == 0) return true;
    if (infos_[chain].pieces >= max_pieces_ || !open_[chains[chain].piece]) return false;
    if (infos_[chain].parameters + plan_.pieces[piece].parameters.size() > max_parameters_)
      return false;
    // No piece twice: iterations without a barrier do not make chains longer and longer.
    for (uint32_t at = chain; at != 0; at = chains[at].parent)
      if (chains[at].piece == piece) return false;
    return true;
  }

  uint32_t extend(uint32_t chain, uint32_t piece) {
    if (!may_extend(chain, piece)) chain = launch(chain);
    for (const uint32_t next : chains[chain].next)
      if (chains[next].piece == piece) return next;
    const auto made = static_cast<uint32_t>(chains.size());
    chains[chain].next.push_back(made);
    chains.push_back({chain, piece, none, {}, {}});
    infos_.push_back({infos_[chain].pieces + 1,
                      infos_[chain].parameters + plan_.pieces[piece].parameters.size()});
    return made;
  }

  void step(State s) {
    const auto [at, chain] = s;
    if (at == plan_.steps.size()) {
      launch(chain);
      return;
    }
    const Step& step = plan_.steps[at];
    switch (step.kind) {
      case Kind::Launch: return visit(at + 1, extend(chain, step.piece));
      case Kind::Barrier: return visit(at + 1, launch(chain));
      case Kind::IfBegin: visit(step.match + 1, chain); return visit(at + 1, chain);
      case Kind::LoopBegin: {
        const std::optional<bool> first =
            step.test == none ? std::optional(true) : first_test(plan_, at);
        if (!first.value_or(false)) visit(step.match + 1, chain);
        if (first.value_or(true)) visit(at + 1, chain);
        return;
      }
      case Kind::LoopEnd:
        visit(step.match + 1, chain);
        if (plan_.steps[step.match].test != none) return visit(at + 1, chain);
        // The end of a batch: the host reads a word.
        launch(chain);
        visit(step.match + 1, 0);
        return visit(at + 1, 0);
      case Kind::IfEnd:
      case Kind::Set: return visit(at + 1, chain);
    }
  }

  const SplitPlan& plan_;
  const std::vector<bool>& open_;
  const size_t max_pieces_, max_parameters_;
  std::vector<Info> infos_;  // by chain
  std::vector<State> stack_;
  std::set<State> seen_;
};

/// Copies the ops of a piece after those of others.
class PieceCopier : public Cloner {
 public:
  PieceCopier(const Program& from, IrBuilder& writer)
      : Cloner(from, writer), strings_(from.strings.size(), none) {
    for (Location copy : from.locations) {  // each refers to earlier ones only
      copy.file = string(copy.file);
      if (copy.inlined_at != none) copy.inlined_at = locations_[copy.inlined_at];
      locations_.push_back(static_cast<LocId>(writer.p.locations.size()));
      writer.p.locations.push_back(copy);
    }
  }

  void copy_all() {
    const OpId end = from_.blocks[body_block].last;
    for (OpId at = from_.blocks[body_block].first; at != end; at = from_.op(at).next) copy(at);
    b_.loc = location(from_.op(end).loc);
    b_.exit(from_.op(end).code, {});
  }

 protected:
  LocId location(LocId loc) override { return loc < locations_.size() ? locations_[loc] : none; }
  StringId string(StringId s) override {
    if (s >= from_.strings.size()) return none;
    if (strings_[s] == none) strings_[s] = b_.p.add_string(from_.strings[s]);
    return strings_[s];
  }

 private:
  std::vector<LocId> locations_;
  std::vector<StringId> strings_;
};

/// Memory of a workgroup that a piece accesses, by bit of the buffer.
struct WorkgroupAccess {
  uint64_t reads = 0, writes = 0;
};

class ChainWriter {
 public:
  ChainWriter(const Program& program, std::vector<Program> pieces, SplitPlan& plan)
      : p_(program), pieces_(std::move(pieces)), plan_(plan) {
    first_parameter_ = p_.buffers.size() + plan.hidden.size();
    for (const Program& piece : pieces_) accesses_.push_back(find_access(piece));
  }

  /// The number of buffers that the segments of these chains have.
  size_t assign(std::vector<Chain> chains) {
    plan_.chains = std::move(chains);
    plan_.parameters.clear();
    for (uint32_t c = 1; c < plan_.chains.size(); ++c) assign_slots(c);
    return first_parameter_ + plan_.parameters.size();
  }

  void write(const std::vector<bool>& launched) {
    for (uint32_t c = 1; c < plan_.chains.size(); ++c)
      if (launched[c]) write(c);
    add_parameters();
  }

 private:
  /// Uniform loads include a wait for the workgroup.
  WorkgroupAccess find_access(const Program& piece) const {
    WorkgroupAccess access;
    walk(piece, [&](OpId id) {
      const OpInfo& row = info(piece.op(id).code);
      if (row.attribute != AttrKind::Memory) return;
      const BufferId buffer = piece.memory(id).buffer;
      const bool hidden = !p_.buffers.contains(buffer);
      const bool of_workgroup = hidden ? plan_.hidden[buffer - p_.buffers.next_id()].rate ==
                                             HiddenBuffer::Rate::PerWorkgroup
                                       : p_.buffers[buffer].role == Role::Shared;
      if (!of_workgroup) return;
      if (row.effect == Effect::Read || row.effect == Effect::Atomic)
        access.reads |= bit_of(buffer);
      if (row.effect == Effect::Write || row.effect == Effect::Atomic)
        access.writes |= bit_of(buffer);
    });
    return access;
  }

  /// Parameters of one type take slots of this type in order, along the chain.
  void assign_slots(uint32_t id) {
    std::vector<bool> taken(plan_.parameters.size(), false);
    for (uint32_t at = plan_.chains[id].parent; at != 0; at = plan_.chains[at].parent)
      for (const uint32_t slot : plan_.chains[at].slots) taken[slot] = true;
    Chain& chain = plan_.chains[id];
    for (const PieceParameter& parameter : plan_.pieces[chain.piece].parameters) {
      uint32_t slot = 0;
      while (slot < taken.size() && (taken[slot] || plan_.parameters[slot] != parameter.type))
        ++slot;
      if (slot == taken.size()) {
        taken.push_back(false);
        plan_.parameters.push_back(parameter.type);
      }
      taken[slot] = true;
      chain.slots.push_back(slot);
    }
  }

  /// Returns a piece in which the scalars of the chain replace the scalars of the piece.
  Program placed(uint32_t chain) const {
    const Chain& c = plan_.chains[chain];
    Program piece = pieces_[c.piece];
    walk(piece, [&](OpId id) {
      Op& o = piece.op(id);
      if (o.code == Opcode::Scalar && o.attr >= first_parameter_)
        o.attr = first_parameter_ + c.slots[o.attr - first_parameter_];
    });
    piece.buffers.resize(first_parameter_);
    return piece;
  }

  void write(uint32_t id) {
    std::vector<uint32_t> path;
    for (uint32_t at = id; at != 0; at = plan_.chains[at].parent) path.push_back(at);
    std::reverse(path.begin(), path.end());
    Program made = placed(path[0]);
    WorkgroupAccess before = accesses_[plan_.chains[path[0]].piece];
    for (size_t i = 1; i < path.size(); ++i) {
      IrBuilder writer(made);
      writer.block = body_block;
      made.unlink(made.blocks[body_block].last);
      const WorkgroupAccess& now = accesses_[plan_.chains[path[i]].piece];
      if ((before.writes & now.reads) != 0 || (before.reads & now.writes) != 0) {
        writer.effect(Opcode::Barrier, Type::Void, {}, static_cast<uint64_t>(Scope::Workgroup));
        before = {};
      }
      before.reads |= now.reads;
      before.writes |= now.writes;
      const Program piece = placed(path[i]);
      PieceCopier(piece, writer).copy_all();
    }
    if (path.size() > 1) compact(made);
    plan_.chains[id].segment = static_cast<uint32_t>(plan_.segments.size());
    plan_.segments.push_back(std::move(made));
  }

  /// The segments get the same scalars, so that they have the same buffers.
  void add_parameters() {
    std::vector<std::string> names;
    for (size_t i = 0; i < plan_.parameters.size(); ++i) {
      std::string name = fmt::format("host_{}", i);
      const auto taken = [&](const Buffer& b) { return b.name == name; };
      while (std::any_of(p_.buffers.begin(), p_.buffers.end(), taken)) name += '_';
      names.push_back(std::move(name));
    }
    for (Program& segment : plan_.segments)
      for (size_t i = 0; i < names.size(); ++i)
        segment.buffers.push_back(
            {names[i], Role::Scalar, plan_.parameters[i], no_formula, 0, none});
  }

  const Program& p_;
  const std::vector<Program> pieces_;
  SplitPlan& plan_;
  size_t first_parameter_ = 0;
  std::vector<WorkgroupAccess> accesses_;
};

/// True if other ops may follow all of a piece: no invocation leaves it earlier than others.
bool is_open(const Program& piece) {
  bool open = true;
  walk(piece, [&](OpId id) {
    const Op& o = piece.op(id);
    open &= o.parent == body_block ? o.code != Opcode::Trap : o.code != Opcode::Return;
  });
  return open;
}

/// A host value that depends on constants and the variables of one Set only.
class ConstantTest {
 public:
  ConstantTest(const SplitPlan& plan, const Step* set) : plan_(plan), set_(set) {}

  std::optional<uint64_t> value(uint32_t id, int depth = 0) const {
    constexpr int max_depth = 16;
    const HostNode& n = plan_.host[id];
    if (depth == max_depth) return std::nullopt;
    if (n.is_variable) {
      if (!set_) return std::nullopt;
      for (const HostAssignment& a : set_->set)
        if (a.variable == n.attr) return ConstantTest(plan_, nullptr).value(a.node, depth + 1);
      return std::nullopt;
    }
    if (n.code == Opcode::Const) return n.attr;
    if (n.operands.empty()) return std::nullopt;
    uint64_t in[4] = {};
    for (size_t i = 0; i < n.operands.size() && i < 4; ++i) {
      const std::optional<uint64_t> operand = value(n.operands[i], depth + 1);
      if (!operand) return std::nullopt;
      in[i] = *operand;
    }
    const ExactFloats exact;
    return eval_bits(n.code, n.type, n.source, in, n.operands.size());
  }

 private:
  const SplitPlan& plan_;
  const Step* const set_;
};

}  // namespace

std::optional<bool> first_test(const SplitPlan& plan, uint32_t loop_begin) {
  const Step* set = nullptr;
  if (loop_begin > 0 && plan.steps[loop_begin - 1].kind == Kind::Set)
    set = &plan.steps[loop_begin - 1];
  const std::optional<uint64_t> value = ConstantTest(plan, set).value(plan.steps[loop_begin].test);
  if (!value) return std::nullopt;
  return *value != 0;
}

bool join_pieces(const Program& program, std::vector<Program> pieces, SplitPlan& plan) {
  std::vector<bool> open;
  for (const Program& piece : pieces) open.push_back(is_open(piece));
  const size_t budget = 4 * pieces.size() + 16;
  const size_t max_parameters = limits::buffers - program.buffers.size() - plan.hidden.size();
  ChainWriter writer(program, std::move(pieces), plan);
  // Shorter chains where there would be very many; a chain of one piece is always possible.
  for (const size_t max_pieces : {16, 8, 4, 3, 2, 1}) {
    ChainFinder finder(plan, open, max_pieces, max_parameters);
    if (!finder.run(budget)) continue;
    if (writer.assign(std::move(finder.chains)) > limits::buffers) continue;
    writer.write(finder.launched);
    return true;
  }
  return false;
}

}  // namespace vyre::plan
