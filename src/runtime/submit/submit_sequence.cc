#include "runtime/submit/submit_sequence.h"

#include <algorithm>

#include "runtime/submit/submit_builder.h"

namespace vyre::driver {
namespace {

/// Adds everything that a launch's commands depend on, as words that no other launch has. For
/// Launch::lengths the number suffices: launches with scratch buffers are never kept. The
/// executable of a run that is not kept may be destroyed, and another one have its address: such a
/// run is taken for a repeated one, which is harmless.
void add_key(const Launch& l, std::vector<uint64_t>& key) {
  const auto add = [&key](auto... words) { (key.push_back(words), ...); };
  add(reinterpret_cast<uintptr_t>(l.executable.state()), l.arguments.size(), l.lengths.size(),
      uint64_t{l.clear_outputs} * 2 + l.grid.has_value());
  if (l.grid) add((*l.grid)[0], (*l.grid)[1], (*l.grid)[2]);
  for (const Argument& a : l.arguments) {
    if (const Buffer* b = std::get_if<Buffer>(&a))
      add(uint64_t(b->element) << 1, uint64_t{b->device} << 32 | b->slot, b->generation, b->bytes);
    else
      add(uint64_t(std::get<Scalar>(a).type) << 1 | 1, std::get<Scalar>(a).bits);
  }
}

void add_use(std::vector<Sequence::Use>& uses, const Buffer& buffer, uint32_t launch, Role role,
             bool is_cleared) {
  auto it = std::find_if(uses.begin(), uses.end(),
                         [&](const Sequence::Use& u) { return u.buffer.slot == buffer.slot; });
  if (it == uses.end()) it = uses.insert(it, {buffer, launch, !is_cleared});
  (is_writable(role) ? it->is_written : it->is_read) = true;
  it->is_redefined |= is_cleared;
}

/// Adds the uses of a launch without errors. Returns false if its commands cannot be used in
/// another submission.
bool add_uses(const Launch& l, uint32_t launch, std::vector<Sequence::Use>& uses) {
  const ExecutableState& e = *l.executable.state();
  if (e.mode == ExecutionMode::Cooperative) return false;
  size_t next = 0;
  for (const auto& b : e.program->buffers) {
    if (b.role == Role::Scratch) return false;  // belongs to this submission alone
    if (!is_parameter(b.role)) continue;
    if (const Buffer* buffer = std::get_if<Buffer>(&l.arguments[next++]))
      add_use(uses, *buffer, launch, b.role, b.role == Role::Out && l.clear_outputs);
  }
  return true;
}

}  // namespace

Sequences::Entry& Sequences::find(std::span<const Command> launches) {
  key_.clear();
  for (const Command& c : launches) add_key(std::get<Launch>(c), key_);
  const auto it =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key_; });
  if (it == entries_.end()) {
    if (entries_.size() == most) entries_.pop_back();
    return entries_.emplace_front(Entry{key_, false, nullptr});
  }
  std::rotate(entries_.begin(), it, it + 1);
  entries_.front().came_before = true;
  return entries_.front();
}

void SubmissionBuilder::add(std::span<const Command> commands) {
  const bool keeps = !t_.call_times && d_.backend->info().limits.loops;
  for (size_t i = 0; i < commands.size();) {
    const auto rest = commands.subspan(i);
    const auto end = std::find_if(rest.begin(), rest.end(), [](const Command& c) {
      return !std::holds_alternative<Launch>(c);
    });
    const auto run = rest.first(std::max<size_t>(1, size_t(end - rest.begin())));
    if (keeps && run.size() >= Sequences::fewest && run.size() <= Sequences::longest)
      add_run(run, uint32_t(i));
    else
      add_each(run, uint32_t(i));
    i += run.size();
  }
}

void SubmissionBuilder::add_each(std::span<const Command> commands, uint32_t first) {
  for (size_t i = 0; i < commands.size(); ++i) {
    number_ = uint32_t(first + i);
    std::visit([&](const auto& c) { one(c); }, commands[i]);
  }
}

/// Adds a run of launches. A run is kept when it is submitted for the second time.
void SubmissionBuilder::add_run(std::span<const Command> launches, uint32_t first) {
  Sequences::Entry& known = d_.sequences.find(launches);
  if (known.sequence && replay(known.sequence, first)) return;
  const size_t from = t_.recorder.size();
  add_each(launches, first);
  if (known.came_before && !known.sequence && errors.empty() && t_.recorder.is_plain())
    known.sequence = keep_run(launches, first, from);
}

/// Keeps the commands that were recorded from `from` on.
std::shared_ptr<const Sequence> SubmissionBuilder::keep_run(std::span<const Command> launches,
                                                            uint32_t first, size_t from) {
  if (t_.recorder.size() == from) return nullptr;
  auto s = std::make_shared<Sequence>();
  s->executables.reserve(launches.size());
  for (const Command& c : launches) {
    const auto& l = std::get<Launch>(c);
    if (!add_uses(l, uint32_t(s->executables.size()), s->uses)) return nullptr;
    s->executables.push_back(l.executable);
  }
  Part part = t_.recorder.cut(from);
  s->body = std::move(part.commands);
  s->notes = std::move(part.notes);
  for (CommandNote& n : s->notes) n.executable = s->executables[n.command - first].state();
  add_sequence(s, first);
  return s;
}

/// Returns false if there is an error; add_each() then reports it per launch.
bool SubmissionBuilder::replay(const std::shared_ptr<const Sequence>& s, uint32_t first) {
  for (const Sequence::Use& u : s->uses)
    if (d_.problem(u.buffer, u.must_be_defined && !is_redefined(u.buffer))) return false;
  for (const Sequence::Use& u : s->uses) {
    number_ = first + u.launch;
    usable(u.buffer, u.must_be_defined);
    if (u.is_read) reads(u.buffer);
    if (u.is_written) writes(u.buffer, u.is_redefined);
  }
  t_.executables[first] = s->executables[0];
  add_sequence(s, first);
  return true;
}

void SubmissionBuilder::add_sequence(const std::shared_ptr<const Sequence>& s, uint32_t first) {
  number_ = first;
  CommandNote note;
  note.body = {s, &s->notes};
  add_replay({s, &s->body}, false, std::move(note));  // untimed, like its launches
}

void SubmissionBuilder::add_replay(CommandBody body, bool timed, CommandNote note) {
  note.kind = DeviceCommand::Kind::Replay;
  note.command = number_;
  t_.recorder.add({DeviceReplay{std::move(body)}, timed}, std::move(note));
}

}  // namespace vyre::driver
