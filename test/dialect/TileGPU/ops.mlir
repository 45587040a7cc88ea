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
  // CHECK: %[[E:.*]] = tile_gpu.descriptor <param = 2, order = [2, 1, 0], box = [16, 8, 2], swizzle = 32, steps = [1, 2, 1]>
  %e = tile_gpu.descriptor #tile_gpu.tensor_map<param = 2, order = [2, 1, 0], box = [16, 8, 2], swizzle = 32, steps = [1, 2, 1]>
  // CHECK: tile_gpu.tma_store %{{.*}}, %[[E]][%{{.*}}, %{{.*}}, %{{.*}}] {columns = 16 : i64, folded = array<i64: 8, 2>}
  tile_gpu.tma_store %t, %e [%x, %x, %y] {columns = 16 : i64, folded = array<i64: 8, 2>} : tensor<16x16xf16, #rows>
  return
}

// CHECK-LABEL: func @fills
func.func @fills(%v: !tile.view<?x?xf16>, %x: index, %m: !tile_gpu.memdesc<16x16xf16, #shared>, %full: !tile_gpu.mbarrier, %missing: i1) {
  // CHECK: tile_gpu.ring_fill %{{.*}} when %{{.*}} {
  // CHECK-NEXT: tile_gpu.async_copy
  tile_gpu.ring_fill %full when %missing {
    tile_gpu.async_copy %v[%x, %x] into %m {sizes = array<i64: 16, 16>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>,
      in_bounds = array<i1: false, false>, tile = tensor<16x16xf16, #rows>, stored = tensor<16x16xf16, #rows>}
      : !tile.view<?x?xf16>, !tile_gpu.memdesc<16x16xf16, #shared>
  }
  return
}

// CHECK-LABEL: func @parts
func.func @parts(%s: tensor<16x16xf32, #rows>, %t: tensor<16x16xi32, #rows>, %tile: index, %part: index) {
  // CHECK: tile_gpu.part_arrive %{{.*}}, %{{.*}} at %{{.*}}, %{{.*}} of %{{.*}} : tensor<16x16xf32, {{.*}}>, tensor<16x16xi32, {{.*}}>
  %last = tile_gpu.part_arrive %s, %t at %tile, %part of %part : tensor<16x16xf32, #rows>, tensor<16x16xi32, #rows>
  // CHECK: tile_gpu.part_combine %{{.*}}, %{{.*}} at %{{.*}} of 4 {kinds = array<i32: 0, 2>} : tensor<16x16xf32, {{.*}}>, tensor<16x16xi32, {{.*}}> -> tensor<16x16xf32
  %u:2 = tile_gpu.part_combine %s, %t at %tile of 4 {kinds = array<i32: 0, 2>} : tensor<16x16xf32, #rows>, tensor<16x16xi32, #rows> -> tensor<16x16xf32, #rows>, tensor<16x16xi32, #rows>
  // CHECK: tile_gpu.part_share %{{.*}}, %{{.*}} : tensor<16x16xf32, {{.*}}>, tensor<16x16xi32, {{.*}}>
  %place = tile_gpu.part_share %s, %t : tensor<16x16xf32, #rows>, tensor<16x16xi32, #rows>
  // CHECK: tile_gpu.part_read 3 of 4 at %{{.*}} slice %{{.*}} {dims = array<i64: 0, -1>} : tensor<16x16xf32, {{.*}}>, tensor<16x16xi32
  %w:2 = tile_gpu.part_read 3 of 4 at %place slice %part {dims = array<i64: 0, -1>} : tensor<16x16xf32, #rows>, tensor<16x16xi32, #rows>
  // CHECK: tile_gpu.part_release
  tile_gpu.part_release
  // CHECK: tile_gpu.part_load %{{.*}}, %{{.*}} at %{{.*}} : tensor<16x16xf32, {{.*}}>, tensor<16x16xi32, {{.*}}> -> tensor<16x16xf32
  %v:2 = tile_gpu.part_load %s, %t at %part : tensor<16x16xf32, #rows>, tensor<16x16xi32, #rows> -> tensor<16x16xf32, #rows>, tensor<16x16xi32, #rows>
  return
}

#part = #tile_gpu.linear<shape = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#whole = #tile_gpu.linear<shape = [16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
// CHECK-LABEL: func @async_copies
func.func @async_copies(%v: !tile.view<?x?xf16>, %x: index, %p: tensor<16x16xindex, #rows>, %mask: tensor<16x16xi1, #rows>, %more: i1,
    %w: tensor<16x16xf16, #whole>) -> tensor<16x8xf16, #part> {
  // CHECK: %[[S:.*]] = tile_gpu.local_slots : <3, <16x16xf16, #tile_gpu.shared<order = [1, 0], swizzle = 32>>>
  %s = tile_gpu.local_slots : !tile_gpu.slots<3, !tile_gpu.memdesc<16x16xf16, #shared>>
  // CHECK: %[[M:.*]] = tile_gpu.slot %[[S]][%{{.*}}] : <3, <16x16xf16
  %m = tile_gpu.slot %s[%x] : !tile_gpu.slots<3, !tile_gpu.memdesc<16x16xf16, #shared>>
  // CHECK: tile_gpu.async_copy %{{.*}}[%{{.*}}, %{{.*}}] ends[%{{.*}}] into %[[M]] when %{{.*}} {
  tile_gpu.async_copy %v[%x, %x] ends[%x] into %m when %more {sizes = array<i64: 16, 16>, steps = array<i64: 1, 1>,
    has_end = array<i1: true, false>, in_bounds = array<i1: false, true>, tile = tensor<16x16xf16, #rows>, stored = tensor<16x16xf16, #rows>}
    : !tile.view<?x?xf16>, !tile_gpu.memdesc<16x16xf16, #shared>
  // CHECK: tile_gpu.async_copy %{{.*}}[%{{.*}}, %{{.*}}] at[%{{.*}} : tensor<16x16xindex, {{.*}}>] mask %{{.*}} : tensor<16x16xi1, {{.*}}> into %[[M]] {
  tile_gpu.async_copy %v[%x, %x] at[%p : tensor<16x16xindex, #rows>] mask %mask : tensor<16x16xi1, #rows> into %m {sizes = array<i64: -2, 16>,
    steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, tile = tensor<16x16xf16, #rows>,
    stored = tensor<16x16xf16, #rows>} : !tile.view<?x?xf16>, !tile_gpu.memdesc<16x16xf16, #shared>
  // CHECK: tile_gpu.async_commit
  tile_gpu.async_commit
  // CHECK: tile_gpu.async_wait {pending = 1 : i64}
  tile_gpu.async_wait {pending = 1 : i64}
  // CHECK: tile_gpu.async_wait fence {pending = 0 : i64}
  tile_gpu.async_wait fence {pending = 0 : i64}
  // CHECK: tile_gpu.local_load %[[M]] at [0, 8] : <16x16xf16
  %a = tile_gpu.local_load %m at [0, 8] : !tile_gpu.memdesc<16x16xf16, #shared> -> tensor<16x8xf16, #part>
  // CHECK: tile_gpu.extract_part %{{.*}} at [0, 8] : tensor<16x16xf16
  %b = tile_gpu.extract_part %w at [0, 8] : tensor<16x16xf16, #whole> -> tensor<16x8xf16, #part>
  // CHECK: tile_gpu.join_parts %{{.*}}, %{{.*}} {dim = 1 : i64} : tensor<16x8xf16, {{.*}}>, tensor<16x8xf16, {{.*}}> -> tensor<16x16xf16
  %j = tile_gpu.join_parts %a, %b {dim = 1 : i64} : tensor<16x8xf16, #part>, tensor<16x8xf16, #part> -> tensor<16x16xf16, #whole>
  %c = arith.addf %a, %b : tensor<16x8xf16, #part>
  return %c : tensor<16x8xf16, #part>
}

// CHECK-LABEL: func @reductions
func.func @reductions(%a: tensor<4x4xf32, #tile_gpu.linear<shape = [4, 4], register = [[0, 1], [0, 2]], lane = [], warp = [[1, 0], [2, 0]]>>) -> f32 {
  // CHECK: %[[P:.*]] = tile_gpu.warp_reduce max %{{.*}} : tensor<4x4xf32, {{.*}}> -> tensor<4xf32, {{.*}}warp = {{.*}}1], [2]
  %p = tile_gpu.warp_reduce max %a : tensor<4x4xf32, #tile_gpu.linear<shape = [4, 4], register = [[0, 1], [0, 2]], lane = [], warp = [[1, 0], [2, 0]]>>
      -> tensor<4xf32, #tile_gpu.linear<shape = [4], register = [], lane = [], warp = [[1], [2]]>>
  // CHECK: tile_gpu.join_warps %[[P]] {axes = array<i64: 0>, kinds = array<i32: 2>} : (tensor<4xf32, {{.*}}>) -> f32
  %m = tile_gpu.join_warps %p {kinds = array<i32: 2>, axes = array<i64: 0>}
      : (tensor<4xf32, #tile_gpu.linear<shape = [4], register = [], lane = [], warp = [[1], [2]]>>) -> f32
  return %m : f32
}

#own = #tile_gpu.linear<shape = [256], register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = []>
// CHECK-LABEL: func @private
func.func @private(%t: tensor<256xf16, #own>) -> tensor<256xf16, #own> {
  %c0 = arith.constant 0 : index
  %s = tile_gpu.local_slots : !tile_gpu.slots<2, !tile_gpu.memdesc<128xi32, #tile_gpu.shared<order = [0], swizzle = 0>>>
  %m = tile_gpu.slot %s[%c0] : !tile_gpu.slots<2, !tile_gpu.memdesc<128xi32, #tile_gpu.shared<order = [0], swizzle = 0>>>
  // CHECK: tile_gpu.private_store %{{.*}} into %[[M:.*]] : tensor<256xf16, #{{.*}}>, <128xi32
  tile_gpu.private_store %t into %m : tensor<256xf16, #own>, !tile_gpu.memdesc<128xi32, #tile_gpu.shared<order = [0], swizzle = 0>>
  // CHECK: tile_gpu.private_load %[[M]] : <128xi32
  %r = tile_gpu.private_load %m : !tile_gpu.memdesc<128xi32, #tile_gpu.shared<order = [0], swizzle = 0>> -> tensor<256xf16, #own>
  return %r : tensor<256xf16, #own>
}

// A line that goes round has 32 bytes more.
// CHECK-LABEL: func @private_line
func.func @private_line(%t: tensor<256xf16, #own>, %m: !tile_gpu.memdesc<256xi32, #tile_gpu.shared<order = [0], swizzle = 0, used = [136]>>) {
  // CHECK: tile_gpu.private_store %{{.*}} into %{{.*}} : tensor<256xf16, #{{.*}}>, <256xi32, {{.*}}, used = [136]
  tile_gpu.private_store %t into %m : tensor<256xf16, #own>, !tile_gpu.memdesc<256xi32, #tile_gpu.shared<order = [0], swizzle = 0, used = [136]>>
  return
}
