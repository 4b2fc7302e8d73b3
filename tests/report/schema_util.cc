#include "tests/report/schema_util.h"

#include <algorithm>
#include <regex>
#include <set>

#include "support/file.h"
#include "support/json.h"

namespace vyre {
namespace {

using Json = nlohmann::json;

class Validator {
 public:
  std::vector<std::string> errors;

  void check(const Json& schema, const Json& value, const std::string& path) {
    static const std::set<std::string> known = {
        "$schema",  "title",      "description",          "type",  "enum",  "minimum",
        "required", "properties", "additionalProperties", "items", "const", "pattern"};
    for (const auto& [keyword, unused] : schema.items())
      if (!known.contains(keyword)) add(path, "the schema has the unknown keyword " + keyword);
    if (schema.contains("type") && !has_any_type(value, schema["type"]))
      return add(path, "not of type " + json_text(schema["type"]));
    if (!schema.contains("type") && !schema.contains("enum") && !schema.contains("const"))
      add(path, "the schema says not what this is");
    if (schema.contains("const") && value != schema["const"])
      add(path, json_text(value) + " is not " + json_text(schema["const"]));
    if (schema.contains("pattern") && value.is_string() &&
        !std::regex_search(value.get<std::string>(),
                           std::regex(schema["pattern"].get<std::string>())))
      add(path, json_text(value) + " is not like " + json_text(schema["pattern"]));
    if (schema.contains("enum"))
      if (const Json& e = schema["enum"]; std::find(e.begin(), e.end(), value) == e.end())
        add(path, json_text(value) + " is not one of " + json_text(e));
    if (schema.contains("minimum") && value.is_number() &&
        value.get<double>() < schema["minimum"].get<double>())
      add(path, "below the minimum");
    if (value.is_object()) check_object(schema, value, path);
    if (value.is_array() && schema.contains("items"))
      for (size_t i = 0; i < value.size(); ++i)
        check(schema["items"], value[i], path + "/" + std::to_string(i));
  }

 private:
  void add(const std::string& path, const std::string& what) {
    errors.push_back((path.empty() ? "/" : path) + ": " + what);
  }

  /// One type, or a list of them.
  bool has_any_type(const Json& value, const Json& type) {
    if (type.is_string()) return has_type(value, type.get<std::string>());
    return std::any_of(type.begin(), type.end(),
                       [&](const Json& t) { return has_type(value, t.get<std::string>()); });
  }

  bool has_type(const Json& value, const std::string& type) {
    if (type == "null") return value.is_null();
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    if (type == "boolean") return value.is_boolean();
    errors.push_back("the schema has the unknown type `" + type + "`");
    return true;
  }

  void check_object(const Json& schema, const Json& value, const std::string& path) {
    const Json properties = schema.value("properties", Json::object());
    for (const Json& name : schema.value("required", Json::array()))
      if (!value.contains(name.get<std::string>())) add(path, "lacks " + json_text(name));
    for (const auto& [name, member] : value.items()) {
      if (properties.contains(name))
        check(properties[name], member, path + "/" + name);
      else if (!schema.value("additionalProperties", true))
        add(path, "has the unknown member " + name);
    }
  }
};

}  // namespace

std::vector<std::string> schema_errors(const Json& schema, const Json& value) {
  Validator v;
  v.check(schema, value, "");
  return v.errors;
}

Json read_schema(const std::string& name) {
  return parse_json<Json>(
      read_file(VYRE_SOURCE_DIR "/docs/schemas/" + name + ".schema.json").bytes);
}

}  // namespace vyre
