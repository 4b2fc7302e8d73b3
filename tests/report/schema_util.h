#pragma once

// Validates a JSON value against a schema: type, enum, const, pattern, minimum, required,
// properties, additionalProperties and items, which is all that docs/schemas uses. Any other
// keyword in a schema is an error, so that no rule is silently ignored.

#include <string>
#include <vector>

#include "support/json.h"

namespace vyre {

/// Returns the errors, each with the path of the value: "/bytes/uploaded: not a integer". Empty:
/// the value is valid.
std::vector<std::string> schema_errors(const nlohmann::json& schema, const nlohmann::json& value);

/// docs/schemas/NAME.schema.json.
nlohmann::json read_schema(const std::string& name);

}  // namespace vyre
