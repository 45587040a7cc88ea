/* Calls a kernel that generated C carries; prints its code, an element of its output, and the
 * message. */
#include "k.h"

#include <stdio.h>

int main(void) {
  static double x[4096], y[16];
  tile_code code;
  for (int i = 0; i < 4096; ++i)
    x[i] = (double)(4096 - i);
  code = middle_launch(x, y, 4096, NULL, 0);
  printf("%d %g %s\n", (int)code, y[15], code ? k_message() : "");
  return 0;
}
