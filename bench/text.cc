// Parse + check of generated programs: seconds for 100,000 ops, and how the cost of an op grows.
//
//   build/release/bin/bench_text               time of parse, check and print at several sizes
//   build/release/bin/bench_text --once OPS    parse + check once, for `valgrind --tool=callgrind`
//   scripts/count-parse                        instructions an op at 1k and 100k ops, by callgrind

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "check/check.h"
#include "ir/stats.h"
#include "text/parse.h"
#include "text/print.h"

namespace {

/// Straight code, loops, ifs, loads and stores in the proportions of real kernels.
std::string generate(int ops) {
  std::string s =
      "fn mix(a: u32, b: u32) -> u32 {\n  if a > b { return a - b }\n  return (a ^ b) * 3\n}\n";
  s += "kernel big(x: in u32[], f: in f32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {\n";
  s += "  let i = global_id.x\n  var acc: u32 = x[i]\n  var t: f32 = f[i]\n";
  for (int k = 0, made = 0; made < ops; ++k) {  // 40 ops per iteration
    s += fmt::format("  let a{} = x[i + {}] * {} + acc\n", k, k % 100, k % 977);
    s += fmt::format("  acc = acc ^ rotl(a{}, {}) + mix(a{}, acc)\n", k, k % 31, k);
    s += fmt::format(
        "  if a{} > {} {{\n    t = fma(t, 1.5, {}.25)\n    acc += 1\n  }} else {{\n    acc -= "
        "u32(t)\n  }}\n",
        k, k, k % 64);
    s += fmt::format(
        "  for j in 0..{} {{\n    acc += x[j] & {}\n    if acc == {} {{ break }}\n  }}\n", k % 9,
        k % 255, k);
    s += fmt::format("  y[i + {}] = acc\n", k % 17);
    made += 40;
  }
  return s + "  y[i] = acc + u32(t)\n}\n";
}

double seconds(auto&& fn) {
  const auto begin = std::chrono::steady_clock::now();
  fn();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace vyre;
  if (argc == 3 && std::string(argv[1]) == "--once") {
    const ParseOutcome r = parse(generate(std::atoi(argv[2])));
    if (!r.module || has_errors(check(*r.module))) return 1;
    fmt::print("{} ops\n", stats(r.module->kernels[0]).ops);
    return 0;
  }
  fmt::print("{:>9} {:>10} {:>10} {:>10} {:>10} {:>12}\n", "ops", "source KB", "parse ms",
             "check ms", "print ms", "ns an op");
  for (int target : {1000, 10000, 100000}) {
    const std::string source = generate(target);
    ParseOutcome r;
    Diagnostics d;
    std::string text;
    const double p = seconds([&] { r = parse(source); });
    if (!r.module) return 1;
    const double c = seconds([&] { d = check(*r.module); });
    const double w = seconds([&] { text = print(*r.module); });
    const double n = double(stats(r.module->kernels[0]).ops);
    if (has_errors(d)) return 1;
    fmt::print("{:>9} {:>10} {:>10.2f} {:>10.2f} {:>10.2f} {:>12.0f}\n", n, source.size() / 1024,
               p * 1e3, c * 1e3, w * 1e3, (p + c) * 1e9 / n);
  }
}
