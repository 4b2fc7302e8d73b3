#include "tools/vyre/command_description.h"

#include <algorithm>

namespace vyre::cli {
namespace {

bool is_choice(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

std::vector<std::string> choices_of(std::string_view value) {
  std::vector<std::string> words;
  if (value.find('|') == value.npos) return words;
  for (size_t at = 0; at <= value.size();) {
    const size_t end = std::min(value.find('|', at), value.size());
    const std::string_view word = value.substr(at, end - at);
    if (!is_choice(word)) return {};
    words.emplace_back(word);
    at = end + 1;
  }
  return words;
}

}  // namespace

std::string_view CommandDescription::name() const {
  const size_t space = path.rfind(' ');
  return std::string_view(path).substr(space == path.npos ? 0 : space + 1);
}

ValueCompletion completion_of(const OptionDescription& option) {
  const std::string& text = option.positional ? option.names.front() : option.value;
  const bool files = text == "F" || text == "DIR" || text.find("FILE") != text.npos;
  return {choices_of(option.value), files};
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

}  // namespace vyre::cli
