// Ring: the sum of one vector of each replica, in all of them, by threads of one process.
//
// Each of R threads owns a vector of the same length, cut into R parts. In R - 1 steps part p travels around the ring and grows by
// what each thread has of it; in R - 1 more the sums travel on. Every thread moves 2 (R - 1) / R of its vector, whatever R is.
#pragma once

#include <barrier>
#include <cstddef>
#include <vector>

class Ring {
 public:
  explicit Ring(int replicas) : vectors_(static_cast<std::size_t>(replicas)), step_(replicas) {}

  /// Called by all threads, each with its replica and its vector; returns when it holds the sums.
  void all_reduce(int replica, std::vector<double>* vector) {
    const std::size_t count = vectors_.size();
    const auto self = static_cast<std::size_t>(replica);
    const std::size_t before = (self + count - 1) % count;
    vectors_[self] = vector;
    step_.arrive_and_wait();
    const std::vector<double>& from = *vectors_[before];
    for (std::size_t round = 1; round < count; ++round) {
      // Who stands before this one has added to this part in the last round, and touches another one in this.
      const Part part = part_of((self + count - round) % count, vector->size());
      for (std::size_t i = part.begin; i < part.end; ++i) (*vector)[i] += from[i];
      step_.arrive_and_wait();
    }
    for (std::size_t round = 1; round < count; ++round) {
      const Part part = part_of((self + 1 + count - round) % count, vector->size());
      for (std::size_t i = part.begin; i < part.end; ++i) (*vector)[i] = from[i];
      step_.arrive_and_wait();
    }
  }

 private:
  struct Part {
    std::size_t begin;
    std::size_t end;
  };
  Part part_of(std::size_t part, std::size_t size) const {
    return {part * size / vectors_.size(), (part + 1) * size / vectors_.size()};
  }

  std::vector<std::vector<double>*> vectors_;
  std::barrier<> step_;
};
