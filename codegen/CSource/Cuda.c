/* Part of generated C: the CUDA driver, loading for each context. Follows the launcher's core. */

static tk_driver tk_cuda;
static pthread_once_t tk_once = PTHREAD_ONCE_INIT;
static tile_code tk_driver_code = TILE_OK;
static char tk_driver_text[512];

static void tk_open_driver(void) {
  const char *named = getenv("TILE_LIBCUDA"), *library = named && *named ? named : "libcuda.so.1";
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL), *symbol = NULL;
  int devices = 0, result;
  tk_driver_code = TILE_ERROR_DRIVER;
  if (!handle) {
    const char *reason = dlerror();
    snprintf(tk_driver_text, sizeof tk_driver_text,
             "cannot load the CUDA driver: %s; install the NVIDIA driver",
             reason ? reason : library);
    return;
  }
#define TK_LOAD(name, text, parameters)                                                            \
  symbol = dlsym(handle, text);                                                                    \
  memcpy(&tk_cuda.name, &symbol, sizeof symbol);
#define TK_REQUIRE(name, text, parameters)                                                         \
  TK_LOAD(name, text, parameters)                                                                  \
  if (!symbol) {                                                                                   \
    snprintf(tk_driver_text, sizeof tk_driver_text,                                                \
             "the CUDA driver '%s' lacks %s: it is too old", library, text);                       \
    return;                                                                                        \
  }
  TK_CUDA_FUNCTIONS(TK_REQUIRE)
  TK_CUDA_OPTIONAL(TK_LOAD)
#undef TK_LOAD
#undef TK_REQUIRE
  result = tk_cuda.init(0);
  if (!result)
    result = tk_cuda.deviceGetCount(&devices);
  if (result) {
    tk_refused(&tk_cuda, NULL, result, "cannot initialise the CUDA driver");
    snprintf(tk_driver_text, sizeof tk_driver_text, "%.500s", tk_text(tk_said()));
  } else if (devices == 0) {
    snprintf(tk_driver_text, sizeof tk_driver_text, "the CUDA driver finds no device");
  } else {
    tk_driver_code = TILE_OK;
  }
}

static tile_code tk_need_driver(void) {
  pthread_once(&tk_once, tk_open_driver);
  if (tk_driver_code) {
    tk_clear();
    tk_say("%s", tk_driver_text);
  }
  return tk_driver_code;
}

/* ---- Builds and contexts ---- */

/* The code for one target, sm_MAJOR.MINOR; `suffix` 'a' runs on nothing else, 'f' on its family. */
typedef struct {
  const char *target;
  int major, minor;
  char suffix;
  int is_ptx;
  const unsigned char *const *images; /* binaries, as tk_kernel.unit counts them */
  const tk_kernel *kernels;           /* in the order of the other builds */
} tk_build;

/* An instance in one context. */
typedef struct {
  void *handle;    /* NULL until first used */
  unsigned blocks; /* of a persistent kernel, that run at once */
} tk_function;

typedef struct tk_context {
  struct tk_context *next;
  void *context, *modules[TK_UNITS]; /* NULL until first used */
  unsigned long long id; /* tells a new context from a destroyed one at the same address */
  const tk_build *build;
  tk_device_pointer empty; /* stands for tensors without elements */
  tk_function functions[TK_INSTANCES];
  tk_scratch *scratch;
} tk_context;

static pthread_mutex_t tk_mutex = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static tk_context *tk_contexts;

static int tk_runs_on(const tk_build *b, int major, int minor) {
  int newer = major > b->major || (major == b->major && minor >= b->minor);
  if (b->suffix == 'a')
    return major == b->major && minor == b->minor;
  return newer && (major == b->major || (b->is_ptx && b->suffix == '\0'));
}

/* The first build for the current context's device; builds stand best first. */
static tile_code tk_choose_build(const tk_build *builds, int count, const tk_build **chosen) {
  int device = 0, major = 0, minor = 0, result = tk_cuda.ctxGetDevice(&device);
  result = result ? result : tk_cuda.deviceGetAttribute(&major, TK_MAJOR, device);
  result = result ? result : tk_cuda.deviceGetAttribute(&minor, TK_MINOR, device);
  if (result)
    return tk_refused(&tk_cuda, NULL, result, "cannot ask for the compute capability");
  for (int i = 0; i < count; ++i)
    if (tk_runs_on(&builds[i], major, minor)) {
      *chosen = &builds[i];
      return TILE_OK;
    }
  tk_clear();
  tk_say("the kernels are compiled for ");
  for (int i = 0; i < count; ++i)
    if (i == 0 || strcmp(builds[i].target, builds[i - 1].target))
      tk_say("%s%s", i ? ", " : "", builds[i].target);
  tk_say(", but the device is sm_%d%d; compile them with --target sm_%d%d%s", major, minor, major,
         minor, major >= 9 ? "a" : "");
  return TILE_ERROR_TARGET;
}

static tile_code tk_current_context(void **context, unsigned long long *id) {
  int device = 0, result = tk_cuda.ctxGetCurrent(context);
  *id = 0;
  if (!result && !*context) { /* retained for the life of the process, as the CUDA runtime does */
    result = tk_cuda.deviceGet(&device, 0);
    result = result ? result : tk_cuda.primaryRetain(context, device);
    result = result ? result : tk_cuda.ctxSetCurrent(*context);
  }
  if (!result && tk_cuda.ctxGetId)
    result = tk_cuda.ctxGetId(*context, id);
  return tk_refused(&tk_cuda, NULL, result, "cannot use the current context");
}

/* Loads one of a context's binaries unless that has happened. Called with the mutex held. */
static tile_code tk_load_unit(tk_context *entry, int unit) {
  char log[1024];
  int options[2] = {TK_ERROR_LOG, TK_ERROR_LOG_BYTES}, result;
  void *values[2];
  if (entry->modules[unit])
    return TILE_OK;
  values[0] = log;
  values[1] = (void *)(uintptr_t)sizeof log;
  log[0] = '\0';
  result = tk_cuda.moduleLoadDataEx(&entry->modules[unit], entry->build->images[unit], 2, options,
                                    values);
  if (!result)
    return TILE_OK;
  entry->modules[unit] = NULL;
  tk_refused(&tk_cuda, NULL, result, "the driver refuses the binary");
  log[sizeof log - 1] = '\0';
  for (char *c = log; *c; ++c)
    *c = *c == '\n' ? ' ' : *c;
  if (log[0])
    tk_say(": %s", log);
  return TILE_ERROR_BINARY;
}

static void tk_free_context(tk_context *entry) {
  tk_scratch_forget(&entry->scratch);
  free(entry);
}

/* The entry of the current context. Called with the mutex held. */
static tile_code tk_loaded(const tk_build *builds, int count, tk_context **entry) {
  void *context = NULL;
  unsigned long long id = 0;
  const tk_build *build = NULL;
  tile_code code = tk_current_context(&context, &id);
  tk_context **link;
  if (code)
    return code;
  for (link = &tk_contexts; *link; link = &(*link)->next) {
    if ((*link)->context != context)
      continue;
    if ((*link)->id == id) {
      *entry = *link;
      return TILE_OK;
    }
    tk_context *gone = *link;
    *link = gone->next;
    tk_free_context(gone);
    break;
  }
  code = tk_choose_build(builds, count, &build);
  if (code)
    return code;
  tk_context *fresh = (tk_context *)calloc(1, sizeof *fresh);
  if (!fresh) {
    tk_clear();
    tk_say("out of memory");
    return TILE_ERROR_MEMORY;
  }
  fresh->context = context;
  fresh->id = id;
  fresh->build = build;
  if (TK_MAPS > 0) {
    static const uint64_t zeros[4] = {0, 0, 0, 0};
    int result = tk_cuda.memAlloc(&fresh->empty, sizeof zeros);
    result = result ? result : tk_cuda.memcpyHtoD(fresh->empty, zeros, sizeof zeros);
    if (result) {
      free(fresh);
      return tk_refused(&tk_cuda, NULL, result, "memory for empty tensors");
    }
  }
  fresh->next = tk_contexts;
  tk_contexts = fresh;
  *entry = fresh;
  return TILE_OK;
}

/* Makes an instance ready in a context. Called with the mutex held. */
static tile_code tk_get_function(tk_context *entry, const tk_kernel *k, tk_function **result) {
  tk_function *known = &entry->functions[k->number];
  int device = 0, fixed = 0, limit = 0, processors = 0, each = 0, dynamic = (int)k->shared_bytes,
      error;
  void *handle = NULL;
  tile_code code;
  *result = known;
  if (known->handle)
    return TILE_OK;
  code = tk_load_unit(entry, k->unit);
  if (code)
    return code;
  if (tk_cuda.moduleGetFunction(&handle, entry->modules[k->unit], k->symbol)) {
    tk_clear();
    tk_say("the binary has no function '%s'", k->symbol);
    return TILE_ERROR_BINARY;
  }
  error = tk_cuda.ctxGetDevice(&device);
  if (dynamic > 0) { /* more than 48 KB must be asked for, and static shared memory counts too */
    error = error ? error : tk_cuda.deviceGetAttribute(&limit, TK_SHARED_PER_BLOCK, device);
    error = error ? error : tk_cuda.funcGetAttribute(&fixed, TK_STATIC_SHARED, handle);
    if (!error && (int64_t)dynamic + fixed > limit) {
      tk_about(k);
      tk_say("needs %lld bytes of shared memory for a block, the device has %d; use smaller tiles",
             (long long)dynamic + fixed, limit);
      return TILE_ERROR_TARGET;
    }
    error = error ? error : tk_cuda.funcSetAttribute(handle, TK_DYNAMIC_SHARED, dynamic);
  }
  if (k->persistent) {
    error = error ? error : tk_cuda.deviceGetAttribute(&processors, TK_MULTIPROCESSORS, device);
    error = error ? error : tk_cuda.occupancy(&each, handle, (int)k->threads, (size_t)dynamic);
    known->blocks = (unsigned)(processors * each > 1 ? processors * each : 1);
  }
  if (error)
    return tk_refused(&tk_cuda, k, error, "cannot prepare the kernel for this device");
  known->handle = handle;
  return TILE_OK;
}
