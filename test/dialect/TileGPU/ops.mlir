// RUN: tile-opt %s | tile-opt | FileCheck %s

#rows = #tile_gpu.linear<shape = [16, 16], register = [[0, 1], [0, 2], [8, 0]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>
#fragment = #tile_gpu.linear<shape = [16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 32>
#transposed = #tile_gpu.shared<order = [0, 1], swizzle = 32>

// CHECK-LABEL: func @all
func.func @all(%t: tensor<16x16xf16, #rows>, %acc: tensor<16x16xf32, #fragment>) -> tensor<16x16xf32, #fragment> {
  // CHECK: tile_gpu.convert_layout %{{.*}} : tensor<16x16xf16, #tile_gpu.linear<shape = [16, 16], register = {{\[\[}}0, 1], [0, 2], [8, 0]], lane = {{\[\[}}0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>> -> tensor
  %a = tile_gpu.convert_layout %t : tensor<16x16xf16, #rows> -> tensor<16x16xf16, #fragment>
  // CHECK: tile_gpu.local_alloc %{{.*}} -> <16x16xf16, #tile_gpu.shared<order = [1, 0], swizzle = 32>>
  %m = tile_gpu.local_alloc %t : tensor<16x16xf16, #rows> -> !tile_gpu.memdesc<16x16xf16, #shared>
  // CHECK: tile_gpu.memdesc_permute %{{.*}} {permutation = array<i64: 1, 0>}
  %p = tile_gpu.memdesc_permute %m {permutation = array<i64: 1, 0>} : !tile_gpu.memdesc<16x16xf16, #shared> -> !tile_gpu.memdesc<16x16xf16, #transposed>
  // CHECK: tile_gpu.barrier
  tile_gpu.barrier
  // CHECK: tile_gpu.local_load
  %b = tile_gpu.local_load %p : !tile_gpu.memdesc<16x16xf16, #transposed> -> tensor<16x16xf16, #fragment>
  // CHECK: tile_gpu.mma
  %c = tile_gpu.mma %a, %b, %acc : tensor<16x16xf16, #fragment>, tensor<16x16xf16, #fragment>, tensor<16x16xf32, #fragment>
  // CHECK: tile_gpu.fma_dot
  %d = tile_gpu.fma_dot %m, %p, %c : !tile_gpu.memdesc<16x16xf16, #shared>, !tile_gpu.memdesc<16x16xf16, #transposed>, tensor<16x16xf32, #fragment>
  return %d : tensor<16x16xf32, #fragment>
}

#panels = #tile_gpu.shared<order = [1, 0], swizzle = 128>
// CHECK-LABEL: func @copies
func.func @copies(%t: tensor<16x16xf16, #rows>, %x: index, %y: index, %bar: !tile_gpu.mbarrier) {
  // CHECK: %[[D:.*]] = tile_gpu.descriptor <param = 2, order = [1, 0], box = [64, 128], swizzle = 128>
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 2, order = [1, 0], box = [64, 128], swizzle = 128>
  // CHECK: %[[M:.*]] = tile_gpu.tma_fetch %[[D]][%{{.*}}, %{{.*}}] : <128x64xf16, #tile_gpu.shared<order = [1, 0], swizzle = 128>>
  %m = tile_gpu.tma_fetch %d [%x, %y] : !tile_gpu.memdesc<128x64xf16, #panels>
  // CHECK: tile_gpu.clear_from %[[M]], %{{.*}} {dim = 0 : i64} : <128x64xf16
  tile_gpu.clear_from %m, %x {dim = 0 : i64} : !tile_gpu.memdesc<128x64xf16, #panels>
  // CHECK: tile_gpu.tma_load %[[D]][%{{.*}}, %{{.*}}] into %[[M]], %{{.*}} : <128x64xf16
  tile_gpu.tma_load %d [%x, %y] into %m, %bar : !tile_gpu.memdesc<128x64xf16, #panels>
  // CHECK: tile_gpu.tma_store %{{.*}}, %[[D]][%{{.*}}, %{{.*}}] {columns = 16 : i64, ordered}
  tile_gpu.tma_store %t, %d [%x, %y] {columns = 16 : i64, ordered} : tensor<16x16xf16, #rows>
  return
}

// CHECK-LABEL: func @parts
func.func @parts(%s: tensor<16x16xf32, #rows>, %t: tensor<16x16xi32, #rows>, %tile: index, %part: index) {
  // CHECK: tile_gpu.part_arrive %{{.*}}, %{{.*}} at %{{.*}}, %{{.*}} of 4 : tensor<16x16xf32, {{.*}}>, tensor<16x16xi32, {{.*}}>
  %last = tile_gpu.part_arrive %s, %t at %tile, %part of 4 : tensor<16x16xf32, #rows>, tensor<16x16xi32, #rows>
  // CHECK: tile_gpu.part_combine %{{.*}}, %{{.*}} at %{{.*}} of 4 {kinds = array<i32: 0, 2>} : tensor<16x16xf32, {{.*}}>, tensor<16x16xi32, {{.*}}> -> tensor<16x16xf32
  %u:2 = tile_gpu.part_combine %s, %t at %tile of 4 {kinds = array<i32: 0, 2>} : tensor<16x16xf32, #rows>, tensor<16x16xi32, #rows> -> tensor<16x16xf32, #rows>, tensor<16x16xi32, #rows>
  return
}
