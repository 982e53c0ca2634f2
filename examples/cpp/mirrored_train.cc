// Trains a small model on several replicas at once, as a mirrored strategy does: each replica is a thread that takes its share of
// every global batch, and the gradients are added up around a ring in host memory, or by NCCL on CUDA devices. One replica with the
// same global batch gives the same losses.
//
// Usage: mirrored_train FOLDER [REPLICAS [NCCL [CUDA]]]. Writes shards into FOLDER, trains with one replica and with REPLICAS (4),
// prints both loss curves and how far they lie apart. NCCL and CUDA are the names of libraries, such as libnccl.so.2 and
// libcuda.so.1; where they cannot be used, it says why and the ring does it. Exits with 1 on a failure, or when the losses are
// more than 1e-6 apart.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "headrace/headrace.h"
#include "nccl.h"
#include "perceptron.h"
#include "ring.h"

namespace {

using headrace::Result;
using headrace::Status;
using Losses = std::vector<double>;

constexpr int kShards = 4;
constexpr int kRecordsPerShard = 500;
constexpr std::int64_t kGlobalBatch = 120;
constexpr std::size_t kInputs = 4;
constexpr std::size_t kHidden = 8;
constexpr double kRate = 0.05;

Status write_shards(const std::string& folder) {
  std::filesystem::create_directories(folder);
  std::mt19937 random(1);
  for (int shard = 0; shard < kShards; ++shard) {
    HEADRACE_ASSIGN_OR_RETURN(auto writer, headrace::RecordWriter::open(folder + "/train-" + std::to_string(shard)));
    for (int i = 0; i < kRecordsPerShard; ++i) {
      std::vector<float> x(kInputs);
      for (float& value : x) value = static_cast<float>(random() % 2000) / 1000.0F - 1.0F;
      const std::vector<float> y = {x[0] * x[1] + 0.5F * x[2] - x[3] * x[3]};
      headrace::ExampleBuilder example;
      example.add_float("x", x).add_float("y", y);
      HEADRACE_RETURN_IF_ERROR(writer.write(example.build()));
    }
    HEADRACE_RETURN_IF_ERROR(writer.close());
  }
  return {};
}

Result<headrace::Pipeline> open_input(const std::string& folder, int replicas) {
  headrace::Schema schema;
  schema.features = {
      {.name = "x", .dtype = headrace::DType::kFloat32, .shape = {kInputs}},
      {.name = "y", .dtype = headrace::DType::kFloat32},
  };
  headrace::DeviceOptions devices;
  for (int replica = 0; replica < replicas; ++replica) devices.devices.push_back("/CPU:" + std::to_string(replica));
  return headrace::TFRecordDataset({.items = {folder + "/train-*"}})
      .interleave({.cycle_length = kShards})
      .repeat(3)
      .shuffle({.buffer_size = 400, .seed = 42})
      .batch({.size = kGlobalBatch, .drop_remainder = true})
      .parse(schema)
      .prefetch_to_device(devices)
      .open();
}

// Puts the sum over all replicas in place of the vector of this one; called by all of them, each in its thread.
using AllReduce = std::function<Status(int replica, std::vector<double>* vector)>;

// What one replica does until the end of the data; all of them come to it, or to a failure, at the same batch.
Status train_replica(headrace::Pipeline* input, const AllReduce& all_reduce, int replica, Losses* losses) {
  Perceptron model(kInputs, kHidden);  // the same one on every replica, and it stays so
  for (;;) {
    HEADRACE_ASSIGN_OR_RETURN(const auto slice, input->next_slice(replica));
    if (!slice) return {};
    const auto* x = reinterpret_cast<const float*>(slice->find("x")->values.data);
    const auto* y = reinterpret_cast<const float*>(slice->find("y")->values.data);
    std::vector<double> sums(model.size() + 1);  // the gradient of the mean over the global batch, then its loss
    for (std::int64_t row = 0; row < slice->rows; ++row) {
      const std::span<const float> inputs(x + row * static_cast<std::int64_t>(kInputs), kInputs);
      sums.back() += model.add_gradient(inputs, static_cast<double>(y[row]), 1.0 / kGlobalBatch,
                                        std::span(sums).first(model.size())) /
                     kGlobalBatch;
    }
    HEADRACE_RETURN_IF_ERROR(all_reduce(replica, &sums));
    model.descend(std::span(sums).first(model.size()), kRate);
    losses->push_back(sums.back());
  }
}

Result<Losses> train(const std::string& folder, int replicas, const AllReduce& all_reduce) {
  HEADRACE_ASSIGN_OR_RETURN(auto input, open_input(folder, replicas));
  std::vector<Losses> losses(static_cast<std::size_t>(replicas));
  std::vector<Status> outcomes(static_cast<std::size_t>(replicas));
  {
    std::vector<std::jthread> threads;
    for (int replica = 0; replica < replicas; ++replica) {
      const auto place = static_cast<std::size_t>(replica);
      threads.emplace_back(
          [&, replica, place] { outcomes[place] = train_replica(&input, all_reduce, replica, &losses[place]); });
    }
  }
  for (const Status& outcome : outcomes) HEADRACE_RETURN_IF_ERROR(outcome);
  return losses.front();
}

AllReduce by_ring(int replicas) {
  return [ring = std::make_shared<Ring>(replicas)](int replica, std::vector<double>* vector) {
    ring->all_reduce(replica, vector);
    return Status();
  };
}

// By NCCL where that can be, else by the ring.
AllReduce by_nccl(const char* nccl, const char* cuda, int replicas) {
  auto opened = Nccl::open(nccl, cuda, replicas, Perceptron(kInputs, kHidden).size() + 1);
  if (!opened.ok()) {
    std::cout << "no NCCL, but the ring: " << opened.status().message() << "\n";
    return by_ring(replicas);
  }
  std::cout << "NCCL\n";
  return [nccl = std::shared_ptr<Nccl>(std::move(*opened))](int replica, std::vector<double>* vector) {
    return nccl->all_reduce(replica, vector);
  };
}

Status run(const std::string& folder, int replicas, const AllReduce& all_reduce) {
  HEADRACE_RETURN_IF_ERROR(write_shards(folder));
  HEADRACE_ASSIGN_OR_RETURN(const Losses alone, train(folder, 1, by_ring(1)));
  HEADRACE_ASSIGN_OR_RETURN(const Losses mirrored, train(folder, replicas, all_reduce));
  if (alone.size() != mirrored.size() || alone.empty())
    return headrace::invalid_argument("the numbers of steps differ");
  double apart = 0;
  for (std::size_t step = 0; step < alone.size(); ++step) {
    apart = std::max(apart, std::abs(alone[step] - mirrored[step]));
    if (step % 10 == 0) std::cout << "step " << step << ": " << alone[step] << ", " << mirrored[step] << "\n";
  }
  std::cout << alone.size() << " steps on 1 and on " << replicas << " replicas, losses at most " << apart << " apart\n";
  if (!(apart <= 1e-6)) return headrace::invalid_argument("the losses differ");
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const int replicas = argc >= 3 ? std::atoi(argv[2]) : 4;
  if (argc < 2 || argc > 5 || replicas < 1) {
    std::cerr << "usage: mirrored_train FOLDER [REPLICAS [NCCL [CUDA]]]\n";
    return 2;
  }
  const AllReduce all_reduce =
      argc >= 4 ? by_nccl(argv[3], argc == 5 ? argv[4] : "libcuda.so.1", replicas) : by_ring(replicas);
  const Status status = run(argv[1], replicas, all_reduce);
  if (!status.ok()) {
    std::cerr << status.to_string() << "\n";
    return 1;
  }
  return 0;
}
