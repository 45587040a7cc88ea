// The errors of estimated times of configurations, learnt from measurements: a ridge regression
// on the logarithms.
#ifndef TILE_DRIVER_SEARCH_RESIDUALS_H
#define TILE_DRIVER_SEARCH_RESIDUALS_H

#include <cstddef>
#include <vector>

namespace tile {

/// Explains a residual by the shape, by each tuned value, alone, with another, and with the shape's
/// extents, and by the whole configuration: the finer, the more it takes to be believed.
class Residuals {
public:
  /// `features[config][name]` numbers the value; `shapes[shape]` are logarithms of extents.
  Residuals(const std::vector<std::vector<unsigned>> &features,
            const std::vector<std::vector<double>> &shapes);

  void add(size_t config, size_t shape, double residual);
  void fit();
  double predict(size_t config, size_t shape) const;

private:
  struct Term {
    size_t column;
    double value;
  };
  std::vector<Term> terms(size_t config, size_t shape) const;

  const std::vector<std::vector<unsigned>> &features;
  std::vector<std::vector<double>> shapes; ///< centred
  std::vector<size_t> firstValue;          ///< of each name, among all values
  size_t values = 0, columns = 0;
  struct Sample {
    size_t config, shape;
    double residual;
  };
  std::vector<Sample> samples;
  std::vector<double> weights;
};

} // namespace tile

#endif
