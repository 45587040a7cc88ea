// The errors of estimates, learnt from measurements. Solved in the dual: there are few
// measurements and many terms.
//
// The model: log(measured / estimated) = sum of weights of the terms that a sample has,
//
//   shape                        how wrong the estimate is at this shape as a whole
//   value                        of a tuned name, as warps=8
//   pair of values               what two of them do together
//   value x extent               how a value's effect changes with the size
//   configuration                what is left
//
// fitted by ridge regression: each scale says how large a weight may be expected, `noise` how much
// a measurement is worth. With n samples and k terms the dual takes n^3, not k^3.
#include "driver/search/Residuals.h"
#include <algorithm>
#include <cmath>

namespace tile {

// How far each kind of term is expected to reach, in the logarithm of the time.
static constexpr double shapeScale = 3, valueScale = 0.5, pairScale = 0.2, extentScale = 0.1,
                        configScale = 0.15, noise = 0.02;

/// Extents are centred, so that the term `value x extent` is about differences between shapes.
Residuals::Residuals(const std::vector<std::vector<unsigned>> &features,
                     const std::vector<std::vector<double>> &given)
    : features(features), shapes(given) {
  size_t names = features.empty() ? 0 : features.front().size();
  for (size_t name = 0; name < names; ++name) {
    unsigned most = 0;
    for (const std::vector<unsigned> &config : features)
      most = std::max(most, config[name]);
    firstValue.push_back(values);
    values += most + 1;
  }
  size_t extents = shapes.empty() ? 0 : shapes.front().size();
  for (size_t e = 0; e < extents; ++e) {
    double sum = 0;
    for (const std::vector<double> &shape : shapes)
      sum += shape[e];
    for (std::vector<double> &shape : shapes)
      shape[e] -= sum / double(shapes.size());
  }
  columns = shapes.size() + values + values * values + values * extents + features.size();
}

/// Few of the columns: the others are 0.
std::vector<Residuals::Term> Residuals::terms(size_t config, size_t shape) const {
  std::vector<Term> result = {{shape, shapeScale}};
  size_t base = shapes.size(), extents = shapes[shape].size();
  std::vector<size_t> own;
  for (size_t name = 0; name < firstValue.size(); ++name)
    own.push_back(firstValue[name] + features[config][name]);
  for (size_t value : own)
    result.push_back({base + value, valueScale});
  base += values;
  for (size_t i = 0; i < own.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      result.push_back({base + own[i] * values + own[j], pairScale});
  base += values * values;
  for (size_t value : own)
    for (size_t e = 0; e < extents; ++e)
      result.push_back({base + value * extents + e, extentScale * shapes[shape][e]});
  result.push_back({base + values * extents + config, configScale});
  return result;
}

void Residuals::add(size_t config, size_t shape, double residual) {
  samples.push_back({config, shape, residual});
}

/// weights = A' (A A' + noise I)^-1 y, by Cholesky.
void Residuals::fit() {
  constexpr size_t most = 800; // the time grows with the third power
  if (samples.size() > most) {
    std::vector<Sample> some;
    for (size_t i = 0; i < most; ++i)
      some.push_back(samples[i * samples.size() / most]);
    samples = std::move(some);
  }
  size_t n = samples.size();
  weights.assign(columns, 0);
  if (n == 0)
    return;
  std::vector<std::vector<Term>> rows;
  for (const Sample &sample : samples)
    rows.push_back(terms(sample.config, sample.shape));
  std::vector<double> matrix(n * n), dense(columns);
  for (size_t i = 0; i < n; ++i) {
    for (const Term &term : rows[i])
      dense[term.column] = term.value;
    for (size_t j = 0; j <= i; ++j) {
      double sum = i == j ? noise * noise : 0;
      for (const Term &term : rows[j])
        sum += dense[term.column] * term.value;
      matrix[i * n + j] = sum;
    }
    for (const Term &term : rows[i])
      dense[term.column] = 0;
  }
  std::vector<double> solution(n);
  for (size_t i = 0; i < n; ++i) { // the factor in place, and the first substitution
    for (size_t j = 0; j <= i; ++j) {
      double sum = matrix[i * n + j];
      for (size_t k = 0; k < j; ++k)
        sum -= matrix[i * n + k] * matrix[j * n + k];
      // Equal samples make the matrix nearly singular: the bound keeps the root real.
      matrix[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / matrix[j * n + j];
    }
    double sum = samples[i].residual;
    for (size_t k = 0; k < i; ++k)
      sum -= matrix[i * n + k] * solution[k];
    solution[i] = sum / matrix[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    double sum = solution[i];
    for (size_t k = i + 1; k < n; ++k)
      sum -= matrix[k * n + i] * solution[k];
    solution[i] = sum / matrix[i * n + i];
  }
  for (size_t i = 0; i < n; ++i)
    for (const Term &term : rows[i])
      weights[term.column] += term.value * solution[i];
}

double Residuals::predict(size_t config, size_t shape) const {
  double sum = 0;
  if (!weights.empty())
    for (const Term &term : terms(config, shape))
      sum += term.value * weights[term.column];
  return sum;
}

} // namespace tile
