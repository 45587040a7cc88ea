// AST builder: places, names, declarations, clauses.
#include "frontend/Parse/AstBuilder.h"
#include "frontend/Parse/TokenCheck.h"

#include "TileLexer.h"

using namespace tile;
using namespace tile::ast;

Range TreeReader::range(const antlr4::Token *token) const { return tokenRange(file, token); }

Range TreeReader::range(const antlr4::ParserRuleContext *context) const {
  return range(context->start).join(range(context->stop));
}

Ident TreeReader::ident(TileParser::NameContext *context) const {
  Range place = range(context);
  return {{place}, text(place).str()};
}

Ident TreeReader::ident(antlr4::tree::TerminalNode *node) const {
  Range place = range(node);
  return {{place}, text(place).str()};
}

/// The `///` lines directly before a construct, without slashes and one blank, joined by '\n'.
/// Each comment that is taken is noted in `docs`: reportStrayDocs() warns of the others, which
/// document nothing.
std::string AstBuilder::docBefore(const antlr4::ParserRuleContext *context) {
  std::string out;
  for (antlr4::Token *comment :
       tokens.getHiddenTokensToLeft(context->start->getTokenIndex(), TileLexer::DOC)) {
    docs.insert(comment->getTokenIndex());
    llvm::StringRef line = text(range(comment)).drop_front(3);
    line.consume_front(" ");
    if (!out.empty())
      out += '\n';
    out += line.rtrim();
  }
  return out;
}

void AstBuilder::reportStrayDocs() {
  for (antlr4::Token *token : tokens.getTokens())
    if (token->getChannel() == TileLexer::DOC && !docs.count(token->getTokenIndex()))
      diagnostics.report(diag::strayDoc, range(token))
          .fixIt({file, range(token).begin, range(token).begin + 1}, "", "write '//'");
}

/// The range of a declaration begins at its first word, that of the program is the whole file:
/// ranges of diagnostics about a file as such need one that is valid.
std::unique_ptr<Program> AstBuilder::build(TileParser::ProgramContext *context) {
  auto program = std::make_unique<Program>();
  program->range = {file, 0, uint32_t(diagnostics.sources().text(file).size())};
  for (antlr4::tree::ParseTree *child : context->children) {
    DeclPtr decl;
    if (auto *import = dynamic_cast<TileParser::ImportDeclContext *>(child))
      decl = importDecl(import);
    else if (auto *constant = dynamic_cast<TileParser::ConstDeclContext *>(child))
      decl = constDecl(constant);
    else if (auto *fn = dynamic_cast<TileParser::FnDeclContext *>(child))
      decl = fnDecl(fn);
    else if (auto *kernel = dynamic_cast<TileParser::KernelDeclContext *>(child))
      decl = kernelDecl(kernel);
    else
      continue; // the end of the file
    auto *rule = static_cast<antlr4::ParserRuleContext *>(child);
    decl->range = range(rule);
    decl->doc = docBefore(rule);
    program->decls.push_back(std::move(decl));
  }
  reportStrayDocs();
  return program;
}

DeclPtr AstBuilder::importDecl(TileParser::ImportDeclContext *context) {
  auto out = std::make_unique<ImportDecl>();
  out->pathRange = range(context->STRING());
  out->path = unescape(out->pathRange);
  if (context->name())
    out->name = ident(context->name());
  return out;
}

DeclPtr AstBuilder::constDecl(TileParser::ConstDeclContext *context) {
  auto out = std::make_unique<ConstDecl>();
  out->name = ident(context->name());
  if (context->typeSpec())
    out->type = typeSpec(context->typeSpec());
  out->value = expr(context->expr());
  return out;
}

DeclPtr AstBuilder::fnDecl(TileParser::FnDeclContext *context) {
  auto out = std::make_unique<FnDecl>();
  out->name = ident(context->name());
  out->statics = statics(context->statics());
  for (TileParser::FnParamContext *entry : context->fnParam()) {
    FnParam param;
    param.range = range(entry);
    param.name = ident(entry->name());
    if (entry->typeSpec())
      param.type = typeSpec(entry->typeSpec());
    param.defaultValue = optional(entry->expr());
    // Only the one before it is looked at: of several without a default behind one that has it, the
    // first is reported.
    if (!param.defaultValue && !out->params.empty() && out->params.back().defaultValue)
      diagnostics.report(diag::missingDefault, param.name.range, param.name.text)
          .note(out->params.back().range, "this one before it has a default");
    out->params.push_back(std::move(param));
  }
  out->body = block(context->block());
  return out;
}

DeclPtr AstBuilder::kernelDecl(TileParser::KernelDeclContext *context) {
  auto out = std::make_unique<KernelDecl>();
  out->name = ident(context->name());
  out->statics = statics(context->statics());
  for (TileParser::ParamContext *entry : context->param())
    out->params.push_back(param(entry));
  for (TileParser::ClauseContext *entry : context->clause()) {
    ClausePtr next = clause(entry);
    for (const ClausePtr &earlier : out->clauses)
      // Reported here, not by the grammar: clauses may stand in any order.
      if (earlier->kind == next->kind && next->kind != Clause::Kind::Specialize) {
        Range word = range(entry->start);
        diagnostics.report(diag::duplicateClause, word, text(word))
            .note({file, earlier->range.begin, earlier->range.begin + word.size()},
                  "the first one is here");
        break;
      }
    out->clauses.push_back(std::move(next));
  }
  out->body = block(context->block());
  return out;
}

std::vector<StaticParam> AstBuilder::statics(TileParser::StaticsContext *context) {
  std::vector<StaticParam> out;
  if (!context)
    return out;
  for (TileParser::StaticParamContext *entry : context->staticParam()) {
    StaticParam param;
    param.range = range(entry);
    param.doc = docBefore(entry);
    param.name = ident(entry->name());
    Range kind = range(entry->staticKind());
    param.type = {{kind}, text(kind).str()};
    if (entry->valueSet())
      param.set = valueSet(entry->valueSet());
    param.defaultValue = optional(entry->expr());
    out.push_back(std::move(param));
  }
  return out;
}

Param AstBuilder::param(TileParser::ParamContext *context) {
  Param out;
  out.range = range(context);
  out.doc = docBefore(context);
  out.name = ident(context->name());
  if (TileParser::AccessContext *access = context->access())
    out.access = access->IN() ? Access::in : access->OUT() ? Access::out : Access::inout;
  out.type = typeSpec(context->typeSpec());
  out.count = optional(context->count);
  out.defaultValue = optional(context->init);
  out.condition = optional(context->cond);
  return out;
}

ValueSet AstBuilder::valueSet(TileParser::ValueSetContext *context) {
  ValueSet out;
  out.range = range(context);
  TileParser::IntervalContext *interval = context->interval();
  if (!interval) {
    out.values = exprs(context->expr());
    return out;
  }
  out.kind = ValueSet::interval;
  out.lo = expr(interval->lo);
  out.hi = expr(interval->hi);
  out.step = optional(interval->by);
  out.inclusive = interval->DOT_DOT_EQUAL() != nullptr;
  return out;
}

std::vector<Contract> AstBuilder::contracts(const Ptrs<TileParser::ContractContext> &contexts) {
  std::vector<Contract> out;
  for (TileParser::ContractContext *entry : contexts) {
    Contract contract;
    contract.range = range(entry);
    contract.value = expr(entry->value);
    if (entry->valueSet())
      contract.set = valueSet(entry->valueSet());
    contract.hint = optional(entry->hint);
    out.push_back(std::move(contract));
  }
  return out;
}

ClausePtr AstBuilder::clause(TileParser::ClauseContext *context) {
  ClausePtr out;
  if (auto *where = dynamic_cast<TileParser::WhereClauseContext *>(context)) {
    auto clause = std::make_unique<WhereClause>();
    clause->contracts = contracts(where->contract());
    out = std::move(clause);
  } else if (auto *specialize = dynamic_cast<TileParser::SpecializeClauseContext *>(context)) {
    auto clause = std::make_unique<SpecializeClause>();
    clause->contracts = contracts(specialize->contract());
    out = std::move(clause);
  } else if (auto *grid = dynamic_cast<TileParser::GridClauseContext *>(context)) {
    auto clause = std::make_unique<GridClause>();
    for (TileParser::AxisContext *entry : grid->axis()) {
      GridAxis axis;
      axis.range = range(entry);
      axis.name = ident(entry->name());
      axis.extent = expr(entry->expr());
      clause->axes.push_back(std::move(axis));
    }
    out = std::move(clause);
  } else if (auto *with = dynamic_cast<TileParser::WithClauseContext *>(context)) {
    auto clause = std::make_unique<WithClause>();
    clause->attributes = attributes(with->attributes());
    out = std::move(clause);
  } else {
    auto clause = std::make_unique<TuneClause>();
    for (TileParser::TuneItemContext *item :
         static_cast<TileParser::TuneClauseContext *>(context)->tuneItem())
      clause->items.push_back(tuneItem(item));
    out = std::move(clause);
  }
  out->range = range(context);
  return out;
}

TuneItem AstBuilder::tuneItem(TileParser::TuneItemContext *context) {
  TuneItem out;
  out.range = range(context);
  if (auto *candidates = dynamic_cast<TileParser::CandidatesContext *>(context)) {
    out.kind = TuneItem::Kind::Candidates;
    out.name = ident(candidates->name());
    out.set = valueSet(candidates->valueSet());
  } else if (auto *where = dynamic_cast<TileParser::TuneWhereContext *>(context)) {
    out.kind = TuneItem::Kind::Where;
    out.condition = expr(where->expr());
  } else if (auto *key = dynamic_cast<TileParser::TuneKeyContext *>(context)) {
    out.kind = TuneItem::Kind::Key;
    out.keys = exprs(key->expr());
  } else {
    auto *config = static_cast<TileParser::ConfigContext *>(context);
    out.kind = TuneItem::Kind::Config;
    if (config->name())
      out.name = ident(config->name());
    for (TileParser::SettingContext *entry : config->setting()) {
      TuneItem::Setting setting;
      setting.range = range(entry);
      setting.name = ident(entry->name());
      setting.value = expr(entry->expr());
      out.settings.push_back(std::move(setting));
    }
  }
  return out;
}
