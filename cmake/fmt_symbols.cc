// fmt as a static library, made of its headers: what is used here is what other files may call. Compiled
// with FMT_HEADER_ONLY, so that everything is defined, and without inlining, so that it is there to call.

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace {

std::string every_kind(const char* format) {
  return fmt::format(fmt::runtime(format), 1, 1u, 1l, 1ull, true, 'c', "text", std::string(), 1.0f, 1.0, 1.0L,
                     static_cast<const void*>(format), __int128{1}, static_cast<unsigned __int128>(1));
}

void print_it(std::FILE* file) {
  fmt::print(file, "{}", 1);
  fmt::print("{}", 1);
}

}  // namespace

/// Keeps the functions above.
std::string vyre_fmt_symbols(const char* format) {
  print_it(stdout);
  return every_kind(format);
}
