#include "apps/adams/method.h"

#include <cmath>
#include <numbers>
#include <span>

namespace apps::adams {

namespace {

/// The value at x of the Lagrange polynomial that is 1 at nodes[j].
double lagrange(std::span<const double> nodes, std::size_t j, double x) {
  double value = 1;
  for (std::size_t m = 0; m < nodes.size(); ++m)
    if (m != j) value *= (x - nodes[m]) / (nodes[j] - nodes[m]);
  return value;
}

/// The weights of f(nodes[j]) in the integral of f's interpolant from 0 to `end`. Quadrature
/// instead of the method's V W^-1, which loses six digits with 8 stages.
std::vector<double> integral_weights(std::span<const double> nodes, double end,
                                     const Quadrature& q) {
  std::vector<double> weights(nodes.size(), 0.0);
  for (std::size_t j = 0; j < nodes.size(); ++j)
    for (std::size_t m = 0; m < q.nodes.size(); ++m)
      weights[j] += end * q.weights[m] * lagrange(nodes, j, end * q.nodes[m]);
  return weights;
}

void append(std::vector<double>& rows, const std::vector<double>& row) {
  rows.insert(rows.end(), row.begin(), row.end());
}

}  // namespace

Quadrature lobatto(std::size_t n) {
  // The roots of (1 - x^2) P'(x) with P the Legendre polynomial of degree n - 1, by Newton's
  // method.
  const auto degree = static_cast<unsigned>(n - 1);
  Quadrature q;
  for (std::size_t i = 0; i < n; ++i) {
    double x = -std::cos(std::numbers::pi * static_cast<double>(i) / degree), p = 0;
    for (int iteration = 0; iteration < 20; ++iteration) {
      p = std::legendre(degree, x);
      x -= (x * p - std::legendre(degree - 1, x)) / (static_cast<double>(n) * p);
    }
    p = std::legendre(degree, x);
    q.nodes.push_back((1 + x) / 2);
    q.weights.push_back(1 / (static_cast<double>(n) * degree * p * p));
  }
  q.nodes.front() = 0;
  q.nodes.back() = 1;
  return q;
}

Method parallel_adams(std::size_t stages, int corrections) {
  const Quadrature q = lobatto(stages);
  Method m;
  m.stages = stages;
  m.corrections = corrections;
  std::vector<double> old_nodes;
  for (auto node = q.nodes.rbegin(); node != q.nodes.rend(); ++node) {
    old_nodes.push_back(*node);
    m.abscissae.push_back(1 + *node);
  }
  for (std::size_t i = 0; i < stages; ++i) {
    const double a = m.abscissae[i];
    append(m.predictor, integral_weights(old_nodes, a, q));
    append(m.start, integral_weights(old_nodes, old_nodes[i], q));
    // At a = 1 the old nodes' Lobatto quadrature has the order already, and one old node is there.
    std::vector<double> nodes = old_nodes;
    const bool is_implicit = i + 1 < stages;
    if (is_implicit) nodes.push_back(a);
    std::vector<double> weights = integral_weights(nodes, a, q);
    m.implicit.push_back(is_implicit ? weights.back() : 0.0);
    weights.resize(stages);
    append(m.corrector, weights);
  }
  return m;
}

}  // namespace apps::adams
