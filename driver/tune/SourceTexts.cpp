// The session may hold other sources, too: those of further inputs.
#include "driver/tune/SourceTexts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace tile {

static void collectFiles(const ast::Program &program, SmallVectorImpl<FileID> &files) {
  if (is_contained(files, program.range.file))
    return;
  files.push_back(program.range.file);
  for (const ast::DeclPtr &decl : program.decls)
    if (auto *import = dyn_cast<ast::ImportDecl>(decl.get()); import && import->program)
      collectFiles(*import->program, files);
}

std::string collectTexts(const ast::Program &program, const SourceManager &sources) {
  SmallVector<FileID> files;
  collectFiles(program, files);
  std::string texts = sources.text(files.front()).str();
  for (FileID file : drop_begin(files))
    texts += '\0' + sources.text(file).str();
  return texts;
}

} // namespace tile
