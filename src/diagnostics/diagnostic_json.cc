// Diagnostics as JSON. A separate file because the JSON header is costly to compile.

#include "diagnostics/code_table.h"
#include "diagnostics/diagnostic.h"
#include "support/json.h"

namespace vyre {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name(Severity s) {
  switch (s) {
    case Severity::Error: return "error";
    case Severity::Warning: return "warning";
    case Severity::Note: return "note";
  }
  return "error";
}

void put_place(Json& out, const Place& p) {
  out["file"] = p.file;
  out["line"] = p.line;
  out["column"] = p.column;
  out["length"] = p.length;
}

Json to_object(const Diagnostic& d) {
  Json out;
  out["code"] = to_string(d.code);
  out["name"] = info(d.code).name;
  out["severity"] = name(d.severity);
  out["message"] = d.message;
  put_place(out, d.place);
  out["op"] = d.op;
  out["notes"] = Json::array();
  for (const Note& n : d.notes) {
    Json note;
    note["message"] = n.message;
    put_place(note, n.place);
    out["notes"].push_back(std::move(note));
  }
  out["fix"] = d.fix;
  return out;
}

}  // namespace

std::string to_json(const Diagnostics& list) {
  Json out = Json::array();
  for (const Diagnostic& d : list) out.push_back(to_object(d));
  // Names and files may hold any bytes: invalid UTF-8 becomes U+FFFD instead of an exception.
  return json_text(out, 2);
}

}  // namespace vyre
