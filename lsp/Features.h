// The answers of the server, one function for each request; results are the protocol's JSON. Null
// means that there is nothing to say.
#ifndef TILE_LSP_FEATURES_H
#define TILE_LSP_FEATURES_H

#include "lsp/Navigate.h"

namespace tile::lsp {

using Json = llvm::json::Value;

Json hover(Document &document, uint32_t offset);
Json completion(Document &document, uint32_t offset);
Json signatureHelp(Document &document, uint32_t offset);

Json documentSymbols(const Document &document);
/// Declarations of all files whose names contain `query`.
Json workspaceSymbols(Workspace &workspace, llvm::StringRef query);
Json foldingRanges(const Document &document);

/// The kinds and modifiers that semanticTokens() counts by.
Json semanticTokensLegend();
Json semanticTokens(Document &document);
/// dtypes and shapes behind names in the lines that `range` covers.
Json inlayHints(const Document &document, llvm::lsp::Range range);

/// The diagnostics of a document as textDocument/publishDiagnostics takes them.
Json publishedDiagnostics(Workspace &workspace, const Document &document);
/// The changes that diagnostics in `range` propose.
Json codeActions(Workspace &workspace, const Document &document, llvm::lsp::Range range);

/// The range and the name that a rename would change; null where nothing can be renamed.
Json prepareRename(Workspace &workspace, Document &document, uint32_t offset);
/// Sets `problem` and returns null where the name cannot be changed so.
Json rename(Workspace &workspace, Document &document, uint32_t offset, llvm::StringRef name,
            std::string &problem);
/// The edits of `tilec fmt`; null for a text that does not parse.
Json formatting(const Document &document);

Json toJson(Workspace &workspace, const Location &location);

/// "in `softmax`: f32[64]": what a declared name or an expression stands for in each kernel.
struct SeenValue {
  std::string kernel;
  Value value;
};
std::vector<SeenValue> findValues(const Document &document, Range range);

} // namespace tile::lsp

#endif
