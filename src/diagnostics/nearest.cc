// Suggestions for misspelled names ("Did you mean …?"): edit distance with an upper bound.

#include <algorithm>
#include <array>
#include <string>

#include "diagnostics/diagnostic.h"

namespace vyre {
namespace {

// No legal name is longer, so a longer one is not a misspelling. The bound also limits the cost of
// a 50 MB name to a comparison of its length.
constexpr size_t longest_name = 255;

char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; }

/// The number of insertions, deletions, changes and swaps of neighbours that turn `a` into `b`, or
/// limit + 1 if there are more. Changes of case are free. Only cells within `limit` of the diagonal
/// are computed, and a row without a cell at or below the limit ends the search: O(limit · length).
size_t distance(std::string_view a, std::string_view b, size_t limit) {
  const size_t too_far = limit + 1;
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return too_far;
  using Row = std::array<size_t, longest_name + 2>;
  Row rows[3];
  for (Row& row : rows) row.fill(too_far);
  for (size_t j = 0; j <= std::min(b.size(), limit); ++j) rows[0][j] = j;

  for (size_t i = 1; i <= a.size(); ++i) {
    const Row& before_last = rows[(i + 1) % 3];
    const Row& last = rows[(i + 2) % 3];
    Row& row = rows[i % 3];
    const size_t from = i > limit ? i - limit : 0;
    const size_t to = std::min(b.size(), i + limit);
    size_t best = too_far;
    if (from > 0) row[from - 1] = too_far;
    for (size_t j = from; j <= to; ++j) {
      if (j == 0) {
        row[0] = i;
      } else {
        const char x = lower(a[i - 1]), y = lower(b[j - 1]);
        size_t d = last[j - 1] + (x != y);
        d = std::min({d, row[j - 1] + 1, last[j] + 1});
        const bool swapped = i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2]);
        if (swapped) d = std::min(d, before_last[j - 2] + 1);
        row[j] = std::min(d, too_far);
      }
      best = std::min(best, row[j]);
    }
    if (to < b.size()) row[to + 1] = too_far;
    if (best > limit) return too_far;
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string> candidates) {
  if (name.empty() || name.size() > longest_name) return {};
  std::string_view best;
  size_t limit = name.size() / 3;
  for (const std::string& candidate : candidates) {
    if (candidate.empty() || candidate.size() > longest_name) continue;
    const size_t d = distance(name, candidate, limit);
    if (d > limit) continue;
    best = candidate;
    if (d == 0) break;
    limit = d - 1;  // only a nearer one replaces it: the first of equals wins
  }
  return best;
}

}  // namespace vyre
