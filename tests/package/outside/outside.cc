// Uses the installed package as an external project does: a kernel from C++, one from text, and
// errors.

#include <vyre/vyre.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

vyre::Result<vyre::Program> saxpy() {
  using namespace vyre;
  Kernel k("saxpy");
  Val a = k.scalar(Type::F32, "a");
  Buf x = k.in(Type::F32, "x"), y = k.inout(Type::F32, "y");
  k.workgroup(64).grid(k.len(y));
  Val i = k.global_id();
  Val xi = x[i], yi = y[i];
  y[i] = fma(a, xi, yi);
  return k.finish();
}

const char* const squares =
    "kernel squares(n: u32, y: out u32[n]) workgroup(32) grid(n) {\n"
    "  let i = global_id.x\n"
    "  y[i] = i * i\n"
    "}\n";

void complain(const vyre::Diagnostics& list, const vyre::Sources& sources = {}) {
  std::fputs(vyre::render(list, sources).c_str(), stdout);
}

bool run_saxpy(const vyre::Program& program) {
  const auto inputs = vyre::NamedInputs(program)
                          .set("a", 2.0)
                          .set("x", std::vector<float>{1, 2, 3})
                          .set("y", std::vector<float>{10, 20, 30})
                          .finish();
  if (!inputs) return complain(inputs.errors()), false;
  const auto outcome = vyre::interp::run(program, *inputs);
  if (!outcome) return complain(outcome.errors()), false;
  const auto y = vyre::output_of<float>(program, outcome->buffers, "y");
  if (!y) return complain(y.errors()), false;
  std::printf("saxpy:");
  for (const float v : *y) std::printf(" %g", double(v));
  std::printf("\n");
  return true;
}

bool run_squares(const vyre::Program& program) {
  vyre::LaunchInputs inputs;  // by hand, and shorter than the list of buffers
  inputs.data = {vyre::bytes_of(uint32_t{6})};
  vyre::interp::Options options;
  options.time_limit = 60;
  // Runs share nothing: two threads, one program.
  std::vector<uint32_t> results[2];
  {
    std::vector<std::thread> threads;
    for (auto& result : results)
      threads.emplace_back([&] {
        const auto outcome = vyre::interp::run(program, inputs, options);
        if (outcome) result = vyre::values_of<uint32_t>(outcome->buffers[1]);
      });
    for (std::thread& t : threads) t.join();
  }
  std::printf("squares:");
  for (const uint32_t v : results[0]) std::printf(" %u", v);
  std::printf("%s\n", results[0] == results[1] ? "" : " (the threads differ)");
  return true;
}

bool show_mistakes() {
  const vyre::ParseOutcome parsed = vyre::parse("kernel k(y: out u32[1]) {\n  y[0] = 1.5\n}\n");
  std::printf("a mistake: %s\n", vyre::to_string(parsed.diagnostics.at(0).code).c_str());

  const auto program = saxpy();
  const auto outcome = vyre::interp::run(*program, {});  // no inputs
  std::printf("no inputs: %s\n", outcome ? "accepted" : "refused");
  return !parsed.module && !outcome && vyre::classify(outcome.errors()) == vyre::Failure::BadInput;
}

}  // namespace

int main() {
  std::printf("vyre %s\n", VYRE_VERSION);

  const auto built = saxpy();
  if (!built) return complain(built.errors()), 1;
  if (const auto found = vyre::check(*built); vyre::has_errors(found)) return complain(found), 1;
  if (!run_saxpy(*built)) return 1;

  const vyre::ParseOutcome parsed = vyre::parse(squares);
  if (!parsed.module) return complain(parsed.diagnostics, parsed.sources), 1;
  if (const auto found = vyre::check(*parsed.module); vyre::has_errors(found))
    return complain(found, parsed.sources), 1;
  if (!run_squares(parsed.module->kernels.at(vyre::find_kernel(*parsed.module, "squares"))))
    return 1;

  const auto again = vyre::decode_program(vyre::encode(*built));
  const auto printed = vyre::parse(vyre::print(*built));
  if (!again || !printed.module) return 1;
  const bool same = vyre::fingerprint(*again) == vyre::fingerprint(*built) &&
                    vyre::fingerprint(printed.module->kernels[0]) == vyre::fingerprint(*built);
  std::printf("wire and text: %s\n", same ? "the same program" : "another program");

  return show_mistakes() && same ? 0 : 1;
}
