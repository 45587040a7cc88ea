// A target that is no row of the table, or stands where it means nothing.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{unknown target 'sm_75'; there are sm_80, sm_86,}}
module attributes {tile_gpu.target = #tile_gpu.target<"sm_75">} {}

// -----

// Only with --test-targets.
// expected-error @below {{unknown target 'sm_95'; there are sm_80, sm_86,}}
module attributes {tile_gpu.target = #tile_gpu.target<"sm_95">} {}

// -----

// expected-error @below {{expected 'tile_gpu.target' to be #tile_gpu.target<"NAME">, found "sm_80"}}
module attributes {tile_gpu.target = "sm_80"} {}

// -----

// expected-error @below {{'tile_gpu.target' belongs on a module}}
func.func @f() attributes {tile_gpu.target = #tile_gpu.target<"sm_80">} { return }
