// Many threads load, check, launch, ask and unload through the runtime library at once, over the fake driver: threads SOFTMAX
// MATMUL, two binaries with manifests. The library's sources are compiled into this program with -fsanitize=thread.
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
    tile::Argument a(TILE_F16, address(0x10000000 + 0x1000 * (i % 11)), {64, n}), b(TILE_F16, address(0x20000000), {n, 128});
    failures += bool(tile::launch(product, {{"c", tile::Argument(TILE_F16, address(0x30000000), {64, 128})}, {"a", a}, {"b", b}}));
    tile::Status wrong = rows.launch({x, tile::Argument(TILE_F32, address(0x4000000), {5, n})});
    failures += wrong.code() != TILE_ERROR_DIM || !std::strstr(wrong.message(), "'y' has M = 5");
    tile::Shape shape;
    failures += bool(tile::getShape(product, "c", {{"a", a}, {"b", b}}, shape)) || shape.extents[1] != 128;
  }
  return failures;
}

int main(int argc, char **argv) {
  void *library = dlopen(std::getenv("TILE_LIBCUDA"), RTLD_NOW);
  auto get = library ? reinterpret_cast<FakeCuda *(*)()>(dlsym(library, "fakeCuda")) : nullptr;
  if (!get || argc < 3)
    return 2;
  FakeCuda &fake = *get();
  fake.major = 9;
  fake.optinShared = 232448;
  fake.processors = 132;
  fake.blocksPerProcessor = 1;
  fake.symbols = "softmax_T_f16,softmax_T_bf16,softmax_T_f32,matmul_T_f16,";
  int failures = 0;
  {
    tile::Module softmax, matmul;
    failures += bool(tile::Module::load(argv[1], softmax)) + bool(tile::Module::load(argv[2], matmul));
    std::vector<std::thread> threads;
    std::vector<int> wrong(8);
    for (unsigned i = 0; i < wrong.size(); ++i)
      threads.emplace_back([&, i] { wrong[i] = work(softmax, matmul, i + 1); });
    for (unsigned i = 0; i < wrong.size(); ++i) {
      threads[i].join();
      failures += wrong[i];
    }
  }
  std::printf("%d failures, %d loads, %d unloads\n", failures, fake.loads, fake.unloads);
  return failures || fake.loads != 2 || fake.unloads != 2;
}
