// The extension in plain Node, with a stand-in for VS Code: node vscode.js TILEC FOLDER.
"use strict";
const Module = require("module");
const path = require("path");
const [tilec, folder] = process.argv.slice(2);
const editor = path.resolve(folder);

class Any {
  constructor(...args) { Object.assign(this, args); }
}
const registered = {};
const published = {};
let heard;
const event = () => ({dispose() {}});
const document = {
  uri : {toString : () => "file:///tmp/client.tile"},
  languageId : "tile",
  version : 1,
  getText : () =>
      "/// Twice.\nfn twice(x) {\n  return 2 * x;\n}\n\nfn f(x) {\n  return twise(x);\n}\n",
};
const kinds = new Proxy({}, {get : (_, name) => name});
const vscode = {
  Position : Any,
  Range : Any,
  Location : Any,
  Hover : Any,
  MarkdownString : Any,
  TextEdit : Any,
  SemanticTokensLegend : Any,
  SemanticTokens : Any,
  DiagnosticRelatedInformation : Any,
  CodeAction : Any,
  CompletionItem : Any,
  DocumentSymbol : Any,
  FoldingRange : Any,
  SignatureHelp : Any,
  SignatureInformation : Any,
  ParameterInformation : Any,
  InlayHint : Any,
  SymbolInformation : Any,
  DocumentHighlight : Any,
  WorkspaceEdit :
      class {constructor() { this.edits = []; } set(uri, edits) { this.edits.push(...edits); }},
  Diagnostic : class {
    constructor(range, message, severity) { Object.assign(this, {range, message, severity}); }
  },
  FoldingRangeKind : kinds,
  CodeActionKind : kinds,
  Uri : {parse : (text) => text},
  languages : new Proxy({}, {
    get : (_, name) => (...args) => {
      if (name === "createDiagnosticCollection")
        return {
          set : (uri, list) => {
            published[uri] = list;
            if (heard)
              heard();
          },
          clear() {},
          dispose() {}
        };
      registered[name] = args.find(
          (each) => each && Object.values(each).some((value) => typeof value === "function"));
      return event();
    }
  }),
  workspace : {
    textDocuments : [ document ],
    workspaceFolders : [],
    getConfiguration : () =>
        ({get : (name) => ({compiler : tilec, target : "cpu", includes : [], defines : {}})[name]}),
    createFileSystemWatcher : () =>
        ({onDidChange : event, onDidCreate : event, onDidDelete : event, dispose() {}}),
    onDidOpenTextDocument : event,
    onDidChangeTextDocument : event,
    onDidCloseTextDocument : event,
    onDidChangeConfiguration : event,
  },
  commands : {registerCommand : event},
  window : {
    showErrorMessage : (text) => {
      console.log(text);
      process.exitCode = 1;
    }
  },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const client = require(path.join(editor, "client.js"));

(async () => {
  const first = new Promise((resolve) => { heard = resolve; });
  await client.activate({subscriptions : []});
  await first;
  const list = published["file:///tmp/client.tile"];
  console.log("diagnostic:", list[0].code, list[0].message);
  const hover =
      await registered.registerHoverProvider.provideHover(document, {line : 1, character : 4});
  console.log("hover:", JSON.stringify(hover[0][0]));
  const range = {start : {line : 6, character : 10}, end : {line : 6, character : 10}};
  const actions = await registered.registerCodeActionsProvider.provideCodeActions(document, range);
  console.log("action:", actions[0].edit.edits[0][1]);
  const tokens =
      await registered.registerDocumentSemanticTokensProvider.provideDocumentSemanticTokens(
          document);
  console.log("tokens:", tokens[0].length % 5 === 0 && tokens[0].length > 20);
  const items = await registered.registerCompletionItemProvider.provideCompletionItems(
      document, {line : 6, character : 9});
  console.log("items:", items.length > 100);
  await client.deactivate();
  console.log("end");
})().catch((error) => {
  console.log(error.stack);
  process.exitCode = 1;
});
