// An access is in bounds by a branch around it on a test with the buffer's length, or by an address
// or, for arrays, an index that such a test selects.

#include <fmt/format.h>

#include <functional>

#include "tests/codegen/spirv/audit_util.h"
#include "tests/codegen/spirv/module_util.h"

namespace vyre::emit_spirv {
namespace {

class Bounds {
 public:
  Bounds(const std::vector<uint32_t>& words, const Program& given) : m_(words) {
    for (const Buffer& b : given.buffers) {
      if (!is_parameter(b.role)) continue;
      slots_.push_back(b.role == Role::Scalar ? Slot::Scalar : Slot::Address);
      if (b.role != Role::Scalar) slots_.push_back(Slot::Count);
    }
    for (const Instruction& i : m_.all) note(i);
  }

  std::vector<std::string> run() {
    uint32_t block = 0;
    for (const Instruction& i : m_.all) {
      if (i.op == spv::OpLabel) block = i.operands[0];
      const bool has_result = shape_of(i.op).result;
      if (i.op != spv::OpLoad && i.op != spv::OpStore && !is_atomic(i.op)) continue;
      const uint32_t pointer = i.operands[has_result ? 2 : 0];
      const spv::StorageClass where = m_.storage(pointer);
      const bool outside =
          where == spv::StorageClassPhysicalStorageBuffer
              ? reaches(pointer, [&](uint32_t id) { return is_slot(id, Slot::Address); }) &&
                    !is_guarded(block, Slot::Count) && !is_chosen_address(pointer)
              : is_array_access(pointer) && !is_chosen(pointer) && !is_guarded(block, Slot::None);
      if (outside)
        found_.push_back(
            fmt::format("access by %{} in block %{} is not kept inside", pointer, block));
    }
    return std::move(found_);
  }

 private:
  enum class Slot : uint8_t { None, Scalar, Address, Count };  // 8 bytes each, from offset 32
  using Test = std::function<bool(uint32_t)>;

  void note(const Instruction& i) {
    if (i.op == spv::OpLabel) here_ = i.operands[0];
    if (i.op == spv::OpLoopMerge) entries_[here_] = from_[here_].size();
    if (i.op == spv::OpSelectionMerge || i.op == spv::OpLoopMerge) header_[i.operands[0]] = here_;
    if (i.op == spv::OpBranch) from_[i.operands[0]].push_back({here_, 0});
    if (i.op == spv::OpBranchConditional) {
      from_[i.operands[1]].push_back({here_, i.operands[0]});
      from_[i.operands[2]].push_back({here_, 0});
    }
  }

  /// Does the value come from one for which the test holds? What is loaded comes from nothing else.
  bool reaches(uint32_t id, const Test& test) const {
    std::vector<uint32_t> todo = {id};
    std::set<uint32_t> seen;
    while (!todo.empty()) {
      const uint32_t at = todo.back();
      todo.pop_back();
      if (!seen.insert(at).second) continue;
      if (test(at)) return true;
      const Instruction* i = m_.find(at);
      const bool ends = !i || i->op == spv::OpLoad || is_atomic(i->op) || i->op == spv::OpLabel ||
                        i->op == spv::OpVariable || i->op == spv::OpConstant;
      if (ends) continue;
      const auto from = sources(*i);
      todo.insert(todo.end(), from.begin(), from.end());
    }
    return false;
  }

  /// A parameter of this kind, loaded from the push constants.
  bool is_slot(uint32_t id, Slot kind) const {
    const Instruction* load = m_.find(id);
    if (!load || load->op != spv::OpLoad) return false;
    const Instruction* chain = m_.find(load->operands[2]);
    if (!chain || chain->op != spv::OpAccessChain ||
        m_.storage(load->operands[2]) != spv::StorageClassPushConstant)
      return false;
    const uint32_t member = m_.constant(chain->operands[3]),
                   index = m_.constant(chain->operands[4]);
    const bool has_words = m_.width(load->operands[0]) == 32;
    if (member == 1 || (member == 0 && !has_words)) return false;  // the first 32 bytes
    const uint32_t offset = member == 2 ? first_parameter_offset + 8 * index : 4 * index;
    if (offset < first_parameter_offset) return false;
    const size_t slot = (offset - first_parameter_offset) / 8;
    return slot < slots_.size() && slots_[slot] == kind;
  }

  static bool is_test(spv::Op op) { return op == spv::OpULessThan || op == spv::OpULessThanEqual; }

  /// True if every path to the block takes the true side of a test, with a length if it has one.
  bool is_guarded(uint32_t block, Slot with) const {
    const auto holds = [&](uint32_t condition) {
      return condition && reaches(condition, [&](uint32_t id) {
               if (!is_test(m_.op(id))) return false;
               return with == Slot::None ||
                      reaches(id, [&](uint32_t x) { return is_slot(x, with); });
             });
    };
    for (int step = 0; step < 6; ++step) {
      if (const auto it = header_.find(block); it != header_.end()) {
        block = it->second;
        continue;
      }
      const auto it = from_.find(block);
      if (it == from_.end()) return false;
      const auto loop = entries_.find(block);  // its back-edge comes from itself
      if ((loop == entries_.end() ? it->second.size() : loop->second) != 1) return false;
      if (holds(it->second[0].condition)) return true;
      block = it->second[0].block;
    }
    return false;
  }

  /// An element of one of the program's arrays, at an index that is not constant.
  bool is_array_access(uint32_t pointer) const {
    const Instruction* chain = m_.find(pointer);
    if (!chain || chain->op != spv::OpAccessChain) return false;
    const spv::StorageClass where = m_.storage(pointer);
    if (where != spv::StorageClassWorkgroup && where != spv::StorageClassFunction &&
        where != spv::StorageClassPrivate)
      return false;
    const auto name = m_.names.find(chain->operands[2]);
    for (const char* own : {"lanes", "lanes high", "uniform", "verdict"})
      if (name != m_.names.end() && name->second == own) return false;
    return !is_fixed(chain->operands[3]);
  }

  /// True if the value is computed from constants only.
  bool is_fixed(uint32_t id) const {
    return !reaches(id, [&](uint32_t at) {
      const spv::Op op = m_.op(at);
      return op == spv::OpLoad || op == spv::OpPhi || is_atomic(op) ||
             op == spv::OpFunctionParameter;
    });
  }

  /// True if a test selects the index, or it is the invocation's number (zeroing at the start).
  bool is_chosen(uint32_t pointer) const {
    const uint32_t index = m_.find(pointer)->operands[3];
    const Instruction* i = m_.find(index);
    if (i->op == spv::OpLoad && m_.builtins.contains(i->operands[2])) return true;
    return reaches(index, [&](uint32_t id) {
      const Instruction* s = m_.find(id);
      return s && s->op == spv::OpSelect && m_.constant(s->operands[4]) == 0 &&
             reaches(s->operands[2], [&](uint32_t x) { return is_test(m_.op(x)); });
    });
  }

  /// The address of zeros: the first of the parameters.
  bool is_zeros(uint32_t id) const {
    const Instruction* load = m_.find(id);
    if (!load || load->op != spv::OpLoad) return false;
    const Instruction* chain = m_.find(load->operands[2]);
    return chain && chain->op == spv::OpAccessChain &&
           m_.storage(load->operands[2]) == spv::StorageClassPushConstant &&
           m_.constant(chain->operands[3]) == 0 && m_.constant(chain->operands[4]) == 0 &&
           m_.width(load->operands[0]) == 64;
  }

  /// True if a test with a length selects the pointer, else zeros or the buffer's first element.
  bool is_chosen_address(uint32_t pointer) const {
    return reaches(pointer, [&](uint32_t id) {
      const Instruction* s = m_.find(id);
      return s && s->op == spv::OpSelect &&
             (is_slot(s->operands[4], Slot::Address) || is_zeros(s->operands[4])) &&
             reaches(s->operands[2], [&](uint32_t at) {
               return is_test(m_.op(at)) &&
                      reaches(at, [&](uint32_t x) { return is_slot(x, Slot::Count); });
             });
    });
  }

  struct Edge {
    uint32_t block, condition;  // the condition that holds on it; 0: none
  };
  const ModuleTable m_;
  std::vector<Slot> slots_;
  std::map<uint32_t, std::vector<Edge>> from_;
  std::map<uint32_t, size_t> entries_;  // by the head of a loop: how many edges come from before it
  std::map<uint32_t, uint32_t> header_;  // by the block where its construct ends
  uint32_t here_ = 0;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> unguarded(const std::vector<uint32_t>& words, const Program& given) {
  return Bounds(words, given).run();
}

}  // namespace vyre::emit_spirv
