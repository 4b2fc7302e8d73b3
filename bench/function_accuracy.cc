// Measures src/ir/functions.h: the worst error in ulp of each function, the wrong special values,
// and the IR ops that expand_functions makes of it. docs/functions.md has the results.
//
//   bench_function_accuracy                        all 2^32 inputs, 1 thread
//   bench_function_accuracy --stride=64            every 64th input
//   bench_function_accuracy --threads=2 sin cos    two functions only
//   bench_function_accuracy --pairs=N pow atan2    N random pairs (default 2^28/stride)
//   bench_function_accuracy --blocks=N sin         only evaluates N * 1024 elements, as the
//                                                  interpreter does; see scripts/count-functions
//
// An error is |result - exact| / ulp, where ulp is the distance of neighbouring
// f32 at the exact result's magnitude (2^-149 among the subnormals) and infinity
// counts as 2^128. The exact result is taken from libm's double functions,
// whose own error is some 2^-29 of an f32 ulp; that is not taken on trust: the
// inputs with the largest errors and every 40009th input are computed again
// with MPFR, and the last column shows the largest difference between the two
// references, in f32 ulp. The worst error printed is MPFR's.
//
// A result is "wrong" when it is NaN and must not be, is not and must be, or
// has the wrong sign bit.
#include <mpfr.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "ir/eval/eval.h"
#include "ir/expand_functions.h"
#include "ir/functions.h"
#include "ir/functions_native.h"
#include "ir/ssa_builder.h"

namespace {

namespace fn = vyre::functions;

// The ops of a function's expansion by kind, constants aside.
struct OpCounts {
  int arithmetic = 0;  // f32 add sub mul min max abs neg floor
  int fma = 0;
  int div = 0;
  int convert = 0;
  int integer = 0;   // u32/i32 add sub, logic, shifts
  int multiply = 0;  // u32 mul and mulhi
  int choice = 0;    // comparisons, boolean operations, selects
  int bitcast = 0;
  int constants = 0;
  int total() const {
    return arithmetic + fma + div + convert + integer + multiply + choice + bitcast;
  }
};

vyre::Opcode op_of(const char* function) { return *vyre::find_op(function); }

OpCounts count_ops(const char* function) {
  using vyre::Opcode;
  using vyre::Type;
  vyre::SsaBuilder b("f");
  const vyre::Opcode code = op_of(function);
  const std::vector<vyre::ValueId> operands(vyre::info(code).operands.size(),
                                            b.op(Opcode::Scalar, Type::F32, {}, 0));
  b.op(code, Type::F32, operands);
  vyre::Program p = b.finish();
  vyre::expand_functions(p);
  OpCounts n;
  vyre::walk(p, [&](vyre::OpId id) {
    const vyre::Op& op = p.op(id);
    const bool is_bool = op.type == Type::Bool || vyre::info(op.code).result == 'B';
    switch (op.code) {
      case Opcode::Scalar:
      case Opcode::Return: break;
      case Opcode::Const: ++n.constants; break;
      case Opcode::Bitcast: ++n.bitcast; break;
      case Opcode::Cast: ++n.convert; break;
      case Opcode::Fma: ++n.fma; break;
      case Opcode::Div: ++n.div; break;
      default:
        if (is_bool || op.code == Opcode::Select) {
          ++n.choice;
        } else if (op.type == Type::F32) {
          ++n.arithmetic;
        } else if (op.code == Opcode::Mul || op.code == Opcode::MulHi) {
          ++n.multiply;
        } else {
          ++n.integer;
        }
    }
  });
  return n;
}

// Nothing but the interpreter's evaluation, for scripts/count-functions to count instructions of.
int evaluate(const std::string& function, std::uint64_t blocks) {
  const vyre::Opcode* code = vyre::find_op(function);
  const vyre::EvalFn eval =
      code != nullptr ? vyre::find_eval(*code, vyre::Type::F32, vyre::Type::F32) : nullptr;
  if (eval == nullptr) return 2;
  const vyre::ExactFloats exact;
  std::vector<float> x(1024), y(1024), result(1024);
  for (std::uint32_t i = 0; i < 1024; ++i) {
    x[i] = std::bit_cast<float>(i * 0x9e3779b9u);
    y[i] = std::bit_cast<float>(i * 0x85ebca6bu);
  }
  const void* in[] = {x.data(), y.data()};
  for (std::uint64_t block = 0; block < blocks; ++block) eval(1024, result.data(), in);
  std::printf("%llu elements\n", static_cast<unsigned long long>(blocks * 1024));
  return 0;
}

float from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// One over the spacing of f32 around a magnitude given as double. By bits, as it is half of the
// program's time otherwise.
double per_ulp(double exact) {
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(exact) >> 52 & 0x7ff) - 1023;
  const int ulp = std::clamp(exponent - 23, -149, 104);
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 - ulp) << 52);
}

double as_number(double value) {  // infinity, and all beyond, counts as 2^128
  return std::clamp(value, -0x1p128, 0x1p128);
}

// Negative when the result is wrong in kind.
double error_in_ulp(float result, double exact) {
  if (std::isnan(result) || std::isnan(exact)) {
    return std::isnan(result) && std::isnan(exact) ? 0.0 : -1.0;
  }
  if (std::signbit(result) != std::signbit(exact)) return -1.0;
  const double number = as_number(exact);
  return std::abs(as_number(result) - number) * per_ulp(number);
}

// MPFR's result at 96 bits, rounded to double: the rounding is 2^-30 f32 ulp.
template <class Compute>
double by_mpfr(float x, float y, Compute compute) {
  thread_local struct Numbers {
    mpfr_t result, first, second;
    Numbers() { mpfr_inits2(96, result, first, second, nullptr); }
    ~Numbers() { mpfr_clears(result, first, second, nullptr); }
  } numbers;
  mpfr_set_flt(numbers.first, x, MPFR_RNDN);
  mpfr_set_flt(numbers.second, y, MPFR_RNDN);
  compute(numbers.result, numbers.first, numbers.second);
  return mpfr_get_d(numbers.result, MPFR_RNDN);
}

// libm's double functions do not all get Annex F's signs and NaN from the
// same place as ours, so they are an independent word on the special values.
#define VYRE_UNARY(name)                                                                      \
  struct name##_function {                                                                    \
    static constexpr const char* kName = #name;                                               \
    static constexpr bool kBinary = false;                                                    \
    template <class A>                                                                        \
    static typename A::F evaluate(A& a, typename A::F x, typename A::F) {                     \
      return fn::name(a, x);                                                                  \
    }                                                                                         \
    static double libm(float x, float) { return std::name(static_cast<double>(x)); }          \
    static double exact(float x, float y) {                                                   \
      return by_mpfr(x, y, [](mpfr_t r, mpfr_t p, mpfr_t) { mpfr_##name(r, p, MPFR_RNDN); }); \
    }                                                                                         \
  };
#define VYRE_BINARY(name)                                                                          \
  struct name##_function {                                                                         \
    static constexpr const char* kName = #name;                                                    \
    static constexpr bool kBinary = true;                                                          \
    template <class A>                                                                             \
    static typename A::F evaluate(A& a, typename A::F x, typename A::F y) {                        \
      return fn::name(a, x, y);                                                                    \
    }                                                                                              \
    static double libm(float x, float y) {                                                         \
      return std::name(static_cast<double>(x), static_cast<double>(y));                            \
    }                                                                                              \
    static double exact(float x, float y) {                                                        \
      return by_mpfr(x, y, [](mpfr_t r, mpfr_t p, mpfr_t q) { mpfr_##name(r, p, q, MPFR_RNDN); }); \
    }                                                                                              \
  };
VYRE_UNARY(exp)
VYRE_UNARY(exp2)
VYRE_UNARY(log)
VYRE_UNARY(log2)
VYRE_UNARY(sin)
VYRE_UNARY(cos)
VYRE_UNARY(tan)
VYRE_UNARY(tanh)
VYRE_BINARY(pow)
VYRE_BINARY(atan2)

struct Finding {
  double error = 0;
  float x = 0, y = 0;
};

struct Measurement {
  std::uint64_t inputs = 0;
  std::uint64_t wrong = 0;
  Finding first_wrong;
  std::vector<Finding> worst;  // the largest errors, not sorted
  double reference_difference = 0;

  static constexpr std::size_t kKept = 256;
  double threshold = 0;

  void note(float x, float y, double error) {
    if (error < 0) {
      if (wrong++ == 0) first_wrong = {error, x, y};
    } else if (error > threshold) {
      worst.push_back({error, x, y});
      if (worst.size() >= 2 * kKept) shrink();
    }
  }
  void shrink() {
    if (worst.size() <= kKept) return;
    std::nth_element(worst.begin(), worst.begin() + kKept, worst.end(),
                     [](const Finding& p, const Finding& q) { return p.error > q.error; });
    threshold = worst[kKept].error;
    worst.resize(kKept);
  }
  void merge(const Measurement& other) {
    if (wrong == 0) first_wrong = other.first_wrong;
    inputs += other.inputs;
    wrong += other.wrong;
    worst.insert(worst.end(), other.worst.begin(), other.worst.end());
    reference_difference = std::max(reference_difference, other.reference_difference);
    shrink();
  }
};

constexpr std::size_t kBlock = 1024;

// Calls the functions that the interpreter calls.
template <class Function>
void measure_block(const float* x, const float* y, std::size_t count, Measurement& to) {
  static const vyre::EvalFn eval =
      vyre::find_eval(op_of(Function::kName), vyre::Type::F32, vyre::Type::F32);
  std::array<float, kBlock> results;
  const void* in[] = {x, y};
  eval(count, results.data(), in);
  for (std::size_t i = 0; i < count; ++i) {
    const double reference = Function::libm(x[i], y[i]);
    to.note(x[i], y[i], error_in_ulp(results[i], reference));
    if ((to.inputs + i) % 40009 == 0 && std::isfinite(reference)) {
      const double exact = as_number(Function::exact(x[i], y[i]));
      to.reference_difference = std::max(to.reference_difference,
                                         std::abs(exact - as_number(reference)) * per_ulp(exact));
    }
  }
  to.inputs += count;
}

// A small, fast generator (xorshift64*), seeded per thread.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::uint32_t bits() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>((state_ * 0x2545f4914f6cdd1du) >> 32);
  }
  double unit() { return bits() * 0x1p-32; }

 private:
  std::uint64_t state_;
};

// Pairs where pow has something to say: mostly exponents that keep the result
// in range, over all bases, near 1, and integers for negative bases.
void pair_for(const pow_function&, Random& random, float& x, float& y) {
  const std::uint32_t kind = random.bits() % 8;
  if (kind == 0) {  // anything
    x = from_bits(random.bits());
    y = from_bits(random.bits());
    return;
  }
  if (kind <= 3) {
    x = from_bits(random.bits() & 0x7fffffffu);
  } else if (kind <= 5) {
    x = static_cast<float>(0.5 + 1.5 * random.unit());
  } else {  // 1 +- 2^-1 .. 2^-24
    const double off = std::exp2(-1 - 23 * random.unit());
    x = static_cast<float>(random.bits() & 1 ? 1 + off : 1 - off);
  }
  const double target = -153 + 283 * random.unit();
  y = static_cast<float>(target / std::log2(static_cast<double>(x)));
  if (random.bits() % 8 == 0) {  // the ends of the range, where it is hardest
    const double end = random.bits() & 1 ? 128 - random.unit() / 4 : -126 + random.unit() / 4;
    y = static_cast<float>(end / std::log2(static_cast<double>(x)));
  }
  if (random.bits() % 8 == 0) {
    y = std::nearbyint(y);
    x = -x;
  }
}

// All ratios, and more of those near 1 and near the ends of f32's range.
void pair_for(const atan2_function&, Random& random, float& y, float& x) {
  x = from_bits(random.bits());
  y = from_bits(random.bits());
  if (random.bits() % 4 != 0) {
    const double ratio = std::exp2(40 * (random.unit() - 0.5) * (random.bits() & 1 ? 1.0 : 0.05));
    y = static_cast<float>(x * (random.bits() & 1 ? ratio : -ratio));
  }
}

std::vector<float> special_values() {
  std::vector<float> values;
  const float magnitudes[] = {0.0f,
                              0x1p-149f,
                              0x1.8p-148f,
                              0x1p-140f,
                              0x1.fffffcp-127f,
                              0x1p-126f,
                              0x1.000002p-126f,
                              0x1p-100f,
                              0x1p-64f,
                              0x1p-25f,
                              0x1p-24f,
                              0x1p-12f,
                              0.1f,
                              0.25f,
                              1.0f / 3,
                              0.5f,
                              0x1.fffffep-2f,
                              0x1.000002p-1f,
                              0.75f,
                              0x1.fffffep-1f,
                              1.0f,
                              0x1.000002p+0f,
                              1.5f,
                              2.0f,
                              2.5f,
                              3.0f,
                              4.0f,
                              5.0f,
                              10.0f,
                              24.0f,
                              25.0f,
                              126.0f,
                              127.0f,
                              128.0f,
                              129.0f,
                              148.0f,
                              149.0f,
                              149.5f,
                              150.0f,
                              151.0f,
                              255.0f,
                              1000.0f,
                              1001.0f,
                              0x1.fffffcp+22f,
                              0x1.fffffep+22f,
                              0x1p23f,
                              0x1.000002p23f,
                              0x1.fffffep+23f,
                              0x1p24f,
                              0x1.000002p+24f,
                              0x1p25f,
                              0x1p31f,
                              0x1p33f,
                              0x1p40f,
                              0x1p64f,
                              0x1p100f,
                              0x1p127f,
                              0x1.fffffep+127f,
                              std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN()};
  for (float magnitude : magnitudes) {
    values.push_back(magnitude);
    values.push_back(-magnitude);
  }
  return values;
}

template <class Function>
Measurement measure(std::uint64_t stride, std::uint64_t pairs, unsigned thread, unsigned threads) {
  Measurement to;
  std::array<float, kBlock> x{}, y{};
  if constexpr (Function::kBinary) {
    if (thread == 0) {
      const std::vector<float> values = special_values();
      for (float first : values) {
        std::copy(values.begin(), values.end(), y.begin());
        std::fill(x.begin(), x.end(), first);
        measure_block<Function>(x.data(), y.data(), values.size(), to);
      }
      // Every base with the powers everybody uses, one in 4096.
      for (float second : {-2.0f, -1.0f, -0.5f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f}) {
        y.fill(second);
        std::size_t filled = 0;
        for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 4093) {
          x[filled++] = from_bits(static_cast<std::uint32_t>(bits));
          if (filled == kBlock) {
            measure_block<Function>(x.data(), y.data(), kBlock, to);
            filled = 0;
          }
        }
      }
    }
    Random random(thread + 1);
    for (std::uint64_t done = 0; done < pairs / threads; done += kBlock) {
      for (std::size_t i = 0; i < kBlock; ++i) {
        pair_for(Function{}, random, x[i], y[i]);
      }
      measure_block<Function>(x.data(), y.data(), kBlock, to);
    }
  } else {
    std::size_t filled = 0;
    for (std::uint64_t bits = thread * stride; bits < 1ull << 32; bits += stride * threads) {
      x[filled++] = from_bits(static_cast<std::uint32_t>(bits));
      if (filled == kBlock) {
        measure_block<Function>(x.data(), y.data(), kBlock, to);
        filled = 0;
      }
    }
    measure_block<Function>(x.data(), y.data(), filled, to);
    if (thread == 0) {
      const std::vector<float> values = special_values();
      measure_block<Function>(values.data(), y.data(), values.size(), to);
    }
  }
  to.shrink();
  return to;
}

template <class Function>
bool report(std::uint64_t stride, std::uint64_t pairs, unsigned threads) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Measurement> parts(threads);
  std::vector<std::thread> workers;
  for (unsigned thread = 0; thread < threads; ++thread) {
    workers.emplace_back(
        [&, thread] { parts[thread] = measure<Function>(stride, pairs, thread, threads); });
  }
  for (std::thread& worker : workers) worker.join();
  Measurement all;
  for (const Measurement& part : parts) all.merge(part);

  Finding worst;
  fn::NativeAlgebra native;
  for (const Finding& finding : all.worst) {
    const double exact = Function::exact(finding.x, finding.y);
    const float result = Function::evaluate(native, finding.x, finding.y);
    const double error = error_in_ulp(result, exact);
    if (error < 0) ++all.wrong;
    all.reference_difference = std::max(all.reference_difference, std::abs(error - finding.error));
    if (error > worst.error) worst = {error, finding.x, finding.y};
  }

  const OpCounts n = count_ops(Function::kName);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  char where[64];
  if (Function::kBinary) {
    std::snprintf(where, sizeof where, "%a, %a", worst.x, worst.y);
  } else {
    std::snprintf(where, sizeof where, "%a", worst.x);
  }
  std::printf(
      "%-6s %11llu %8.4f  %-32s %5llu | %4d %4d %4d %4d %4d %4d %4d %4d %4d %5d | "
      "%.1e %6.0f\n",
      Function::kName, static_cast<unsigned long long>(all.inputs), worst.error, where,
      static_cast<unsigned long long>(all.wrong), n.total(), n.fma, n.arithmetic, n.div, n.integer,
      n.multiply, n.convert, n.choice, n.bitcast, n.constants, all.reference_difference, seconds);
  if (all.wrong != 0) {
    const Finding& w = all.first_wrong;
    std::printf("       wrong, for example: %s(%a, %a) = %a, not %a\n", Function::kName, w.x, w.y,
                Function::evaluate(native, w.x, w.y), Function::libm(w.x, w.y));
  }
  std::fflush(stdout);
  return all.wrong == 0 && worst.error <= 2.0;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t stride = 1, pairs = 0, blocks = 0;
  unsigned threads = 1;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--stride=")) {
      stride = std::strtoull(argv[i] + 9, nullptr, 10);
    } else if (argument.starts_with("--threads=")) {
      threads = static_cast<unsigned>(std::strtoul(argv[i] + 10, nullptr, 10));
    } else if (argument.starts_with("--pairs=")) {
      pairs = std::strtoull(argv[i] + 8, nullptr, 10);
    } else if (argument.starts_with("--blocks=")) {
      blocks = std::strtoull(argv[i] + 9, nullptr, 10);
    } else if (argument.starts_with("-")) {
      std::fprintf(stderr, "unknown option %s\n", argv[i]);
      return 2;
    } else {
      names.push_back(argument);
    }
  }
  if (blocks != 0) return names.empty() ? 2 : evaluate(names[0], blocks);
  stride = std::max<std::uint64_t>(stride, 1);
  threads = std::max(threads, 1u);
  if (pairs == 0) pairs = (1ull << 28) / stride;

  std::printf("%-6s %11s %8s  %-32s %5s | %4s %4s %4s %4s %4s %4s %4s %4s %4s %5s | %s %s\n", "",
              "inputs", "ulp", "at", "wrong", "ops", "fma", "f32", "div", "int", "imul", "cvt",
              "sel", "bits", "const", "ref diff", "seconds");
  bool good = true;
  auto run = [&](auto function) {
    using Function = decltype(function);
    if (names.empty() || std::find(names.begin(), names.end(), Function::kName) != names.end()) {
      good &= report<Function>(stride, pairs, threads);
    }
  };
  run(exp_function{});
  run(exp2_function{});
  run(log_function{});
  run(log2_function{});
  run(sin_function{});
  run(cos_function{});
  run(tan_function{});
  run(tanh_function{});
  run(pow_function{});
  run(atan2_function{});
  return good ? 0 : 1;
}
