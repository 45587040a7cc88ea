// The kernels from a package, by the runtime library: arguments by name, shapes of outputs from
// those of inputs.
#include "memory.h"
#include "tile.hpp"

#include <cmath>
#include <cstdio>
#include <vector>

static int fail(const tile::Status &status) { return std::printf("%s\n", status.message()), 1; }

int main(int argc, char **argv) {
  constexpr int64_t rows = 100, columns = 1000;
  if (!Floats::open())
    return std::puts("there is no GPU"), 1;
  tile::Module module;
  if (auto error = tile::Module::load(argc > 1 ? argv[1] : PACKAGE, module,
                                      Floats::onDevice() ? TILE_DEVICE_CUDA : TILE_DEVICE_CPU))
    return fail(error);
  tile::Kernel kernel;
  if (auto error = module.kernel("row_mean", kernel))
    return fail(error);

  std::vector<float> values(rows * columns);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i % 101) / 101;
  Floats x(values.size());
  x.write(values.data());
  tile::Shape shape;
  if (auto error =
          tile::getShape(kernel, "mean", {{"x", tile::Argument(x.get(), {rows, columns})}}, shape))
    return fail(error);
  std::printf("%s: mean has %lld x %lld\n", kernel.name(), (long long)shape.extents[0],
              (long long)shape.extents[1]);

  Floats m(size_t(shape.extents[0]));
  tile::NamedArguments arguments = {{"mean", tile::Argument(m.get(), shape.extents)},
                                    {"x", tile::Argument(x.get(), {rows, columns})}};
  if (auto error = tile::launch(kernel, arguments))
    return fail(error);
  // For many calls of the same shapes: checked once, then launched with addresses alone, in the
  // source's order.
  Floats again(size_t(shape.extents[0]));
  tile::Prepared prepared;
  if (auto error = kernel.prepare(
          {tile::Argument(x.get(), {rows, columns}), tile::Argument(m.get(), shape.extents)},
          prepared))
    return fail(error);
  if (auto error = prepared.launch({x.get(), again.get()}))
    return fail(error);
  std::vector<float> mean(static_cast<size_t>(rows)), same(mean.size());
  m.read(mean.data());
  again.read(same.data());
  if (mean != same)
    return std::puts("the prepared call gave another result"), 1;
  double worst = 0;
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < columns; ++i)
      sum += values[row * columns + i];
    worst = std::fmax(worst, std::fabs(sum / columns - mean[row]));
  }
  std::printf("largest error %s 1e-5\n", worst < 1e-5 ? "below" : "ABOVE");
  arguments[0] = {"maen", tile::Argument(m.get(), shape.extents)};
  std::printf("refused: %s\n", tile::launch(kernel, arguments).message());
  return worst < 1e-5 ? 0 : 1;
}
