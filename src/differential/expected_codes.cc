#include "differential/expected_codes.h"

#include "diagnostics/code_table.h"
#include "differential/text_test.h"

namespace vyre::lab {

std::string ExpectedCode::text() const {
  return message.empty() ? to_string(code) : to_string(code) + " \"" + message + "\"";
}

std::optional<std::vector<ExpectedCode>> parse_codes(std::string_view text) {
  std::vector<ExpectedCode> codes;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    if (text[0] == '"') {  // a part of the message of the previous code
      const size_t end = text.find('"', 1);
      if (end == text.npos || codes.empty()) return std::nullopt;
      codes.back().message = std::string(text.substr(1, end - 1));
      text.remove_prefix(end + 1);
      continue;
    }
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    const CodeInfo* info = word[0] == 'V' ? find_code(word) : nullptr;
    if (!info) return std::nullopt;
    codes.push_back({info->code, ""});
    text.remove_prefix(word.size());
  }
  return codes;
}

std::string print_codes(const std::vector<ExpectedCode>& codes) {
  std::string text;
  for (const ExpectedCode& c : codes) text += (text.empty() ? "" : " ") + c.text();
  return text;
}

}  // namespace vyre::lab
