#include "tests/runner/markdown.h"

#include <cctype>

#include "tests/runner/test_file.h"

namespace vyre::runner {
namespace {

bool is_fence(std::string_view line) { return trimmed(line).starts_with("```"); }

/// "## Barriers and uniformity" to "barriers-and-uniformity".
std::string slug(std::string_view heading) {
  std::string text;
  for (const char c : trimmed(heading)) {
    if (c == ' ')
      text += '-';
    else if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_')
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

/// The links of a line, but for what stands in `code`.
void read_links(std::string_view line, size_t number, std::vector<MarkdownLink>& links) {
  bool code = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '`') code = !code;
    if (code || !line.substr(i).starts_with("](")) continue;
    const size_t begin = i + 2, end = line.find(')', begin);
    if (end == line.npos) return;
    const std::string_view target = line.substr(begin, end - begin);
    i = end;
    if (target.find("://") != target.npos) continue;
    const size_t hash = std::min(target.find('#'), target.size());
    links.push_back({number, std::string(target.substr(0, hash)),
                     std::string(target.substr(std::min(hash + 1, target.size())))});
  }
}

void read_anchors(std::string_view line, std::vector<std::string>& anchors) {
  if (line.starts_with('#')) anchors.push_back(slug(line.substr(line.find_first_not_of('#'))));
  constexpr std::string_view opening = "<a id=\"";
  for (size_t at = line.find(opening); at != line.npos; at = line.find(opening, at + 1)) {
    const size_t begin = at + opening.size();
    anchors.emplace_back(line.substr(begin, line.find('"', begin) - begin));
  }
}

}  // namespace

MarkdownPage read_markdown(std::string_view text) {
  MarkdownPage page;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    page.lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  bool inside = false;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const std::string_view line = page.lines[i];
    if (i < 6 && line.find("This file is generated") != line.npos) page.generated = true;
    if (is_fence(line)) {
      if (!inside) page.blocks.push_back({std::string(trimmed(trimmed(line).substr(3))), i + 1, 0});
      inside = !inside;
    } else if (inside) {
      ++page.blocks.back().count;
    } else {
      read_links(line, i, page.links);
      read_anchors(line, page.anchors);
    }
  }
  page.closed = !inside;
  return page;
}

bool looks_like_vyre(std::string_view line) {
  line = trimmed(line);
  for (const std::string_view word :
       {"kernel", "fn", "graph", "const", "let", "var", "shared", "barrier", "import"}) {
    if (!line.starts_with(word) || line.size() <= word.size() || line[word.size()] != ' ') continue;
    const std::string_view rest = trimmed(line.substr(word.size()));
    size_t name = 0;
    while (name < rest.size() &&
           (std::isalnum(static_cast<unsigned char>(rest[name])) || rest[name] == '_'))
      ++name;
    const std::string_view next = trimmed(rest.substr(name));
    if (word == "import") return rest.starts_with('"');
    if (word == "barrier") return next.empty();
    if (name > 0 && (next.starts_with('(') || next.starts_with(':') || next.starts_with('=')))
      return true;
  }
  return false;
}

}  // namespace vyre::runner
