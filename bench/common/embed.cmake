# Writes OUTPUT, a C++ source that holds the files of FILES (with | between them) as bytes and defines
#   std::string_view bench::FUNCTION(std::string_view name)
# which returns the bytes of a file, or nothing if there is none of this name. A file below BASE is named by its
# path relative to BASE, any other by its file name.
string(REPLACE "|" ";" files "${FILES}")
set(text "// Written by bench/common/embed.cmake.\n#include <string_view>\n\nnamespace bench {\nnamespace {\n\n")
string(APPEND text "struct EmbeddedFile {\n  std::string_view name, bytes;\n};\n\n")
set(rows "")
set(number 0)
foreach(path IN LISTS files)
  cmake_path(IS_PREFIX BASE "${path}" below)
  if(below)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${BASE}" OUTPUT_VARIABLE name)
  else()
    cmake_path(GET path FILENAME name)
  endif()
  file(READ ${path} hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(APPEND text "alignas(16) const unsigned char file_${number}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", {reinterpret_cast<const char*>(file_${number}), ${size}}},\n")
  math(EXPR number "${number} + 1")
endforeach()
string(APPEND text "const EmbeddedFile files[] = {\n${rows}};\n\n}  // namespace\n\n"
  "std::string_view ${FUNCTION}(std::string_view name);\n"
  "std::string_view ${FUNCTION}(std::string_view name) {\n  for (const EmbeddedFile& f : files)\n"
  "    if (f.name == name) return f.bytes;\n  return {};\n}\n\n}  // namespace bench\n")
file(WRITE ${OUTPUT} "${text}")
