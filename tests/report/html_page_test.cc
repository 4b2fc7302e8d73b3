// The page as text; html_browser_test.cc opens it.

#include "report/html_page.h"

#include <gtest/gtest.h>

#include <map>

#include "support/json.h"
#include "tests/report/schema_util.h"

namespace vyre::report {
namespace {

using Json = nlohmann::json;

size_t occurrences(std::string_view text, std::string_view piece) {
  size_t n = 0;
  for (size_t at = text.find(piece); at != text.npos; at = text.find(piece, at + 1)) ++n;
  return n;
}

/// Returns the JSON in the element with this id.
Json data(const std::string& page, const std::string& id) {
  const size_t at = page.find("id=\"" + id + "\">");
  const size_t begin = page.find('>', at) + 1;
  return try_parse_json<Json>(page.substr(begin, page.find("</script>", begin) - begin));
}

RunReport sample() {
  RunReport r;
  r.program = "k";
  r.file = "k.vyre";
  opt::RunReport o;
  o.program = "k";
  o.profile = "release";
  Listing before;
  before.add("kernel k() {", {});
  before.add("  %0 = const 1 : u32", {"k.vyre", 2, 7, 1});
  o.text = std::make_shared<const Listing>(before);
  o.runs.resize(2);
  o.runs[0].iteration = o.runs[1].iteration = o.iterations = 1;
  o.runs[1].decision = opt::PassDecision::Changed;
  Listing after;
  after.add("kernel k() {", {});
  o.runs[1].text = std::make_shared<const Listing>(after);
  r.optimizer = {o};
  Listing code;
  code.language = "x86-64-v3 assembly";
  code.add("  ret", {"lib.vyre", 9, 1, 1});
  code.add("  nop", {"k.vyre", 2, 7, 1});
  r.code = {{"k", false, {code}}};
  r.sources = {
      {"k.vyre", "kernel k() {\n}\n"}, {"lib.vyre", "fn f() {}\n"}, {"other.vyre", "unused"}};
  r.spans = {{"parse", "host", 5, 10}, {"k", "device", 20, 3, 1}};
  return r;
}

TEST(HtmlPage, holds_the_report_as_the_schema_has_it) {
  const Json report = data(to_html(sample()), "vyre-report");
  EXPECT_EQ(schema_errors(read_schema("run_report"), report), std::vector<std::string>{});
  EXPECT_EQ(report, parse_json<Json>(to_json(sample())));
}

TEST(HtmlPage, holds_programs_code_and_the_sources_they_point_into) {
  const Json l = data(to_html(sample()), "vyre-listings");
  EXPECT_EQ(l["passes"][0]["before"]["lines"],
            parse_json<Json>(R"([["kernel k() {"], ["  %0 = const 1 : u32", 2, 7]])"));
  EXPECT_TRUE(l["passes"][0]["after"][0].is_null());
  EXPECT_EQ(l["passes"][0]["after"][1]["lines"].size(), 1u);
  EXPECT_EQ(l["code"][0]["segments"][0]["files"], Json({"lib.vyre", "k.vyre"}));
  EXPECT_EQ(l["code"][0]["segments"][0]["lines"],
            parse_json<Json>(R"([["  ret", 9, 1], ["  nop", 2, 7, 1]])"));
  EXPECT_EQ(l["sources"].size(), 2u);  // no location is in the third
  EXPECT_EQ(l["spans"],
            parse_json<Json>(R"([["parse", "host", 5, 10], ["k", "device", 20, 3, 1]])"));
}

TEST(HtmlPage, holds_the_source_lines_of_diagnostics_and_their_notes) {
  RunReport r = sample();
  r.sources["k.vyre"] = "kernel k() {\n\tbad\n}\n";
  Diagnostic d = diagnose(Code::Trapped, {"k.vyre", 2, 2, 3}, "it trapped");
  d.note("from here", {"lib.vyre", 1, 4, 1}).note("without a place");
  r.diagnostics = {d, diagnose(Code::Trapped, {"k.vyre", 9, 1, 1}, "past the end")};
  EXPECT_EQ(data(to_html(r), "vyre-listings")["excerpts"],
            parse_json<Json>(R"([[["    bad", 4, 3], ["fn f() {}", 3, 1], null], [null]])"));
}

TEST(HtmlPage, holds_the_pixels_of_pictures) {
  RunReport r = sample();
  r.pictures = {{.name = "y", .width = 2, .height = 2, .shown_width = 2, .shown_height = 2}};
  r.pictures[0].is_gray = true;
  r.pictures[0].white = 7;
  for (const auto& [pixels, text] :
       std::map<std::vector<uint8_t>, std::string>{{{}, ""},
                                                   {{255}, "/w=="},
                                                   {{0, 128}, "AIA="},
                                                   {{1, 2, 3}, "AQID"},
                                                   {{251, 239, 190, 255}, "++++/w=="}}) {
    r.pictures[0].pixels = pixels;
    const Json p = data(to_html(r), "vyre-listings")["pictures"][0];
    EXPECT_EQ(p["pixels"], text);
    EXPECT_EQ(p["shown"], Json({2, 2}));
    EXPECT_EQ(p["white"], 7);
  }
}

TEST(HtmlPage, no_text_can_leave_its_place) {
  RunReport r = sample();
  const std::string bad =
      "</script><img src=x onerror=alert(1)><!--<script>{{script}}\xff\xe2\x80\xa8";
  r.program = r.file = r.device = r.chosen_because = bad;
  r.command = {bad};
  r.buffers = {{bad, "in", "u32", 1, 4, {bad}}};
  r.commit = r.host = r.system = r.date = r.not_measured = bad;
  r.pictures = {{.name = bad}};
  r.optimizer[0].op_id = bad;
  r.code[0].kernel = bad;
  Listing listing;
  listing.add(bad, {bad, 1, 1, 1});
  r.code[0].segments = {listing};
  r.sources = {{bad, bad}};
  r.spans = {{bad, bad, 0, 1}};
  r.graph.emplace();
  r.graph->launches.resize(1);
  r.graph->launches[0].kernel = bad;
  r.graph->launches[0].calls = {{0, 1, bad}};
  r.graph->launches[0].elided = {{GraphBufferId(0), bad, 4, true}};
  r.graph->refusals = {{0, 1, bad}};
  r.graph->gone = {{GraphBufferId(0), bad, 4, 4, {}, {{0, 0}}}};
  r.graph->buffers = {{GraphBufferId(0), bad, 4, true, true}};
  r.diagnostics = {diagnose(Code::Trapped, {bad, 1, 1, 1}, bad)};
  r.diagnostics[0].note(bad, {bad, 1, 1, 1}).with_fix(bad);
  r.diagnostics[0].op = bad;
  const std::string page = to_html(r), plain = to_html(sample());
  for (const char* piece : {"</script", "<script", "<!--", "<img"})
    EXPECT_EQ(occurrences(page, piece), occurrences(plain, piece)) << piece;
  // The piece that looks like a hole is filled once, by ours.
  EXPECT_EQ(occurrences(page, "drawPage();"), occurrences(plain, "drawPage();"));
  EXPECT_EQ(
      data(page, "vyre-listings")["code"][0]["kernel"].get<std::string>().find("</script><img"),
      0u);
  EXPECT_FALSE(data(page, "vyre-report").is_discarded());
}

TEST(HtmlPage, needs_nothing_from_outside_and_parses_no_markup) {
  const std::string page = to_html({});
  for (const char* piece :
       {"http://", "https://", "src=", "@import", "url(", "innerHTML", "outerHTML",
        "insertAdjacentHTML", "document.write", "eval(", "fetch(", "XMLHttpRequest"}) {
    const size_t allowed =
        piece == std::string_view("http://") ? occurrences(page, "http://www.w3.org/2000/svg") : 0;
    EXPECT_EQ(occurrences(page, piece), allowed) << piece;
  }
  EXPECT_NE(page.find("default-src 'none'"), page.npos);
  EXPECT_EQ(page.find("{{"), page.npos);
}

}  // namespace
}  // namespace vyre::report
