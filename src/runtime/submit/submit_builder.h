#pragma once

// Translates the caller's commands into commands that are recorded for the backend, and finds their
// errors. Internal to src/runtime.

#include "runtime/graph_state.h"

namespace vyre::driver {

/// Reserves space for one more element, so that the next push_back allocates nothing.
template <class T>
void make_room_for_one(std::vector<T>& list) {
  if (list.size() == list.capacity()) list.reserve(2 * list.size() + 1);
}

/// A parameter of a kernel or graph, for messages: "`a` of graph `g`".
struct ParameterInfo {
  std::string_view name;
  Role role;
  Type element;
  std::string_view kind;  // "", or "graph "
  std::string_view owner;
};
/// Returns why the argument does not fit the parameter, or nothing: then `bits` is set for a
/// scalar.
std::optional<Diagnostic> misfit(const Argument& argument, const ParameterInfo& parameter,
                                 uint64_t& bits);

/// Returns the entry of Launch::lengths for a `scratch` parameter.
std::optional<uint64_t> scratch_length(const Launch& launch, std::string_view parameter);

/// Builds one submission. Used with the device's mutex held; reports every problem it finds. Its
/// destructor releases temporaries, unless keep() was called.
class SubmissionBuilder {
 public:
  SubmissionBuilder(DeviceState& device, TicketState& ticket, size_t commands);
  ~SubmissionBuilder();

  void add(std::span<const Command> commands);  // submit_sequence.cc
  void keep() { kept_ = true; }

  Diagnostics errors;
  uint64_t output_bytes = 0;
  /// Buffers that are fully overwritten before they are read: defined by this submission.
  std::vector<uint32_t> redefined;

 private:
  void report(Diagnostic d);
  void report(Diagnostics list);
  bool usable(const Buffer& b, bool must_be_defined);
  bool inside(const Buffer& b, uint64_t offset, uint64_t bytes, std::string_view what);
  void reads(const Buffer& b) { t_.reads.push_back(b.slot); }
  void writes(const Buffer& b, bool whole);
  bool is_redefined(const Buffer& b) const;
  void fill(MemoryHandle memory, uint64_t offset, uint64_t bytes, uint8_t value);
  bool may_upload(const Buffer& to, uint64_t offset, uint64_t bytes);
  void upload(const Buffer& to, uint64_t offset, std::shared_ptr<std::vector<std::byte>> bytes);
  void read_back(const Buffer& from, uint64_t offset, uint64_t bytes, TicketState::Out out);

  /// Adds repeated runs of launches (submit_sequence.cc).
  void add_each(std::span<const Command> commands, uint32_t first);
  void add_run(std::span<const Command> launches, uint32_t first);
  std::shared_ptr<const Sequence> keep_run(std::span<const Command> launches, uint32_t first,
                                           size_t from);
  bool replay(const std::shared_ptr<const Sequence>& sequence, uint32_t first);
  void add_sequence(const std::shared_ptr<const Sequence>& sequence, uint32_t first);
  void add_replay(CommandBody body, bool timed, CommandNote note);

  void one(const Upload& u);
  void one(const UploadAll& u);
  void one(const Readback& r);
  void one(const ReadbackAll& r);
  void one(const Copy& k);
  void one(const Fill& f);
  void one(const Launch& l);
  void one(const LaunchGraph& l);  // submit_graph.cc

  /// By buffer index of a program.
  struct Binding {
    IdMap<BufferId, MemoryHandle> memory;
    IdMap<BufferId, uint64_t> bits;
    IdMap<BufferId, std::optional<uint64_t>> counts, scalars;
    std::vector<std::pair<uint32_t, BufferId>> bound;  // slot, parameter
  };
  bool bind(const Launch& l, const Program& p, Binding& out);
  bool has_scratch_parameters(const Launch& l);
  bool bind_one(const Launch& l, const Program& p, BufferId index, const Argument& a, Binding& out);
  Result<LaunchShape> shape_of(const Program& p,
                               const std::optional<std::array<uint64_t, 3>>& grid);
  void prepare(const Launch& l, const Program& p, const DeviceLaunch& c);
  bool take_temporaries(const ExecutableState& e, DeviceLaunch& c);
  bool leaves_room(uint64_t working, const std::string& whose);
  bool leaves_room(const ExecutableState& e, DeviceLaunch& c);
  std::optional<MemoryHandle> temporary(uint64_t bytes, const std::string& what);
  /// Binds the arguments of a graph: counts and scalars by its buffers, memory by those of the
  /// planned graph.
  bool bind_graph(const LaunchGraph& l, const GraphState& s,
                  IdMap<GraphBufferId, MemoryRange>& places, GraphShape& shape);
  bool same_sizes(const GraphState& s, const GraphShape& shape);
  bool replay(const GraphState& s, const IdMap<GraphBufferId, MemoryRange>& places,
              const GraphShape& shape);

  DeviceState& d_;
  TicketState& t_;
  uint32_t number_ = 0;
  bool kept_ = false;
  struct Temporary {
    uint64_t bytes = 0;
    uint32_t command = 0;  // the last that used it
  };
  std::vector<Temporary> temporaries_;  // the same as the ticket's
  Binding binding_;                     // of the current launch: its memory is reused
  /// The last launch's shape, and the inputs that it was computed from.
  struct Shaped {
    const Program* program = nullptr;
    bool by_scalars = false;  // formulas use scalars
    std::vector<std::optional<uint64_t>> counts, scalars;
    std::optional<std::array<uint64_t, 3>> grid;
    LaunchShape shape;
  };
  Shaped last_;
};

}  // namespace vyre::driver
