# Writes OUTPUT: the files of FILES (with | between them) as bytes under their names (embedded.h).
string(REPLACE "|" ";" files "${FILES}")
set(text "// Written by bench/gpu/embed.cmake.\n#include \"embedded.h\"\n\nnamespace bench {\nnamespace {\n\n")
set(rows "")
set(number 0)
foreach(path IN LISTS files)
  cmake_path(GET path FILENAME name)
  file(READ ${path} hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(APPEND text "alignas(16) const unsigned char file_${number}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", {reinterpret_cast<const char*>(file_${number}), ${size}}},\n")
  math(EXPR number "${number} + 1")
endforeach()
string(APPEND text "const EmbeddedFile files[] = {\n${rows}};\n\n}  // namespace\n\n"
  "std::string_view embedded(std::string_view name) {\n  for (const EmbeddedFile& f : files)\n"
  "    if (f.name == name) return f.bytes;\n  return {};\n}\n\n}  // namespace bench\n")
file(WRITE ${OUTPUT} "${text}")
