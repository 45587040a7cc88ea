// tile::compile from C++: program FOLDER FILE.tile.
#include "tile.hpp"
#include <cstdio>

int main(int, char **argv) {
  tile::Request request;
  request.path = argv[2];
  request.target = "cpu";
  request.kernel = "softmax";
  request.constants = {"BLOCK=256"};
  request.cache = argv[1];
  tile::Module module;
  if (tile::Status error = tile::compile(request, module)) {
    std::printf("%s\n", error.message());
    return 1;
  }
  tile::Kernel kernel;
  std::vector<float> x(12, 1), y(12);
  if (tile::Status error = module.kernel("softmax", kernel)) {
    std::printf("%s\n", error.message());
    return 1;
  }
  if (tile::Status error =
          tile::launch(kernel, {{"x", {x.data(), {3, 4}}}, {"y", {y.data(), {3, 4}}}})) {
    std::printf("%s\n", error.message());
    return 1;
  }
  std::printf("%s: %g of 0.25\n", module.target(), y[7]);
  request.kernel = "absent";
  tile::Status error = tile::compile(request, module);
  std::printf("%d, the module is still for %s\n", error.code(), module.target());
  return 0;
}
