// Syntax of the Tile language. Free of ambiguities, also in ANTLR's SLL mode; no embedded actions.
parser grammar TileParser;

options { tokenVocab = TileLexer; }

program     : (importDecl | constDecl | fnDecl | kernelDecl)* EOF ;
importDecl  : IMPORT STRING (AS name)? SEMI ;
constDecl   : CONST name (COLON typeSpec)? EQUAL expr SEMI ;
fnDecl      : FN name statics? LPAREN (fnParam (COMMA fnParam)* COMMA?)? RPAREN block ;
fnParam     : name (COLON typeSpec)? (EQUAL expr)? ;
kernelDecl  : KERNEL name statics? LPAREN (param (COMMA param)* COMMA?)? RPAREN clause* block ;

statics     : LBRACKET staticParam (COMMA staticParam)* COMMA? RBRACKET ;
staticParam : name COLON staticKind (IN valueSet)? (EQUAL expr)? ;
staticKind  : FN | ID ;
param       : name COLON access? typeSpec (STAR count=expr)? (EQUAL init=expr)? (IF cond=expr)? ;
access      : IN | OUT | INOUT ;
typeSpec    : ID (LBRACKET (expr (COMMA expr)* COMMA?)? (SEMI stride (COMMA stride)* COMMA?)?
                  RBRACKET)? ;
stride      : STAR | expr ;

// Each clause at most once, but for `specialize`; the AST builder checks that.
clause      : WHERE contract (COMMA contract)*         # whereClause
            | SPECIALIZE contract (COMMA contract)*    # specializeClause
            | GRID LPAREN (axis (COMMA axis)* COMMA?)? RPAREN # gridClause
            | attributes                               # withClause
            | TUNE LBRACE tuneItem* RBRACE             # tuneClause
            ;
contract    : value=expr (IN valueSet (OPT hint=expr)?)? ;
valueSet    : LBRACE expr (COMMA expr)* COMMA? RBRACE | interval ;
interval    : lo=expr (DOT_DOT | DOT_DOT_EQUAL) hi=expr (STEP by=expr)? ;
axis        : name COLON expr ;
attributes  : WITH attribute (COMMA attribute)* ;
attribute   : name arguments? ;
tuneItem    : name IN valueSet SEMI               # candidates
            | WHERE expr SEMI                     # tuneWhere
            | KEY expr (COMMA expr)* SEMI         # tuneKey
            | CONFIG name? LBRACE setting* RBRACE # config
            ;
setting     : name EQUAL expr SEMI ;

block       : LBRACE statement* RBRACE ;
statement   : (LET | VAR) pattern (COLON typeSpec)? EQUAL expr SEMI  # letStatement
            | target=expr (assignOp value=expr)? SEMI                # simpleStatement
              // a call, an assignment, a store
            | ifStmt                                                 # ifStatement
            | CONST? FOR name IN over=expr ((DOT_DOT | DOT_DOT_EQUAL) hi=expr (STEP by=expr)?)?
              attributes? block                                      # forStatement
            | WHILE expr attributes? block                           # whileStatement
            | RETURN expr? SEMI                                      # returnStatement
            | (BREAK | CONTINUE) SEMI                                # jumpStatement
            ;
ifStmt      : CONST? IF expr block (ELSE (ifStmt | block))? ;
pattern     : name | LPAREN name (COMMA name)* COMMA? RPAREN ;
assignOp    : EQUAL | PLUS_EQUAL | MINUS_EQUAL | STAR_EQUAL | SLASH_EQUAL | PERCENT_EQUAL
            | AMP_EQUAL | PIPE_EQUAL | CARET_EQUAL | SHIFT_LEFT_EQUAL | SHIFT_RIGHT_EQUAL ;

// Operators of one rule bind as S3.1 of the language says: the AST builder groups them. A rule for
// each of the ten levels would be entered for every name and number. Comparisons do not chain.
expr        : comparison ((OR_OR | AND_AND) comparison)* ;
comparison  : arithmetic ((EQUAL_EQUAL | NOT_EQUAL | LESS | LESS_EQUAL | GREATER | GREATER_EQUAL)
                          arithmetic)? ;
arithmetic  : cast ((PIPE | CARET | AMP | SHIFT_LEFT | SHIFT_RIGHT | PLUS | MINUS | STAR | SLASH
                     | PERCENT) cast)* ;
cast        : unary (AS castTarget)* ;
castTarget  : name (DOT name)? ;
unary       : (MINUS | NOT | TILDE) unary | primary suffix* ;
suffix      : LBRACKET (subscript (COMMA subscript)* COMMA?)? RBRACKET # subscripts
            | arguments # call
            | DOT name  # member
            ;
subscript   : COLON | lo=expr (DOT_DOT hi=expr)? ;
arguments   : LPAREN (argument (COMMA argument)* COMMA?)? RPAREN ;
argument    : (name COLON)? expr ;
primary     : literal                            # literalPrimary
            | name                               # namePrimary
            | LPAREN expr ((COMMA expr)+ COMMA?)? RPAREN   # parenthesis // two or more make a tuple
            | LBRACKET expr (COMMA expr)* COMMA? RBRACKET # listing
              // a shape, a list, a constant tile
            ;
literal     : INT | FLOAT | STRING | TRUE | FALSE | NONE ;
name        : ID | WHERE | SPECIALIZE | GRID | TUNE | KEY | CONFIG | OPT | STEP | OUT | INOUT ;
