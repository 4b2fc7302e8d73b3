// Renders diagnostics as readable text.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "diagnostics/diagnostic.h"
#include "diagnostics/source_line.h"

namespace vyre {
namespace {

enum class Style : uint8_t { Error, Warning, Note, Strong, Frame, Fix };

std::string_view escape(Style s) {
  switch (s) {
    case Style::Error: return "\x1b[1;31m";
    case Style::Warning: return "\x1b[1;33m";
    case Style::Note: return "\x1b[1;36m";
    case Style::Strong: return "\x1b[1m";
    case Style::Frame: return "\x1b[1;34m";
    case Style::Fix: return "\x1b[1;32m";
  }
  return "";
}

struct Heading {
  std::string_view word;
  Style style;
};
Heading heading(Severity s) {
  switch (s) {
    case Severity::Error: return {"error", Style::Error};
    case Severity::Warning: return {"warning", Style::Warning};
    case Severity::Note: return {"note", Style::Note};
  }
  return {"error", Style::Error};
}

// A message may quote source text, which may be a name of 50 MB.
constexpr size_t longest_message = 8192;

uint32_t digits(uint32_t n) {
  uint32_t count = 1;
  for (; n >= 10; n /= 10) ++count;
  return count;
}

class Renderer {
 public:
  Renderer(const Sources& sources, RenderOptions options) : lines_(sources), options_(options) {}

  void diagnostic(const Diagnostic& d) {
    const Heading head = heading(d.severity);
    gutter_ = digits(d.place.line);
    for (const Note& n : d.notes) gutter_ = std::max(gutter_, digits(n.place.line));

    paint(head.style, fmt::format("{}[{}]", head.word, to_string(d.code)));
    paint(Style::Strong, ": " + indented(d.message, 2));
    out_ += '\n';
    place(d.place, '^', head.style);
    // With a location the source shows the op; without one only its mnemonic is available.
    if (d.place.line == 0 && !d.op.empty()) remark("op", Style::Strong, d.op);
    for (const Note& n : d.notes) {
      remark("note", Style::Strong, n.message);
      place(n.place, '-', Style::Frame);
    }
    if (!d.fix.empty()) remark("fix", Style::Fix, d.fix);
  }

  void blank_line() { out_ += '\n'; }
  std::string take() { return std::move(out_); }

 private:
  void paint(Style style, std::string_view text) {
    if (options_.colour) out_ += escape(style);
    out_ += text;
    if (options_.colour) out_ += "\x1b[0m";
  }

  static std::string indented(std::string_view text, size_t columns) {
    const bool cut = text.size() > longest_message;
    std::string out;
    for (char c : printable(text.substr(0, longest_message))) {
      out += c;
      if (c == '\n') out.append(columns, ' ');
    }
    if (cut) out += "…";
    return out;
  }

  void remark(std::string_view label, Style style, std::string_view text) {
    out_.append(gutter_ + 2, ' ');
    paint(Style::Frame, "= ");
    paint(style, label);
    out_ += ": " + indented(text, gutter_ + 2 + 2 + label.size() + 2) + '\n';
  }

  void place(const Place& p, char mark, Style style) {
    if (p.line == 0 && p.file.empty()) return;
    out_.append(gutter_ + 1, ' ');
    paint(Style::Frame, "--> ");
    out_ += printable(p.file);
    if (p.line != 0) out_ += fmt::format(":{}", p.line);
    if (p.line != 0 && p.column != 0) out_ += fmt::format(":{}", p.column);
    out_ += '\n';

    const std::optional<std::string_view> line = lines_.find(p.file, p.line);
    if (!line) return;
    const Excerpt shown = excerpt(*line, p.column, p.length);
    frame("", "");
    frame(std::to_string(p.line), shown.text);
    if (shown.mark_length == 0) return;
    out_.append(gutter_ + 2, ' ');
    paint(Style::Frame, "|");
    out_.append(1 + shown.mark_at, ' ');
    paint(style, std::string(shown.mark_length, mark));
    out_ += '\n';
  }

  void frame(std::string_view number, std::string_view text) {
    out_ += ' ';
    paint(Style::Frame, fmt::format("{:>{}} |", number, gutter_));
    if (!text.empty()) out_ += ' ';
    out_ += text;
    out_ += '\n';
  }

  SourceLines lines_;
  RenderOptions options_;
  uint32_t gutter_ = 1;
  std::string out_;
};

}  // namespace

std::string render(const Diagnostic& d, const Sources& sources, RenderOptions options) {
  Renderer r(sources, options);
  r.diagnostic(d);
  return r.take();
}

std::string render(const Diagnostics& list, const Sources& sources, RenderOptions options) {
  Renderer r(sources, options);
  for (size_t i = 0; i < list.size(); ++i) {
    if (i != 0) r.blank_line();
    r.diagnostic(list[i]);
  }
  return r.take();
}

}  // namespace vyre
