/* A program that runs generated C on the CPU: right and wrong calls of softmax. */
#include "softmax.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = 37, COLUMNS = 1000 };
static float x[ROWS * COLUMNS] __attribute__((aligned(64))),
    y[ROWS * COLUMNS] __attribute__((aligned(64)));

int main(void) {
  double worst = 0;
  for (int i = 0; i < ROWS * COLUMNS; ++i)
    x[i] = (float)(i * 7919 % 257) * 0.02f;
  for (int threads = 0; threads < 3; ++threads) {
    softmax_threads(threads);
    if (softmax_T_f32_launch(x, y, ROWS, COLUMNS, NULL, 0)) {
      printf("%s\n", softmax_message());
      return 1;
    }
    for (int row = 0; row < ROWS; ++row) {
      double sum = 0;
      for (int i = 0; i < COLUMNS; ++i)
        sum += exp(x[row * COLUMNS + i]);
      for (int i = 0; i < COLUMNS; ++i) {
        double error = fabs(exp(x[row * COLUMNS + i]) / sum - y[row * COLUMNS + i]);
        worst = error > worst ? error : worst;
      }
    }
  }
  printf("%s\n", worst < 1e-8 ? "right" : "wrong");
  printf("%d %s\n", softmax_T_f32_launch(x, x + 4, ROWS, COLUMNS, NULL, 0), softmax_message());
  printf("%d %s\n", softmax_T_f32_launch(x, y + 1, ROWS, COLUMNS, NULL, 0), softmax_message());
  printf("%d %s\n", softmax_T_f32_launch(NULL, y, ROWS, COLUMNS, NULL, 0), softmax_message());
  printf("%d\n", softmax_T_f32_launch(NULL, NULL, 0, COLUMNS, NULL, 0));
  return 0;
}
