// RUN: tile-opt %s --tile-expand-integer-casts --canonicalize | FileCheck %s

// A mask leaves four bits: both halves of a register at once, and the mask is that of the lop3.
// CHECK-LABEL: func @masked
// CHECK-DAG: %[[MAGIC:.*]] = arith.constant 1124090624 : i32
// CHECK-DAG: %[[MOVE:.*]] = arith.constant dense<-1.280000e+02> : vector<2xbf16>
// CHECK-NOT: arith.andi
// CHECK: %[[PAIR:.*]] = llvm.call_intrinsic "llvm.nvvm.prmt"
// CHECK: %[[BITS:.*]] = llvm.inline_asm "lop3.b32 $0, $1, 983055, $2, 106;", "=r,r,r" %[[PAIR]], %[[MAGIC]]
// CHECK: %[[NUMBER:.*]] = llvm.bitcast %[[BITS]] : i32 to vector<2xbf16>
// CHECK: llvm.intr.fma(%[[NUMBER]], %{{.*}}, %[[MOVE]])
// CHECK-NOT: arith.uitofp
func.func @masked(%x: vector<2xi32>) -> vector<2xbf16> {
  %mask = arith.constant dense<15> : vector<2xi32>
  %low = arith.andi %x, %mask : vector<2xi32>
  %y = arith.uitofp %low : vector<2xi32> to vector<2xbf16>
  return %y : vector<2xbf16>
}

// A mask of fewer bits than the others have, in one element, stays.
// CHECK-LABEL: func @unlike_masks
// CHECK: arith.andi
// CHECK: "lop3.b32 $0, $1, 983055, $2, 106;"
func.func @unlike_masks(%x: vector<2xi32>) -> vector<2xf16> {
  %mask = arith.constant dense<[15, 7]> : vector<2xi32>
  %low = arith.andi %x, %mask : vector<2xi32>
  %y = arith.uitofp %low : vector<2xi32> to vector<2xf16>
  return %y : vector<2xf16>
}

// Signed bytes: four signs are flipped at once, prmt writes the magic, and 1024 + 128 are
// subtracted.
// CHECK-LABEL: func @signed_bytes
// CHECK-DAG: dense<-1.152000e+03> : vector<2xf16>
// CHECK-DAG: arith.constant 1684300900 : i32
// CHECK: vector.bitcast %{{.*}} : vector<4xi8> to vector<1xi32>
// CHECK-COUNT-1: arith.xori
// CHECK-COUNT-2: "llvm.nvvm.prmt"
// CHECK-NOT: lop3
func.func @signed_bytes(%x: vector<4xi8>) -> vector<4xf16> {
  %wide = arith.extsi %x : vector<4xi8> to vector<4xi32>
  %y = arith.sitofp %wide : vector<4xi32> to vector<4xf16>
  return %y : vector<4xf16>
}

// bf16 has seven bits of a mantissa: the eighth of a byte is a number of its own.
// CHECK-LABEL: func @bytes_to_bf16
// CHECK: "lop3.b32 $0, $1, 8323199, $2, 234;"
// CHECK: "lop3.b32 $0, $1, 8388736, $2, 106;"
// CHECK-COUNT-2: llvm.intr.fma
func.func @bytes_to_bf16(%x: vector<4xi8>) -> vector<4xbf16> {
  %y = arith.sitofp %x : vector<4xi8> to vector<4xbf16>
  return %y : vector<4xbf16>
}

// f32 has room for 23 bits; what is signed is known from the shift.
// CHECK-LABEL: func @shifted
// CHECK: "lop3.b32 $0, $1, 8388607, $2, 106;"
// CHECK: llvm.fadd
func.func @shifted(%x: vector<2xi32>) -> vector<2xf32> {
  %nine = arith.constant dense<9> : vector<2xi32>
  %high = arith.shrsi %x, %nine : vector<2xi32>
  %y = arith.sitofp %high : vector<2xi32> to vector<2xf32>
  return %y : vector<2xf32>
}

// One bit too many, truth values, scalars, and f64 are left to the instruction.
// CHECK-LABEL: func @left_alone
// CHECK: arith.sitofp %{{.*}} : vector<2xi32> to vector<2xf32>
// CHECK: arith.uitofp %{{.*}} : vector<2xi16> to vector<2xf16>
// CHECK: arith.uitofp %{{.*}} : vector<2xi1> to vector<2xf16>
// CHECK: arith.uitofp %{{.*}} : i8 to f16
// CHECK: arith.uitofp %{{.*}} : vector<2xi8> to vector<2xf64>
func.func @left_alone(%x: vector<2xi32>, %h: vector<2xi16>, %c: vector<2xi1>, %s: i8,
    %b: vector<2xi8>) -> (vector<2xf32>, vector<2xf16>, vector<2xf16>, f16, vector<2xf64>) {
  %eight = arith.constant dense<8> : vector<2xi32>
  %high = arith.shrsi %x, %eight : vector<2xi32>
  %0 = arith.sitofp %high : vector<2xi32> to vector<2xf32>
  %five = arith.constant dense<5> : vector<2xi16>
  %eleven = arith.shrui %h, %five : vector<2xi16>
  %1 = arith.uitofp %eleven : vector<2xi16> to vector<2xf16>
  %2 = arith.uitofp %c : vector<2xi1> to vector<2xf16>
  %3 = arith.uitofp %s : i8 to f16
  %4 = arith.uitofp %b : vector<2xi8> to vector<2xf64>
  return %0, %1, %2, %3, %4 : vector<2xf32>, vector<2xf16>, vector<2xf16>, f16, vector<2xf64>
}

// Truth values that were widened stay so: they are no halves of a word.
// CHECK-LABEL: func @widened_truth
// CHECK: arith.extui %{{.*}} : vector<32xi1> to vector<32xi32>
// CHECK-COUNT-16: "llvm.nvvm.prmt"
func.func @widened_truth(%c: vector<32xi1>) -> vector<32xf16> {
  %wide = arith.extui %c : vector<32xi1> to vector<32xi32>
  %y = arith.uitofp %wide : vector<32xi32> to vector<32xf16>
  return %y : vector<32xf16>
}

// A difference that is taken at once needs neither number: both keep their 128. Of what else is
// made of the second one there is a copy that does not.
// CHECK-LABEL: func @difference
// CHECK: %[[Y:.*]] = llvm.inline_asm "lop3.b32 $0, $1, 2031647, $2, 106;"
// CHECK: %[[ZERO:.*]] = llvm.bitcast %[[Y]]
// CHECK: %[[SHUFFLED:.*]] = vector.shuffle
// CHECK: %[[X:.*]] = llvm.inline_asm "lop3.b32 $0, $1, 983055, $2, 106;"
// CHECK: llvm.bitcast %[[X]]
// CHECK-NOT: llvm.intr.fma
// CHECK: %[[D:.*]] = arith.subf %{{.*}}, %[[SHUFFLED]] : vector<4xbf16>
// CHECK: return %[[D]]
func.func @difference(%x: vector<4xi32>, %y: vector<2xi32>) -> vector<4xbf16> {
  %mask = arith.constant dense<15> : vector<4xi32>
  %few = arith.constant dense<15> : vector<2xi32>
  %one = arith.constant dense<1> : vector<2xi32>
  %low = arith.andi %x, %mask : vector<4xi32>
  %a = arith.uitofp %low : vector<4xi32> to vector<4xbf16>
  %zero = arith.andi %y, %few : vector<2xi32>
  %z = arith.addi %zero, %one : vector<2xi32>
  %b = arith.uitofp %z : vector<2xi32> to vector<2xbf16>
  %c = vector.shuffle %b, %b [0, 0, 1, 1] : vector<2xbf16>, vector<2xbf16>
  %d = arith.subf %a, %c : vector<4xbf16>
  return %d : vector<4xbf16>
}

// Bytes in bf16 are numbers of two pieces, which are put together first; and a number that meets
// something else, too, is needed as it is.
// CHECK-LABEL: func @whole_numbers
// CHECK: llvm.intr.fma
// CHECK: %[[A:.*]] = llvm.intr.fma
// CHECK: arith.subf %[[A]], %[[A]]
func.func @whole_numbers(%x: vector<2xi32>) -> vector<2xbf16> {
  %mask = arith.constant dense<255> : vector<2xi32>
  %low = arith.andi %x, %mask : vector<2xi32>
  %a = arith.uitofp %low : vector<2xi32> to vector<2xbf16>
  %d = arith.subf %a, %a : vector<2xbf16>
  return %d : vector<2xbf16>
}
