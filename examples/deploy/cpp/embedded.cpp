// The kernels as C in the program itself: nothing of Tile is needed when it runs.
#include "kernels.h"
#include "memory.h"

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  constexpr int64_t rows = 100, columns = 1000;
  std::vector<float> values(rows * columns), mean(rows);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i % 101) / 101;
  if (!Floats::open())
    return std::puts("there is no GPU"), 1;
  Floats x(values.size()), m(rows);
  x.write(values.data());
  if (row_mean_launch(x.get(), m.get(), rows, columns, nullptr, 0))
    return std::printf("%s\n", kernels_message()), 1;
  m.read(mean.data());
  double worst = 0;
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < columns; ++i)
      sum += values[row * columns + i];
    worst = std::fmax(worst, std::fabs(sum / columns - mean[row]));
  }
  std::printf("largest error %s 1e-5\n", worst < 1e-5 ? "below" : "ABOVE");
  return worst < 1e-5 ? 0 : 1;
}
