#include "interp/interp_subgroup.h"

#include <cstring>
#include <limits>

#include "ir/eval/eval.h"
#include "ir/eval/reduction_step.h"

namespace vyre::interp {
namespace {

/// The bits of the identity of the operation.
uint64_t identity(Opcode code, Type t) {
  const uint64_t ones = low_mask(width_of(t)),
                 sign = is_float(t) || is_signed(t) ? 1ull << (width_of(t) - 1) : 0;
  switch (code) {
    case Opcode::SubgroupAnd: return ones;
    case Opcode::SubgroupMin:
      if (is_float(t)) return t == Type::F32 ? canonical_nan_f32 : canonical_nan_f64;
      return ones & ~sign;  // the largest
    case Opcode::SubgroupMax:
      if (is_float(t)) return t == Type::F32 ? canonical_nan_f32 : canonical_nan_f64;
      return sign;                                            // the smallest
    case Opcode::SubgroupAdd: return is_float(t) ? sign : 0;  // -0.0
    default: return 0;
  }
}

/// Lanes of whole subgroups, absent ones included.
uint32_t padded(const SubgroupArgs& a) { return (a.lanes + a.size - 1) / a.size * a.size; }

template <class T>
struct Typed {
  static void reduce(const SubgroupArgs& a, std::vector<std::byte>& scratch) {
    const uint32_t n = padded(a);
    scratch.resize(3 * n * sizeof(T));
    T* v = reinterpret_cast<T*>(scratch.data());
    T *other = v + n, *result = other + n;
    const T* in = static_cast<const T*>(a.value);
    const T absent = static_cast<T>(identity(a.code, a.type));
    for (uint32_t l = 0; l < n; ++l) v[l] = l < a.lanes && a.active[l] ? in[l] : absent;
    const EvalFn step = find_eval(reduction_step(a.code), a.type, a.type);
    for (uint32_t d = a.size / 2; d > 0; d /= 2) {
      for (uint32_t l = 0; l < n; ++l) other[l] = v[l ^ d];
      const void* operands[] = {v, other};
      step(n, result, operands);
      std::swap(v, result);
    }
    std::memcpy(a.out, v, a.lanes * sizeof(T));
  }

  static void scan(const SubgroupArgs& a, std::vector<std::byte>& scratch) {
    const uint32_t n = padded(a);
    scratch.resize(3 * n * sizeof(T));
    T* v = reinterpret_cast<T*>(scratch.data());
    T *lower = v + n, *result = lower + n;
    const T* in = static_cast<const T*>(a.value);
    T* out = static_cast<T*>(a.out);
    for (uint32_t l = 0; l < n; ++l) v[l] = l < a.lanes && a.active[l] ? in[l] : T(0);
    const EvalFn add = find_eval(Opcode::Add, a.type, a.type);
    for (uint32_t d = 1; d < a.size; d *= 2) {
      for (uint32_t l = 0; l < n; ++l) lower[l] = l % a.size >= d ? v[l - d] : T(0);
      const void* operands[] = {lower, v};
      add(n, result, operands);
      for (uint32_t l = 0; l < n; ++l)
        if (l % a.size < d) result[l] = v[l];
      std::swap(v, result);
    }
    for (uint32_t l = 0; l < a.lanes; ++l) out[l] = l % a.size == 0 ? T(0) : v[l - 1];
  }

  static void move(const SubgroupArgs& a) {
    const T* in = static_cast<const T*>(a.value);
    const uint32_t* operand = static_cast<const uint32_t*>(a.operand);
    T* out = static_cast<T*>(a.out);
    for (uint32_t l = 0; l < a.lanes; ++l) {
      const uint64_t lane = l % a.size, x = operand[l];
      uint64_t from = x;
      if (a.code == Opcode::SubgroupShuffleUp) from = x <= lane ? lane - x : a.size;
      if (a.code == Opcode::SubgroupShuffleDown) from = lane + x;
      if (a.code == Opcode::SubgroupShuffleXor) from = lane ^ x;
      const uint64_t source = l - lane + from;
      out[l] = from < a.size && source < a.lanes && a.active[source] ? in[source] : T(0);
    }
  }
};

void vote(const SubgroupArgs& a) {
  const uint8_t* in = static_cast<const uint8_t*>(a.value);
  for (uint32_t first = 0; first < a.lanes; first += a.size) {
    const uint32_t end = first + a.size < a.lanes ? first + a.size : a.lanes;
    uint64_t yes = 0, no = 0;
    for (uint32_t l = first; l < end; ++l)
      if (a.active[l]) (in[l] ? yes : no) |= 1ull << (l - first);
    for (uint32_t l = first; l < end; ++l) {
      if (a.code == Opcode::SubgroupBallot)
        static_cast<uint64_t*>(a.out)[l] = yes;
      else
        static_cast<uint8_t*>(a.out)[l] = a.code == Opcode::SubgroupAny ? yes != 0 : no == 0;
    }
  }
}

template <class T>
void by_kind(const SubgroupArgs& a, std::vector<std::byte>& scratch) {
  if (a.operand)
    Typed<T>::move(a);
  else if (a.code == Opcode::SubgroupScanAdd)
    Typed<T>::scan(a, scratch);
  else
    Typed<T>::reduce(a, scratch);
}

}  // namespace

void run_subgroup(const SubgroupArgs& a, std::vector<std::byte>& scratch) {
  if (a.code == Opcode::SubgroupBallot || a.code == Opcode::SubgroupAny ||
      a.code == Opcode::SubgroupAll)
    return vote(a);
  switch (size_of(a.type)) {
    case 1: return by_kind<uint8_t>(a, scratch);
    case 2: return by_kind<uint16_t>(a, scratch);
    case 4: return by_kind<uint32_t>(a, scratch);
    default: return by_kind<uint64_t>(a, scratch);
  }
}

}  // namespace vyre::interp
