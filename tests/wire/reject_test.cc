// Each code of the wire form, by a file with that one mistake.

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <set>

#include "diagnostics/code_table.h"
#include "fuzz/wire_decoder.h"
#include "ir/ssa_builder.h"
#include "tests/wire/samples_util.h"

namespace vyre {
namespace {

using File = std::vector<std::byte>;

/// Where the contents of a section begin. Sections of a kernel or graph are found inside it.
size_t contents(const File& file, std::string_view tag, size_t from = wire::header_size) {
  for (size_t at = from; at + wire::section_header_size <= file.size();) {
    const std::string_view found(reinterpret_cast<const char*>(file.data() + at), 4);
    if (found == tag) return at + wire::section_header_size;
    at += wire::section_header_size +
          (found == "KRNL" || found == "GRPH" ? 0 : wire::load<uint64_t>(file.data() + at + 4));
  }
  ADD_FAILURE() << "no section " << tag;
  return 0;
}
size_t in_graph(const File& file, std::string_view tag) {
  return contents(file, tag, contents(file, "GRPH"));
}

void set8(File& f, size_t at, uint8_t v) { f[at] = std::byte{v}; }
void set32(File& f, size_t at, uint32_t v) { wire::store<uint32_t>(f.data() + at, v); }
void set64(File& f, size_t at, uint64_t v) { wire::store<uint64_t>(f.data() + at, v); }
uint32_t get32(const File& f, size_t at) { return wire::load<uint32_t>(f.data() + at); }

/// Puts bytes into a section of a program file and makes its length fit.
void insert(File& f, size_t section, size_t at, std::initializer_list<uint8_t> bytes) {
  set64(f, section - 8, wire::load<uint64_t>(f.data() + section - 8) + bytes.size());
  for (uint8_t b : bytes) f.insert(f.begin() + long(at++), std::byte{b});
}

struct Mistake {
  const char* name;
  Code code;
  std::function<File()> base;
  std::function<void(File&)> make;
  bool seal = true;
};

File small() { return encode(small_program()); }
File rich() { return encode(rich_program()); }
File module() { return encode(rich_module()); }

File two_regions() {
  SsaBuilder b("k");
  for (const char* name : {"a", "b"}) {
    b.begin_region(name);
    b.end_region();
  }
  return encode(b.finish());
}

// clang-format off
const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> list = {
      // The file as a whole.
      {"empty_file", Code::WireBadMagic, small, [](File& f) { f.clear(); }, false},
      {"text_instead_of_wire", Code::WireBadMagic, small, [](File& f) { set8(f, 0, 'k'); }, false},
      {"newer_minor_version", Code::WireVersionTooNew, small, [](File& f) { set8(f, 6, 9); }, false},
      {"newer_major_version", Code::WireVersionTooNew, small, [](File& f) { set8(f, 4, 2); }, false},
      {"older_major_version", Code::WireVersionTooOld, small, [](File& f) { set8(f, 4, 0); }, false},
      {"header_cut_off", Code::WireTruncated, small, [](File& f) { f.resize(20); }, false},
      {"last_byte_cut_off", Code::WireTruncated, small, [](File& f) { f.pop_back(); }, false},
      {"promised_length_of_2_to_the_50", Code::WireTruncated, small, [](File& f) { set64(f, wire::length_at, 1ull << 50); }, false},
      {"byte_appended", Code::WireTrailingBytes, small, [](File& f) { f.push_back(std::byte{0}); }, false},
      {"damaged_byte", Code::WireChecksum, small, [](File& f) { set8(f, 40, 99); }, false},
      {"reserved_header_field", Code::WireReservedBits, small, [](File& f) { set32(f, 12, 1); }},
      {"module_read_as_program", Code::WireWrongKind, module, [](File&) {}},
      {"unknown_kind", Code::WireWrongKind, small, [](File& f) { set32(f, wire::kind_at, 9); }},
      // Sections.
      {"wrong_section", Code::WireBadSection, small, [](File& f) { set8(f, contents(f, "FORM") - 12, 'X'); }},
      {"missing_section", Code::WireBadSection, small, [](File& f) { f.resize(contents(f, "ATTR") - 12); }},
      {"section_longer_than_the_file", Code::WireTruncated, small, [](File& f) { set64(f, contents(f, "FORM") - 8, 1ull << 60); }},
      {"section_with_bytes_left", Code::WireSectionLength, small, [](File& f) {
        const size_t at = contents(f, "HEAD");
        insert(f, at, at + wire::load<uint64_t>(f.data() + at - 8), {0});
      }},
      {"section_after_the_last", Code::WireSectionLength, small, [](File& f) { f.resize(f.size() + 12); }},
      // Counts.
      {"four_billion_ops", Code::WireCountTooLarge, small, [](File& f) { set32(f, contents(f, "OPS "), 0xfffffffe); }},
      {"four_billion_buffers", Code::WireCountTooLarge, small, [](File& f) { set32(f, contents(f, "BUFS"), ~0u); }},
      {"name_of_two_gigabytes", Code::WireTruncated, small, [](File& f) { set32(f, contents(f, "HEAD"), 0x7fffffff); }},
      // Fields.
      {"unknown_operation", Code::WireUnknownOp, small, [](File& f) { set8(f, contents(f, "OPCS") + 8, 'G'); }},
      {"bad_role", Code::WireBadEnum, small, [](File& f) { set8(f, contents(f, "BUFS") + 4, 9); }},
      {"bad_element", Code::WireBadEnum, small, [](File& f) { set8(f, contents(f, "BUFS") + 5, 14); }},
      {"bad_type_of_an_op", Code::WireBadEnum, small, [](File& f) { set8(f, contents(f, "OPS ") + 5, 14); }},
      {"bad_type_of_a_value", Code::WireBadEnum, small, [](File& f) { set8(f, contents(f, "VALS") + 4, 14); }},
      {"bad_dimension", Code::WireBadEnum, small, [](File& f) { set8(f, contents(f, "ATTR") + 4, 3); }},
      {"bad_formula_operation", Code::WireBadEnum, small, [](File& f) { set8(f, contents(f, "FORM") + 4, 11); }},
      {"four_dimensions", Code::WireBadEnum, small, [](File& f) { set8(f, contents(f, "HEAD") + 4 + 1 + 4 + 12 + 4 + 4, 4); }},
      {"unknown_requirement", Code::WireBadEnum, small, [](File& f) { set8(f, contents(f, "HEAD") + 4 + 1 + 4 + 12 + 4, 2); }},
      {"bad_scope_of_a_memory_op", Code::WireBadEnum, small, [](File& f) { f[f.size() - 4] |= std::byte{6}; }},
      {"reserved_bits_of_a_memory_op", Code::WireReservedBits, small, [](File& f) { f.back() = std::byte{0x80}; }},
      {"reserved_byte_of_an_op", Code::WireReservedBits, small, [](File& f) { set8(f, contents(f, "OPS ") + 7, 1); }},
      {"reserved_bytes_of_a_buffer", Code::WireReservedBits, small, [](File& f) { set8(f, contents(f, "BUFS") + 6, 1); }},
      {"constant_with_operands", Code::WireReservedBits, rich, [](File& f) { set32(f, contents(f, "FORM") + 4 + 4, 1); }},
      {"length_with_a_value", Code::WireReservedBits, small, [](File& f) { set64(f, contents(f, "FORM") + 4 + 12, 1); }},
      {"buffer_with_bytes_that_is_no_table", Code::WireReservedBits, small, [](File& f) { set64(f, contents(f, "BUFS") + 12, 4); }},
      // References.
      {"value_used_before_it_is_defined", Code::WireBadId, small, [](File& f) { set32(f, contents(f, "USES") + 4, 2); }},
      {"value_that_does_not_exist", Code::WireBadId, small, [](File& f) { set32(f, contents(f, "USES") + 4, none); }},
      {"buffer_that_does_not_exist", Code::WireBadId, small, [](File& f) { set32(f, f.size() - 8, 1); }},
      {"formula_that_does_not_exist", Code::WireBadId, small, [](File& f) { set32(f, contents(f, "BUFS") + 8, 1); }},
      {"formula_of_a_parameter_that_does_not_exist", Code::WireBadId, small, [](File& f) { set32(f, contents(f, "FORM") + 8, 1); }},
      {"formula_that_refers_to_itself", Code::WireBadId, small, [](File& f) { set8(f, contents(f, "FORM") + 4, uint8_t(FormulaOp::Add)); }},
      {"operation_that_is_not_listed", Code::WireBadId, small, [](File& f) { set8(f, contents(f, "OPS ") + 4, 200); }},
      {"location_that_does_not_exist", Code::WireBadId, rich, [](File& f) { set32(f, contents(f, "LOCS"), 1000); }},
      {"location_inlined_at_itself", Code::WireBadId, rich, [](File& f) { set32(f, f.size() - 4, 4); }},
      // The tree.
      {"no_body", Code::WireBadTree, small, [](File& f) {
        const size_t at = contents(f, "BLKS");
        const size_t bytes = get32(f, at) * wire::block_size;
        set32(f, at, 0);
        set64(f, at - 8, 4);
        f.erase(f.begin() + long(at + 4), f.begin() + long(at + 4 + bytes));
      }},
      {"block_with_one_op_too_many", Code::WireBadTree, small, [](File& f) { set32(f, contents(f, "BLKS") + 4, 6); }},
      {"block_with_one_op_too_few", Code::WireBadTree, small, [](File& f) { set32(f, contents(f, "BLKS") + 4, 4); }},
      {"op_with_a_block_too_many", Code::WireBadTree, small, [](File& f) { set8(f, contents(f, "OPS ") + 4 + 2, 255); }},
      {"op_with_a_result_too_many", Code::WireBadTree, small, [](File& f) { set32(f, contents(f, "OPS ") + 4 + 8, ~0u); }},
      {"op_with_an_operand_too_many", Code::WireBadTree, small, [](File& f) { set32(f, contents(f, "OPS ") + 4 + 4, ~0u); }},
      {"block_with_four_billion_arguments", Code::WireBadTree, small, [](File& f) { set32(f, contents(f, "BLKS") + 8, ~0u); }},
      // Canonical form.
      {"unused_string", Code::WireNotCanonical, small, [](File& f) {
        const size_t at = contents(f, "STRS");
        set32(f, at, 1);
        insert(f, at, at + 4, {1, 0, 0, 0, 'x'});
      }},
      {"string_listed_twice", Code::WireNotCanonical, two_regions, [](File& f) { set8(f, contents(f, "STRS") + 4 + 5 + 4, 'a'); }},
      {"strings_not_in_order_of_use", Code::WireNotCanonical, two_regions, [](File& f) { set8(f, contents(f, "ATTR") + 4, 1); }},
      {"operation_listed_twice", Code::WireNotCanonical, two_regions, [](File& f) {
        const size_t at = contents(f, "OPCS");
        set32(f, at, get32(f, at) + 1);
        insert(f, at, at + 4, {6, 0, 0, 0, 'r', 'e', 'g', 'i', 'o', 'n'});
      }},
      {"unused_formula", Code::WireNotCanonical, small, [](File& f) {
        const size_t at = contents(f, "FORM");
        set32(f, at, 2);
        insert(f, at, at + 4 + 20, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0});
      }},
      {"negative_zero_in_a_formula", Code::WireNotCanonical, rich, [](File& f) {
        const size_t at = contents(f, "FORM") + 4;
        set8(f, at + 1, 1);
        set64(f, at + 12, 0);
      }},
      {"operations_not_in_order_of_use", Code::WireNotCanonical, small, [](File& f) { set8(f, contents(f, "OPS ") + 4, 1); }},
      {"location_not_in_order_of_use", Code::WireNotCanonical, rich, [](File& f) { set32(f, contents(f, "LOCS"), 3); }},
      {"location_not_used", Code::WireNotCanonical, rich, [](File& f) { set32(f, contents(f, "LOCS"), none); }},
      // Tables.
      {"table_that_is_too_short", Code::WireBadTable, rich, [](File& f) {
        const size_t at = contents(f, "TABL");
        set64(f, at - 8, 7);
        f.erase(f.begin() + long(at));
      }},
      {"table_whose_count_is_no_constant", Code::WireBadTable, rich, [](File& f) {
        const size_t end = contents(f, "TABL") - 12;
        set32(f, end - 17, none);  // the last buffer, whose name has one letter
      }},
  };
  return list;
}
// clang-format on

TEST(WireRejects, every_mistake_with_its_code) {
  for (const Mistake& m : mistakes()) {
    File file = m.base();
    m.make(file);
    if (m.seal) wire::seal(file);
    const auto result = decode_program(file, {.trusted = true});
    ASSERT_FALSE(result) << m.name;
    EXPECT_EQ(to_string(result.errors()[0].code), to_string(m.code))
        << m.name << ": " << result.errors()[0].message;
  }
}

// clang-format off
const std::vector<Mistake>& module_mistakes() {
  // Graph nodes: repeat, call (with one argument and one grid size), end, while, call, end.
  constexpr size_t node = wire::graph_node_size;
  constexpr size_t second_while = 4 + 3 * node + 2 * wire::graph_pair_size;
  static const std::vector<Mistake> list = {
      {"program_read_as_module", Code::WireWrongKind, small, [](File&) {}},
      {"a_million_kernels", Code::WireBadSection, module, [](File& f) { set32(f, contents(f, "MODL"), 1'000'000); }},
      {"a_graph_too_few", Code::WireSectionLength, module, [](File& f) { set32(f, contents(f, "MODL") + 4, 0); }},
      {"kernel_that_does_not_exist", Code::WireBadId, module, [](File& f) { set32(f, in_graph(f, "NODE") + 4 + node + 4, 2); }},
      {"argument_that_does_not_exist", Code::WireBadId, module, [](File& f) { set32(f, in_graph(f, "NODE") + 4 + 2 * node, 2); }},
      {"flag_that_does_not_exist", Code::WireBadId, module, [](File& f) { set32(f, in_graph(f, "NODE") + second_while + 12, none); }},
      {"times_that_do_not_exist", Code::WireBadId, module, [](File& f) { set32(f, in_graph(f, "NODE") + 4 + 8, 77); }},
      {"four_billion_arguments", Code::WireCountTooLarge, module, [](File& f) { set32(f, in_graph(f, "NODE") + 4 + node + 32, ~0u); }},
      {"unknown_node", Code::WireBadEnum, module, [](File& f) { set8(f, in_graph(f, "NODE") + 4, 4); }},
      {"unknown_comparison", Code::WireBadEnum, module, [](File& f) { set8(f, in_graph(f, "NODE") + second_while + 1, 6); }},
      {"comparison_in_a_repeat", Code::WireReservedBits, module, [](File& f) { set8(f, in_graph(f, "NODE") + 4 + 1, 1); }},
      {"bits_of_a_buffer_argument", Code::WireReservedBits, module, [](File& f) { set8(f, in_graph(f, "NODE") + 4 + 2 * node + 4, 1); }},
      {"end_without_a_loop", Code::WireBadGraph, module, [](File& f) {
        const size_t at = in_graph(f, "NODE") + 4;
        set8(f, at, 3);
        set32(f, at + 8, 0);
      }},
      {"loop_without_an_end", Code::WireBadGraph, module, [](File& f) {
        const size_t at = in_graph(f, "NODE") + 4 + 2 * node + 2 * wire::graph_pair_size;
        set8(f, at, 1);
      }},
      {"file_not_in_order_of_use", Code::WireNotCanonical, module, [](File& f) {
        const size_t section = in_graph(f, "LOCS");
        const size_t strings = wire::section_header_size + wire::load<uint64_t>(f.data() + section + 4);
        set32(f, section + strings, 1);
      }},
  };
  return list;
}
// clang-format on

TEST(WireRejects, every_mistake_in_a_module_with_its_code) {
  for (const Mistake& m : module_mistakes()) {
    File file = m.base();
    m.make(file);
    if (m.seal) wire::seal(file);
    const auto result = decode_module(file, {.trusted = true});
    ASSERT_FALSE(result) << m.name;
    EXPECT_EQ(to_string(result.errors()[0].code), to_string(m.code))
        << m.name << ": " << result.errors()[0].message;
  }
}

TEST(WireRejects, every_code_of_the_layer_is_raised_above) {
  std::set<int> raised;
  for (const auto* list : {&mistakes(), &module_mistakes()})
    for (const Mistake& m : *list) raised.insert(int(m.code));
  for (const CodeInfo& c : all_codes())
    if (int(c.code) > 400 && int(c.code) < 450) {
      EXPECT_TRUE(raised.contains(int(c.code))) << c.name;
    }
}

// A caller that builds nonsense gets an encoding that no decoder takes, not a crash.
TEST(WireRejects, encodings_of_what_is_no_program) {
  EXPECT_FALSE(decode_program(encode(Program{})));
  Program p = small_program();
  p.buffers.push_back({.name = "t", .role = Role::Table, .count = p.formulas.constant(1ull << 62)});
  EXPECT_FALSE(decode_program(encode(p)));
  p = small_program();
  p.grid[0] = 1000;
  EXPECT_TRUE(decode_program(encode(p)));  // as a grid without a formula, which the checker sees
  p = small_program();
  p.formulas.nodes[p.grid[0]] = {FormulaOp::Add, p.grid[0], p.grid[0]};
  EXPECT_FALSE(decode_program(encode(p)));
  p = rich_program();
  for (Location& l : p.locations) l.inlined_at = LocId(&l - p.locations.data());  // circles
  EXPECT_TRUE(decode_program(encode(p)));
}

}  // namespace
}  // namespace vyre
