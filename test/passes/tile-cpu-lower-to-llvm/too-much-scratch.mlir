// A thread's memory has a limit, and a function must say where it comes from.
// RUN: tile-opt %s --tile-cpu-lower-to-llvm --split-input-file --verify-diagnostics

// expected-error @+1 {{kernel 'much' needs 8589934720 bytes of memory for the tiles of a program, the most is 4294967295; make its tiles smaller, or fewer}}
func.func @much(%args: !llvm.ptr) attributes {tile.scratch_argument = 1 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f64
  %a = memref.alloc() {alignment = 64 : i64} : memref<536870912xf64>
  %b = memref.alloc() {alignment = 64 : i64} : memref<536870912xf64>
  memref.store %one, %a[%c0] : memref<536870912xf64>
  memref.store %one, %b[%c0] : memref<536870912xf64>
  return
}

// -----

// expected-error @+1 {{has buffers, but no 'tile.scratch_argument'}}
func.func @nowhere(%args: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f64
  %a = memref.alloc() {alignment = 64 : i64} : memref<512xf64>
  memref.store %one, %a[%c0] : memref<512xf64>
  return
}
