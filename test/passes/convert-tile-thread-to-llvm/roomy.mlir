// ptxas is told how many blocks shared memory has room for where a kernel merges the parts of a
// split loop, if threads may have all registers then: their states are loaded at once.
// RUN: tile-opt %s --convert-tile-thread-to-llvm | FileCheck %s
module attributes {tile_gpu.target = #tile_gpu.target<"sm_80">} {
  // CHECK: llvm.func @one({{.*}} nvvm.minctasm = 1 : i32
  func.func @one() attributes {tile_gpu.num_threads = 128 : i64, tile_gpu.shared_bytes = 150000 : i64, tile_gpu.split_parts = 64 : i64} {
    return
  }
  // CHECK: llvm.func @two({{.*}} nvvm.minctasm = 2 : i32
  func.func @two() attributes {tile_gpu.num_threads = 128 : i64, tile_gpu.shared_bytes = 80000 : i64, tile_gpu.split_parts = 64 : i64} {
    return
  }
  // Two blocks of so many threads have 128 registers for each.
  // CHECK: llvm.func @many(
  // CHECK-NOT: minctasm
  func.func @many() attributes {tile_gpu.num_threads = 256 : i64, tile_gpu.shared_bytes = 80000 : i64, tile_gpu.split_parts = 64 : i64} {
    return
  }
  // Nothing is merged from memory, or it goes by the source's number.
  // CHECK: llvm.func @whole(
  // CHECK-NOT: minctasm
  func.func @whole() attributes {tile_gpu.num_threads = 128 : i64, tile_gpu.shared_bytes = 150000 : i64} {
    return
  }
  // CHECK: llvm.func @cluster(
  // CHECK-NOT: minctasm
  func.func @cluster() attributes {tile_gpu.num_threads = 128 : i64, tile_gpu.shared_bytes = 150000 : i64, tile_gpu.split_parts = 4 : i64, tile_gpu.split_cluster} {
    return
  }
  // CHECK: llvm.func @asked({{.*}} nvvm.minctasm = 3 : i32
  func.func @asked() attributes {tile.occupancy = 3 : i64, tile_gpu.num_threads = 128 : i64, tile_gpu.shared_bytes = 50000 : i64, tile_gpu.split_parts = 4 : i64} {
    return
  }
}
