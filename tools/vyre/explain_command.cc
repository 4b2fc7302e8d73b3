// vyre explain: the page of an error code, the entry of an operation.

#include <fmt/format.h>

#include "diagnostics/explain.h"
#include "ir/ops_doc.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/diagnostic_output.h"
#include "tools/vyre/json_output.h"

namespace vyre::cli {
namespace {

Diagnostic unknown_code(const std::string& text) {
  std::vector<std::string> codes;
  for (const CodeInfo& c : all_codes()) codes.push_back(to_string(c.code));
  Diagnostic d = diagnose(Code::UnknownCode, {},
                          fmt::format("there is no error code or operation `{}`", text));
  std::vector<std::string> ops;
  for (const OpInfo& op : all_ops()) ops.emplace_back(op.mnemonic);
  if (const std::string_view near = nearest(text, ops); !near.empty())
    return d.with_fix(fmt::format("write `vyre explain {}`; docs/ops.md has all operations", near));
  const std::string_view near = nearest(text, codes);
  if (!near.empty()) {
    d.note(fmt::format("the nearest is {}: {}", near, find_code(near)->title));
    return d.with_fix(fmt::format("write `vyre explain {}`, or `vyre explain` for the list", near));
  }
  return d.with_fix("see `vyre explain` for the list");
}

}  // namespace

int explain(const ExplainCommand& command) {
  if (!command.code.empty()) {
    const Opcode* op = find_op(command.code);
    if (op && !command.json) return write_out(explain_op(*op)), exit_done;
    const CodeInfo* code = find_code(command.code);
    if (!code) return report({unknown_code(command.code)}, {}, command.json);
    write_out(command.json ? codes_json({code, 1})
                           : explain_text(*code) + "\n" + explain_links(*code));
  } else if (command.ops_markdown) {
    write_out(ops_markdown());
  } else if (command.markdown) {
    write_out(errors_markdown());
  } else if (command.json) {
    write_out(codes_json(all_codes()));
  } else {
    for (const CodeInfo& c : all_codes())
      write_out(fmt::format("{}  {}\n", to_string(c.code), c.title));
  }
  return exit_done;
}

}  // namespace vyre::cli
