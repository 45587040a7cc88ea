" Syntax of the Tile language.
if exists("b:current_syntax")
  finish
endif

syntax keyword tileKeyword kernel fn const import as let var with in
syntax keyword tileControl for while if else return break continue
syntax keyword tileClause where specialize grid tune key config opt step out inout
syntax keyword tileReserved struct enum match type pub use yield
syntax keyword tileConstant true false None inf nan
syntax keyword tileType bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 f8e4m3 f8e5m2 i4 u4
syntax keyword tileType index int float string dtype
" Built-ins are names like others: they count where they are called.
syntax match tileBuiltin "\v<(exp|exp2|expm1|log|log2|log1p|sqrt|rsqrt|sin|cos|tan|tanh)>\ze\s*\("
syntax match tileBuiltin "\v<(erf|floor|ceil|round|trunc|sigmoid|isnan|isinf|isfinite)>\ze\s*\("
syntax match tileBuiltin "\v<(pow|minnum|maxnum|mulhi|cdiv|abs|sign|popcount|clz)>\ze\s*\("
syntax match tileBuiltin "\v<(next_pow2|identity|clamp|fma|min|max|sum|prod|any|all)>\ze\s*\("
syntax match tileBuiltin "\v<(count|argmax|argmin|load|store|inside|gather|scatter)>\ze\s*\("
syntax match tileBuiltin "\v<(atomic_add|atomic_max|atomic_min|atomic_and|atomic_or)>\ze\s*\("
syntax match tileBuiltin "\v<(atomic_xor|atomic_xchg|atomic_cas|zeros|full|iota|reshape)>\ze\s*\("
syntax match tileBuiltin "\v<(permute|broadcast|block|blocks|at|scan|cumsum|cumprod)>\ze\s*\("
syntax match tileBuiltin "\v<(reduce|take|dot|bitcast|ptx|print|assert|lowest|highest)>\ze\s*\("
syntax match tileBuiltin "\v<(static_assert|present|view|concat|stack|repeat|flip|sort)>\ze\s*\("
syntax match tileBuiltin "\v<(topk|histogram|rand|randn|randint|random_bits)>\ze\s*\("
syntax match tileAttribute "\v<(warps|stages|grouped|cluster|consumers|occupancy)>\ze\s*\("
syntax match tileAttribute "\v<(maxreg|fp|unroll|split|trips)>\ze\s*\("
syntax keyword tileAttribute persistent flatten
syntax match tileNumber "\v<(0x[0-9a-fA-F][0-9a-fA-F_]*|0b[01][01_]*)>"
syntax match tileNumber "\v<\d[0-9_]*(\.\d[0-9_]*)?([eE][-+]?\d[0-9_]*)?>"
syntax match tileEscape contained "\v\\([ntr0abfv\\\"\']|x[0-9a-fA-F]{2})"
syntax region tileString start=+"+ skip=+\\.+ end=+"\|$+ contains=tileEscape
syntax match tileComment "//.*$" contains=@Spell
syntax match tileDoc "///\($\|[^/].*$\)" contains=@Spell
syntax region tileComment start="/\*" end="\*/" contains=@Spell
syntax match tileFunction "\v(<(kernel|fn)\s+)@<=\w+"

highlight default link tileKeyword Keyword
highlight default link tileControl Conditional
highlight default link tileClause Statement
highlight default link tileReserved Error
highlight default link tileConstant Constant
highlight default link tileType Type
highlight default link tileBuiltin Function
highlight default link tileAttribute PreProc
highlight default link tileNumber Number
highlight default link tileString String
highlight default link tileEscape SpecialChar
highlight default link tileComment Comment
highlight default link tileDoc SpecialComment
highlight default link tileFunction Identifier

let b:current_syntax = "tile"
