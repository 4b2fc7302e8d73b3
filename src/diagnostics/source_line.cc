#include "diagnostics/source_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace vyre {
namespace {

constexpr uint32_t tab_width = 4;
constexpr std::string_view cut_mark = "…";

/// One character of the source: its bytes there, and the text that is shown for it.
struct Cell {
  size_t begin = 0;
  size_t bytes = 1;
  std::string text;
  uint32_t columns = 1;
};

struct CodePoint {
  uint32_t value = 0;
  uint32_t bytes = 0;  // 0: not UTF-8
};

CodePoint decode(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(s[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const uint32_t n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || s.size() < n) return {};
  uint32_t value = lead & (0x7f >> n);
  for (uint32_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < smallest[n] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return {};
  return {value, n};
}

struct Interval {
  uint32_t first, last;
};
template <size_t n>
bool in(const Interval (&intervals)[n], uint32_t c) {
  return std::any_of(std::begin(intervals), std::end(intervals),
                     [c](Interval i) { return c >= i.first && c <= i.last; });
}

/// Would change how the text around it is shown: controls, direction marks, line separators.
bool is_control(uint32_t c) {
  constexpr Interval controls[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x200b, 0x200f},
                                   {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}};
  return in(controls, c);
}

uint32_t columns_of(uint32_t c) {
  constexpr Interval combining[] = {{0x300, 0x36f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};
  constexpr Interval wide[] = {{0x1100, 0x115f},   {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                               {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                               {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
  return in(combining, c) ? 0 : in(wide, c) ? 2 : 1;
}

Cell next_cell(std::string_view line, size_t at) {
  Cell cell{.begin = at};
  const CodePoint c = decode(line.substr(at, 4));
  if (c.bytes == 0) {
    cell.text = fmt::format("\\x{:02x}", static_cast<uint8_t>(line[at]));
  } else if (c.value == '\t') {
    cell.text.assign(tab_width, ' ');
  } else if (is_control(c.value)) {
    cell.text =
        c.value < 0x80 ? fmt::format("\\x{:02x}", c.value) : fmt::format("\\u{{{:x}}}", c.value);
  } else {
    cell.text = line.substr(at, c.bytes);
    cell.columns = columns_of(c.value);
    cell.bytes = c.bytes;
    return cell;
  }
  cell.bytes = std::max(1u, c.bytes);
  cell.columns = static_cast<uint32_t>(cell.text.size());
  return cell;
}

/// Cells from byte `from`, until they fill `columns` or the line ends.
std::vector<Cell> cells(std::string_view line, size_t from, uint32_t columns) {
  std::vector<Cell> out;
  uint32_t used = 0;
  // Combining marks take no columns: the second bound keeps a line of them from being copied whole.
  while (from < line.size() && used < columns && out.size() < 4 * columns) {
    out.push_back(next_cell(line, from));
    used += out.back().columns;
    from += out.back().bytes;
  }
  return out;
}

/// The start for which at most `columns` columns precede byte `target`.
size_t start_before(std::string_view line, size_t target, uint32_t columns) {
  size_t from = target - std::min<size_t>(target, size_t{4} * columns);
  if (from > 0)
    while (from < target && (static_cast<uint8_t>(line[from]) & 0xc0) == 0x80) ++from;
  uint32_t used = 0;
  std::vector<Cell> before;
  for (size_t at = from; at < target; at += before.back().bytes) {
    before.push_back(next_cell(line, at));
    used += before.back().columns;
  }
  for (const Cell& cell : before) {
    if (used <= columns) return cell.begin;
    used -= cell.columns;
  }
  return target;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<uint8_t>(text[at]);
    if ((byte >= 0x20 && byte < 0x7f) || byte == '\n') {
      out += text[at++];
      continue;
    }
    const Cell cell = next_cell(text, at);
    out += cell.text;
    at += cell.bytes;
  }
  return out;
}

std::optional<std::string_view> SourceLines::find(const std::string& file, uint32_t number) {
  const auto source = sources_.find(file);
  if (source == sources_.end() || number == 0) return std::nullopt;
  const std::string_view text = source->second;
  auto [entry, is_new] = starts_.try_emplace(file);
  std::vector<size_t>& starts = entry->second;
  if (is_new) {
    starts.push_back(0);
    for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1))
      starts.push_back(at + 1);
  }
  if (number > starts.size()) return std::nullopt;
  const size_t begin = starts[number - 1];
  const size_t end = number < starts.size() ? starts[number] - 1 : text.size();
  return text.substr(begin, end - begin);
}

Excerpt excerpt(std::string_view line, uint32_t column, uint32_t length, uint32_t window) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const size_t mark = std::min<size_t>(column ? column - 1 : 0, line.size());
  const size_t mark_end = mark + std::min<size_t>(std::max(length, 1u), line.size() - mark);

  std::vector<Cell> shown = cells(line, 0, window);
  const auto end_of = [](const std::vector<Cell>& c) {
    return c.empty() ? 0 : c.back().begin + c.back().bytes;
  };
  if (end_of(shown) < line.size() && mark > 0)  // too long: keep some of the text before the mark
    shown = cells(line, start_before(line, mark, window / 2), window);

  Excerpt out;
  uint32_t at = 0;
  if (!shown.empty() && shown.front().begin > 0) {
    out.text = cut_mark;
    at = 1;
  }
  bool marked = false;
  for (const Cell& cell : shown) {
    const size_t end = cell.begin + cell.bytes;
    if (column != 0 && end > mark && cell.begin < mark_end) {
      if (!marked) out.mark_at = at;
      marked = true;
      out.mark_length = at + cell.columns - out.mark_at;
    }
    out.text += cell.text;
    at += cell.columns;
  }
  if (end_of(shown) < line.size()) out.text += cut_mark;
  if (column != 0 && !marked) out.mark_at = at;  // just past the end of the line
  if (column != 0) out.mark_length = std::max(out.mark_length, 1u);
  return out;
}

}  // namespace vyre
