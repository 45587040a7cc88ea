// Kernels as the compiler describes them, for the runtime's tests.
#ifndef TILE_TEST_UNIT_RUNTIME_KERNELS_H
#define TILE_TEST_UNIT_RUNTIME_KERNELS_H

#include "manifest/Manifest.h"

namespace tile::runtime::testing {

inline Expr name(const char *text) { return Expr::makeName(text); }

inline Dim dim(const char *name, int64_t min = 0, int64_t max = 1 << 20, int64_t multipleOf = 1) {
  Dim dim;
  dim.name = name;
  dim.min = min;
  dim.max = max;
  dim.multipleOf = multipleOf;
  dim.line = 6;
  dim.contract = std::string(name) + " in " + std::to_string(min) + "..=" + std::to_string(max);
  return dim;
}

inline Param tensor(const char *name, Access access, Dtype dtype, std::vector<Expr> dims,
                    unsigned line = 4) {
  Param param;
  param.name = name;
  param.access = access;
  param.dtype = dtype;
  param.dims = std::move(dims);
  param.line = line;
  return param;
}

inline Param scalar(const char *name, Dtype dtype) {
  Param param;
  param.name = name;
  param.kind = Param::Kind::Scalar;
  param.dtype = dtype;
  param.line = 5;
  return param;
}

/// Makes the machine arguments anew, in the usual order: parameters, then dims.
inline void addArguments(Kernel &kernel) {
  kernel.arguments.clear();
  for (const Param &param : kernel.params)
    kernel.arguments.push_back({Argument::Kind::Param, param.name});
  for (const Dim &dim : kernel.dims)
    kernel.arguments.push_back({Argument::Kind::Dim, dim.name});
}

/// c[M, N] = a[M, K] b[K, N], K and N divisible by 8, 128 x 256 tiles.
inline Kernel matmul() {
  Kernel kernel;
  kernel.name = "matmul";
  kernel.symbol = "matmul_T_f16";
  kernel.file = "matmul.tile";
  kernel.line = 3;
  kernel.doc = "C = A B";
  kernel.constants = {{"T", std::string("f16")}, {"BM", int64_t(128)}, {"BIAS", false}, {"X", 1.5}};
  kernel.dims = {dim("M", 1, 65536), dim("K", 8, 65536), dim("N", 8, 65536)};
  kernel.params = {tensor("a", Access::In, Dtype::F16, {name("M"), name("K")}),
                   tensor("b", Access::In, Dtype::F16, {name("K"), name("N")}),
                   tensor("c", Access::Out, Dtype::F16, {name("M"), name("N")}, 5)};
  for (const char *divided : {"K", "N"}) {
    Expr remainder = Expr::make(Expr::Op::Rem, name(divided), 8);
    kernel.contracts.push_back(
        {Expr::make(Expr::Op::Eq, remainder, 0), std::string(divided) + " % 8 == 0", 7});
  }
  kernel.grid = {Expr::make(Expr::Op::CeilDiv, name("M"), 128),
                 Expr::make(Expr::Op::CeilDiv, name("N"), 256)};
  addArguments(kernel);
  kernel.launch = {256, 98304, {}, 168, 0};
  return kernel;
}

/// y = x + eps over N elements, with eps defaulting to 1e-5 and n an integral scalar.
inline Kernel shift(Dtype dtype = Dtype::F32) {
  Kernel kernel;
  kernel.name = "shift";
  kernel.symbol = "shift_T_" + std::string(dtypeName(dtype));
  kernel.file = "shift.tile";
  kernel.line = 1;
  kernel.constants = {{"T", std::string(dtypeName(dtype))}};
  kernel.dims = {dim("N", 1, 1 << 20)};
  kernel.params = {tensor("x", Access::In, dtype, {name("N")}),
                   tensor("y", Access::Out, dtype, {name("N")}), scalar("eps", Dtype::F32)};
  kernel.params[2].defaultValue = 1e-5;
  kernel.grid = {Expr::make(Expr::Op::CeilDiv, name("N"), 1024)};
  addArguments(kernel);
  kernel.launch.threads = 128;
  return kernel;
}

} // namespace tile::runtime::testing

#endif
