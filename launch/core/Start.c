/* The last steps of a launch, in the launcher's core: where memory lies, fills, the driver's call,
 * and what the driver refuses. */
#include "launch/core/Launch.h"

#include <string.h>

enum { TK_ASSERT_FAILED = 710 };

TK_CORE tile_code tk_refused(const tk_driver *driver, const tk_kernel *k, int result,
                             const char *what) {
  const char *name = NULL, *text = NULL;
  if (result == 0)
    return TILE_OK;
  driver->getErrorName(result, &name);
  driver->getErrorString(result, &text);
  tk_clear();
  if (k)
    tk_say("%s: ", k->name);
  tk_say("%s: ", what);
  if (name)
    tk_say("%s", name);
  else
    tk_say("CUDA error %d", result);
  if (text)
    tk_say(" (%s)", text);
  if (result == TK_ASSERT_FAILED)
    tk_say("; an assert of the kernel failed: its message and source line stand on standard error");
  return TILE_ERROR_CUDA;
}

TK_CORE tile_code tk_check_residency(const tk_driver *driver, const tk_kernel *k,
                                     const tile_argument *a, size_t count, int on_host,
                                     int current) {
  if (!driver->pointerGetAttribute) {
    tk_about(k);
    tk_say("the CUDA driver lacks cuPointerGetAttribute: it is too old to tell where memory lies");
    return TILE_ERROR_DRIVER;
  }
  for (int i = 0; i < (int)count; ++i) {
    tk_device_pointer address = (tk_device_pointer)(uintptr_t)a[i].data;
    unsigned type = 0, managed = 0;
    int device = -1, is_device;
    if (a[i].kind != TILE_TENSOR || !address || tk_is_empty(&a[i]))
      continue;
    if (driver->pointerGetAttribute(&type, TK_MEMORY_TYPE, address))
      type = 0;
    /* Managed memory counts as a device's, but is reached from everywhere. */
    if (type && !driver->pointerGetAttribute(&managed, TK_IS_MANAGED, address) && managed)
      continue;
    is_device = type == TK_DEVICE_MEMORY;
    if (is_device && driver->pointerGetAttribute(&device, TK_ORDINAL, address))
      device = -1;
    if (on_host ? !is_device : type && (!is_device || device == current))
      continue;
    tk_about(k);
    tk_say("'%s' lies in ", k->params[i].name);
    if (is_device)
      tk_say("memory of device %d", device);
    else
      tk_say("host memory that the driver does not know");
    if (on_host)
      tk_say(", expected host memory: the kernel runs on the CPU");
    else
      tk_say(", expected memory of device %d, on which the kernel runs", current);
    tk_say("; copy the tensor there");
    return tk_fail(k, TILE_ERROR_RESIDENCY, k->params[i].line);
  }
  return TILE_OK;
}

typedef struct {
  const tk_driver *driver;
  const tk_kernel *kernel;
  void *stream;
} tk_fill_target;

static tile_code tk_write_block(const tk_block *b, void *context) {
  const tk_fill_target *t = (const tk_fill_target *)context;
  const tk_driver *d = t->driver;
  tk_device_pointer to = (tk_device_pointer)(uintptr_t)b->data;
  size_t pitch = (size_t)b->pitchBytes, width = (size_t)b->width, rows = (size_t)b->rows;
  int result;
  if (b->cellBytes == 1)
    result = rows == 1 ? d->memsetD8(to, (unsigned char)b->value, width, t->stream)
                       : d->memsetD2D8(to, pitch, (unsigned char)b->value, width, rows, t->stream);
  else if (b->cellBytes == 2)
    result = rows == 1
                 ? d->memsetD16(to, (unsigned short)b->value, width, t->stream)
                 : d->memsetD2D16(to, pitch, (unsigned short)b->value, width, rows, t->stream);
  else
    result = rows == 1 ? d->memsetD32(to, b->value, width, t->stream)
                       : d->memsetD2D32(to, pitch, b->value, width, rows, t->stream);
  return tk_refused(d, t->kernel, result, "cannot fill a tensor before the launch");
}

TK_CORE tile_code tk_fill_device(const tk_driver *driver, const tk_kernel *k, const tk_fill *fill,
                                 void *stream) {
  tk_fill_target target = {driver, k, stream};
  return tk_each_block(fill, tk_write_block, &target);
}

/* Of a plain kernel a block for each program; a cluster's are rounded up to whole clusters; of a
 * persistent one no more than are resident at once, in whole clusters, but one cluster at least.
 * A persistent kernel's clusters take neighbours along one axis, an odd last one alone: at worst
 * each program has a cluster for itself, and blocks that find none end at once. */
TK_CORE unsigned tk_count_blocks(const tk_kernel *k, int64_t programs, unsigned resident) {
  unsigned cluster = k->cluster;
  if (!k->persistent && cluster <= 1)
    return (unsigned)programs;
  uint64_t whole = ((uint64_t)programs + cluster - 1) / cluster * cluster,
           blocks = k->persistent ? (uint64_t)programs * cluster : whole,
           most = resident / cluster * cluster;
  most = most > cluster ? most : cluster;
  return (unsigned)(k->persistent && blocks > most ? most : blocks);
}

TK_CORE tile_code tk_start(const tk_driver *driver, const tk_kernel *k, void *function,
                           unsigned blocks, unsigned shared_bytes, void *stream, void **arguments) {
  tk_launch_attribute cluster;
  tk_launch_config config;
  if (k->cluster <= 1) {
    int result = driver->launchKernel(function, blocks, 1, 1, k->threads, 1, 1, shared_bytes,
                                      stream, arguments, NULL);
    return result ? tk_refused(driver, k, result, "cannot launch") : TILE_OK;
  }
  if (!driver->launchKernelEx) {
    tk_about(k);
    tk_say("the CUDA driver lacks cuLaunchKernelEx, which clusters need: it is too old, install "
           "one for CUDA 12 or newer");
    return TILE_ERROR_DRIVER;
  }
  memset(&config, 0, sizeof config);
  memset(&cluster, 0, sizeof cluster);
  config.grid[0] = blocks;
  config.grid[1] = config.grid[2] = config.block[1] = config.block[2] = 1;
  config.block[0] = k->threads;
  config.shared_bytes = shared_bytes;
  config.stream = stream;
  cluster.id = TK_CLUSTER;
  cluster.value[0] = k->cluster;
  cluster.value[1] = cluster.value[2] = 1;
  config.attributes = &cluster;
  config.attribute_count = 1;
  return tk_refused(driver, k, driver->launchKernelEx(&config, function, arguments, NULL),
                    "cannot launch");
}
