// Requests to features. Edits are only noted when they come; diagnostics follow when the client is
// quiet, or when a request needs to know more.
//
//   didOpen, didChange     the text is changed, the path noted in `unpublished`       no answer
//   (the input is empty)   publish: update() of those, then publishDiagnostics        notification
//   hover, rename, ..      find: update() of this document, then a function of        answer
//                          Features.h
//
// All of it on one thread, one message after the other: no request sees a text half-way. A client
// that types quickly sends edits faster than kernels are elaborated; so nothing is done at an edit
// itself.
#include "lsp/Server.h"
#include "lsp/Features.h"
#include "lsp/Input.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/raw_ostream.h"

#include <set>
#include <unistd.h>

using namespace tile;
using namespace tile::lsp;
using llvm::StringRef;
namespace json = llvm::json;

namespace tile::lsp {
namespace {

/// A request's parameters as they are; missing parts read as empty.
/// Not typed as LSP's own structures: a client may leave out or add fields, and none of that may
/// end the server.
struct Params {
  json::Value value = nullptr;

  const json::Object *object(StringRef key) const {
    const json::Object *own = value.getAsObject();
    return own ? own->getObject(key) : nullptr;
  }
  StringRef text(StringRef key) const {
    const json::Object *own = value.getAsObject();
    return own ? own->getString(key).value_or("") : "";
  }
  StringRef uri() const {
    const json::Object *document = object("textDocument");
    return document ? document->getString("uri").value_or("") : "";
  }
  int64_t version() const {
    const json::Object *document = object("textDocument");
    return document ? document->getInteger("version").value_or(0) : 0;
  }
};

bool fromJSON(const json::Value &value, Params &params, json::Path) {
  params.value = value;
  return true;
}

llvm::lsp::Position toPosition(const json::Object *object) {
  llvm::lsp::Position position;
  if (object) {
    auto clamp = [](int64_t value) { return int(std::clamp<int64_t>(value, 0, INT32_MAX)); };
    position.line = clamp(object->getInteger("line").value_or(0));
    position.character = clamp(object->getInteger("character").value_or(0));
  }
  return position;
}

llvm::lsp::Range toRange(const json::Object *object) {
  if (!object)
    return {};
  return {toPosition(object->getObject("start")), toPosition(object->getObject("end"))};
}

using Reply = llvm::lsp::Callback<json::Value>;

class Server {
public:
  explicit Server(const ServerOptions &options) : options(options), workspace(options.cache) {
    workspace.shared.settings.target = options.target;
  }

  int run();

private:
  void registerMethods(llvm::lsp::MessageHandler &handler);
  void publish();
  void readSettings(const json::Object *settings);
  /// The document that the parameters name, up to date; null after an answer that there is none.
  Document *find(const Params &params, Reply &reply);
  template <typename Answer> void answer(const Params &params, Reply reply, Answer get);

  // The life of the server.
  void onInitialize(const Params &params, Reply reply);
  void onInitialized(const Params &params) {}
  void onShutdown(const Params &params, Reply reply);
  void onSettings(const Params &params);
  void onFiles(const Params &params);
  // Documents.
  void onOpen(const Params &params);
  void onChange(const Params &params);
  void onClose(const Params &params);
  void onSave(const Params &params) {}
  // Requests.
  void onHover(const Params &params, Reply reply);
  void onDefinition(const Params &params, Reply reply);
  void onReferences(const Params &params, Reply reply);
  void onHighlight(const Params &params, Reply reply);
  void onCompletion(const Params &params, Reply reply);
  void onSignature(const Params &params, Reply reply);
  void onPrepareRename(const Params &params, Reply reply);
  void onRename(const Params &params, Reply reply);
  void onSymbols(const Params &params, Reply reply);
  void onWorkspaceSymbols(const Params &params, Reply reply);
  void onTokens(const Params &params, Reply reply);
  void onHints(const Params &params, Reply reply);
  void onFolding(const Params &params, Reply reply);
  void onFormatting(const Params &params, Reply reply);
  void onActions(const Params &params, Reply reply);
  void onStatistics(const Params &params, Reply reply);

  uint32_t offset(const Document &document, const Params &params) const {
    return document.getText().offset(toPosition(params.object("position")));
  }

  ServerOptions options;
  Workspace workspace;
  std::set<std::string> unpublished; // documents whose diagnostics the client does not have
  llvm::unique_function<void(const json::Value &)> sendDiagnostics;
  bool isShutDown = false;
};

} // namespace
} // namespace tile::lsp

//===--- The life of the server -------------------------------------------===//

void Server::readSettings(const json::Object *settings) {
  if (!settings)
    return;
  Settings &own = workspace.shared.settings;
  if (auto target = settings->getString("target"); target && !target->empty())
    own.target = target->str();
  if (const json::Array *includes = settings->getArray("includes")) {
    own.includes.clear();
    for (const json::Value &each : *includes)
      if (auto text = each.getAsString())
        own.includes.push_back(text->str());
  }
  if (const json::Object *defines = settings->getObject("defines")) {
    own.defines.clear();
    for (const auto &[name, value] : *defines)
      if (auto text = value.getAsString())
        own.defines.emplace_back(StringRef(name).str(), text->str());
  }
}

void Server::onInitialize(const Params &params, Reply reply) {
  if (const json::Object *capabilities = params.object("capabilities"))
    if (const json::Object *general = capabilities->getObject("general"))
      if (const json::Array *encodings = general->getArray("positionEncodings"))
        for (const json::Value &each : *encodings)
          if (each.getAsString() == StringRef("utf-8"))
            workspace.encoding = Encoding::utf8;
  auto addRoot = [&](StringRef uri) {
    if (!uri.empty())
      workspace.roots.push_back(workspace.toPath(uri));
  };
  const json::Object *own = params.value.getAsObject();
  if (const json::Array *folders = own ? own->getArray("workspaceFolders") : nullptr) {
    for (const json::Value &each : *folders)
      if (const json::Object *folder = each.getAsObject())
        addRoot(folder->getString("uri").value_or(""));
  } else {
    addRoot(params.text("rootUri"));
  }
  readSettings(params.object("initializationOptions"));
  json::Object tokens{{"legend", semanticTokensLegend()}, {"full", true}};
  json::Object capabilities{
      {"positionEncoding", workspace.encoding == Encoding::utf8 ? "utf-8" : "utf-16"},
      {"textDocumentSync", json::Object{{"openClose", true}, {"change", 2}, {"save", true}}},
      {"hoverProvider", true},
      {"definitionProvider", true},
      {"referencesProvider", true},
      {"documentHighlightProvider", true},
      {"documentSymbolProvider", true},
      {"workspaceSymbolProvider", true},
      {"documentFormattingProvider", true},
      {"foldingRangeProvider", true},
      {"inlayHintProvider", true},
      {"renameProvider", json::Object{{"prepareProvider", true}}},
      {"codeActionProvider", json::Object{{"codeActionKinds", json::Array{"quickfix"}}}},
      {"completionProvider", json::Object{{"triggerCharacters", json::Array{".", "\""}}}},
      {"signatureHelpProvider", json::Object{{"triggerCharacters", json::Array{"(", ","}}}},
      {"semanticTokensProvider", std::move(tokens)}};
  reply(json::Object{
      {"capabilities", std::move(capabilities)},
      {"serverInfo", json::Object{{"name", "tilec lsp"}, {"version", options.version}}}});
}

void Server::onShutdown(const Params &params, Reply reply) {
  isShutDown = true;
  reply(nullptr);
}

void Server::onSettings(const Params &params) {
  const json::Object *settings = params.object("settings");
  const json::Object *tile = settings ? settings->getObject("tile") : nullptr;
  readSettings(tile ? tile : settings);
  for (Document *document : workspace.getOpen()) {
    document->forget();
    unpublished.insert(document->getPath());
  }
}

void Server::onFiles(const Params &params) {
  workspace.forgetFiles();
  for (Document *document : workspace.getOpen())
    unpublished.insert(document->getPath());
}

//===--- Documents --------------------------------------------------------===//

void Server::onOpen(const Params &params) {
  const json::Object *document = params.object("textDocument");
  std::string path = workspace.toPath(params.uri());
  if (path.empty())
    return;
  workspace.open(path, document->getString("text").value_or("").str(), params.version());
  unpublished.insert(path);
}

void Server::onChange(const Params &params) {
  Document *document = workspace.find(workspace.toPath(params.uri()));
  const json::Object *own = params.value.getAsObject();
  const json::Array *changes = own ? own->getArray("contentChanges") : nullptr;
  if (!document || !changes)
    return;
  document->version = params.version();
  // Each change is one of the text that the changes before it have left.
  for (const json::Value &each : *changes)
    if (const json::Object *change = each.getAsObject()) {
      const json::Object *range = change->getObject("range");
      document->replace(range ? std::optional(toRange(range)) : std::nullopt,
                        change->getString("text").value_or(""));
    }
  // Others may import it.
  unpublished.insert(document->getPath());
  for (Document *other : workspace.getOpen())
    if (!other->isUpToDate())
      unpublished.insert(other->getPath());
}

/// The file counts as it is on disk from here on. An empty list takes its diagnostics off the
/// screen.
void Server::onClose(const Params &params) {
  std::string path = workspace.toPath(params.uri());
  std::string uri = params.uri().str();
  workspace.close(path);
  unpublished.erase(path);
  sendDiagnostics(json::Object{{"uri", uri}, {"diagnostics", json::Array()}});
  for (Document *other : workspace.getOpen())
    if (!other->isUpToDate())
      unpublished.insert(other->getPath());
}

void Server::publish() {
  // Taken away first: a document that is closed in between is no longer found, and is left out.
  for (const std::string &path : std::exchange(unpublished, {}))
    if (Document *document = workspace.find(path)) {
      document->update();
      sendDiagnostics(publishedDiagnostics(workspace, *document));
    }
}

//===--- Requests ---------------------------------------------------------===//

/// The answer is about the text as it is now, kernels included: positions of the request are of it.
Document *Server::find(const Params &params, Reply &reply) {
  Document *document = workspace.find(workspace.toPath(params.uri()));
  if (!document) {
    reply(llvm::make_error<llvm::lsp::LSPError>(
        "'" + params.uri().str() + "' is not open: textDocument/didOpen comes first",
        llvm::lsp::ErrorCode::InvalidParams));
    return nullptr;
  }
  document->update();
  return document;
}

template <typename Answer> void Server::answer(const Params &params, Reply reply, Answer get) {
  if (Document *document = find(params, reply))
    reply(get(*document));
}

void Server::onHover(const Params &params, Reply reply) {
  answer(params, std::move(reply),
         [&](Document &document) { return hover(document, offset(document, params)); });
}

void Server::onDefinition(const Params &params, Reply reply) {
  answer(params, std::move(reply), [&](Document &document) -> json::Value {
    std::optional<Location> place =
        getLocation(document, findMeaning(document, offset(document, params)));
    return place ? toJson(workspace, *place) : json::Value(nullptr);
  });
}

void Server::onReferences(const Params &params, Reply reply) {
  answer(params, std::move(reply), [&](Document &document) -> json::Value {
    const json::Object *context = params.object("context");
    bool all = context && context->getBoolean("includeDeclaration").value_or(false);
    json::Array found;
    for (const Location &place :
         findReferences(workspace, document, findMeaning(document, offset(document, params)), all))
      found.push_back(toJson(workspace, place));
    return found;
  });
}

void Server::onHighlight(const Params &params, Reply reply) {
  answer(params, std::move(reply), [&](Document &document) -> json::Value {
    json::Array found;
    for (const Location &place :
         findReferences(workspace, document, findMeaning(document, offset(document, params)), true))
      if (place.path == document.getPath())
        found.push_back(json::Object{{"range", place.range}});
    return found;
  });
}

void Server::onCompletion(const Params &params, Reply reply) {
  answer(params, std::move(reply),
         [&](Document &document) { return completion(document, offset(document, params)); });
}

void Server::onSignature(const Params &params, Reply reply) {
  answer(params, std::move(reply),
         [&](Document &document) { return signatureHelp(document, offset(document, params)); });
}

void Server::onPrepareRename(const Params &params, Reply reply) {
  answer(params, std::move(reply), [&](Document &document) {
    return prepareRename(workspace, document, offset(document, params));
  });
}

void Server::onRename(const Params &params, Reply reply) {
  Document *document = find(params, reply);
  if (!document)
    return;
  std::string problem;
  json::Value edit =
      rename(workspace, *document, offset(*document, params), params.text("newName"), problem);
  if (problem.empty())
    reply(std::move(edit));
  else
    reply(llvm::make_error<llvm::lsp::LSPError>(problem, llvm::lsp::ErrorCode::RequestFailed));
}

void Server::onSymbols(const Params &params, Reply reply) {
  answer(params, std::move(reply), [&](Document &document) { return documentSymbols(document); });
}

void Server::onWorkspaceSymbols(const Params &params, Reply reply) {
  reply(workspaceSymbols(workspace, params.text("query")));
}

void Server::onTokens(const Params &params, Reply reply) {
  answer(params, std::move(reply), [&](Document &document) { return semanticTokens(document); });
}

void Server::onHints(const Params &params, Reply reply) {
  answer(params, std::move(reply),
         [&](Document &document) { return inlayHints(document, toRange(params.object("range"))); });
}

void Server::onFolding(const Params &params, Reply reply) {
  answer(params, std::move(reply), [&](Document &document) { return foldingRanges(document); });
}

void Server::onFormatting(const Params &params, Reply reply) {
  answer(params, std::move(reply), [&](Document &document) { return formatting(document); });
}

void Server::onActions(const Params &params, Reply reply) {
  answer(params, std::move(reply), [&](Document &document) {
    return codeActions(workspace, document, toRange(params.object("range")));
  });
}

/// tile/statistics, for tests: what has been done for a document so far.
void Server::onStatistics(const Params &params, Reply reply) {
  answer(params, std::move(reply), [&](Document &document) -> json::Value {
    return json::Object{{"declarations", int64_t(document.getUnits().size())},
                        {"parsed", document.parsedUnits},
                        {"checkedKernels", document.checkedKernels}};
  });
}

void Server::registerMethods(llvm::lsp::MessageHandler &handler) {
  handler.method("initialize", this, &Server::onInitialize);
  handler.notification("initialized", this, &Server::onInitialized);
  handler.method("shutdown", this, &Server::onShutdown);
  handler.notification("workspace/didChangeConfiguration", this, &Server::onSettings);
  handler.notification("workspace/didChangeWatchedFiles", this, &Server::onFiles);
  handler.notification("textDocument/didOpen", this, &Server::onOpen);
  handler.notification("textDocument/didChange", this, &Server::onChange);
  handler.notification("textDocument/didClose", this, &Server::onClose);
  handler.notification("textDocument/didSave", this, &Server::onSave);
  handler.method("textDocument/hover", this, &Server::onHover);
  handler.method("textDocument/definition", this, &Server::onDefinition);
  handler.method("textDocument/references", this, &Server::onReferences);
  handler.method("textDocument/documentHighlight", this, &Server::onHighlight);
  handler.method("textDocument/completion", this, &Server::onCompletion);
  handler.method("textDocument/signatureHelp", this, &Server::onSignature);
  handler.method("textDocument/prepareRename", this, &Server::onPrepareRename);
  handler.method("textDocument/rename", this, &Server::onRename);
  handler.method("textDocument/documentSymbol", this, &Server::onSymbols);
  handler.method("workspace/symbol", this, &Server::onWorkspaceSymbols);
  handler.method("textDocument/semanticTokens/full", this, &Server::onTokens);
  handler.method("textDocument/inlayHint", this, &Server::onHints);
  handler.method("textDocument/foldingRange", this, &Server::onFolding);
  handler.method("textDocument/formatting", this, &Server::onFormatting);
  handler.method("textDocument/codeAction", this, &Server::onActions);
  handler.method("tile/statistics", this, &Server::onStatistics);
}

int Server::run() {
  llvm::CrashRecoveryContext::Enable();
  llvm::lsp::JSONTransport transport(std::make_unique<Input>(STDIN_FILENO, [this] { publish(); }),
                                     llvm::outs());
  llvm::lsp::MessageHandler handler(transport);
  registerMethods(handler);
  auto notify = handler.outgoingNotification<json::Value>("textDocument/publishDiagnostics");
  sendDiagnostics = [&](const json::Value &params) { notify(params); };
  llvm::consumeError(transport.run(handler)); // the client is gone
  // The protocol's exit codes: 1 where the client is gone without saying so.
  return isShutDown ? 0 : 1;
}

int tile::lsp::serve(const ServerOptions &options) { return Server(options).run(); }
