#include "transform/long_loops.h"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <optional>
#include <utility>

#include "ir/constant_trips.h"
#include "ir/ir_builder.h"
#include "ir/while_to_for.h"

namespace vyre {
namespace {

constexpr uint32_t max_chunk_trips = 1024;
constexpr uint32_t max_while_trips = 256;
constexpr uint32_t min_chunk_trips = 2;
// At most 16 chunks of 4,096 ops pass between two polls.
constexpr uint8_t chunk_weight = 16;

/// A loop and its contents.
struct Body {
  OpId loop = none;
  uint64_t ops = 0;       // that an iteration executes at most, loops that do not poll included
  uint32_t depth = 0;     // of control ops around it
  uint64_t unpolled = 1;  // iterations of nested loops that run without a poll
  bool has_polls = false;
  bool has_chunk = false;  // it is a loop over chunks
  bool waits = false;      // contains a barrier or subgroup op
  bool breaks = false;     // a `break` leaves it
};

/// Walks the loops from the innermost out. `chunks` is empty or holds the trips of inner loops.
class Finder {
 public:
  Finder(const Program& p, const IdMap<OpId, uint32_t>& chunks, uint64_t unpolled_trips)
      : p_(p), chunks_(chunks), unpolled_trips_(unpolled_trips) {}

  std::vector<Body> polling;  // loops, inner ones first

  void run() {
    bodies_.push_back({});
    walk_blocks(p_, body_block, [this](Visit what, OpId op, BlockId block) {
      if (what == Visit::Op) visit(op);
      if (what == Visit::EnterBlock) ++depth_;
      if (what == Visit::LeaveBlock) leave(block), --depth_;
    });
  }

 private:
  void visit(OpId id) {
    const Op& o = p_.op(id);
    const Effect effect = info(o.code).effect;
    Body& body = bodies_.back();
    body.ops += o.code != Opcode::Const;
    body.waits |=
        effect == Effect::Sync || effect == Effect::Convergent || o.code == Opcode::UniformLoad;
    body.breaks |= o.code == Opcode::Break;
    if (is_loop(o.code)) bodies_.push_back({.loop = id, .depth = depth_});
  }

  void leave(BlockId block) {
    const OpId owner = p_.blocks[block].parent;
    if (owner == none || !is_loop(p_.op(owner).code)) return;
    if (block != p_.op(owner).first_block + (p_.op(owner).n_blocks - 1)) return;
    Body body = bodies_.back();
    bodies_.pop_back();
    const std::optional<uint64_t> n = trips(owner);
    const bool is_chunk = !chunks_.empty() && chunks_[owner] != 0;
    const bool is_short =
        is_chunk || (n && *n <= unpolled_trips_ && *n * body.unpolled <= unpolled_trips_);
    if (!is_short) polling.push_back(body);
    Body& outer = bodies_.back();
    // A loop over chunks may end before it polls.
    const uint64_t unpolled = is_short         ? std::max<uint64_t>(1, *n * body.unpolled)
                              : body.has_chunk ? body.unpolled
                                               : 1;
    outer.unpolled = std::max(outer.unpolled, unpolled);
    outer.ops += body.ops * (is_short ? std::max<uint64_t>(1, *n) : 1);
    outer.waits |= body.waits;
    outer.has_polls |= body.has_polls || !is_short;
    outer.has_chunk |= is_chunk;
  }

  std::optional<uint64_t> trips(OpId loop) const {
    if (!chunks_.empty() && chunks_[loop]) return chunks_[loop];
    return most_trips(p_, loop);
  }

  const Program& p_;
  const IdMap<OpId, uint32_t>& chunks_;
  const uint64_t unpolled_trips_;
  uint32_t depth_ = 0;
  std::vector<Body> bodies_;
};

PollWeights weights(const Program& p, const IdMap<OpId, uint32_t>& chunks,
                    const LongLoopOptions& options) {
  Finder finder(p, chunks, options.unpolled_trips);
  finder.run();
  PollWeights polls(p.ops.size(), 0);
  for (const Body& body : finder.polling) polls[body.loop] = body.has_chunk ? chunk_weight : 1;
  return polls;
}

class Divider {
 public:
  explicit Divider(Program& p) : p_(p), b_(p) {}

  std::vector<std::pair<OpId, uint32_t>> inner;  // loops of chunks and their trips

  /// The iterations of a chunk; 0: the loop stays as it is.
  uint32_t chunk_of(const Body& body, const LongLoopOptions& options) const {
    if (body.has_polls || body.waits || body.depth > options.max_depth) return 0;
    if (body.breaks && !options.breaks) return 0;
    uint64_t n = options.chunk_ops / std::max<uint64_t>(1, body.ops);
    if (p_.op(body.loop).code == Opcode::While) {
      const OpId test = p_.blocks[p_.op(body.loop).first_block].last;
      if (!options.whiles || p_.op(test).code != Opcode::Test) return 0;
      n = std::min<uint64_t>(n, max_while_trips);
      return n < min_chunk_trips ? 0 : static_cast<uint32_t>(std::bit_floor(n));
    }
    n = std::min<uint64_t>(n, max_chunk_trips);
    const ValueId step = p_.operand(body.loop, 2);
    const Type t = p_.type(step);
    const auto by = constant_bits(p_, step);
    if (!by && is_signed(t)) return 0;
    const uint64_t max = max_of(t);
    if (by && (*by == 0 || *by > max)) return 0;
    n = std::min(n, max / by.value_or(1));  // so that n iterations, and n, fit the type
    return n < min_chunk_trips ? 0 : static_cast<uint32_t>(std::bit_floor(n));
  }

  void divide(OpId loop, uint32_t trips) {
    b_.before(loop);
    if (p_.op(loop).code == Opcode::While)
      divide_while(loop, trips);
    else
      divide_for(loop, trips);
    inner.emplace_back(loop, trips);
  }

 private:
  void divide_for(OpId loop, uint32_t trips) {
    const ValueId lo = p_.operand(loop, 0), hi = p_.operand(loop, 1), step = p_.operand(loop, 2);
    const Type t = p_.type(lo);
    const auto [chunk, room] = chunk_and_room(t, step, trips);

    const std::vector<ValueId> init = list(p_.operands(loop).subspan(3));
    std::vector<ValueId> operands = {lo, hi, chunk};
    operands.insert(operands.end(), init.begin(), init.end());
    const BlockId block = wrap(loop, Opcode::For, operands, 1);
    const ValueId c = p_.add_argument(block, t);
    const std::vector<ValueId> carried = add_arguments(block, init);
    b_.at_end(block);
    const ValueId end = op(Opcode::Add, t, {op(Opcode::Min, t, {c, room}), chunk});
    const ValueId limit = op(Opcode::Min, t, {end, hi});
    operands = {c, limit, step};
    operands.insert(operands.end(), carried.begin(), carried.end());
    put_inner(loop, std::move(operands), flag_breaks(loop));
  }

  void divide_while(OpId loop, uint32_t trips) {
    const std::vector<ValueId> init = list(p_.operands(loop));
    const BlockId test = wrap(loop, Opcode::While, init, 2), block = test + 1;
    const std::vector<ValueId> carried = add_arguments(test, init);
    b_.at_end(test);
    const ValueId always = constant(Type::Bool, 1);
    b_.exit(Opcode::Test, {&always, 1});
    while_to_for(p_, loop, Type::U32);
    b_.at_end(block);
    std::vector<ValueId> operands = {constant(Type::U32, 0), constant(Type::U32, trips),
                                     constant(Type::U32, 1)};
    operands.insert(operands.end(), carried.begin(), carried.end());
    put_inner(loop, std::move(operands), flag_breaks(loop));
  }

  /// Replaces `loop` by a new loop that will contain it. Returns its first block; new ops are then
  /// appended at the end of a block.
  BlockId wrap(OpId loop, Opcode code, std::span<const ValueId> operands, uint8_t blocks) {
    const OpId outer = b_.open(code, operands, blocks);
    p_.op(outer).results = p_.op(loop).results;
    for (const ValueId v : p_.results(outer)) p_.values[v].def = outer;
    p_.unlink(loop);
    return p_.block(outer, 0);
  }

  std::vector<ValueId> add_arguments(BlockId block, std::span<const ValueId> init) {
    std::vector<ValueId> arguments;
    for (const ValueId v : init) arguments.push_back(p_.add_argument(block, p_.type(v)));
    return arguments;
  }

  /// Ends the block of the outer loop: the inner loop, and the exits of both.
  void put_inner(OpId loop, std::vector<ValueId> operands, bool breaks) {
    if (breaks) operands.push_back(constant(Type::Bool, 0));
    p_.op(loop).operands = p_.add_list(operands);
    p_.append(b_.block, loop);
    std::vector<ValueId> results = add_results(loop, std::span(operands).subspan(3));
    if (breaks) {
      const ValueId left = results.back();
      results.pop_back();
      break_if(left, results);
    }
    b_.exit(Opcode::Yield, results);
  }

  static uint64_t max_of(Type t) { return low_mask(width_of(t) - (is_signed(t) ? 1 : 0)); }

  static std::vector<ValueId> list(std::span<const ValueId> values) {
    return {values.begin(), values.end()};
  }

  ValueId op(Opcode code, Type t, std::initializer_list<ValueId> operands) {
    return b_.op(code, t, operands);
  }

  ValueId constant(Type t, uint64_t bits) { return b_.constant(t, bits); }

  /// Returns trips * step, or the largest number where that does not fit, and the distance from it
  /// to that number: from a start above this distance, a chunk ends at the loop's end. Emitters
  /// that compute types of 8 and 16 bits in words need not truncate results here: they fit, or are
  /// not used.
  std::pair<ValueId, ValueId> chunk_and_room(Type t, ValueId step, uint32_t trips) {
    const uint64_t max = max_of(t);
    if (const auto by = constant_bits(p_, step)) {
      const ValueId chunk = constant(t, *by * trips);
      return {chunk, constant(t, max - *by * trips)};
    }
    const ValueId all = constant(t, max);
    const ValueId is_large = op(Opcode::Gt, t, {step, constant(t, max / trips)});
    const ValueId product = op(Opcode::Mul, t, {step, constant(t, trips)});
    const ValueId chunk = op(Opcode::Select, t, {is_large, all, product});
    return {chunk, op(Opcode::Sub, t, {all, chunk})};
  }

  /// If a `break` leaves the loop, lets the loop carry whether it did.
  bool flag_breaks(OpId loop) {
    const BlockId body = p_.op(loop).first_block;
    std::vector<OpId> exits;
    bool breaks = false;
    uint32_t depth = 0;  // of loops inside
    walk_blocks(p_, body, [&](Visit what, OpId op, BlockId block) {
      if (what == Visit::Op && depth == 0) {
        const Opcode code = p_.op(op).code;
        const bool ends = code == Opcode::Yield && p_.op(op).parent == body;
        if (ends || code == Opcode::Break || code == Opcode::Continue) exits.push_back(op);
        breaks |= code == Opcode::Break;
      }
      if (what == Visit::Op || block == body) return;
      if (!is_loop(p_.op(op).code)) return;
      if (what == Visit::EnterBlock) ++depth;
      if (what == Visit::LeaveBlock) --depth;
    });
    if (!breaks) return false;
    for (const OpId exit : exits) {
      std::vector<ValueId> values = list(p_.operands(exit));
      b_.next = exit;
      values.push_back(constant(Type::Bool, p_.op(exit).code == Opcode::Break));
      p_.op(exit).operands = p_.add_list(values);
    }
    b_.next = none;
    p_.add_argument(body, Type::Bool);
    return true;
  }

  std::vector<ValueId> add_results(OpId loop, std::span<const ValueId> init) {
    std::vector<Type> types;
    for (const ValueId v : init) types.push_back(p_.type(v));
    return b_.set_results(loop, types);
  }

  /// if flag { break values }
  void break_if(ValueId flag, std::span<const ValueId> values) {
    b_.in(b_.add_if(flag), [&] { b_.exit(Opcode::Break, values); });
  }

  Program& p_;
  IrBuilder b_;
};

}  // namespace

PollWeights find_long_loops(const Program& p) { return weights(p, {}, {}); }

PollWeights divide_long_loops(Program& p, const LongLoopOptions& options) {
  const IdMap<OpId, uint32_t> no_chunks;
  Finder before(p, no_chunks, options.unpolled_trips);
  before.run();
  Divider divider(p);
  for (const Body& body : before.polling)
    if (const uint32_t trips = divider.chunk_of(body, options)) divider.divide(body.loop, trips);
  if (divider.inner.empty()) return weights(p, {}, options);

  // compact() numbers ops in the order of the walk.
  IdMap<OpId, uint32_t> by_op(p.ops.size(), 0), chunks;
  for (const auto& [loop, trips] : divider.inner) by_op[loop] = trips;
  chunks.reserve(p.ops.size());
  walk(p, [&](OpId op) { chunks.push_back(by_op[op]); });
  compact(p);
  return weights(p, chunks, options);
}

}  // namespace vyre
