// RUN: tile-opt %s --split-input-file --verify-diagnostics

#blocked = #tile_gpu.linear<shape = [4], register = [[1], [2]], lane = [], warp = []>
func.func @shapes(%a: tensor<4xf32, #blocked>) {
  // expected-error @+1 {{changes the layout only}}
  %b = tile_gpu.convert_layout %a : tensor<4xf32, #blocked> -> tensor<8xf32, #blocked>
  return
}

// -----

// expected-error @+1 {{swizzle must be 0, 32, 64 or 128 bytes, found 48}}
func.func @swizzle(%a: !tile_gpu.memdesc<4x4xf32, #tile_gpu.shared<order = [1, 0], swizzle = 48>>) {
  return
}

// -----

func.func @permute(%a: !tile_gpu.memdesc<4x8xf32, #tile_gpu.shared<order = [1, 0], swizzle = 0>>) {
  // expected-error @+1 {{to another type than}}
  %b = tile_gpu.memdesc_permute %a {permutation = array<i64: 1, 0>} : !tile_gpu.memdesc<4x8xf32, #tile_gpu.shared<order = [1, 0], swizzle = 0>> -> !tile_gpu.memdesc<4x8xf32, #tile_gpu.shared<order = [0, 1], swizzle = 0>>
  return
}
