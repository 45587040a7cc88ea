# cmake -DFILES=a;b -DOUT=FILE -P Embed.cmake: writes the C++ source with the text of FILES,
# relative to the working folder.
set(entries "")
foreach(file ${FILES})
  file(READ ${file} text)
  string(APPEND entries "    {\"${file}\", R\"tile(${text})tile\"},\n")
endforeach()
file(WRITE ${OUT} "// Made by library/Embed.cmake.
#include \"library/Library.h\"

static const tile::LibraryFile files[] = {
${entries}};

llvm::ArrayRef<tile::LibraryFile> tile::getLibrary() { return files; }
")
