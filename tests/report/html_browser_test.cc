// Pages of `vyre run --report F.html` in a browser: page_checks.py clicks through them.
// VYRE_PAGE_PICTURES=folder keeps the pages and pictures of them.

#include <cstdlib>

#include "support/file.h"
#include "tests/cli/cli_util.h"
#include "tests/report/graph_report_util.h"

namespace vyre {
namespace {

class HtmlPages : public CommandLine {
 protected:
  /// Runs vyre, then the check on the page that it wrote.
  void check(const std::string& name, std::vector<std::string> words, int exit_code = 0) const {
    words.insert(words.end(), {"--report", "page.html"});
    expect_exit(vyre(words), exit_code);
    std::vector<std::string> command = checker(name, path("page.html"));
    if (const char* pictures = std::getenv("VYRE_PAGE_PICTURES")) {
      command.push_back(std::string(pictures) + "/" + name);
      std::filesystem::create_directories(command.back());
      EXPECT_FALSE(write_file(command.back() + "/page.html", contents("page.html")));
    }
    expect_good(command);
  }

  static std::vector<std::string> checker(const std::string& name, const std::string& page) {
    return {"python3", "-B", VYRE_SOURCE_DIR "/tests/report/page_checks.py", name, page};
  }

  static void expect_good(const std::vector<std::string>& command) {
    const ProcessResult r = run_process(command);
    if (r.start_error != 0 || r.exit_code == 77)
      GTEST_SKIP() << "python3 or chromium is not there: the page was not opened";
    EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  }

  static std::string example(const std::string& name) {
    return std::string(VYRE_SOURCE_DIR) + "/examples/" + name;
  }
  /// The CPU backend if it is there.
  std::string compiled() const {
    return vyre({"devices"}).out.find("cpu") != std::string::npos ? "cpu" : "interp";
  }
};

TEST_F(HtmlPages, compare_programs_by_ops_and_places_and_not_by_numbers) {
  expect_good(checker("diff", VYRE_SOURCE_DIR "/src/report/page/20_diff.js"));
}

TEST_F(HtmlPages, show_what_each_pass_did_and_the_code) {
  check("kernel", {"run", example("matmul.vyre"), "--set", "m=48", "--set", "k=20", "--set", "n=33",
                   "--in", "a=random:960", "--in", "b=random:660", "--backend", compiled(), "--opt",
                   "release", "--repeat", "20"});
}

TEST_F(HtmlPages, of_the_interpreter_show_the_program_that_runs) {
  check("kernel",
        {"run", example("matmul.vyre"), "--set", "m=4", "--set", "k=3", "--set", "n=5", "--in",
         "a=random:12", "--in", "b=random:15", "--backend", "interp", "--opt", "release"});
}

TEST_F(HtmlPages, show_every_kernel_of_a_graph) {
  check("graph", {"run", example("bfs.vyre"), "--set", "source=0", "--in", "offsets=0,2,3,4,5,5,6",
                  "--in", "targets=1,2,3,3,4,0", "--backend", compiled(), "--opt", "release"});
}

TEST_F(HtmlPages, show_the_plan_and_the_memory_of_a_graph) {
  file("g.vyre", report::pipeline_graph);
  check("planned", {"run", "g.vyre", "--in", "x=random:4096", "--set", "rounds=3", "--backend",
                    compiled(), "--opt", "release"});
}

TEST_F(HtmlPages, show_what_is_handed_over_in_shared_memory) {
  // Decoding and searching are fused on every device; the weights of the last call stay in memory.
  file("g.vyre", read_file(example("hex_newlines.vyre")).bytes + R"(
kernel weigh(w: out u32[16]) workgroup(16) grid(16) { w[global_id.x] = global_id.x + 1 }
kernel total(w: in u32[], counts: in u32[], sum: out u32[16]) workgroup(16) grid(16) {
  for i in 0..len(counts) { sum[global_id.x] += counts[i] * w[global_id.x] }
}
graph lines(text: in u16[], bits: out u32[ceil_div(len(text), 32)], counts: out u32[ceil_div(len(text), TILE)],
            sum: out u32[16]) {
  buffer w: u32[16]
  buffer bytes: u8[len(text)]
  call weigh(w)
  call decode(text, bytes)
  call find_newlines(bytes, bits, counts)
  call total(w, counts, sum)
}
)");
  check("handoff", {"run", "g.vyre:lines", "--in", "text=random:100000", "--backend", compiled(),
                    "--opt", "release"});
}

TEST_F(HtmlPages, show_thousands_of_calls_as_few_spans) {
  file("g.vyre", report::pipeline_graph);
  check("calls", {"run", "g.vyre", "--in", "x=random:64", "--set", "rounds=2000", "--backend",
                  compiled(), "--opt", "release"});
}

TEST_F(HtmlPages, do_not_draw_graphs_of_many_launches) {
  std::string calls;
  for (int i = 0; i < 61; ++i) calls += "  call twice(x)\n";
  file("g.vyre",
       "kernel twice(x: inout u32[]) workgroup(64) grid(len(x)) { x[global_id.x] *= 2 }\n"
       "graph g(x: inout u32[]) {\n" +
           calls + "}\n");
  check("many", {"run", "g.vyre", "--in", "x=1,2,3", "--plan", "none", "--backend", "interp"});
}

TEST_F(HtmlPages, of_a_run_without_a_device_show_why) {
  file("k.vyre", "kernel k(y: out u32[4]) workgroup(4) grid(4) { y[global_id.x] = 1 }\n");
  check("absent", {"run", "k.vyre", "--backend", "nothing"}, 2);
}

TEST_F(HtmlPages, of_a_failed_run_show_its_error) {
  file("k.vyre",
       "fn helper(i: u32) -> u32 {\n\tassert(i < 2, 9) // </script>\n  return i\n}\n"
       "kernel k(y: out u32[4]) workgroup(4) grid(4) {\n"
       "  y[global_id.x] = helper(global_id.x)\n}\n");
  check("failed", {"run", "k.vyre", "--opt", "release"}, 1);
}

TEST_F(HtmlPages, of_a_program_with_errors_show_all_of_them) {
  file("k.vyre",
       "kernel k(y: out u32[4]) workgroup(4) grid(4) {\n  y[0] = </script><b>\n"
       "  y[1] = a\xe2\x80\xae + 1\n}\n");
  check("refused", {"run", "k.vyre"}, 2);
}

TEST_F(HtmlPages, show_hostile_names_as_text) {
  const std::string bad = "</script><img src=x onerror=hostile=1>";
  const std::string name = "<!--<script>&amp;.vyre";
  file(name, "kernel k(y: inout u32[4]) workgroup(4) grid(4) op_id(\"" + bad +
                 "\") {\n  region \"" + bad +
                 "\" {\n    y[global_id.x] = y[global_id.x] * 8 + 0\n  }\n}\n");
  check("hostile", {"run", name, "--in", "y=1,2,3,4", "--backend", compiled(), "--opt", "release"});
}

}  // namespace
}  // namespace vyre
