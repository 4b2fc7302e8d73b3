#pragma once

// Holds a JSON value against a schema: type, enum, const, pattern, minimum, required, properties,
// additionalProperties and items, which is all that docs/schemas uses. Anything else in a schema is
// an error of its own, so that no rule is passed over in silence.

#include <string>
#include <vector>

#include "support/json.h"

namespace vyre {

/// What is wrong, each with the path of the value: "/bytes/uploaded: not a integer". Empty: it
/// fits.
std::vector<std::string> schema_errors(const nlohmann::json& schema, const nlohmann::json& value);

/// docs/schemas/NAME.schema.json.
nlohmann::json read_schema(const std::string& name);

}  // namespace vyre
