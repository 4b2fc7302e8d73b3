// The function of a kernel: values that are loaded once, and the loop over workgroups.

#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "codegen/common/first_writes.h"
#include "codegen/llvm/isa.h"
#include "codegen/llvm/llvm_emitter.h"

namespace vyre::emit_llvm {
namespace {

constexpr uint64_t arena_align = 64;
constexpr uint64_t most_abreast = 16;
constexpr uint64_t arena_tail = 512;  // whole vectors may be read over an array's end
/// Fields of LaunchArgs by byte.
constexpr unsigned at_buffers = offsetof(LaunchArgs, buffers);
constexpr unsigned at_counts = offsetof(LaunchArgs, counts);
constexpr unsigned at_scalars = offsetof(LaunchArgs, scalars);
constexpr unsigned at_groups = offsetof(LaunchArgs, num_workgroups);
constexpr unsigned at_stop = offsetof(LaunchArgs, stop);

/// Sizes stay below it, so that their sums and products do not wrap. No machine has so much memory.
constexpr uint64_t most_arena = uint64_t{1} << 48;
constexpr uint64_t zeroed_at_once = 1 << 20;  // bytes between two polls

uint64_t bytes_of_array(uint64_t elements, uint64_t element_bytes) {
  return elements > most_arena / element_bytes ? most_arena : elements * element_bytes;
}

uint64_t aligned(uint64_t bytes) { return (bytes + arena_align - 1) / arena_align * arena_align; }

llvm::StringRef ref(std::string_view s) { return {s.data(), s.size()}; }

}  // namespace

Emitter::Emitter(const Prepared& kernel, const EmitOptions& options, Module::State& state)
    : k_(kernel),
      p_(kernel.program),
      options_(options),
      state_(state),
      c_(*state.context),
      m_(*state.module),
      b_(c_),
      low_(b_, options.isa),
      S_(kernel.lanes),
      shapes_(kernel),
      likely_(kernel, shapes_),
      stretches_(kernel),
      shared_(kernel, shapes_),
      needs_zeros_(find_needed_zeros(array_use(kernel))) {
  made_.resize(p_.values.size());
  home_slot_.resize(p_.values.size());
  counts_of_.resize(p_.buffers.size());
  pointers_.resize(p_.buffers.size());
  scalars_.resize(p_.buffers.size());
  array_base_.resize(p_.buffers.size());
  array_offset_.resize(p_.buffers.size());
  lane_major_.resize(p_.buffers.size());
  walk(p_, [&](OpId op) {
    if (p_.op(op).code == Opcode::LoadAs) lane_major_[p_.memory(op).buffer] = true;
  });
  if (options.isa != Isa::X86_64_V4)
    mask_width_ = std::clamp(vector_bytes(options.isa) * 8 / S_, 8u, 32u);
}

KernelInfo Emitter::run() {
  begin_function();
  workgroups();
  KernelInfo info;
  info.subgroup_size = S_;
  info.arena_bytes = aligned(arena_bytes_) + arena_tail;
  return info;
}

uint64_t Emitter::array_count(BufferId buffer) const {
  uint64_t n = 0;
  p_.formulas.is_constant(p_.buffers[buffer].count, &n);
  return n;
}

void Emitter::begin_function() {
  llvm::Type* ptr = b_.getPtrTy();
  llvm::Type* i64 = b_.getInt64Ty();
  m_.setTargetTriple(ref(triple(options_.isa)));
  f_ = llvm::Function::Create(llvm::FunctionType::get(b_.getInt32Ty(), {ptr, i64, i64, ptr}, false),
                              llvm::Function::ExternalLinkage, kernel_symbol, m_);
  f_->addFnAttr("target-cpu", ref(cpu(options_.isa)));
  f_->addFnAttr("target-features", ref(features(options_.isa)));
  f_->addFnAttr(llvm::Attribute::NoUnwind);
  for (const unsigned i : {0u, 3u}) f_->addParamAttr(i, llvm::Attribute::NoAlias);
  f_->addParamAttr(0, llvm::Attribute::ReadOnly);
  if (options_.lines) begin_lines();
  args_ = f_->getArg(0);
  arena_ = f_->getArg(3);
  f_->addParamAttr(3, llvm::Attribute::getWithAlignment(c_, llvm::Align(arena_align)));
  start_ = llvm::BasicBlock::Create(c_, "start", f_);
  BB first = block("first");
  llvm::BranchInst::Create(first, start_);
  enter(first);

  // Arrays, space for values that are live across barriers, and a dummy element for dropped stores.
  // Vectors without their first lanes may begin before the first array.
  arena_bytes_ = arena_tail;
  for (const BufferId i : p_.buffers.ids()) {
    const Buffer& buffer = p_.buffers[i];
    if (buffer.role == Role::Shared) {
      array_offset_[i] = arena_bytes_;
      arena_bytes_ =
          aligned(arena_bytes_ + bytes_of_array(array_count(i), size_of(buffer.element)));
    } else if (buffer.role == Role::Private) {
      array_offset_[i] = private_stride_;
      const uint64_t lane = uint64_t{S_} * size_of(buffer.element);
      private_stride_ = std::min(
          aligned(private_stride_ + bytes_of_array(array_count(i), lane) + lane), most_arena);
    }
  }
  const uint64_t privates = arena_bytes_;
  arena_bytes_ += private_stride_ * (k_.phased ? k_.subgroups : 1);
  for (const BufferId i : p_.buffers.ids())
    if (p_.buffers[i].role == Role::Private) array_offset_[i] += privates;
  spill_offset_ = arena_bytes_;
  arena_bytes_ = aligned(arena_bytes_ + stretches_.arena_bytes);
  live_offset_ = arena_bytes_;
  if (k_.phased && k_.has_traps) arena_bytes_ = aligned(arena_bytes_ + uint64_t{k_.subgroups} * S_);
  dummy_offset_ = arena_bytes_;
  arena_bytes_ += arena_align;

  // Distinct buffers never overlap where one of them is written. One scope more is the spills'.
  llvm::MDBuilder md(c_);
  llvm::MDNode* domain = md.createAnonymousAliasScopeDomain();
  const size_t n = p_.buffers.size();
  std::vector<llvm::Metadata*> scopes;
  for (size_t i = 0; i <= n; ++i) scopes.push_back(md.createAnonymousAliasScope(domain));
  for (size_t i = 0; i <= n; ++i) {
    std::vector<llvm::Metadata*> others = scopes;
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    scope_.push_back(llvm::MDNode::get(c_, scopes[i]));
    noalias_.push_back(llvm::MDNode::get(c_, others));
  }
}

void Emitter::set_noalias(llvm::Instruction* access, BufferId buffer) {
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, scope_[buffer]);
  access->setMetadata(llvm::LLVMContext::MD_noalias, noalias_[buffer]);
}

llvm::Value* Emitter::at_start(llvm::function_ref<V()> make) {
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(start_->getTerminator());
  return make();
}

llvm::Value* Emitter::argument(unsigned field, llvm::Type* type) {
  llvm::LoadInst* load = b_.CreateLoad(type, b_.CreateConstGEP1_64(b_.getInt8Ty(), args_, field));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(c_, {}));
  return load;
}

llvm::Value* Emitter::count_of(BufferId i) {
  if (counts_of_[i]) return counts_of_[i];
  if (!is_parameter(p_.buffers[i].role)) return counts_of_[i] = b_.getInt64(array_count(i));
  return counts_of_[i] = at_start([&] {
           V list = argument(at_counts, b_.getPtrTy());
           llvm::LoadInst* load = b_.CreateLoad(
               b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), list, i.value()));
           load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(c_, {}));
           return load;
         });
}

llvm::Value* Emitter::scalar_of(BufferId i) {
  if (scalars_[i]) return scalars_[i];
  return scalars_[i] = at_start([&]() -> V {
           V list = argument(at_scalars, b_.getPtrTy());
           llvm::LoadInst* load = b_.CreateLoad(
               b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), list, i.value()));
           load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(c_, {}));
           const Type t = p_.buffers[i].element;
           if (t == Type::Bool) return b_.CreateICmpNE(load, b_.getInt64(0));
           V bits = b_.CreateTrunc(load, b_.getIntNTy(width_of(t)));
           return is_float(t) ? b_.CreateBitCast(bits, low_.value_type(t)) : bits;
         });
}

llvm::Value* Emitter::arena_at(uint64_t offset) {
  return at_start([&] { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), arena_, offset); });
}

/// The address of zeros that can be read.
llvm::Value* Emitter::zeros() {
  if (zeros_) return zeros_;
  llvm::Type* type = llvm::ArrayType::get(b_.getInt8Ty(), arena_align);
  zeros_ = new llvm::GlobalVariable(m_, type, true, llvm::GlobalValue::PrivateLinkage,
                                    llvm::Constant::getNullValue(type), "zeros");
  zeros_->setAlignment(llvm::Align(arena_align));
  return zeros_;
}

/// The pointer of a parameter, a shared array or a table. An empty buffer may be null: then it is
/// the address of zeros in the module, so that element 0 can always be read.
llvm::Value* Emitter::pointer_of(BufferId i) {
  if (pointers_[i]) return pointers_[i];
  const Buffer& buffer = p_.buffers[i];
  if (buffer.role == Role::Shared) return pointers_[i] = arena_at(array_offset_[i]);
  if (buffer.role == Role::Table) {
    const uint64_t bytes = array_count(i) * size_of(buffer.element);
    std::string text(reinterpret_cast<const char*>(p_.table_bytes.data()) + buffer.table_offset,
                     bytes);
    text.append(S_ * size_of(buffer.element), '\0');  // whole vectors may be read over the end
    llvm::Constant* data = llvm::ConstantDataArray::getString(c_, text, false);
    auto* table = new llvm::GlobalVariable(m_, data->getType(), true,
                                           llvm::GlobalValue::PrivateLinkage, data, "table");
    table->setAlignment(llvm::Align(arena_align));
    table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return pointers_[i] = table;
  }
  return pointers_[i] = at_start([&] {
           V list = argument(at_buffers, b_.getPtrTy());
           llvm::LoadInst* load =
               b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), list, i.value()));
           load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(c_, {}));
           V empty = b_.CreateICmpEQ(count_of(i), b_.getInt64(0));
           return b_.CreateSelect(empty, zeros(), load);
         });
}

/// Workgroups in linear order; their ids are counted along, without division.
void Emitter::workgroups() {
  llvm::Type* i32 = b_.getInt32Ty();
  llvm::Type* i64 = b_.getInt64Ty();
  V first = f_->getArg(1);
  V last = f_->getArg(2);
  V n[3];
  for (unsigned d = 0; d < 3; ++d) {
    n[d] = at_start([&] { return argument(at_groups + d * 8, i64); });
    counts_[d] = at_start([&] { return b_.CreateTrunc(n[d], i32); });
  }
  BB loop = block("group");
  BB body = block("group_body");
  BB next = block("group_next");
  BB done = block("done");
  BB begin = block("begin");
  // first == last: nothing, and no division by a launch of nothing.
  b_.CreateCondBr(b_.CreateICmpULT(first, last), begin, done);
  enter(begin);
  V rows = b_.CreateUDiv(first, n[0]);
  V x0 = b_.CreateTrunc(b_.CreateURem(first, n[0]), i32);
  V y0 = b_.CreateTrunc(b_.CreateURem(rows, n[1]), i32);
  V z0 = b_.CreateTrunc(b_.CreateUDiv(rows, n[1]), i32);
  b_.CreateBr(loop);

  enter(loop);
  llvm::PHINode* number = b_.CreatePHI(i64, 2);
  llvm::PHINode* id[3];
  V id0[3] = {x0, y0, z0};
  for (unsigned d = 0; d < 3; ++d) {
    id[d] = b_.CreatePHI(i32, 2);
    id[d]->addIncoming(id0[d], begin);
    group_[d] = id[d];
  }
  number->addIncoming(first, begin);
  b_.CreateBr(body);

  enter(body);
  V taken = b_.getInt64(1);
  if (k_.abreast) {
    // To the end of the row or of this call's range; a row of 2^32 has 0 as its length.
    V row = b_.CreateZExt(b_.CreateSub(counts_[0], id[0]), i64);
    taken = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(last, number), row);
    taken = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, taken, b_.getInt64(most_abreast));
    taken = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, taken, b_.getInt64(1));
    abreast_ = b_.CreateTrunc(taken, i32);
  }
  workgroup_body();
  go(next);

  enter(next);
  if (options_.stoppable) poll(p_.blocks[body_block].first);
  V x = b_.CreateAdd(id[0], b_.CreateTrunc(taken, i32));
  V end_of_row = b_.CreateICmpEQ(x, counts_[0]);
  V y = b_.CreateAdd(id[1], b_.CreateZExt(end_of_row, i32));
  V end_of_plane = b_.CreateICmpEQ(y, counts_[1]);
  id[0]->addIncoming(b_.CreateSelect(end_of_row, b_.getInt32(0), x), b_.GetInsertBlock());
  id[1]->addIncoming(b_.CreateSelect(end_of_plane, b_.getInt32(0), y), b_.GetInsertBlock());
  id[2]->addIncoming(b_.CreateAdd(id[2], b_.CreateZExt(end_of_plane, i32)), b_.GetInsertBlock());
  V following = b_.CreateAdd(number, taken);
  number->addIncoming(following, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpULT(following, last), loop, done);
  enter(done);
  b_.CreateRet(b_.getInt32(0));
}

void Emitter::workgroup_body() {
  zero_arrays(Role::Shared);
  if (k_.phased) {
    zero_arrays(Role::Private);
    if (k_.has_traps)
      b_.CreateMemSet(arena_at(live_offset_), b_.getInt8(0xff), uint64_t{k_.subgroups} * S_,
                      llvm::Align(arena_align));
  }
  workgroup_block(body_block);
}

/// Shared arrays when a workgroup begins, private ones when an invocation does.
void Emitter::zero_arrays(Role role) {
  for (const BufferId i : p_.buffers.ids()) {
    const Buffer& buffer = p_.buffers[i];
    if (buffer.role != role || !needs_zeros_[i]) continue;
    uint64_t element = size_of(buffer.element);
    uint64_t bytes = bytes_of_array(array_count(i), element);
    // Element after element, or lane after lane with one element more.
    if (role == Role::Private)
      bytes = bytes_of_array(array_count(i) + lane_major_[i], element * S_);
    const uint32_t copies = role == Role::Private && k_.phased ? k_.subgroups : 1;
    for (uint32_t n = 0; n < copies; ++n)
      zero(arena_at(array_offset_[i] + n * private_stride_), bytes);
  }
}

/// Polls meanwhile, because arrays may be as large as memory.
void Emitter::zero(V at, uint64_t bytes) {
  const uint64_t parts = options_.stoppable ? bytes / zeroed_at_once : 0;
  if (parts > 1) {
    BB before = b_.GetInsertBlock();
    BB loop = block("zero");
    BB done = block("zeroed");
    b_.CreateBr(loop);
    enter(loop);
    llvm::PHINode* part = b_.CreatePHI(b_.getInt64Ty(), 2);
    part->addIncoming(b_.getInt64(0), before);
    V offset = b_.CreateMul(part, b_.getInt64(zeroed_at_once));
    b_.CreateMemSet(b_.CreateInBoundsGEP(b_.getInt8Ty(), at, offset), b_.getInt8(0), zeroed_at_once,
                    llvm::Align(arena_align));
    poll(p_.blocks[body_block].first);
    V next = b_.CreateAdd(part, b_.getInt64(1));
    part->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt64(parts)), loop, done);
    enter(done);
    at = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), at, parts * zeroed_at_once);
    bytes -= parts * zeroed_at_once;
  }
  b_.CreateMemSet(at, b_.getInt8(0), bytes, llvm::Align(arena_align));
}

void Emitter::poll(OpId op) {
  if (!options_.stoppable) return;
  if (!stop_) stop_ = at_start([&] { return argument(at_stop, b_.getPtrTy()); });
  llvm::LoadInst* stop = b_.CreateAlignedLoad(b_.getInt32Ty(), stop_, llvm::Align(4));
  stop->setAtomic(llvm::AtomicOrdering::Monotonic);
  BB out = block("stopped");
  BB on = block("on");
  branch(b_.CreateICmpNE(stop, b_.getInt32(0)), out, on, 0);
  enter(out);
  b_.CreateRet(b_.getInt32(k_.original[op].value() + 1));
  enter(on);
}

}  // namespace vyre::emit_llvm
