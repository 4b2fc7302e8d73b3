#pragma once

// Parsing and printing JSON. nlohmann's parser and serializer are templates that take seconds to
// compile, so they are instantiated in json.cc only, for nlohmann::json and nlohmann::ordered_json.

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace vyre {

/// Parses a document. Throws Json::exception.
template <class Json>
Json parse_json(std::string_view text);

/// Parses a document; the result is_discarded() if the text is not JSON. Values nested deeper than
/// `max_depth` are left out.
template <class Json>
Json try_parse_json(std::string_view text, int max_depth = std::numeric_limits<int>::max());

/// Returns a non-negative whole number that fits T. Throws Json::type_error for any other value;
/// get() converts fractions and negative numbers, and its conversion of large ones is undefined.
template <class T, class Json>
T whole_number(const Json& value) {
  if (!value.is_number_unsigned())
    throw Json::type_error::create(302, "a value is not a whole number from 0 on", &value);
  const auto number = value.template get<uint64_t>();
  if (number > std::numeric_limits<T>::max())
    throw Json::type_error::create(302, "a number is too large", &value);
  return static_cast<T>(number);
}

/// Prints a value, on one line if `indent` is negative. Invalid UTF-8 becomes U+FFFD.
template <class Json>
std::string json_text(const Json& value, int indent = -1);

}  // namespace vyre
