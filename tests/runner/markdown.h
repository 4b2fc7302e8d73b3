#pragma once

// A parsed page of docs/: its lines, its fenced blocks, its headings and links.

#include <string>
#include <string_view>
#include <vector>

namespace vyre::runner {

/// A block between two lines of ```.
struct MarkdownBlock {
  std::string tag;   // the word after the opening ```, or ""
  size_t first = 0;  // index of its first line in MarkdownPage::lines
  size_t count = 0;  // of its lines
};

struct MarkdownLink {
  size_t line = 0;
  std::string file;    // "" is the page itself
  std::string anchor;  // "" if there is none
};

struct MarkdownPage {
  std::vector<std::string> lines;
  std::vector<MarkdownBlock> blocks;
  std::vector<MarkdownLink> links;   // to files; none to elsewhere
  std::vector<std::string> anchors;  // of headings, as GitHub makes them, and of <a id="…">
  bool closed = true;                // every block is closed
  bool generated = false;            // says so in its first lines
};

MarkdownPage read_markdown(std::string_view text);

/// True if a line outside of the tagged blocks looks like a part of a program.
bool looks_like_vyre(std::string_view line);

}  // namespace vyre::runner
