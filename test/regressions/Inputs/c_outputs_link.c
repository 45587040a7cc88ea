/* One kernel, compiled twice with other constants, in one program. */
#include "three.h"
#include "two.h"

#include <stdio.h>

int main(void) {
  _Alignas(64) float x[1] = {1}, y[16] = {0}, z[16] = {0};
  if (two_add_launch(x, y, 1, NULL, 0) || three_add_launch(x, z, 1, NULL, 0))
    return 1;
  printf("%g %g\n", y[0], z[0]);
  return 0;
}
