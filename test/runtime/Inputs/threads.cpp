// Many threads load, check, choose variants, prepare, launch, ask and unload through the runtime
// library at once, over the fake driver: threads SOFTMAX MATMUL SCALE, two binaries with manifests
// and a package with variants for two targets. The library's sources are compiled into this program
// with -fsanitize=thread.
#include "runtime/include/tile.hpp"
#include "test/unit/runtime/FakeCuda.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <thread>

static void *address(uint64_t value) { return reinterpret_cast<void *>(value); }

/// Calls of one thread; the number of those that went wrong.
static int work(const tile::Module &softmax, const tile::Module &matmul, unsigned number) {
  int failures = 0;
  tile::Kernel rows, product;
  failures += bool(softmax.kernel("softmax", rows)) + bool(matmul.kernel("matmul", product));
  for (int64_t i = 0; i < 300; ++i) {
    int64_t n = 8 * (1 + (i * 7 + number) % 64);
    tile::Argument x(TILE_F32, address(0x10000), {4, n}), y(TILE_F32, address(0x4000000), {4, n});
    failures += bool(rows.launch({x, y}, address(number)));
    tile::Argument a(TILE_F16, address(0x10000000 + 0x1000 * (i % 11)), {64, n}),
        b(TILE_F16, address(0x20000000), {n, 128});
    failures += bool(tile::launch(
        product,
        {{"c", tile::Argument(TILE_F16, address(0x30000000), {64, 128})}, {"a", a}, {"b", b}}));
    tile::Status wrong = rows.launch({x, tile::Argument(TILE_F32, address(0x4000000), {5, n})});
    failures += wrong.code() != TILE_ERROR_DIM || !std::strstr(wrong.message(), "'y' has M = 5");
    tile::Shape shape;
    failures +=
        bool(tile::getShape(product, "c", {{"a", a}, {"b", b}}, shape)) || shape.extents[1] != 128;
  }
  return failures;
}

/// Calls of a package whose variants are chosen by shape and address; a prepared call is shared.
static int choose(const tile::Module &scale, const tile::Prepared &shared, unsigned number) {
  int failures = 0;
  tile::Kernel kernel;
  failures += bool(scale.kernel("scale", kernel));
  for (int64_t i = 0; i < 200; ++i) {
    int64_t n = i % 3 == 0 ? 1024 : i % 3 == 1 ? 192 : 131;
    tile::Argument x(TILE_F32, address(0x10000), {4, n}), y(TILE_F32, address(0x4000000), {4, n});
    failures += bool(kernel.launch({x, y, tile::Argument(int32_t(number))}, address(number)));
    failures += bool(
        shared.launch({address(0x20000), address(0x5000000), int32_t(number)}, address(number)));
    failures +=
        shared.launch({nullptr, address(0x5000000), int32_t(number)}).code() != TILE_ERROR_NULL;
    tile::Prepared own;
    failures +=
        bool(kernel.prepare({x, y, tile::Argument(int32_t(number))}, own)) || bool(own.relaunch());
    failures += bool(own.pin("")) || bool(own.relaunch());
    failures += scale.warning(1) != nullptr;
  }
  return failures;
}

/// Modules of its own, loaded and unloaded while others do the same.
static int comeAndGo(const char *path) {
  int failures = 0;
  for (int i = 0; i < 20; ++i) {
    tile::Module own;
    tile::Kernel rows;
    failures += bool(tile::Module::load(path, own)) || bool(own.kernel("softmax", rows));
    tile::Argument x(TILE_F32, address(0x10000), {4, 64}), y(TILE_F32, address(0x4000000), {4, 64});
    failures += bool(rows.launch({x, y})) || bool(own.prepare());
  }
  return failures;
}

int main(int argc, char **argv) {
  void *library = dlopen(std::getenv("TILE_LIBCUDA"), RTLD_NOW);
  auto get = library ? reinterpret_cast<FakeCuda *(*)()>(dlsym(library, "fakeCuda")) : nullptr;
  if (!get || argc < 4)
    return 2;
  FakeCuda &fake = *get();
  fake.major = 9;
  fake.optinShared = 232448;
  fake.processors = 132;
  fake.blocksPerProcessor = 1;
  std::string symbols = "softmax_T_f16,softmax_T_bf16,softmax_T_f32,matmul_T_f16,"
                        "softmax_T_f16_N_mod_8_0,"
                        "softmax_T_bf16_N_mod_8_0,softmax_T_f32_N_mod_8_0,";
  int failures = 0;
  {
    tile::Module softmax, matmul, scale;
    failures += bool(tile::Module::load(argv[1], softmax)) +
                bool(tile::Module::load(argv[2], matmul)) +
                bool(tile::Module::load(argv[3], scale, TILE_DEVICE_CUDA));
    tile::Kernel kernel;
    tile::Prepared shared;
    failures += bool(scale.kernel("scale", kernel));
    for (size_t i = 0; i < tile_kernel_instance_count(kernel.get()); ++i)
      symbols += std::string(tile_instance_symbol(tile_kernel_instance(kernel.get(), i))) + ",";
    fake.symbols = symbols.c_str();
    failures += bool(kernel.prepare({tile::Argument(TILE_F32, address(0x10000), {4, 192}),
                                     tile::Argument(TILE_F32, address(0x4000000), {4, 192}),
                                     tile::Argument(int32_t(2))},
                                    shared));
    std::vector<std::thread> threads;
    std::vector<int> wrong(8);
    for (unsigned i = 0; i < wrong.size(); ++i)
      threads.emplace_back([&, i] {
        wrong[i] = work(softmax, matmul, i + 1) + choose(scale, shared, i + 1) + comeAndGo(argv[1]);
      });
    for (unsigned i = 0; i < wrong.size(); ++i) {
      threads[i].join();
      failures += wrong[i];
    }
  }
  std::printf("%d failures, %d loads, %d unloads\n", failures, fake.loads, fake.unloads);
  return failures || fake.loads != 3 + 8 * 20 || fake.unloads != fake.loads;
}
