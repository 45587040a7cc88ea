// Words and signs of the Tile language. The lexer sees bytes: token positions are byte offsets into
// the file.
lexer grammar TileLexer;

channels { DOC }

// Keywords.
KERNEL : 'kernel' ;
FN     : 'fn' ;
CONST  : 'const' ;
IMPORT : 'import' ;
AS     : 'as' ;
LET    : 'let' ;
VAR    : 'var' ;
FOR    : 'for' ;
WHILE  : 'while' ;
IF     : 'if' ;
ELSE   : 'else' ;
RETURN : 'return' ;
BREAK  : 'break' ;
CONTINUE : 'continue' ;
IN     : 'in' ;
WITH   : 'with' ;
TRUE   : 'true' ;
FALSE  : 'false' ;
NONE   : 'None' ;

// Words only in their place; the parser's rule `name` takes them as names elsewhere.
WHERE      : 'where' ;
SPECIALIZE : 'specialize' ;
GRID       : 'grid' ;
TUNE       : 'tune' ;
KEY        : 'key' ;
CONFIG     : 'config' ;
OPT        : 'opt' ;
STEP       : 'step' ;
OUT        : 'out' ;
INOUT      : 'inout' ;

// Kept for later versions of the language.
RESERVED : 'struct' | 'enum' | 'match' | 'type' | 'pub' | 'use' | 'yield' ;

// A point needs a digit on both sides, so `1..8` is a range and `x.T` a member.
INT   : DIGITS | '0x' [0-9a-fA-F] [0-9a-fA-F_]* | '0b' [01] [01_]* ;
FLOAT : DIGITS '.' DIGITS EXPONENT? | DIGITS EXPONENT ;
BAD_NUMBER : DIGITS ('.' DIGITS)? [a-zA-Z_] [a-zA-Z0-9_]* ;

STRING     : '"' CHARACTER* '"' ;
BAD_STRING : '"' CHARACTER* '\\'? ;

ID : [a-zA-Z_] [a-zA-Z0-9_]* ;

LPAREN   : '(' ;
RPAREN   : ')' ;
LBRACKET : '[' ;
RBRACKET : ']' ;
LBRACE   : '{' ;
RBRACE   : '}' ;
COMMA    : ',' ;
SEMI     : ';' ;
COLON    : ':' ;

DOT           : '.' ;
DOT_DOT       : '..' ;
DOT_DOT_EQUAL : '..=' ;

EQUAL_EQUAL   : '==' ;
NOT_EQUAL     : '!=' ;
LESS          : '<' ;
LESS_EQUAL    : '<=' ;
GREATER       : '>' ;
GREATER_EQUAL : '>=' ;

PLUS        : '+' ;
MINUS       : '-' ;
STAR        : '*' ;
SLASH       : '/' ;
PERCENT     : '%' ;
AMP         : '&' ;
PIPE        : '|' ;
CARET       : '^' ;
SHIFT_LEFT  : '<<' ;
SHIFT_RIGHT : '>>' ;
AND_AND     : '&&' ;
OR_OR       : '||' ;
NOT         : '!' ;
TILDE       : '~' ;

EQUAL             : '=' ;
PLUS_EQUAL        : '+=' ;
MINUS_EQUAL       : '-=' ;
STAR_EQUAL        : '*=' ;
SLASH_EQUAL       : '/=' ;
PERCENT_EQUAL     : '%=' ;
AMP_EQUAL         : '&=' ;
PIPE_EQUAL        : '|=' ;
CARET_EQUAL       : '^=' ;
SHIFT_LEFT_EQUAL  : '<<=' ;
SHIFT_RIGHT_EQUAL : '>>=' ;

// `///` documents the next declaration; a row of more slashes is an ordinary comment.
DOC_COMMENT   : '///' (~[/\r\n] ~[\r\n]*)? -> channel(DOC) ;
LINE_COMMENT  : '//' ~[\r\n]* -> channel(HIDDEN) ;
BLOCK_COMMENT : '/*' INSIDE* '*'+ '/' -> channel(HIDDEN) ;
BAD_COMMENT   : '/*' INSIDE* '*'* ;
BLANK         : [ \t\r\n\f]+ -> skip ;
UTF8_MARK     : '\u00EF\u00BB\u00BF' -> skip ;

// All other bytes, so that the lexer itself never fails; one token for each run of bytes beyond
// ASCII.
UNKNOWN : [\u0080-\u00FF]+ | . ;

fragment DIGITS    : [0-9] [0-9_]* ;
fragment EXPONENT  : [eE] [+-]? DIGITS ;
fragment CHARACTER : ~["\\\r\n] | '\\' ~[\r\n] ;
fragment INSIDE    : ~[*] | '*'+ ~[*/] ;
