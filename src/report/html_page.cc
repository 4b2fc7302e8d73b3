#include "report/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "diagnostics/source_line.h"
#include "support/embedded_files.h"
#include "support/hash.h"
#include "support/json.h"

namespace vyre::report {
namespace {

using Json = nlohmann::ordered_json;

/// JSON as text inside a <script>: nothing in it can end the element or begin a comment.
std::string inside_script(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

/// Lines as [text, line, column, file], without trailing zeros, because pages of large programs
/// have many lines.
Json lines_of(const Listing& listing) {
  Json lines = Json::array();
  for (const ListingLine& l : listing.lines) {
    Json line = Json::array({l.text});
    if (l.line != 0) line.insert(line.end(), {l.line, l.column});
    if (l.file != 0) line.push_back(l.file);
    lines.push_back(std::move(line));
  }
  return lines;
}

Json listing_of(const Listing& listing) {
  return {{"language", listing.language}, {"files", listing.files}, {"lines", lines_of(listing)}};
}

/// The texts of a kernel's passes: `before` all of them, and after each run; null where the run
/// changed nothing or the text was not kept.
Json texts_of(const opt::RunReport& kernel) {
  Json after = Json::array();
  for (const opt::PassRun& run : kernel.runs)
    after.push_back(run.text ? listing_of(*run.text) : Json());
  return {{"before", kernel.text ? listing_of(*kernel.text) : Json()}, {"after", after}};
}

Json code_of(const KernelCode& code) {
  Json segments = Json::array();
  for (const Listing& s : code.segments) segments.push_back(listing_of(s));
  return {{"kernel", code.kernel}, {"is_program", code.is_program}, {"segments", segments}};
}

/// [name, track, begin, time], and the launch of spans that are one of a graph.
Json spans_of(const RunReport& r) {
  Json spans = Json::array();
  for (const Span& s : r.spans) {
    spans.push_back({s.name, s.track, s.begin_ns, s.ns});
    if (s.launch != Span::no_launch) spans.back().push_back(s.launch);
  }
  return spans;
}

/// [text, column of the mark, its length] of the source line of a location; null if it is unknown.
Json excerpt_of(SourceLines& lines, const Place& at) {
  const std::optional<std::string_view> line = lines.find(at.file, at.line);
  if (!line) return {};
  const Excerpt shown = excerpt(*line, at.column, at.length);
  return Json::array({shown.text, shown.mark_at, shown.mark_length});
}

/// By diagnostic: its source line and those of its notes, as a terminal shows them.
Json excerpts_of(const RunReport& r) {
  SourceLines lines(r.sources);
  Json list = Json::array();
  for (const Diagnostic& d : r.diagnostics) {
    Json excerpts = Json::array({excerpt_of(lines, d.place)});
    for (const Note& n : d.notes) excerpts.push_back(excerpt_of(lines, n.place));
    list.push_back(std::move(excerpts));
  }
  return list;
}

std::string base64(const std::vector<uint8_t>& bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < n ? bytes[i + k] : 0u);
    for (size_t k = 0; k < 4; ++k) text += k <= n ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

Json pictures_of(const RunReport& r) {
  Json list = Json::array();
  for (const Picture& p : r.pictures)
    list.push_back({{"name", p.name},
                    {"width", p.width},
                    {"height", p.height},
                    {"shown", {p.shown_width, p.shown_height}},
                    {"gray", p.is_gray},
                    {"black", p.black},
                    {"white", p.white},
                    {"pixels", base64(p.pixels)}});
  return list;
}

/// The files that locations in programs and code refer to.
Json sources_of(const RunReport& r) {
  constexpr size_t most_bytes = 4 << 20;
  std::set<std::string> wanted;
  const auto want = [&](const Listing* listing) {
    if (listing) wanted.insert(listing->files.begin(), listing->files.end());
  };
  for (const opt::RunReport& kernel : r.optimizer) want(kernel.text.get());
  for (const KernelCode& code : r.code)
    for (const Listing& segment : code.segments) want(&segment);
  Json sources = Json::object();
  for (const auto& [name, text] : r.sources)
    if (wanted.contains(name) && text.size() <= most_bytes) sources[name] = text;
  return sources;
}

Json listings_of(const RunReport& r) {
  Json j;
  j["passes"] = Json::array();
  for (const opt::RunReport& kernel : r.optimizer) j["passes"].push_back(texts_of(kernel));
  j["code"] = Json::array();
  for (const KernelCode& c : r.code) j["code"].push_back(code_of(c));
  j["sources"] = sources_of(r);
  j["spans"] = spans_of(r);
  j["excerpts"] = excerpts_of(r);
  j["pictures"] = pictures_of(r);
  return j;
}

/// The files of page/ with this extension, concatenated in the order of their names.
std::string embedded(std::string_view extension) {
  std::string text;
  for (const EmbeddedFile& file : embedded_report_page())
    if (file.path.ends_with(extension)) text += file.bytes;
  return text;
}

/// The frame with its placeholders replaced: {{style}}, {{script}} and so on, each once.
std::string fill(std::string_view frame,
                 const std::map<std::string_view, std::string_view>& pieces) {
  std::string page;
  while (true) {
    const size_t open = frame.find("{{"), close = frame.find("}}", open);
    if (open == frame.npos || close == frame.npos) break;
    page += frame.substr(0, open);
    const auto piece = pieces.find(frame.substr(open + 2, close - open - 2));
    if (piece != pieces.end()) page += piece->second;
    frame.remove_prefix(close + 2);
  }
  return page += frame;
}

}  // namespace

std::string to_html(const RunReport& report) {
  const std::string data = inside_script(to_json(report));
  const std::string listings = inside_script(json_text(listings_of(report)));
  // Only scripts with the nonce run: markup that a name might inject into the page cannot know the
  // nonce.
  const std::string nonce = fmt::format("{:016x}", hash64(data + listings));
  const std::string frame = embedded(".html"), style = embedded(".css"), script = embedded(".js");
  return fill(frame, {{"nonce", nonce},
                      {"style", style},
                      {"script", script},
                      {"report", data},
                      {"listings", listings}});
}

}  // namespace vyre::report
