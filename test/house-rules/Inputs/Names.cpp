// Names of GPUs in code: one compared, one parsed; in a comment, sm_80 is well, and in help, too.
bool isHopper(const char *name) { return !strcmp(name, "sm_90a"); }
bool isGPU(const char *name) { return starts(name, "sm_"); }
const char *help = "  tilec a.tile --target sm_80 -o a.ptx";
