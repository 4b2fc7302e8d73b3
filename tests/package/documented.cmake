# The C++ programs of the documentation, as one source file: a single compile for all of them.
#
# A program is a block tagged `cpp` with an `int main()`; the block `output` after it is what it
# prints. It may include headers of vyre and of the standard library only, as a user's would.

# gather_documented(ROOT FOLDER): writes FOLDER/documented.cc, a program that runs the one that it is
# given the name of (`docs/driver.md:8`), and FOLDER/NUMBER.expected for each. Sets documented_names.
function(gather_documented root folder)
  file(GLOB_RECURSE pages RELATIVE ${root}
    ${root}/docs/*.md ${root}/src/*.md ${root}/include/*.md ${root}/examples/*.md ${root}/README.md)
  list(FILTER pages EXCLUDE REGEX "^build/")
  list(SORT pages)
  set(includes)
  set(names)
  set(programs "")
  set(table "")
  foreach(page IN LISTS pages)
    file(READ ${root}/${page} rest)
    set(rest "\n${rest}")
    set(line 0)
    string(FIND "${rest}" "\n```cpp\n" at)
    while(NOT at EQUAL -1)
      math(EXPR begin "${at} + 8")
      string(SUBSTRING "${rest}" 0 ${begin} before)
      string(SUBSTRING "${rest}" ${begin} -1 rest)
      string(REGEX REPLACE "[^\n]" "" newlines "${before}")
      string(LENGTH "${newlines}" count)
      math(EXPR line "${line} + ${count}")
      set(name "${page}:${line}")

      string(FIND "${rest}" "\n```\n" end)
      math(EXPR end "${end} + 1")
      string(SUBSTRING "${rest}" 0 ${end} code)
      string(SUBSTRING "${rest}" ${end} -1 rest)
      string(FIND "${rest}" "```\n\n```output\n" output)
      string(FIND "${code}" "\nint main() {\n" main)
      string(FIND "${code}" "\n}\n" last REVERSE)
      string(REGEX MATCH "#include \"[^\n]*" private "${code}")
      if(NOT output EQUAL 0 OR main EQUAL -1 OR last LESS main OR private)
        message(FATAL_ERROR "${name}: a `cpp` block must be a program with `int main() {`, which "
          "includes headers in <> only, with a block `output` after it")
      endif()
      string(SUBSTRING "${rest}" 15 -1 printed)
      string(FIND "${printed}" "```\n" end)
      string(SUBSTRING "${printed}" 0 ${end} printed)

      # A program becomes a namespace, without its includes; its main() may end without a return.
      string(REGEX MATCHALL "#include <[^>\n]*>" used "${code}")
      list(APPEND includes ${used})
      string(REGEX REPLACE "#include <[^>\n]*>" "" code "${code}")
      string(FIND "${code}" "\n}\n" last REVERSE)
      string(SUBSTRING "${code}" 0 ${last} code)
      string(REPLACE "\nint main() {\n" "\nint documented_main() {\n" code "${code}")
      list(LENGTH names number)
      string(APPEND programs "\nnamespace program_${number} {\n#line ${line} \"${page}\"\n${code}\n"
        "  return 0;\n}\n}  // namespace program_${number}\n")
      string(APPEND table "  if (name == \"${name}\") return program_${number}::documented_main();\n")
      list(APPEND names ${name})
      file(WRITE ${folder}/${number}.expected "${printed}")
      string(FIND "${rest}" "\n```cpp\n" at)
    endwhile()
  endforeach()
  list(REMOVE_DUPLICATES includes)
  list(SORT includes)
  list(JOIN includes "\n" includes)
  file(WRITE ${folder}/documented.cc
    "${includes}\n#include <string_view>\n${programs}\n"
    "#line 1 \"documented\"\nint main(int count, char** words) {\n"
    "  const std::string_view name = count > 1 ? words[1] : \"\";\n${table}  return 2;\n}\n")
  set(documented_names ${names} PARENT_SCOPE)
endfunction()
