; Made by generate.py from the grammar and the compiler's tables.
(line_comment) @comment
(block_comment) @comment
(doc_comment) @comment.documentation
(string) @string
(int) @number
(float) @number
["true" "false" "None"] @constant.builtin
["as" "break" "config" "const" "continue" "else" "fn" "for" "grid" "if" "import" "in" "inout" "kernel" "key" "let" "opt" "out" "return" "specialize" "step" "tune" "var" "while" "with"] @keyword
((name) @function.builtin (#any-of? @function.builtin "abs" "all" "any" "argmax" "argmin" "assert" "at" "atomic_add" "atomic_and" "atomic_cas" "atomic_max" "atomic_min" "atomic_or" "atomic_xchg" "atomic_xor" "bitcast" "block" "blocks" "broadcast" "cdiv" "ceil" "clamp" "clz" "concat" "cos" "count" "cumprod" "cumsum" "dot" "erf" "exp" "exp2" "expm1" "flip" "floor" "fma" "full" "gather" "highest" "histogram" "identity" "inside" "iota" "isfinite" "isinf" "isnan" "load" "log" "log1p" "log2" "lowest" "max" "maxnum" "min" "minnum" "mulhi" "next_pow2" "permute" "popcount" "pow" "present" "print" "prod" "ptx" "rand" "randint" "randn" "random_bits" "reduce" "repeat" "reshape" "round" "rsqrt" "scan" "scatter" "sigmoid" "sign" "sin" "sort" "sqrt" "stack" "static_assert" "store" "sum" "take" "tan" "tanh" "topk" "trunc" "view" "where" "zeros"))
((name) @type.builtin (#any-of? @type.builtin "bf16" "bool" "f16" "f32" "f64" "f8e4m3" "f8e5m2" "i16" "i32" "i4" "i64" "i8" "index" "u16" "u32" "u4" "u64" "u8"))
(type_spec (id) @type)
(attribute (name) @attribute)
(fn_decl (name) @function)
(kernel_decl (name) @function)
(param (name) @variable.parameter)
(fn_param (name) @variable.parameter)
(static_param (name) @variable.parameter)
