// main() of every GoogleTest binary. The library of this file also owns the header that they all
// precompile.

#include <gtest/gtest.h>

#include <cstdio>

int main(int argc, char** argv) {
  // Line by line also into a pipe, so that a crash loses no output (tests/cases/cases.py).
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
