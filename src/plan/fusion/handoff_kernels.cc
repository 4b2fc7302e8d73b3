#include "plan/fusion/handoff_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace vyre::plan {
namespace {

/// Names have at most 255 bytes, and these are parts of one.
std::string_view short_name(std::string_view name) { return name.substr(0, 100); }

class Joiner {
 public:
  explicit Joiner(HandoffKernels& k) : k_(k), to_(k.to) {}

  void run(const Program& producer, BufferId out, const Program& consumer, BufferId in,
           uint64_t elements) {
    to_.name = fmt::format("{}_{}", short_name(producer.name), short_name(consumer.name));
    to_.op_id = consumer.op_id;
    to_.workgroup = consumer.workgroup;
    to_.subgroup = consumer.subgroup;
    to_.requires_forward_progress =
        producer.requires_forward_progress || consumer.requires_forward_progress;
    to_.add_block(none);
    k_.producer = producer;
    k_.consumer = consumer;
    move_places(k_.producer);
    move_places(k_.consumer);
    to_.loc = k_.consumer.loc;

    // Parameters come first, numbers of launches before all others: formulas may use them.
    const Buffer& buffer = k_.consumer.buffers[in];
    k_.count = add_scalar(Type::U64, fmt::format("{}_count", short_name(buffer.name)),
                          {JoinedParameter::Kind::Count, 0, out.value()});
    k_.groups = add_scalar(Type::U32, fmt::format("{}_groups", short_name(producer.name)),
                           {JoinedParameter::Kind::NumWorkgroups, 0, 0});
    IdMap<BufferId, BufferId> from_producer(producer.buffers.size());
    IdMap<BufferId, BufferId> from_consumer(consumer.buffers.size());
    add_parameters(k_.producer, 0, out, from_producer);
    add_parameters(k_.consumer, 1, in, from_consumer);
    k_.window = to_.buffers.next_id();
    from_producer[out] = from_consumer[in] = k_.window;
    Buffer window = buffer;
    window.role = Role::Shared;
    window.count = to_.formulas.constant(elements);
    to_.buffers.push_back(std::move(window));
    add_arrays(k_.producer, from_producer);
    add_arrays(k_.consumer, from_consumer);
    move_formulas(k_.producer, out, from_producer);
    move_formulas(k_.consumer, in, from_consumer);
    to_.grid = k_.consumer.grid;
    to_.grid_dims = k_.consumer.grid_dims;
    renumber(k_.producer, from_producer);
    renumber(k_.consumer, from_consumer);
  }

 private:
  BufferId add_scalar(Type type, std::string name, JoinedParameter from) {
    Buffer b;
    b.name = unique(std::move(name));
    b.role = Role::Scalar;
    b.element = type;
    to_.buffers.push_back(std::move(b));
    k_.parameters.push_back(from);
    return BufferId(to_.buffers.size() - 1);
  }

  std::string unique(std::string name) {
    std::string tried = name;
    for (int i = 2; !names_.insert(tried).second; ++i)
      tried = fmt::format("{}_{}", short_name(name), i);
    return tried;
  }

  void add(const Program& from, BufferId i, IdMap<BufferId, BufferId>& number) {
    number[i] = to_.buffers.next_id();
    to_.buffers.push_back(from.buffers[i]);
    Buffer& b = to_.buffers.back();
    if (is_parameter(b.role)) b.name = unique(b.name);
    if (b.role != Role::Table) return;
    uint64_t count = 0;
    from.formulas.is_constant(b.count, &count);
    const auto begin = from.table_bytes.begin() + std::ptrdiff_t(b.table_offset);
    b.table_offset = to_.table_bytes.size();
    to_.table_bytes.insert(to_.table_bytes.end(), begin,
                           begin + std::ptrdiff_t(count * size_of(b.element)));
  }

  void add_parameters(const Program& from, uint32_t kernel, BufferId without,
                      IdMap<BufferId, BufferId>& number) {
    for (const BufferId i : from.buffers.ids()) {
      const Role role = from.buffers[i].role;
      if (i == without || !is_parameter(role)) continue;
      add(from, i, number);
      if (role != Role::Scratch)
        k_.parameters.push_back({JoinedParameter::Kind::Buffer, kernel, i.value()});
    }
  }

  void add_arrays(const Program& from, IdMap<BufferId, BufferId>& number) {
    for (const BufferId i : from.buffers.ids())
      if (!is_parameter(from.buffers[i].role)) add(from, i, number);
  }

  /// Formulas of a kernel, with the buffer's length being the scalar.
  void move_formulas(Program& from, BufferId buffer, const IdMap<BufferId, BufferId>& number) {
    std::vector<FormulaId> moved;
    for (const FormulaNode& n : from.formulas.nodes) {
      switch (n.op) {
        case FormulaOp::Const: moved.push_back(to_.formulas.constant(n.value, n.negative)); break;
        case FormulaOp::Len:
          moved.push_back(BufferId(n.a) == buffer
                              ? to_.formulas.scalar(k_.count.value())
                              : to_.formulas.len(number[BufferId(n.a)].value()));
          break;
        case FormulaOp::Scalar:
          moved.push_back(to_.formulas.scalar(number[BufferId(n.a)].value()));
          break;
        default: moved.push_back(to_.formulas.binary(n.op, moved[n.a], moved[n.b]));
      }
    }
    for (const BufferId i : from.buffers.ids()) {
      if (number[i] == k_.window || from.buffers[i].count == no_formula) continue;
      to_.buffers[number[i]].count = moved[from.buffers[i].count];
    }
    for (FormulaId& g : from.grid)
      if (g != no_formula) g = moved[g];
  }

  /// Locations and names of regions are added to the joined program's lists.
  void move_places(Program& from) {
    const auto string = [&](StringId s) {
      return s == none ? none : to_.add_string(from.string(s));
    };
    std::vector<LocId> moved;
    for (Location l : from.locations) {
      l.file = string(l.file);
      if (l.inlined_at != none)
        l.inlined_at = l.inlined_at < moved.size() ? moved[l.inlined_at] : none;
      moved.push_back(to_.add_location(l));
    }
    const auto move = [&](LocId& loc) { loc = loc == none ? none : moved[loc]; };
    move(from.loc);
    for (Buffer& b : from.buffers) move(b.loc);
    for (Op& o : from.ops) {
      move(o.loc);
      if (info(o.code).attribute == AttrKind::Name) o.attr = string(StringId(o.attr));
    }
  }

  static void renumber(Program& from, const IdMap<BufferId, BufferId>& number) {
    for (Op& o : from.ops) {
      const AttrKind kind = info(o.code).attribute;
      if (kind != AttrKind::Memory && kind != AttrKind::Buffer) continue;
      if (kind == AttrKind::Buffer) {
        o.set_buffer(number[o.buffer()]);
        continue;
      }
      MemoryRef m = MemoryRef::unpack(o.attr);
      m.buffer = number[m.buffer];
      m.in_bounds = false;  // proofs about a separate kernel do not hold for this one
      m.read_only = false;
      m.align_log2 = 0;
      o.attr = m.pack();
    }
  }

  HandoffKernels& k_;
  Program& to_;
  std::unordered_set<std::string> names_;
};

}  // namespace

HandoffKernels join_kernels(const Program& producer, BufferId producer_buffer,
                            const Program& consumer, BufferId consumer_buffer, uint64_t elements) {
  HandoffKernels k;
  Joiner(k).run(producer, producer_buffer, consumer, consumer_buffer, elements);
  return k;
}

}  // namespace vyre::plan
