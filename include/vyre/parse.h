#pragma once

// The vyre language, from text and to text.
//
//   parse(source, options)   ParseOutcome: the module (none if there are errors), all
//                            diagnostics at once, and the sources that they point into. Does not
//                            check the module beyond names and types: call check() (vyre/check.h)
//                            before running it.
//     options.file_name      for messages
//     options.constants      {"N", "8"}: values instead of the file's own
//     options.resolver       an ImportResolver: how imports and table files are found. None: they
//                            are refused, which suits untrusted text. file_resolver() reads the
//                            disk, file_resolver({.root = "folder"}) what lies in one folder; both
//                            read regular files only. One of your own has two functions, `name` and
//                            `read`.
//     options.time_limit, options.memory_limit   seconds and bytes; passing one is a diagnostic
//     options.trusted        leave it false for any text that you did not print yourself.
//   print(program), print(module)   text that parses back to the same program: one op per line.
//   format_source(text, file_name)  the source as `vyre fmt` writes it, or why it cannot be read.
//
// Safe for any bytes: a hostile text gives diagnostics, in bounded time and memory. Pure functions,
// safe from several threads; a resolver of your own must be, too, if it is shared.
//
//   vyre::ParseOptions options;
//   options.file_name = "scan.vyre";
//   options.constants["BLOCK"] = "128";
//   options.resolver = vyre::file_resolver();
//   vyre::ParseOutcome parsed = vyre::parse(text, options);
//   if (!parsed.module) std::cerr << vyre::render(parsed.diagnostics, parsed.sources);

#include "text/format.h"
#include "text/parse.h"
#include "text/print.h"
#include "vyre/diagnostic.h"
#include "vyre/program.h"
