// The extension: registers what VS Code asks languages for, and passes it to `tilec lsp`. It needs
// no library.
"use strict";

const vscode = require("vscode");
const {Connection} = require("./protocol.js");

const selector = {
  language : "tile"
};
let connection = null;
let ready = Promise.resolve();
let collection;

const toPosition = (place) => new vscode.Position(place.line, place.character);
const toRange = (range) => new vscode.Range(toPosition(range.start), toPosition(range.end));
const fromPosition = (place) => ({line : place.line, character : place.character});
const fromRange = (range) => ({start : fromPosition(range.start), end : fromPosition(range.end)});
const toLocation = (place) =>
    new vscode.Location(vscode.Uri.parse(place.uri), toRange(place.range));
const toEdit = (edit) => new vscode.TextEdit(toRange(edit.range), edit.newText);
const at = (document, position) => ({
  textDocument : {uri : document.uri.toString()},
  ...(position ? {position : fromPosition(position)} : {})
});

function toWorkspaceEdit(edit) {
  const result = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(edit.changes))
    result.set(vscode.Uri.parse(uri), edits.map(toEdit));
  return result;
}

function toDiagnostic(each) {
  // The protocol counts severities from 1, VS Code from 0.
  const result = new vscode.Diagnostic(toRange(each.range), each.message, each.severity - 1);
  result.code = each.code;
  result.source = each.source;
  result.tags = each.tags;
  result.relatedInformation = (each.relatedInformation || [])
                                  .map((other) => new vscode.DiagnosticRelatedInformation(
                                           toLocation(other.location), other.message));
  return result;
}

async function ask(method, params) {
  await ready;
  try {
    return connection ? await connection.request("textDocument/" + method, params) : null;
  } catch (error) {
    return null; // the document was closed, or the server is gone, which has been said
  }
}

function settings() {
  const own = vscode.workspace.getConfiguration("tile");
  return {target : own.get("target"), includes : own.get("includes"), defines : own.get("defines")};
}

function open(document) {
  if (document.languageId === "tile" && connection)
    connection.notify("textDocument/didOpen", {
      textDocument : {
        uri : document.uri.toString(),
        languageId : "tile",
        version : document.version,
        text : document.getText()
      }
    });
}

async function start() {
  const command = vscode.workspace.getConfiguration("tile").get("compiler");
  const own = new Connection(command, [ "lsp", "--stdio" ], {
    "textDocument/publishDiagnostics" : (params) =>
        collection.set(vscode.Uri.parse(params.uri), params.diagnostics.map(toDiagnostic)),
  },
                             (reason) => {
                               if (connection !== own)
                                 return;
                               connection = null;
                               collection.clear();
                               vscode.window.showErrorMessage(
                                   `Tile: ${reason}. The setting tile.compiler names the program.`);
                             });
  connection = own;
  const folders = (vscode.workspace.workspaceFolders ||
                   []).map((each) => ({uri : each.uri.toString(), name : each.name}));
  const answer = await own.request("initialize", {
    processId : process.pid,
    capabilities : {},
    workspaceFolders : folders,
    initializationOptions : settings()
  });
  own.notify("initialized", {});
  vscode.workspace.textDocuments.forEach(open);
  return answer.capabilities;
}

async function stop() {
  const own = connection;
  connection = null;
  if (own)
    await own.stop();
}

// VS Code counts kinds of completions and symbols from 0, the protocol from 1.
const providers = {
  hover : {
    async provideHover(document, position) {
      const answer = await ask("hover", at(document, position));
      return answer && new vscode.Hover(new vscode.MarkdownString(answer.contents.value),
                                        answer.range && toRange(answer.range));
    }
  },
  definition : {
    async provideDefinition(document, position) {
      const answer = await ask("definition", at(document, position));
      return answer && toLocation(answer);
    }
  },
  references : {
    async provideReferences(document, position, context) {
      return ((await ask("references", {...at(document, position), context})) || [])
          .map(toLocation);
    }
  },
  highlight : {
    async provideDocumentHighlights(document, position) {
      return ((await ask("documentHighlight", at(document, position))) || [])
          .map((each) => new vscode.DocumentHighlight(toRange(each.range)));
    }
  },
  completion : {
    async provideCompletionItems(document, position) {
      const answer = await ask("completion", at(document, position));
      return ((answer && answer.items) || []).map((each) => {
        const item = new vscode.CompletionItem(each.label, each.kind - 1);
        item.detail = each.detail;
        item.documentation = each.documentation;
        return item;
      });
    }
  },
  signature : {
    async provideSignatureHelp(document, position) {
      const answer = await ask("signatureHelp", at(document, position));
      if (!answer)
        return null;
      const help = new vscode.SignatureHelp();
      help.signatures = answer.signatures.map((each) => {
        const one = new vscode.SignatureInformation(each.label, each.documentation);
        one.parameters =
            each.parameters.map((parameter) => new vscode.ParameterInformation(parameter.label));
        return one;
      });
      help.activeSignature = answer.activeSignature;
      help.activeParameter = answer.activeParameter;
      return help;
    }
  },
  rename : {
    async provideRenameEdits(document, position, newName) {
      await ready;
      // An error is shown: it says why the name cannot be changed.
      return toWorkspaceEdit(
          await connection.request("textDocument/rename", {...at(document, position), newName}));
    },
    async prepareRename(document, position) {
      const answer = await ask("prepareRename", at(document, position));
      if (!answer)
        throw new Error("nothing here can be renamed");
      return {range : toRange(answer.range), placeholder : answer.placeholder};
    },
  },
  symbols : {
    async provideDocumentSymbols(document) {
      const convert = (each) => {
        const symbol = new vscode.DocumentSymbol(each.name, each.detail, each.kind - 1,
                                                 toRange(each.range), toRange(each.selectionRange));
        symbol.children = (each.children || []).map(convert);
        return symbol;
      };
      return ((await ask("documentSymbol", at(document))) || []).map(convert);
    }
  },
  workspaceSymbols : {
    async provideWorkspaceSymbols(query) {
      await ready;
      const found = connection ? await connection.request("workspace/symbol", {query}) : [];
      return found.map((each) => new vscode.SymbolInformation(each.name, each.kind - 1, "",
                                                              toLocation(each.location)));
    }
  },
  tokens : {
    async provideDocumentSemanticTokens(document) {
      const answer = await ask("semanticTokens/full", at(document));
      return answer && new vscode.SemanticTokens(Uint32Array.from(answer.data));
    }
  },
  hints : {
    async provideInlayHints(document, range) {
      return ((await ask("inlayHint", {...at(document), range : fromRange(range)})) || [])
          .map((each) => new vscode.InlayHint(toPosition(each.position), each.label, each.kind));
    }
  },
  folding : {
    async provideFoldingRanges(document) {
      const kinds = {
        comment : vscode.FoldingRangeKind.Comment,
        imports : vscode.FoldingRangeKind.Imports
      };
      return ((await ask("foldingRange", at(document))) || [])
          .map((each) => new vscode.FoldingRange(each.startLine, each.endLine, kinds[each.kind]));
    }
  },
  formatting : {
    async provideDocumentFormattingEdits(
        document) { return ((await ask("formatting", at(document))) || []).map(toEdit); }
  },
  actions : {
    async provideCodeActions(document, range) {
      return ((await ask(
                  "codeAction",
                  {...at(document), range : fromRange(range), context : {diagnostics : []}})) ||
              [])
          .map((each) => {
            const action = new vscode.CodeAction(each.title, vscode.CodeActionKind.QuickFix);
            action.edit = toWorkspaceEdit(each.edit);
            action.diagnostics = each.diagnostics.map(toDiagnostic);
            action.isPreferred = each.isPreferred;
            return action;
          });
    }
  },
};

function change(event) {
  if (event.document.languageId !== "tile" || !connection || !event.contentChanges.length)
    return;
  connection.notify("textDocument/didChange", {
    textDocument : {uri : event.document.uri.toString(), version : event.document.version},
    contentChanges :
        event.contentChanges.map((each) => ({range : fromRange(each.range), text : each.text}))
  });
}

async function activate(context) {
  collection = vscode.languages.createDiagnosticCollection("tile");
  const keep = (...things) => context.subscriptions.push(collection, ...things);
  const files = vscode.workspace.createFileSystemWatcher("**/*.tile");
  const touched = (uri) =>
      connection && connection.notify("workspace/didChangeWatchedFiles",
                                      {changes : [ {uri : uri.toString(), type : 2} ]});
  [files.onDidChange, files.onDidCreate, files.onDidDelete].forEach((event) =>
                                                                        keep(event(touched)));
  const started = start();
  ready = started.catch(() => {});
  const l = vscode.languages;
  keep(files, vscode.workspace.onDidOpenTextDocument(open),
       vscode.workspace.onDidChangeTextDocument(change),
       vscode.workspace.onDidCloseTextDocument((document) => {
         if (document.languageId === "tile" && connection)
           connection.notify("textDocument/didClose", at(document));
       }),
       vscode.workspace.onDidChangeConfiguration((event) => {
         if (event.affectsConfiguration("tile") && connection)
           connection.notify("workspace/didChangeConfiguration", {settings : {tile : settings()}});
       }),
       vscode.commands.registerCommand("tile.restart",
                                       async () => {
                                         await stop();
                                         collection.clear();
                                         ready = start().catch(() => {});
                                       }),
       l.registerHoverProvider(selector, providers.hover),
       l.registerDefinitionProvider(selector, providers.definition),
       l.registerReferenceProvider(selector, providers.references),
       l.registerDocumentHighlightProvider(selector, providers.highlight),
       l.registerCompletionItemProvider(selector, providers.completion, ".", "\""),
       l.registerSignatureHelpProvider(selector, providers.signature, "(", ","),
       l.registerRenameProvider(selector, providers.rename),
       l.registerDocumentSymbolProvider(selector, providers.symbols),
       l.registerWorkspaceSymbolProvider(providers.workspaceSymbols),
       l.registerInlayHintsProvider(selector, providers.hints),
       l.registerFoldingRangeProvider(selector, providers.folding),
       l.registerDocumentFormattingEditProvider(selector, providers.formatting),
       l.registerCodeActionsProvider(
           selector, providers.actions,
           {providedCodeActionKinds : [ vscode.CodeActionKind.QuickFix ]}));
  const capabilities = await started.catch(() => null); // its failure has been shown
  if (capabilities) {
    const {tokenTypes, tokenModifiers} = capabilities.semanticTokensProvider.legend;
    keep(l.registerDocumentSemanticTokensProvider(
        selector, providers.tokens, new vscode.SemanticTokensLegend(tokenTypes, tokenModifiers)));
  }
}

module.exports = {
  activate,
  deactivate : stop
};
