#include "tests/plan/split/split_control_util.h"

#include <fmt/format.h>

#include <vector>

namespace vyre::plan {
namespace {

class ControlWriter {
 public:
  explicit ControlWriter(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}

  std::string run() {
    out_ = fmt::format(
        "kernel k(x: in u32[], n: u32, t: scratch u32[{0}], y: out u32[{0}]) workgroup({1}) "
        "grid({0}) {{\n",
        lanes, below(2) ? 8 : 5);
    out_ += "shared s: u32[9]\nvar w: u32[3]\nlet i = global_id.x\nlet l = local_id.x\n";
    out_ += "var a: u32 = i\nvar b: u32 = x[i]\nvar g: u32 = 1\n";
    block(3, 0);
    out_ += "s[l] = s[l] + 1\nbarrier workgroup\n";
    out_ += "y[i] = a + b * 3 + g * 7 + s[l] + s[8] + w[1] + w[2]\n}\n";
    return out_;
  }

 private:
  static constexpr uint32_t lanes = 40;

  uint32_t below(uint32_t n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<uint32_t>((state_ >> 20) % n);
  }

  /// The same for the whole grid.
  std::string uniform() {
    std::vector<std::string> list = {"n",     "x[n]",     "x[2]",
                                     "g % 5", "x[g % 7]", fmt::format("{}", below(4))};
    for (const std::string& loop : counters_) list.push_back(loop);
    return list[below(static_cast<uint32_t>(list.size()))];
  }
  std::string condition() {
    constexpr const char* compare[] = {"<", "==", ">", "!="};
    // Named in order: the evaluation order of arguments is unspecified.
    const std::string right = uniform();
    const char* const symbol = compare[below(4)];
    return fmt::format("{} {} {}", uniform(), symbol, right);
  }

  void block(int depth, int loops) {
    const uint32_t count = 1 + below(depth == 3 ? 6 : 4);
    for (uint32_t k = 0; k < count; ++k)
      if (!statement(depth, loops)) return;
  }

  void barrier() { out_ += "barrier grid\n"; }

  /// Gives false if it leaves the block.
  bool statement(int depth, int loops) {
    switch (below(depth == 0 ? 8 : 13)) {
      case 0: barrier(); break;
      case 1:  // everybody reads what another wrote
        out_ += "t[i] = a + g\n";
        barrier();
        out_ += fmt::format("b = b + t[(i + {}) % {}]\n", 1 + below(30), lanes);
        barrier();
        break;
      case 2: out_ += fmt::format("a = a * 3 + {}\n", uniform()); break;
      case 3: out_ += fmt::format("g = g + {} + 1\n", uniform()); break;
      case 4: {
        const uint32_t from = below(3);
        out_ += fmt::format("s[l] = s[l] + b\nw[{}] = w[{}] + a\n", below(3), from);
        break;
      }
      case 5: {  // a workgroup's business in uniform flow
        const std::string added = uniform();
        out_ += fmt::format(
            "if {} {{\nbarrier workgroup\nif l == 2 {{ s[8] = s[8] + {} }}\nbarrier workgroup\na = "
            "a + s[8]\nbarrier workgroup\n}}\n",
            condition(), added);
        break;
      }
      case 6:
        barrier();
        out_ += fmt::format("if i == {} {{ t[{}] = g }}\n", below(lanes), lanes - 1);
        out_ += fmt::format("g = (g + uniform_load(t[{}], grid)) % 11\n", lanes - 1);
        break;
      case 7: return leave(loops);
      case 8:
      case 9:
        out_ += fmt::format("if {} {{\n", condition());
        block(depth - 1, loops);
        if (below(2)) {
          out_ += "} else {\n";
          block(depth - 1, loops);
        }
        out_ += "}\n";
        break;
      case 10: counted_loop(depth, loops); break;
      case 11: while_loop(depth, loops); break;
      default:
        out_ += fmt::format("region \"r{}\" {{\n", below(100));
        block(depth - 1, loops);
        out_ += "}\n";
        break;
    }
    return true;
  }

  bool leave(int loops) {
    const uint32_t how = below(3);
    if (how == 0 && below(3) != 0) return true;  // returns end too much
    const char* const exit = how == 0 ? "return" : how == 1 ? "break" : "continue";
    if (how != 0 && loops == 0) return true;
    if (below(6) == 0 && how != 0) {
      out_ += fmt::format("{}\n", exit);
      return false;
    }
    out_ += fmt::format("if {} {{\na = a + 5\n{}{}\n}}\n", condition(),
                        how == 0 ? "y[i] = a\n" : "", exit);
    return true;
  }

  void counted_loop(int depth, int loops) {
    const std::string name = fmt::format("j{}", names_++);
    const uint32_t step = 1 + below(3);
    const std::string end = below(2) ? std::to_string(below(6)) : "x[n]";
    out_ += fmt::format("for {} in {}..{} step {} {{\n", name, below(3), end, step);
    counters_.push_back(name);
    block(depth - 1, loops + 1);
    counters_.pop_back();
    out_ += "}\n";
  }

  void while_loop(int depth, int loops) {
    const std::string name = fmt::format("c{}", names_++);
    std::string test = fmt::format("{} < {}", name, below(2) ? "n" : "3");
    if (below(3) == 0)
      test = fmt::format("uniform_load(t[{}], grid) % 7 + {} < 6", lanes - 1, name);
    out_ += fmt::format("var {}: u32 = {}\nwhile {} {{\n{} = {} + 1\n", name, below(2), test, name,
                        name);
    counters_.push_back(name);
    block(depth - 1, loops + 1);
    counters_.pop_back();
    out_ += "}\n";
  }

  uint64_t state_;
  int names_ = 0;
  std::string out_;
  std::vector<std::string> counters_;
};

}  // namespace

std::string random_control(uint64_t seed) { return ControlWriter(seed).run(); }

}  // namespace vyre::plan
