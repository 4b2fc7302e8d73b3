#include "generate/chain_writer.h"

#include <fmt/format.h>

#include "generate/interesting.h"
#include "text/parse.h"

namespace vyre::lab {

uint32_t ChainWriter::input() { return uint32_t(r_.below(slots_.size())); }

/// A new buffer, or an existing one: as `out` it is cleared, in place it is not.
uint32_t ChainWriter::output(uint32_t other, bool& in_place) {
  in_place = false;
  if (r_.chance(35))
    for (int tries = 0; tries < 6; ++tries) {
      const auto i = uint32_t(r_.below(slots_.size()));
      if (i == other || !is_writable(slots_[i].role)) continue;
      in_place = r_.chance(50);
      return i;
    }
  constexpr Type types[] = {Type::U32, Type::U8,   Type::I32, Type::F32,
                            Type::F16, Type::Bool, Type::U64};
  const bool own = r_.chance(65);
  slots_.push_back({fmt::format("{}{}", own ? "t" : "y", slots_.size()), types[r_.below(7)],
                    own ? Role::Scratch : Role::Out});
  return uint32_t(slots_.size() - 1);
}

std::string ChainWriter::number_of(const Slot& s, const std::string& load) {
  if (s.element == Type::U32) return load;
  if (s.element == Type::Bool) return fmt::format("select({}, 9, 4)", load);
  return fmt::format("u32({})", load);
}

std::string ChainWriter::element_of(Type element, const std::string& number) {
  switch (element) {
    case Type::U32: return number;
    case Type::Bool: return fmt::format("({}) % 3 == 1", number);
    case Type::F32:
    case Type::F16: return fmt::format("f32(({}) & 4095) * 0.3", number);
    default: return fmt::format("{}({})", name(element), number);
  }
}

std::string ChainWriter::guarded(const std::string& store, const std::string& number) {
  switch (r_.below(6)) {
    case 0: return fmt::format("  if i < len(o) {{ {} }}\n", store);
    case 1: return fmt::format("  if i >= len(o) {{ return }}\n  {}\n", store);
    case 2: return fmt::format("  if {} % 5 == 2 {{ return }}\n  {}\n", number, store);
    case 3: return fmt::format("  if i < len(a) && {} % 2 == 1 {{ {} }}\n", number, store);
    default: return fmt::format("  {}\n", store);
  }
}

std::string ChainWriter::body(const Slot& a, const Slot& b, const Slot& out) {
  const auto constant = [&] { return r_.between(1, 30); };
  std::string text = r_.chance(25)
                         ? fmt::format("  let i = workgroup_id.x * {} + local_id.x\n", width_)
                         : std::string("  let i = global_id.x\n");
  const std::string x = number_of(a, "a[i]"), y = number_of(b, "b[i]");
  const auto store = [&](const std::string& number) {
    return fmt::format("o[i] = {}", element_of(out.element, number));
  };
  // Named in order: the evaluation order of arguments is unspecified.
  const uint64_t plus = constant(), by = constant();
  const std::string plain = fmt::format("({} * {} + {} + {})", x, by, y, plus);
  switch (r_.below(16)) {
    case 0:  // neighbours
      return text + guarded(store(fmt::format("({} ^ {})", number_of(a, "a[i - 1]"),
                                              number_of(a, "a[i + 1]"))),
                            "i");
    case 1:  // a gather
      return text + guarded(store(number_of(
                                a, fmt::format("a[(i * 7 + {}) % max(len(a), 1)]", constant()))),
                            "i");
    case 2:  // a scatter with distinct targets
      return text + fmt::format("  if i < len(o) {{ o[len(o) - 1 - i] = {} }}\n",
                                element_of(out.element, plain));
    case 3:  // through shared memory
      return text + fmt::format(
                        "  shared s: u32[{0}]\n  s[local_id.x] = {1}\n  barrier workgroup\n  {2}\n",
                        width_, plain, store(fmt::format("s[{} - 1 - local_id.x]", width_)));
    case 4: {
      if (!options_.traps || !r_.chance(40)) break;
      const uint64_t code = constant(), failing = r_.below(61);
      return text +
             fmt::format("  assert({} % 61 != {}, {})\n  {}\n", x, failing, code, store(plain));
    }
    case 5:  // several elements per invocation, disjoint from those of others
      return text +
             fmt::format("  for k in 0..{} {{ if i * 3 + k < len(o) {{ o[i * 3 + k] = {} }} }}\n",
                         r_.between(1, 3), element_of(out.element, "(i + k)"));
    case 6:
      return text + fmt::format("  var v: u32 = {}\n  while v % 4 != 3 {{ v += 1 }}\n  {}\n", x,
                                store("v"));
    case 7:  // the same element twice
      return text + fmt::format("  {}\n  if {} > 9 {{ {} }}\n", store(plain), y, store("i"));
    case 8:  // a private array
      return text +
             fmt::format("  var w: u32[3]\n  w[{} % 4] = 7\n  {}\n", x, store("w[1] + w[2]"));
    case 9:  // one element, by the first invocation
      return text + fmt::format("  if i == 0 {{ o[0] = {} }}\n", element_of(out.element, plain));
    case 10:  // one element, read by all
      return text + guarded(store(number_of(a, "a[0]")), "i");
    default: break;
  }
  return text + guarded(store(plain), x);
}

void ChainWriter::call() {
  uint32_t a = input(), b = input();
  bool in_place = false;
  const uint32_t o = output(none, in_place);
  if (a == o) a = 0;
  if (b == o) b = 0;
  const Slot &sa = slots_[a], &sb = slots_[b], &so = slots_[o];
  const std::string length = in_place || r_.chance(30) ? "" : "len(a)";
  const std::string statements = body(sa, sb, so);
  const std::string grid = r_.chance(85) ? "len(a)" : "ceil_div(len(a), 2)";
  kernels_ += fmt::format(
      "kernel k{}(a: in {}[], b: in {}[], o: {} {}[{}]) workgroup({}) grid({}) {{\n{}}}\n",
      n_kernels_, name(sa.element), name(sb.element), in_place ? "inout" : "out", name(so.element),
      length, width_, grid, statements);
  calls_ += fmt::format("  call k{}({}, {}, {})\n", n_kernels_, sa.name, sb.name, so.name);
  ++n_kernels_;
}

Generated ChainWriter::write() {
  width_ = r_.pick({uint64_t{1}, uint64_t{8}, uint64_t{32}, uint64_t{64}});
  const uint64_t n = r_.chance(5) ? 0
                                  : r_.pick({uint64_t{1}, uint64_t{7}, uint64_t{63}, uint64_t{64},
                                             uint64_t{65}, uint64_t{200}, uint64_t{257}});
  slots_ = {{"x0", Type::U32, Role::In},
            {"x1", r_.pick({Type::F32, Type::U8}), Role::In},
            {"z", Type::U32, Role::InOut}};
  const uint64_t calls = r_.between(2, 7);
  bool open = false;
  for (uint64_t i = 0; i < calls; ++i) {
    if (!open && r_.chance(15)) {
      if (r_.chance(60)) {
        calls_ += fmt::format("  repeat {} {{\n", r_.below(4));
      } else {
        const uint64_t end = r_.below(3), at = r_.below(3);
        calls_ += fmt::format("  while z[{}] != {} limit 2 {{\n", at, end);
      }
      open = true;
    }
    call();
    if (open && r_.chance(35)) {
      calls_ += "  }\n";
      open = false;
    }
  }
  if (open) calls_ += "  }\n";
  slots_.push_back({"last", Type::U32, Role::Out});
  kernels_ += fmt::format(
      "kernel k{}(a: in {}[], o: out u32[len(a)]) workgroup({}) grid(len(a)) {{\n  o[global_id.x] "
      "= {}\n}}\n",
      n_kernels_, name(slots_[slots_.size() - 2].element), width_,
      number_of(slots_[slots_.size() - 2], "a[global_id.x]"));
  calls_ += fmt::format("  call k{}({}, last)\n", n_kernels_, slots_[slots_.size() - 2].name);

  std::string head = "graph g(", own;
  for (const Slot& s : slots_) {
    if (s.role == Role::Scratch)
      own += fmt::format("  buffer {}: {}[len(x0)]\n", s.name, name(s.element));
    else
      head += fmt::format("{}{}: {} {}[{}]", head.back() == '(' ? "" : ", ", s.name, name(s.role),
                          name(s.element), s.name == "x0" ? "" : "len(x0)");
  }
  const ParseOutcome parsed = parse(kernels_ + head + ") {\n" + own + calls_ + "}\n");
  Generated g;
  if (!parsed.module) return g;
  g.module = *parsed.module;
  for (const GraphBuffer& b : g.module.graphs[0].buffers) {
    auto& data = g.inputs.data.emplace_back();
    g.inputs.lengths.emplace_back();
    if (is_host_input(b.role)) data = interesting_bytes(r_, b.element, n);
  }
  return g;
}

}  // namespace vyre::lab
