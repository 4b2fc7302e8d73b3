#include "support/json.h"

namespace vyre {

template <class Json>
Json parse_json(std::string_view text) {
  return Json::parse(text.begin(), text.end());
}

template <class Json>
Json try_parse_json(std::string_view text, int max_depth) {
  const auto shallow = [&](int depth, typename Json::parse_event_t, Json&) {
    return depth < max_depth;
  };
  return Json::parse(text.begin(), text.end(), shallow, false);
}

template <class Json>
std::string json_text(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

template nlohmann::json parse_json(std::string_view);
template nlohmann::json try_parse_json(std::string_view, int);
template std::string json_text(const nlohmann::json&, int);
template nlohmann::ordered_json parse_json(std::string_view);
template nlohmann::ordered_json try_parse_json(std::string_view, int);
template std::string json_text(const nlohmann::ordered_json&, int);

}  // namespace vyre
