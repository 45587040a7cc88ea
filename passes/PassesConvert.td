// Conversions to LLVM: what both paths share, that of the CPU, that of GPUs.
#ifndef TILE_PASSES_CONVERT
#define TILE_PASSES_CONVERT

include "mlir/Pass/PassBase.td"

//===--- Convert: both paths ----------------------------------------------===//

def ExpandMath : Pass<"tile-expand-math"> {
  let summary = "replace elementary functions by arithmetic";
  let description = [{
    Rewrites `math` operations on f16, bf16, f32 and f64 (scalars and vectors) into `arith`
    operations, `math.fma` and the few operations that processors have themselves, so that no code
    calls libm or libdevice. f16 and bf16 are computed in f32 and rounded once. docs/Math.md has the
    errors. On the GPU exp, exp2 and rsqrt build on NVIDIA's approximate instructions;
    `fastmath<afn>` permits them alone, also for sin, cos and tanh.
    There division of f32 vectors by a common divisor is written out, correctly rounded, with one
    branch for several elements to the instruction that takes all operands: where threads exchange
    values by shuffles, up to 64 elements of a function's innermost loops, or of all of it where it
    has none, and up to 64 beside loops, in vectors of 8 and more.
    ```mlir
    %y = math.tanh %x : vector<8xf32>
    ```
  }];
  let options = [Option<"processor", "processor", "std::string", "\"cpu\"",
      "What executes the result: cpu or gpu">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
      "::mlir::math::MathDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
      "::mlir::vector::VectorDialect"];
}

def ExpandFloat8 : Pass<"tile-expand-float8"> {
  let summary =
      "keep 8-bit floats as bytes, and convert them by integer code or the GPU's instructions";
  let description = [{
    LLVM has no 8-bit floats: f8E4M3FN and f8E5M2 become i8 in scalars, vectors and memory,
    `arith.extf` from them, `arith.truncf` to them and `tile.round_float8` arithmetic on bits. Both
    round to nearest even and saturate to finite; NaN stays. Where the target has instructions for
    pairs, vectors use them, and scalars take the arithmetic; where it has none from integers to
    bf16, these conversions are expanded too, so that they round once.
    ```mlir
    %y = arith.truncf %x : vector<8xf32> to vector<8xf8E4M3FN>
    ```
  }];
  let options = [Option<"processor", "processor", "std::string", "\"cpu\"",
                        "What executes the result: cpu, or gpu: the module's target">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
      "::mlir::NVVM::NVVMDialect", "::mlir::vector::VectorDialect"];
}

def ExpandIntegerCasts : Pass<"tile-expand-integer-casts"> {
  let summary = "convert small integers to floats, and f32 to bytes, by few instructions";
  let description = [{
    `arith.uitofp` and `arith.sitofp` of vectors to f16, bf16 and f32, where the operand's type or
    its range, as a mask gives it, leaves so few bits that they fit into the mantissa: 10, 8 and 23.
    The bits are written into a number whose last place is 1, and that number is subtracted, which
    is exact. Instructions that pack and add take the place of conversions, of which the GPU does a
    quarter as many at a time. Masks that keep these bits go.

    The other way, the steps that clamp vectors of f32 and convert them to 8 bits become the GPU's
    conversion, which clamps, and its packing of two results.
    ```mlir
    %y = arith.uitofp %codes : vector<8xi32> to vector<8xbf16>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
      "::mlir::vector::VectorDialect"];
}

//===--- Convert: the CPU path --------------------------------------------===//

def ConvertTileToLinalg : Pass<"convert-tile-to-linalg", "::mlir::ModuleOp"> {
  let summary = "lower kernels to functions over a range of programs, tiles to linalg on tensors";
  let description = [{
    A `tile.kernel @k` becomes `func.func @k(%args: !llvm.ptr, %begin: i64, %end: i64)`, which runs
    the programs [begin, end). `args[i]` points to the i-th machine argument. A load becomes a copy
    of the part that exists into scratch at its place in program order, a store a copy out of it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
      "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
      "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
      "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def CPUFuseElementwise : Pass<"tile-cpu-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "turn element-wise operations on tiles into linalg.generic and fuse chains of them";
  let description = [{
    A producer is fused where it has one use, or costs no more to compute again than to read back;
    never from outside a loop into it.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
      "::mlir::affine::AffineDialect"];
}

def CPUBufferize : Pass<"tile-cpu-bufferize", "::mlir::func::FuncOp"> {
  let summary = "give tiles scratch memory";
  let description = [{
    One-shot bufferization. Copies are `linalg.copy`; a loop may carry a buffer made inside it.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
      "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def CPUPlaceScratch : Pass<"tile-cpu-place-scratch", "::mlir::func::FuncOp"> {
  let summary = "move all scratch of a kernel to the function's entry";
  let description = [{
    A buffer that a loop carries gets memory of its own, into which each iteration's value is
    copied; then no buffer outlives an iteration under another name, and each has one place for the
    whole call: small ones on the stack, the others as `memref.alloc` that nothing frees, for
    `tile-cpu-lower-to-llvm` to put into the kernel's memory.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def CPULowerDot : Pass<"tile-cpu-lower-dot", "::mlir::func::FuncOp"> {
  let summary =
      "lower matrix products of scratch tiles to loops around a block of vector registers";
  let description = [{
    Works on `linalg.matmul` and `linalg.batch_matmul` on memrefs of static shape. What no block
    divides is done by blocks of the extents that are left, so nothing is padded, and the code's
    size does not depend on the extents.
  }];
  let options = [Option<"vectorBits", "vector-bits", "int64_t", "256",
      "Width of the target's vector registers in bits">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
      "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def CPUStoreBoolAsByte : Pass<"tile-cpu-store-bool-as-byte", "::mlir::func::FuncOp"> {
  let summary = "keep tiles of bool in memory as bytes";
  let description = [{
    Runs once all accesses are `memref.load` and `memref.store`. Any byte but 0 reads as true.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def CPUExpandBF16 : Pass<"tile-cpu-expand-bf16", "::mlir::func::FuncOp"> {
  let summary = "compute bf16 operations in f32 and round each result by integer code";
  let description = [{
    f32 holds more than twice the digits of bf16, so rounding twice gives what rounding once would
    for `+ - * /` and `sqrt`. Conversions from f64 and wide integers go through a result made odd.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def CPULowerToLLVM : Pass<"tile-cpu-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "convert arith, cf, func, math, memref and vector to the LLVM dialect at once";
  let description = [{
    Buffers of `memref.alloc` get places in memory that the launcher gives to each thread: the
    machine argument that `tile.scratch_argument` numbers points to it, `tile.scratch_bytes` says
    how much it is. Kernels themselves allocate nothing, so that nothing can fail in them. All else
    is one full conversion with upstream's patterns; `index` is 64 bits wide. What is left is an
    error.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

//===--- Convert: the GPU path --------------------------------------------===//

def ConvertTileGPUToVector : Pass<"convert-tile-gpu-to-vector", "::mlir::ModuleOp"> {
  let summary = "lower kernels to functions of one thread";
  let description = [{
    A tile becomes one vector of the registers that a thread holds, views become pointers, extents
    and strides, accesses become predicated global accesses. Each kernel becomes a `func.func` that
    knows its number of threads.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
      "::mlir::NVVM::NVVMDialect", "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect",
      "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"];
}

def ConvertThreadToLLVM : Pass<"convert-tile-thread-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower functions of one thread to the LLVM and NVVM dialects";
  let description = [{
    One full conversion with upstream's patterns; functions that were kernels get NVVM's attributes.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif
