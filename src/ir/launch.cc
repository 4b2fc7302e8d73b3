#include "ir/launch.h"

#include <fmt/format.h>

#include <algorithm>

namespace vyre {
namespace {

std::string elements(uint64_t n) { return fmt::format("{} element{}", n, n == 1 ? "" : "s"); }

constexpr uint64_t max_uniform_bytes = 64 * 1024;
constexpr uint64_t max_invocations = 0xffffffffu;  // in a dimension: ids are u32

template <class T>
const std::optional<T>& entry(std::span<const std::optional<T>> list, BufferId i) {
  static const std::optional<T> nothing;
  return i.value() < list.size() ? list[i.value()] : nothing;
}

std::string dimension(int d) { return std::string(1, "xyz"[d]); }

/// The number that a scalar's bits represent.
__int128 scalar_number(Type t, uint64_t bits) {
  if (!is_signed(t)) return bits;
  const uint32_t unused = 64 - width_of(t);
  return static_cast<int64_t>(bits << unused) >> unused;
}

class Resolver {
 public:
  Resolver(const Program& program, std::span<const std::optional<uint64_t>> counts,
           std::span<const std::optional<uint64_t>> scalars, Diagnostics& errors)
      : p_(program), counts_(counts), scalars_(scalars), errors_(errors) {
    shape_.counts.assign(p_.buffers.size(), 0);
    known_.assign(p_.buffers.size(), false);
    env_.len = [this](uint32_t i) { return static_cast<__int128>(shape_.counts[i]); };
    env_.scalar = [this](uint32_t i) {
      return scalar_number(p_.buffers[i].element, *entry(scalars_, BufferId(i)));
    };
    env_.name = [this](uint32_t i) { return p_.buffers[i].name; };
  }

  LaunchShape run(const std::optional<std::array<uint64_t, 3>>& grid) {
    for (const BufferId i : p_.buffers.ids()) resolve_count(i);
    check_sizes();
    resolve_grid(grid);
    return std::move(shape_);
  }

 private:
  Diagnostic& error(Code code, LocId loc, std::string message) {
    errors_.push_back(diagnose(code, loc == none ? Place{} : p_.place(loc), std::move(message)));
    return errors_.back();
  }

  /// Returns whether a length or scalar is known; nothing if the node is neither, nor a number.
  std::optional<bool> leaf_known(const FormulaNode& n) const {
    switch (n.op) {
      case FormulaOp::Const: return true;
      case FormulaOp::Len: return known_[BufferId(n.a)];
      case FormulaOp::Scalar: return entry(scalars_, BufferId(n.a)).has_value();
      default: return std::nullopt;
    }
  }

  /// Returns whether all lengths and scalars that the formula uses are known. Unknown ones have
  /// been reported already. Operands have smaller ids, so one downward sweep visits every node
  /// once.
  bool resolvable(FormulaId id) const {
    if (const auto known = leaf_known(p_.formulas[id])) return *known;
    std::vector<bool> used(id + 1, false);
    used[id] = true;
    for (FormulaId i = id + 1; i-- > 0;) {
      if (!used[i]) continue;
      const FormulaNode& n = p_.formulas[i];
      const std::optional<bool> known = leaf_known(n);
      if (!known)
        used[n.a] = used[n.b] = true;
      else if (!*known)
        return false;
    }
    return true;
  }

  /// `what` returns the name of the subject; called only for errors, because every launch calls
  /// this.
  template <class What>
  std::optional<uint64_t> evaluate_formula(FormulaId id, const What& what, LocId loc) {
    if (!resolvable(id)) return std::nullopt;
    Result<uint64_t> value = evaluate(p_.formulas, id, env_, "");
    if (value) return *value;
    value = evaluate(p_.formulas, id, env_, what());
    for (Diagnostic& d : value.errors()) {
      if (d.place.line == 0 && loc != none) d.place = p_.place(loc);
      errors_.push_back(std::move(d));
    }
    return std::nullopt;
  }

  void resolve_count(BufferId i) {
    const Buffer& b = p_.buffers[i];
    if (b.role == Role::Scalar) {
      shape_.counts[i] = 1;
      known_[i] = true;
      return;
    }
    std::optional<uint64_t> given = entry(counts_, i);
    if (b.count != no_formula) {
      const auto wanted =
          evaluate_formula(b.count, [&] { return fmt::format("length of `{}`", b.name); }, b.loc);
      if (!wanted) return;
      if (given && *given != *wanted) {
        error(Code::LengthDiffers, b.loc,
              fmt::format("`{}` has {}, but its length is `{}` = {}", b.name, elements(*given),
                          print(p_.formulas, b.count, env_.name), *wanted))
            .with_fix(
                fmt::format("give {}, or declare it `{}[]`", elements(*wanted), name(b.element)));
        return;
      }
      given = wanted;
    }
    if (!given) {
      if (b.role == Role::Out || b.role == Role::Scratch)
        error(Code::MissingLength, b.loc, fmt::format("the length of `{}` is not known", b.name))
            .with_fix(fmt::format(
                "give it with the launch: `--len {}=N`, or write a formula in its type", b.name));
      return;  // others: the code that has the bytes reports the missing input
    }
    shape_.counts[i] = *given;
    known_[i] = true;
  }

  void check_sizes() {
    unsigned __int128 total = 0;
    bool each_fits = true;
    bool some_long = false;
    for (const BufferId i : p_.buffers.ids()) {
      if (!known_[i]) continue;
      const Buffer& b = p_.buffers[i];
      const unsigned __int128 bytes =
          static_cast<unsigned __int128>(shape_.counts[i]) * size_of(b.element);
      total += bytes;
      some_long |= shape_.counts[i] > 0xffffffffu;
      if (bytes > max_buffer_bytes) {
        each_fits = false;
        Diagnostic& d =
            error(Code::BufferTooLarge, b.loc,
                  fmt::format("`{}` would have {} elements of {} bytes, more than 2^48 bytes",
                              b.name, shape_.counts[i], size_of(b.element)));
        if (b.count != no_formula)
          d.note(fmt::format("its length is `{}`", print(p_.formulas, b.count, env_.name)));
        d.with_fix("give smaller lengths or scalars");
      } else if (b.role == Role::Uniform && bytes > max_uniform_bytes) {
        error(Code::UniformTooLarge, b.loc,
              fmt::format("uniform `{}` has {} bytes; at most {} are allowed", b.name,
                          static_cast<uint64_t>(bytes), max_uniform_bytes))
            .with_fix(fmt::format("declare it `in {}[]`", name(b.element)));
      }
    }
    if (each_fits && total > max_buffer_bytes)
      error(Code::BufferTooLarge, p_.loc,
            fmt::format("the buffers of `{}` need {} bytes together, more than 2^48", p_.name,
                        static_cast<uint64_t>(total)))
          .with_fix("give smaller lengths or scalars");
    if (some_long) check_len_uses();
  }

  void check_len_uses() {
    IdMap<BufferId, LocId> used_at(p_.buffers.size(), none);
    IdMap<BufferId, bool> used(p_.buffers.size(), false);
    walk(p_, [&](OpId op) {
      if (p_.op(op).code != Opcode::Len) return;
      const BufferId buffer = p_.op(op).buffer();
      if (!used[buffer]) used_at[buffer] = p_.op(op).loc;
      used[buffer] = true;
    });
    for (const BufferId i : p_.buffers.ids()) {
      if (!known_[i] || !used[i] || shape_.counts[i] <= 0xffffffffu) continue;
      const Buffer& b = p_.buffers[i];
      error(Code::LengthExceedsLen, used_at[i],
            fmt::format("`{}` has {} elements, but the kernel uses `len({})`, which is a u32",
                        b.name, shape_.counts[i], b.name))
          .with_fix(fmt::format("use `len64({})`, or give fewer than 4294967296 elements", b.name));
    }
  }

  void resolve_grid(const std::optional<std::array<uint64_t, 3>>& given) {
    std::array<uint64_t, 3> wanted = {1, 1, 1};
    if (given) {
      wanted = *given;
    } else if (p_.grid_dims == 0) {
      error(Code::MissingGrid, p_.loc,
            fmt::format("kernel `{}` has no grid and none was given", p_.name))
          .with_fix("write `grid(n)` after its workgroup size, or give `--grid N`");
      return;
    } else {
      bool complete = true;
      for (uint32_t d = 0; d < p_.grid_dims && d < 3; ++d) {
        const auto n = evaluate_formula(
            p_.grid[d],
            [&] { return fmt::format("grid of `{}` in {}", p_.name, dimension(int(d))); }, p_.loc);
        if (n) wanted[d] = *n;
        complete &= n.has_value();
      }
      if (!complete) return;
    }
    shape_.invocations_wanted = wanted;
    for (int d = 0; d < 3; ++d) {
      const uint64_t size = std::max(1u, p_.workgroup[d]);
      const uint64_t groups = wanted[d] / size + (wanted[d] % size != 0);
      if (groups > max_invocations / size) {
        error(Code::TooManyInvocations, p_.loc,
              fmt::format("the grid of `{}` has {} invocations in {}; with workgroups of {} at "
                          "most {} fit into u32 ids",
                          p_.name, wanted[d], dimension(d), size, max_invocations / size * size))
            .with_fix("let each invocation do several elements, or use another dimension");
        continue;
      }
      shape_.num_workgroups[d] = groups;
    }
  }

  const Program& p_;
  std::span<const std::optional<uint64_t>> counts_;
  std::span<const std::optional<uint64_t>> scalars_;
  Diagnostics& errors_;
  FormulaEnv env_;
  LaunchShape shape_;
  IdMap<BufferId, uint8_t> known_;  // every launch makes one, and bits take longer
};

Place place_of(const Program& p, const Buffer& b) {
  return b.loc == none ? Place{} : p.place(b.loc);
}

/// Counts and scalars from the host's inputs, with the errors that concern bytes.
void read_inputs(const Program& p, std::span<const std::optional<std::vector<std::byte>>> bytes,
                 std::span<const std::optional<uint64_t>> lengths,
                 IdMap<BufferId, std::optional<uint64_t>>& counts,
                 IdMap<BufferId, std::optional<uint64_t>>& scalars, Diagnostics& errors) {
  for (const BufferId i : p.buffers.ids()) {
    const Buffer& b = p.buffers[i];
    const auto& data = entry<std::vector<std::byte>>(bytes, i);
    const auto& length = entry<uint64_t>(lengths, i);
    const uint64_t size = size_of(b.element);

    if (!is_host_input(b.role)) {
      if (data)
        errors.push_back(diagnose(Code::UnwantedInput, place_of(p, b),
                                  fmt::format("`{}` is `{}` and takes no bytes, but {} were given",
                                              b.name, name(b.role), data->size()))
                             .with_fix(is_parameter(b.role) ? "declare it `inout`, or give nothing"
                                                            : "give nothing"));
      if (length && !is_parameter(b.role))
        errors.push_back(
            diagnose(
                Code::LengthOfNothing, place_of(p, b),
                fmt::format("`{}` is {} and has its length in the program", b.name,
                            b.role == Role::Table ? "a constant table" : "an array of the kernel"))
                .with_fix("give no length"));
      else
        counts[i] = length;
      continue;
    }
    if (b.role == Role::Scalar && length) {
      errors.push_back(diagnose(Code::LengthOfNothing, place_of(p, b),
                                fmt::format("`{}` is a scalar and has no length", b.name))
                           .with_fix(fmt::format("give its value: `--set {}=V`", b.name)));
    }
    if (!data) {
      errors.push_back(
          diagnose(Code::MissingInput, place_of(p, b),
                   b.role == Role::Scalar ? fmt::format("no value for `{}`", b.name)
                                          : fmt::format("no bytes for `{}`", b.name))
              .with_fix(b.role == Role::Scalar
                            ? fmt::format("give it: `--set {}=V`", b.name)
                            : fmt::format("give them: `--in {}=@file` or `--in {}=v,v,…`", b.name,
                                          b.name)));
      continue;
    }
    if (b.role == Role::Scalar) {
      if (data->size() != size) {
        errors.push_back(diagnose(Code::ScalarSize, place_of(p, b),
                                  fmt::format("`{}` is one {} of {} bytes, but {} bytes were given",
                                              b.name, name(b.element), size, data->size()))
                             .with_fix("give exactly one value"));
        continue;
      }
      uint64_t bits = 0;
      for (size_t k = 0; k < data->size(); ++k)
        bits |= static_cast<uint64_t>((*data)[k]) << (8 * k);
      scalars[i] = bits;
      continue;
    }
    if (data->size() % size != 0) {
      errors.push_back(
          diagnose(Code::NotWholeElements, place_of(p, b),
                   fmt::format(
                       "`{}` has {} bytes, which is no multiple of {}, the size of its {} elements",
                       b.name, data->size(), size, name(b.element)))
              .with_fix(fmt::format("give {} or {} bytes", data->size() / size * size,
                                    (data->size() / size + 1) * size)));
      continue;
    }
    counts[i] = data->size() / size;
    if (length && *length != *counts[i])
      errors.push_back(diagnose(Code::LengthDiffers, place_of(p, b),
                                fmt::format("`{}` has {}, but its length was given as {}", b.name,
                                            elements(*counts[i]), *length))
                           .with_fix("drop the length: it follows from the bytes"));
  }
}

}  // namespace

Result<LaunchShape> resolve_launch(const Program& program, const LaunchInputs& inputs) {
  return resolve_launch(program, inputs.data, inputs.lengths, inputs.grid);
}

Result<LaunchShape> resolve_launch(const Program& program,
                                   std::span<const std::optional<std::vector<std::byte>>> data,
                                   std::span<const std::optional<uint64_t>> lengths,
                                   const std::optional<std::array<uint64_t, 3>>& grid) {
  Diagnostics errors;
  IdMap<BufferId, std::optional<uint64_t>> counts(program.buffers.size()),
      scalars(program.buffers.size());
  read_inputs(program, data, lengths, counts, scalars, errors);
  LaunchShape shape = Resolver(program, counts, scalars, errors).run(grid);
  if (!errors.empty()) return errors;
  return shape;
}

Result<LaunchShape> resolve_launch(const Program& program,
                                   std::span<const std::optional<uint64_t>> counts,
                                   std::span<const std::optional<uint64_t>> scalar_bits,
                                   const std::optional<std::array<uint64_t, 3>>& grid) {
  Diagnostics errors;
  for (const BufferId i : program.buffers.ids()) {
    const Buffer& b = program.buffers[i];
    const bool scalar = b.role == Role::Scalar;
    if (is_host_input(b.role) && !entry(scalar ? scalar_bits : counts, i))
      errors.push_back(diagnose(Code::MissingInput, place_of(program, b),
                                fmt::format("nothing is bound to `{}`", b.name))
                           .with_fix("bind a buffer or a value to it"));
  }
  LaunchShape shape = Resolver(program, counts, scalar_bits, errors).run(grid);
  if (!errors.empty()) return errors;
  return shape;
}

}  // namespace vyre
