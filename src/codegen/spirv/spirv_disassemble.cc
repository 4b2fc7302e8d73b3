// Disassembles words to readable text. It knows the instructions that the emitter writes; any other
// is shown as its number. The names of types and constants describe them.

#include <fmt/format.h>
#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>
#include <map>
#include <optional>
#include <spirv/unified1/spirv.hpp>

#include "codegen/spirv/spirv_emit.h"
#include "support/append.h"

namespace vyre::emit_spirv {
namespace {

// Operands, one letter each: t its type, r its result, i an id, n a number, s a string; I and N any
// number of ids or numbers. Values of enumerations: c capability, a addressing, m memory model, x
// execution model, e execution mode, k storage class, d decoration, w memory access, g group
// operation. b the operands of a decoration; X an instruction of GLSL.std.450.
struct Row {
  spv::Op op;
  std::string_view name, operands;
};
#define VYRE_ROW(name, operands) {spv::Op##name, #name, operands}
constexpr Row rows[] = {
    VYRE_ROW(Capability, "c"),
    VYRE_ROW(Extension, "s"),
    VYRE_ROW(ExtInstImport, "rs"),
    VYRE_ROW(MemoryModel, "am"),
    VYRE_ROW(EntryPoint, "xisI"),
    VYRE_ROW(ExecutionMode, "ieN"),
    VYRE_ROW(String, "rs"),
    VYRE_ROW(Name, "is"),
    VYRE_ROW(Line, "inn"),
    VYRE_ROW(Decorate, "idb"),
    VYRE_ROW(MemberDecorate, "indb"),
    VYRE_ROW(TypeVoid, "r"),
    VYRE_ROW(TypeBool, "r"),
    VYRE_ROW(TypeInt, "rnn"),
    VYRE_ROW(TypeFloat, "rn"),
    VYRE_ROW(TypeVector, "rin"),
    VYRE_ROW(TypeArray, "rii"),
    VYRE_ROW(TypeStruct, "rI"),
    VYRE_ROW(TypePointer, "rki"),
    VYRE_ROW(TypeFunction, "rI"),
    VYRE_ROW(Constant, "trN"),
    VYRE_ROW(ConstantTrue, "tr"),
    VYRE_ROW(ConstantFalse, "tr"),
    VYRE_ROW(ConstantNull, "tr"),
    VYRE_ROW(ConstantComposite, "trI"),
    VYRE_ROW(Undef, "tr"),
    VYRE_ROW(Variable, "trkI"),
    VYRE_ROW(Function, "trni"),
    VYRE_ROW(FunctionParameter, "tr"),
    VYRE_ROW(FunctionEnd, ""),
    VYRE_ROW(FunctionCall, "triI"),
    VYRE_ROW(Label, "r"),
    VYRE_ROW(Branch, "i"),
    VYRE_ROW(BranchConditional, "iiiN"),
    VYRE_ROW(SelectionMerge, "in"),
    VYRE_ROW(LoopMerge, "iin"),
    VYRE_ROW(Phi, "trI"),
    VYRE_ROW(Return, ""),
    VYRE_ROW(ReturnValue, "i"),
    VYRE_ROW(Unreachable, ""),
    VYRE_ROW(Load, "triw"),
    VYRE_ROW(Store, "iiw"),
    VYRE_ROW(AccessChain, "triI"),
    VYRE_ROW(ExtInst, "triXI"),
    VYRE_ROW(CompositeExtract, "triN"),
    VYRE_ROW(CompositeConstruct, "trI"),
    VYRE_ROW(VectorExtractDynamic, "trii"),
    VYRE_ROW(Select, "triii"),
    VYRE_ROW(BitFieldSExtract, "triii"),
    VYRE_ROW(ControlBarrier, "iii"),
    VYRE_ROW(AtomicStore, "iiii"),
#define VYRE_UNARY(name) VYRE_ROW(name, "tri")
    VYRE_UNARY(Bitcast),
    VYRE_UNARY(ConvertUToPtr),
    VYRE_UNARY(ConvertFToS),
    VYRE_UNARY(ConvertFToU),
    VYRE_UNARY(ConvertSToF),
    VYRE_UNARY(ConvertUToF),
    VYRE_UNARY(UConvert),
    VYRE_UNARY(SConvert),
    VYRE_UNARY(FConvert),
    VYRE_UNARY(SNegate),
    VYRE_UNARY(Not),
    VYRE_UNARY(LogicalNot),
    VYRE_UNARY(BitCount),
    VYRE_UNARY(BitReverse),
#undef VYRE_UNARY
#define VYRE_BINARY(name) VYRE_ROW(name, "trii")
    VYRE_BINARY(IAdd),
    VYRE_BINARY(ISub),
    VYRE_BINARY(IMul),
    VYRE_BINARY(UDiv),
    VYRE_BINARY(SDiv),
    VYRE_BINARY(UMod),
    VYRE_BINARY(FAdd),
    VYRE_BINARY(FSub),
    VYRE_BINARY(FMul),
    VYRE_BINARY(FDiv),
    VYRE_BINARY(UMulExtended),
    VYRE_BINARY(SMulExtended),
    VYRE_BINARY(BitwiseAnd),
    VYRE_BINARY(BitwiseOr),
    VYRE_BINARY(BitwiseXor),
    VYRE_BINARY(ShiftLeftLogical),
    VYRE_BINARY(ShiftRightLogical),
    VYRE_BINARY(ShiftRightArithmetic),
    VYRE_BINARY(LogicalAnd),
    VYRE_BINARY(LogicalOr),
    VYRE_BINARY(LogicalEqual),
    VYRE_BINARY(LogicalNotEqual),
    VYRE_BINARY(IEqual),
    VYRE_BINARY(INotEqual),
    VYRE_BINARY(ULessThan),
    VYRE_BINARY(SLessThan),
    VYRE_BINARY(ULessThanEqual),
    VYRE_BINARY(SLessThanEqual),
    VYRE_BINARY(UGreaterThan),
    VYRE_BINARY(SGreaterThan),
    VYRE_BINARY(UGreaterThanEqual),
    VYRE_BINARY(SGreaterThanEqual),
    VYRE_BINARY(FOrdEqual),
    VYRE_BINARY(FUnordNotEqual),
    VYRE_BINARY(FOrdLessThan),
    VYRE_BINARY(FOrdLessThanEqual),
    VYRE_BINARY(FOrdGreaterThan),
    VYRE_BINARY(FOrdGreaterThanEqual),
#undef VYRE_BINARY
#define VYRE_ATOMIC(name) VYRE_ROW(name, "triiii")
    VYRE_ROW(AtomicLoad, "triii"),
    VYRE_ATOMIC(AtomicIAdd),
    VYRE_ATOMIC(AtomicISub),
    VYRE_ATOMIC(AtomicSMin),
    VYRE_ATOMIC(AtomicUMin),
    VYRE_ATOMIC(AtomicSMax),
    VYRE_ATOMIC(AtomicUMax),
    VYRE_ATOMIC(AtomicAnd),
    VYRE_ATOMIC(AtomicOr),
    VYRE_ATOMIC(AtomicXor),
    VYRE_ATOMIC(AtomicExchange),
    VYRE_ATOMIC(AtomicFAddEXT),
    VYRE_ROW(AtomicCompareExchange, "triiiiii"),
#undef VYRE_ATOMIC
#define VYRE_GROUP(name) VYRE_ROW(name, "trigi")
    VYRE_GROUP(GroupNonUniformIAdd),
    VYRE_GROUP(GroupNonUniformSMin),
    VYRE_GROUP(GroupNonUniformUMin),
    VYRE_GROUP(GroupNonUniformSMax),
    VYRE_GROUP(GroupNonUniformUMax),
    VYRE_GROUP(GroupNonUniformBitwiseAnd),
    VYRE_GROUP(GroupNonUniformBitwiseOr),
    VYRE_GROUP(GroupNonUniformBitwiseXor),
    VYRE_ROW(GroupNonUniformAny, "trii"),
    VYRE_ROW(GroupNonUniformBallot, "trii"),
    VYRE_ROW(GroupNonUniformShuffle, "triii"),
#undef VYRE_GROUP
};
#undef VYRE_ROW

struct Word {
  char kind;  // as above; f: an instruction of GLSL.std.450, u: a built-in
  uint32_t value;
  std::string_view name;
};
#define VYRE_WORD(kind, prefix, name) {kind, spv::prefix##name, #name}
constexpr Word known[] = {
    VYRE_WORD('c', Capability, Shader),
    VYRE_WORD('c', Capability, Float64),
    VYRE_WORD('c', Capability, Int64),
    VYRE_WORD('c', Capability, Int64Atomics),
    VYRE_WORD('c', Capability, Int16),
    VYRE_WORD('c', Capability, Int8),
    VYRE_WORD('c', Capability, GroupNonUniform),
    VYRE_WORD('c', Capability, GroupNonUniformVote),
    VYRE_WORD('c', Capability, GroupNonUniformArithmetic),
    VYRE_WORD('c', Capability, GroupNonUniformBallot),
    VYRE_WORD('c', Capability, GroupNonUniformShuffle),
    VYRE_WORD('c', Capability, StorageBuffer8BitAccess),
    VYRE_WORD('c', Capability, StorageBuffer16BitAccess),
    VYRE_WORD('c', Capability, DenormPreserve),
    VYRE_WORD('c', Capability, SignedZeroInfNanPreserve),
    VYRE_WORD('c', Capability, RoundingModeRTE),
    VYRE_WORD('c', Capability, VulkanMemoryModel),
    VYRE_WORD('c', Capability, PhysicalStorageBufferAddresses),
    VYRE_WORD('c', Capability, AtomicFloat32AddEXT),
    VYRE_WORD('a', AddressingModel, PhysicalStorageBuffer64),
    VYRE_WORD('m', MemoryModel, Vulkan),
    VYRE_WORD('x', ExecutionModel, GLCompute),
    VYRE_WORD('e', ExecutionMode, LocalSize),
    VYRE_WORD('e', ExecutionMode, DenormPreserve),
    VYRE_WORD('e', ExecutionMode, SignedZeroInfNanPreserve),
    VYRE_WORD('e', ExecutionMode, RoundingModeRTE),
    VYRE_WORD('k', StorageClass, Input),
    VYRE_WORD('k', StorageClass, Workgroup),
    VYRE_WORD('k', StorageClass, Private),
    VYRE_WORD('k', StorageClass, Function),
    VYRE_WORD('k', StorageClass, PushConstant),
    VYRE_WORD('k', StorageClass, PhysicalStorageBuffer),
    VYRE_WORD('d', Decoration, NoContraction),
    VYRE_WORD('d', Decoration, BuiltIn),
    VYRE_WORD('d', Decoration, Block),
    VYRE_WORD('d', Decoration, Offset),
    VYRE_WORD('d', Decoration, ArrayStride),
    VYRE_WORD('d', Decoration, NonWritable),
    VYRE_WORD('g', GroupOperation, Reduce),
    VYRE_WORD('u', BuiltIn, WorkgroupId),
    VYRE_WORD('u', BuiltIn, NumWorkgroups),
    VYRE_WORD('u', BuiltIn, LocalInvocationId),
    VYRE_WORD('u', BuiltIn, LocalInvocationIndex),
    VYRE_WORD('u', BuiltIn, SubgroupId),
    VYRE_WORD('u', BuiltIn, SubgroupLocalInvocationId),
#define VYRE_GLSL(name) {'f', GLSLstd450##name, #name}
    VYRE_GLSL(RoundEven),
    VYRE_GLSL(Trunc),
    VYRE_GLSL(Floor),
    VYRE_GLSL(Ceil),
    VYRE_GLSL(Sqrt),
    VYRE_GLSL(Fma),
    VYRE_GLSL(NMin),
    VYRE_GLSL(NMax),
    VYRE_GLSL(SMin),
    VYRE_GLSL(SMax),
    VYRE_GLSL(UMin),
    VYRE_GLSL(UMax),
    VYRE_GLSL(FindILsb),
    VYRE_GLSL(FindUMsb),
#undef VYRE_GLSL
};
#undef VYRE_WORD

const Row* find_row(uint32_t op) {
  static const std::map<uint32_t, const Row*> by_op = [] {
    std::map<uint32_t, const Row*> all;
    for (const Row& r : rows) all.emplace(r.op, &r);
    return all;
  }();
  const auto it = by_op.find(op);
  return it == by_op.end() ? nullptr : it->second;
}

std::string word_name(char kind, uint32_t value) {
  for (const Word& w : known)
    if (w.kind == kind && w.value == value) return std::string(w.name);
  return fmt::format("{}", value);
}

/// A string in words, and how many words it takes.
std::string read_string(std::span<const uint32_t> words, size_t& at) {
  std::string text;
  for (; at < words.size(); ++at)
    for (uint32_t k = 0; k < 4; ++k) {
      const char c = static_cast<char>(words[at] >> (8 * k));
      if (c == 0) return ++at, text;
      text += static_cast<unsigned char>(c) < ' ' || c == '"' ? '_' : c;
    }
  return text;
}

class Reader {
 public:
  Result<std::string> run(std::span<const uint32_t> words) {
    if (words.size() < 5 || words[0] != spv::MagicNumber)
      return bad("these words do not begin as SPIR-V does");
    append(text_, "; SPIR-V {}.{}, {} ids\n", words[1] >> 16 & 255, words[1] >> 8 & 255, words[3]);
    for (const bool writes : {false, true})
      for (size_t at = 5; at < words.size();) {
        const uint32_t count = words[at] >> 16, op = words[at] & 0xffff;
        if (count == 0 || at + count > words.size())
          return bad(fmt::format("the instruction at word {} does not end", at));
        const auto operands = words.subspan(at + 1, count - 1);
        if (writes)
          write(op, operands);
        else
          find_name(op, operands);
        at += count;
      }
    return std::move(text_);
  }

 private:
  static Diagnostic bad(std::string message) {
    return diagnose(Code::CodeRejected, {}, std::move(message));
  }

  std::string id(uint32_t i) const {
    const auto it = names_.find(i);
    return it == names_.end() ? fmt::format("%{}", i) : "%" + it->second;
  }
  void give(uint32_t i, std::string name) {
    for (char& c : name)
      if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    names_.try_emplace(i, std::move(name));
  }
  std::string plain(uint32_t i) const {
    const std::string name = id(i);
    return name.substr(1);
  }

  /// Names from the module, and of types and constants. An id's own name comes before its use.
  void find_name(uint32_t op, std::span<const uint32_t> w) {
    size_t at = 1;
    switch (op) {
      case spv::OpName:
        if (w.size() > 1) give(w[0], read_string(w, at));
        return;
      case spv::OpTypeVoid: return give(w[0], "void");
      case spv::OpTypeBool: return give(w[0], "bool");
      case spv::OpTypeInt: return w.size() > 1 ? give(w[0], fmt::format("u{}", w[1])) : void();
      case spv::OpTypeFloat: return w.size() > 1 ? give(w[0], fmt::format("f{}", w[1])) : void();
      case spv::OpTypeVector:
        return w.size() > 2 ? give(w[0], fmt::format("{}x{}", plain(w[1]), w[2])) : void();
      case spv::OpTypePointer:
        if (w.size() > 2) give(w[0], fmt::format("{}_{}", word_name('k', w[1]), plain(w[2])));
        return;
      case spv::OpConstantTrue: return w.size() > 1 ? give(w[1], "true") : void();
      case spv::OpConstantFalse: return w.size() > 1 ? give(w[1], "false") : void();
      case spv::OpConstant: {
        if (w.size() < 3) return;
        const uint64_t value = w[2] | (w.size() > 3 ? uint64_t{w[3]} << 32 : 0);
        const bool is_hex = value > 4096 || plain(w[0])[0] == 'f';
        return give(w[1], is_hex ? fmt::format("{}_0x{:x}", plain(w[0]), value)
                                 : fmt::format("{}_{}", plain(w[0]), value));
      }
      default: return;
    }
  }

  void write(uint32_t op, std::span<const uint32_t> w) {
    const Row* row = find_row(op);
    if (!row) {
      append(text_, "               Op#{}", op);
      for (const uint32_t word : w) append(text_, " {}", word);
      text_ += '\n';
      return;
    }
    const std::string_view kinds = row->operands;
    const size_t result = kinds.find('r');
    if (result != kinds.npos && result < w.size())
      append(text_, "{:>12} = Op{}", id(w[result]), row->name);
    else
      append(text_, "{:>12}   Op{}", "", row->name);
    size_t at = 0;
    for (size_t k = 0; at < w.size(); ++k) {
      const char kind = k < kinds.size() ? kinds[k] : kinds.empty() ? 'N' : kinds.back();
      at = write_operand(kind, w, at);
    }
    text_ += '\n';
  }

  /// Gives where the next operand begins.
  size_t write_operand(char kind, std::span<const uint32_t> w, size_t at) {
    switch (kind) {
      case 'r': return at + 1;
      case 't':
      case 'i':
      case 'I': append(text_, " {}", id(w[at])); return at + 1;
      case 's': append(text_, " \"{}\"", read_string(w, at)); return at;
      case 'X': append(text_, " {}", word_name('f', w[at])); return at + 1;
      case 'b':
        append(text_, " {}",
               at > 0 && w[at - 1] == spv::DecorationBuiltIn ? word_name('u', w[at])
                                                             : fmt::format("{}", w[at]));
        return at + 1;
      case 'w': {
        if (w[at] & spv::MemoryAccessAlignedMask && at + 1 < w.size())
          append(text_, " Aligned {}", w[at + 1]);
        if (w[at] & spv::MemoryAccessVolatileMask) text_ += " Volatile";
        if (w[at] & spv::MemoryAccessNonPrivatePointerMask) text_ += " NonPrivatePointer";
        return w.size();
      }
      case 'n':
      case 'N': append(text_, " {}", w[at]); return at + 1;
      default: append(text_, " {}", word_name(kind, w[at])); return at + 1;
    }
  }

  std::map<uint32_t, std::string> names_;
  std::string text_;
};

}  // namespace

Result<std::string> disassemble(std::span<const uint32_t> words) { return Reader().run(words); }

}  // namespace vyre::emit_spirv
