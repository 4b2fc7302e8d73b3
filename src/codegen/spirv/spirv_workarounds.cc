#include "codegen/spirv/spirv_workarounds.h"

namespace vyre::emit_spirv {
namespace {

using emit_exact::Profile;

#define VYRE_FORM(name) #name, &Workarounds::name, nullptr
#define VYRE_FLAG(name) #name, nullptr, &Profile::name

constexpr WorkaroundInfo table[] = {
    {VYRE_FORM(end_loops_by_last_value), Vendor::Nvidia, false,
     "a loop by constants whose next number passes the last one of its type does not end",
     "tests/conformance/loops_to_the_end_of_a_type.vyre"},
    {VYRE_FORM(hide_negative_starts), Vendor::Nvidia, false,
     "the iterations of a loop from a negative constant are counted wrong: five for `-5..1` of i64",
     "tests/conformance/loops_from_below_zero.vyre"},
    {VYRE_FORM(extend_signs_by_field), Vendor::Nvidia, false,
     "of a negation that two shifts extend, the extended operand is negated, which is wrong for "
     "the "
     "lowest number",
     "tests/conformance/signs_of_negations.vyre"},
    {VYRE_FORM(extend_indices_by_words), Vendor::Lavapipe, false,
     "an index that `OpSConvert` extends compares wrong with a constant",
     "tests/conformance/reversed_vectors_below_zero.vyre"},
    {VYRE_FLAG(sqrt64), Vendor::Nvidia, false,
     "the square root of an f64 is right alone and wrong in some larger programs",
     "tests/text/semantics/operators_floats_rounding.vyre"},
    {VYRE_FLAG(saturate64), Vendor::Nvidia, false,
     "a 64-bit sum or difference that is found to saturate loses its upper half",
     "tests/conformance/upper_half_of_a_difference.vyre"},
    {VYRE_FLAG(signs32), Vendor::Nvidia, true,
     "a mask for the sign of an f32 becomes a float operation, which flushes subnormals",
     "tests/conformance/signs_of_quotients.vyre"},
    {VYRE_FLAG(uniform_addresses), Vendor::Lavapipe, false,
     "an address that n steps make of a parameter is compiled in 2^n steps",
     "tests/conformance/indices_of_parameters.vyre"},
    {VYRE_FLAG(partial_subgroups), Vendor::Lavapipe, true,
     "missing invocations of the last subgroup decide how often a loop with barriers runs",
     "tests/conformance/loops_of_odd_workgroups.vyre"},
    {VYRE_FLAG(ordered_atomics), Vendor::Lavapipe, true,
     "an atomic sum with an order is wrong in a loop that invocations leave one by one",
     "tests/text/semantics/memory_progress.vyre"},
    {VYRE_FLAG(zero_operands), Vendor::Lavapipe, true,
     "float operations on operands that are known to be zero are folded wrong; a choice between "
     "one "
     "and zero gives -0",
     "tests/conformance/choices_of_ones_and_zeros.vyre"},
    {VYRE_FLAG(long_loops), Vendor::Lavapipe, true,
     "loops end after 65,535 iterations of all loops of an invocation",
     "tests/conformance/long_loops.vyre"},
};

#undef VYRE_FORM
#undef VYRE_FLAG

}  // namespace

std::span<const WorkaroundInfo> all_workarounds() { return table; }

std::string_view driver_of(Vendor vendor) {
  return vendor == Vendor::Nvidia ? "NVIDIA 580.159.04" : "lavapipe, Mesa 22.3.6";
}

}  // namespace vyre::emit_spirv
