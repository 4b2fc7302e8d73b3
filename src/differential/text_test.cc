#include "differential/text_test.h"

#include <fmt/format.h>

#include <algorithm>

namespace vyre::lab {

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string_view trimmed(std::string_view s) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

std::optional<std::string_view> after_key(std::string_view line, std::string_view key) {
  line = trimmed(line);
  if (!line.starts_with("//")) return std::nullopt;
  line = trimmed(line.substr(2));
  if (!line.starts_with(key) || line.size() == key.size() || line[key.size()] != ':')
    return std::nullopt;
  return trimmed(line.substr(key.size() + 1));
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;  // a word has begun; it may be empty if quoted
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      open = true;
    } else if (c == ' ' || c == '\t') {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words.push_back(std::move(word));
  return words;
}

std::string join_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string brief(const Diagnostics& list) {
  std::string text;
  for (const Diagnostic& d : list) {
    if (!text.empty()) text += '\n';
    text += fmt::format("{} at line {}: {}", to_string(d.code), d.place.line, d.message);
  }
  return text;
}

TextTest read_text_test(std::string path, std::string text) {
  TextTest test;
  test.path = std::move(path);
  test.text = std::move(text);
  test.lines = split_lines(test.text);
  for (const std::string& line : test.lines) {
    const std::string_view start = trimmed(line);
    if (!start.empty() && !start.starts_with("//") && !start.starts_with("vyre "))
      break;  // the header has ended
    if (const auto mode = after_key(line, "test"))
      test.mode = std::string(mode->substr(0, mode->find_first_of(" \t")));
    if (const auto flags = after_key(line, "flags")) test.flags.push_back(split_words(*flags));
  }
  return test;
}

}  // namespace vyre::lab
