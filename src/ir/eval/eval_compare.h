#pragma once

// Comparison and choice of one lane: the same code for integers and floats.

#include <cstdint>

namespace vyre::compare {

struct Eq {
  template <class T>
  static uint8_t apply(T a, T b) {
    return a == b;
  }
};
struct Ne {
  template <class T>
  static uint8_t apply(T a, T b) {
    return a != b;
  }
};
struct Lt {
  template <class T>
  static uint8_t apply(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <class T>
  static uint8_t apply(T a, T b) {
    return a <= b;
  }
};
struct Gt {
  template <class T>
  static uint8_t apply(T a, T b) {
    return a > b;
  }
};
struct Ge {
  template <class T>
  static uint8_t apply(T a, T b) {
    return a >= b;
  }
};
struct Select {
  template <class T>
  static T apply(uint8_t c, T a, T b) {
    return c ? a : b;
  }
};

}  // namespace vyre::compare
