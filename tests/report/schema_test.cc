// Tests that the validator rejects invalid values.

#include <gtest/gtest.h>

#include "report/run_report.h"
#include "support/json.h"
#include "tests/report/schema_util.h"

namespace vyre {
namespace {

using Json = nlohmann::json;

size_t errors(const char* schema, const char* value) {
  return schema_errors(parse_json<Json>(schema), parse_json<Json>(value)).size();
}

TEST(schema, every_rule_can_fail) {
  EXPECT_EQ(errors(R"({"type": "integer"})", "1"), 0u);
  EXPECT_EQ(errors(R"({"type": "integer"})", "1.5"), 1u);
  EXPECT_EQ(errors(R"({"type": "string"})", "1"), 1u);
  EXPECT_EQ(errors(R"({"type": "integer", "minimum": 0})", "-1"), 1u);
  EXPECT_EQ(errors(R"({"type": "string", "enum": ["a"]})", R"("b")"), 1u);
  EXPECT_EQ(errors(R"({"type": "array", "items": {"type": "string"}})", R"(["a", 1, 2])"), 2u);
  EXPECT_EQ(errors(R"({"type": "object", "required": ["a"]})", "{}"), 1u);
  EXPECT_EQ(errors(R"({"type": "object", "properties": {"a": {"type": "string"}}})", R"({"a": 1})"),
            1u);
  EXPECT_EQ(errors(R"({"type": "object", "additionalProperties": false})", R"({"a": 1})"), 1u);
  EXPECT_EQ(errors(R"({"type": "object"})", R"({"a": 1})"), 0u);
  EXPECT_EQ(errors(R"({"const": 1})", "1"), 0u);
  EXPECT_EQ(errors(R"({"const": 1})", "2"), 1u);
  EXPECT_EQ(errors(R"({"enum": [1, 2]})", "3"), 1u);
  EXPECT_EQ(errors(R"({"type": "string", "pattern": "^a+$"})", R"("aa")"), 0u);
  EXPECT_EQ(errors(R"({"type": "string", "pattern": "^a+$"})", R"("ab")"), 1u);
  EXPECT_EQ(errors(R"({"type": ["integer", "null"]})", "null"), 0u);
  EXPECT_EQ(errors(R"({"type": ["integer", "null"]})", "true"), 1u);
}

TEST(schema, rules_that_are_not_understood_are_errors) {
  EXPECT_EQ(errors(R"({"type": "string", "maxLength": 1})", R"("b")"), 1u);
  EXPECT_EQ(errors(R"({"type": "strnig"})", R"("b")"), 1u);
  EXPECT_EQ(errors("{}", R"("b")"), 1u);
}

TEST(schema, reports_of_nothing_fit) {
  EXPECT_EQ(schema_errors(read_schema("run_report"), parse_json<Json>(report::to_json({}))),
            std::vector<std::string>{});
  EXPECT_EQ(schema_errors(read_schema("trace"), parse_json<Json>(report::to_trace({}))),
            std::vector<std::string>{});
}

TEST(schema, a_member_too_few_or_too_many_is_found) {
  for (const char* name : {"run_report", "trace"}) {
    const Json schema = read_schema(name);
    const Json good =
        parse_json<Json>(name == std::string("trace") ? report::to_trace({}) : report::to_json({}));
    for (const auto& [member, unused] : good.items()) {
      Json bad = good;
      bad.erase(member);
      EXPECT_EQ(schema_errors(schema, bad).size(), 1u) << member;
    }
    Json bad = good;
    bad["more"] = 1;
    EXPECT_EQ(schema_errors(schema, bad).size(), 1u);
  }
}

}  // namespace
}  // namespace vyre
