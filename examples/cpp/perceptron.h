// Perceptron: y = v . tanh(W x + b) + c, with the gradient of the squared error. The parameters are one vector: rows of W, b, v, c.
#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

class Perceptron {
 public:
  Perceptron(std::size_t inputs, std::size_t hidden) : inputs_(inputs), hidden_(hidden), activations_(hidden) {
    std::mt19937 random(7);
    parameters_.resize(hidden * (inputs + 2) + 1);
    for (double& parameter : parameters_) parameter = static_cast<double>(random()) / 4294967296.0 - 0.5;
  }

  std::size_t size() const { return parameters_.size(); }

  /// The squared error of one row; its gradient, `scale` times, is added to `gradient`.
  double add_gradient(std::span<const float> x, double wanted, double scale, std::span<double> gradient) {
    const std::size_t b = hidden_ * inputs_;
    const std::size_t v = b + hidden_;
    double y = parameters_.back();
    for (std::size_t h = 0; h < hidden_; ++h) {
      double sum = parameters_[b + h];
      for (std::size_t i = 0; i < inputs_; ++i) sum += parameters_[h * inputs_ + i] * static_cast<double>(x[i]);
      activations_[h] = std::tanh(sum);
      y += parameters_[v + h] * activations_[h];
    }
    const double slope = 2 * scale * (y - wanted);
    for (std::size_t h = 0; h < hidden_; ++h) {
      gradient[v + h] += slope * activations_[h];
      const double inner = slope * parameters_[v + h] * (1 - activations_[h] * activations_[h]);
      gradient[b + h] += inner;
      for (std::size_t i = 0; i < inputs_; ++i) gradient[h * inputs_ + i] += inner * static_cast<double>(x[i]);
    }
    gradient[size() - 1] += slope;
    return (y - wanted) * (y - wanted);
  }

  void descend(std::span<const double> gradient, double rate) {
    for (std::size_t i = 0; i < size(); ++i) parameters_[i] -= rate * gradient[i];
  }

 private:
  const std::size_t inputs_;
  const std::size_t hidden_;
  std::vector<double> parameters_;
  std::vector<double> activations_;
};
