#pragma once

// Errors. Every mistake, in any layer, is a Diagnostic: data, not an exception.
//
//   Result<T>     a T, or the Diagnostics that say why there is none. Test it as a bool; then `*r`
//                 and `r->` are the value, or r.errors() is the list, never empty. Asking for the
//                 one that is not there is a mistake of the caller (std::bad_variant_access).
//   Ok            the value of a Result<>, which only says whether something worked
//   Diagnostic    code, Severity, message, place, notes, fix, and the op that caused it, if any.
//                 A list may hold warnings and notes beside errors: has_errors(list) tells.
//   Code          stable: a number means the same for ever and is never reused. to_string(code) is
//                 "V0140"; info(code) has its title and page; all_codes() lists them.
//   classify(c)   the cause: Failure::BadInput, ProgramFailed (a trap, a limit reached) or
//                 System (out of memory).
//   render(list, sources)    for people: the line with a caret, notes, the fix. `sources` are the
//                 texts that places point into; parse() gives them, {} is fine without.
//   to_json(list)            for programs.
//   explain_text(info)       the page of a code, as `vyre explain V0140` prints it.
//
// All of it is values and pure functions: safe from several threads.
//
//   vyre::Result<vyre::Program> program = k.finish();
//   if (!program) {
//     for (const vyre::Diagnostic& d : program.errors())
//       log(vyre::to_string(d.code), d.place.file, d.place.line, d.message, d.fix);
//     return;
//   }
//   use(*program);

#include "diagnostics/code_table.h"
#include "diagnostics/diagnostic.h"
#include "diagnostics/explain.h"
#include "diagnostics/failure.h"
#include "diagnostics/result.h"
