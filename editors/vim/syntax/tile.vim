" Syntax of the Tile language.
if exists("b:current_syntax")
  finish
endif

syntax keyword tileKeyword kernel fn const import as let var with in
syntax keyword tileClause where specialize grid tune key config opt step out inout
syntax keyword tileControl for while if else return
syntax keyword tileConstant true false None inf nan
syntax keyword tileType bool i8 i16 i32 i64 u4 i4 u8 u16 u32 u64 f8e4m3 f8e5m2 f16 bf16 f32 f64 index int float string dtype
syntax keyword tileBuiltin block blocks at load store gather scatter inside dot zeros full iota reduce scan cdiv
syntax keyword tileBuiltin where sum prod max min any all count argmax argmin exp exp2 log log2 sqrt rsqrt tanh erf
syntax keyword tileBuiltin sigmoid abs fma reshape permute broadcast concat stack take lowest highest cumsum
syntax match tileNumber "\v<(0x[0-9a-fA-F_]+|0b[01_]+|\d[0-9_]*(\.\d[0-9_]*)?([eE][-+]?\d+)?)>"
syntax region tileString start=+"+ skip=+\\.+ end=+"+
syntax match tileComment "//.*$"
syntax match tileDoc "///.*$"
syntax region tileComment start="/\*" end="\*/"

highlight default link tileKeyword Keyword
highlight default link tileClause Statement
highlight default link tileControl Conditional
highlight default link tileConstant Constant
highlight default link tileType Type
highlight default link tileBuiltin Function
highlight default link tileNumber Number
highlight default link tileString String
highlight default link tileComment Comment
highlight default link tileDoc SpecialComment

let b:current_syntax = "tile"
