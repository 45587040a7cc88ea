// The one option table of tilec: what it parses, what --help prints.
include "llvm/Option/OptParser.td"

class Titled<string title> : OptionGroup<title>, HelpText<title>;
def output_group : Titled<"OUTPUT">;
def kernel_group : Titled<"KERNEL">;
def message_group : Titled<"MESSAGES">;
def inside_group : Titled<"LOOKING INSIDE">;
def run_group : Titled<"RUNNING (tilec run)">;
def general_group : Titled<"GENERAL">;

class Switch<list<string> prefixes, string name, string help, OptionGroup group>
    : Flag<prefixes, name>, HelpText<help>, Group<group>;

// --NAME=VALUE and --NAME VALUE.
multiclass Value<string name, string help, string meta, OptionGroup group> {
  def NAME : Separate<["--"], name>, HelpText<help>, MetaVarName<meta>, Group<group>;
  def NAME # _eq : Joined<["--"], name # "=">, Alias<!cast<Separate>(NAME)>;
}

def o : JoinedOrSeparate<["-"], "o">, MetaVarName<"FILE">, Group<output_group>,
  HelpText<"Write FILE; its ending says what: .tilepkg .cubin .ptx .c .ll .mlir .o (- is standard output)">;
defm emit : Value<"emit", "What to write: ast, tile, tile-opt, gpu, llvm, ptx, cubin, obj or package", "KIND", output_group>;
defm target : Value<"target", "The GPU (sm_80 ... sm_90a ...), or cpu; of packages and C a list (default: sm_90a; cpu for .o)", "NAME", output_group>;
def with_source : Switch<["--"], "with-source", "Put the sources into the package", output_group>;
defm extract : Value<"extract", "tilec inspect: write the package's files into DIR", "DIR", output_group>;
def O : Joined<["-"], "O">, MetaVarName<"LEVEL">, HelpText<"Optimisation level, 0 to 3 (default: 3)">, Group<output_group>;
defm cache : Value<"cache", "Keep what is compiled in DIR, and use it again (default: TILE_CACHE; none: off)", "DIR", output_group>;
defm cache_command : Value<"cache-command", "Keep results by a command, too: CMD get KEY FILE, CMD put KEY FILE (default: TILE_CACHE_COMMAND)", "CMD", output_group>;
defm cache_size : Value<"cache-size", "Size of the cache in MiB (default: 1024)", "N", output_group>;
def j : JoinedOrSeparate<["-"], "j">, MetaVarName<"N">, Group<output_group>,
  HelpText<"Compile N inputs or targets at once, 0: one for each processor (default: 1)">;
def MD : Switch<["-"], "MD", "Write a list of the files that were read, for build systems", output_group>;
def MF : JoinedOrSeparate<["-"], "MF">, MetaVarName<"FILE">, HelpText<"Where -MD writes (default: OUT.d)">, Group<output_group>;
defm ptxas_path : Value<"ptxas-path", "The ptxas program (default: TILE_PTXAS, PATH, /usr/local/cuda, .venv)", "FILE", output_group>;

def D : JoinedOrSeparate<["-"], "D">, MetaVarName<"NAME=VALUE">, Group<kernel_group>,
  HelpText<"Bind a compile-time parameter: a number, true, a dtype, a word, a function">;
defm kernel : Value<"kernel", "Compile only this kernel of the file", "NAME", kernel_group>;
defm variant : Value<"variant", "Add a variant, as in decode:M=1..16:8,K%64,align(a)=128,BM=16", "[NAME:]ITEM,...", kernel_group>;
defm variants : Value<"variants", "Add the variants of a JSON file", "FILE", kernel_group>;
def no_generic : Switch<["--"], "no-generic", "Leave out the variants without conditions", kernel_group>;
defm with : Value<"with", "Attributes of kernels, before the source's `with` and --config, as in warps=8,stages=3", "NAME[=VALUE],...", kernel_group>;
defm config : Value<"config", "Values of tuned names, or a result of tilec tune; tilec tune: try only what has these values, may be repeated, or a list in a file", "NAME=VALUE,...|FILE.json", kernel_group>;
defm shape : Value<"shape", "Extents to choose configurations for, as in M=16,N=4096; tilec tune: to tune for, may be repeated; tilec run: those that only outputs have", "NAME=N,...", kernel_group>;
def I : JoinedOrSeparate<["-"], "I">, MetaVarName<"DIR">, HelpText<"Search DIR for imports">, Group<kernel_group>;

def W : Joined<["-"], "W">, MetaVarName<"[no-]CODE">, HelpText<"Enable or disable a warning">, Group<message_group>;
def Werror : Switch<["-"], "Werror", "Make every warning an error", message_group>;
def Werror_eq : Joined<["-"], "Werror=">, MetaVarName<"CODE">, HelpText<"Make one warning an error">, Group<message_group>;
def g : Switch<["-"], "g", "Debug build: keep `print` and `assert`", kernel_group>;
def debug_asserts : Flag<["--"], "debug-asserts">, Alias<g>, HelpText<"The same as -g">, Group<kernel_group>;
def remarks : Switch<["--"], "remarks", "Say what kept the code from being faster", message_group>;
def remarks_eq : Joined<["--"], "remarks=">, MetaVarName<"REGEX">, HelpText<"Only remarks that match">, Group<message_group>;
defm explain : Value<"explain", "Explain a diagnostic, as in --explain E0301", "CODE", message_group>;
defm error_limit : Value<"error-limit", "Stop after N errors, 0 for no limit (default: 20)", "N", message_group>;
defm diagnostics_format : Value<"diagnostics-format", "text or json (default: text)", "FORMAT", message_group>;
defm color : Value<"color", "auto, always or never (default: auto)", "WHEN", message_group>;

defm stop_after : Value<"stop-after", "Stop after a stage (the kinds of --emit) and write nothing", "STAGE", inside_group>;
defm dump_dir : Value<"dump-dir", "Write what every stage makes into DIR", "DIR", inside_group>;
def print_pipeline : Switch<["--"], "print-pipeline", "Print the passes that would run", inside_group>;
def print_abi : Switch<["--"], "print-abi", "Print the manifest: parameters, contracts, grid, arguments", inside_group>;
def print_settings : Switch<["--"], "print-settings", "Print every setting, its value and where that comes from", inside_group>;
def explain_cache : Switch<["--"], "explain-cache", "Say whether the cache had the result, and if not, why", inside_group>;
def json : Switch<["--"], "json", "tilec explain: write JSON, for tools", inside_group>;
defm repro : Value<"repro", "Write a ZIP archive with which others can repeat this call (--repro=: tile-repro-HASH.zip in the temporary folder)", "FILE", inside_group>;
defm debug_crash : Value<"debug-crash", "Fail on purpose, to see what follows: memory, fatal, verifier or exception", "HOW", inside_group>;
def time_report : Switch<["--"], "time-report", "Print how long each phase took, in milliseconds", inside_group>;

defm arg : Value<"arg", "A tensor's .npy file, or a scalar's value. Compiling: M=1..4096:2048, K=1024, K%8, align(a)=128, x=f16[M,K]",
                 "NAME=FILE|VALUE", run_group>;
defm out : Value<"out", "Write an output to a .npy file", "NAME=FILE", run_group>;
defm device : Value<"device", "cpu, or cuda, cuda:1 (default: cpu); tilec tune takes several, as in cuda:0,cuda:1, and by cuda all", "NAME", run_group>;
defm random : Value<"random", "Make random inputs of these extents, as in M=1000,N=777", "NAME=N,...", run_group>;
defm seed : Value<"seed", "Seed of the random inputs (default: 0)", "N", run_group>;
def time : Switch<["--"], "time", "Print the median time of several runs", run_group>;
defm threads : Value<"threads", "Threads of --device cpu (default: one for each processor)", "N", run_group>;

defm expect : Value<"expect", "Compare an output with a .npy file; see --tolerance", "NAME=FILE", run_group>;
defm tolerance : Value<"tolerance", "Largest error, as a part of the largest element expected (default: 0.01)", "X", run_group>;
defm image : Value<"image", "Run this cubin or PTX file of the kernel instead of compiling", "FILE", run_group>;
defm measure : Value<"measure", "Write times to FILE as JSON", "FILE", run_group>;
defm give_up : Value<"give-up", "Do not time what takes more than MS milliseconds", "MS", run_group>;

def tune_group : Titled<"TUNING (tilec tune)">;
defm work : Value<"work", "Where binaries and the log go (default: NAME.tune beside the source)", "DIR", tune_group>;
defm check : Value<"check", "Compare results with: default (the first configuration's), cpu or none", "WHAT", tune_group>;
def exhaustive : Switch<["--"], "exhaustive", "Measure every configuration at every shape", tune_group>;
def precompile : Switch<["--"], "precompile", "Compile the configurations and stop: no GPU is needed", tune_group>;
def force : Switch<["--"], "force", "Measure again what the log has already", tune_group>;
defm timeout : Value<"timeout", "Seconds for one compilation or measurement (default: 60)", "S", tune_group>;
defm budget : Value<"budget", "Start nothing new after so many seconds", "S", tune_group>;
defm keep : Value<"keep", "Configurations to keep, for different shapes (default: 1)", "N", tune_group>;
defm objective : Value<"objective", "What the kept ones are chosen by: geomean of the time lost, or worst (default: geomean)", "WHAT", tune_group>;
defm memory : Value<"memory", "Megabytes that a candidate on the CPU may use (default: as much as there is, 0: no limit)", "MB", tune_group>;
defm csv : Value<"csv", "Write the measurements to FILE as CSV", "FILE", tune_group>;
defm plot : Value<"plot", "Draw the measurements into FILE.svg", "FILE", tune_group>;
def serve : Switch<["--"], "serve", "Be a worker: measure what standard input, a socket, asks for", tune_group>;
defm jobs : Value<"jobs", "Compilations at a time (default: one for each processor)", "N", tune_group>;
defm shard : Value<"shard", "Measure part I of N of the configurations, as in 0/4", "I/N", tune_group>;
defm merge : Value<"merge", "Make the result of this log instead of measuring; may be repeated", "FILE", tune_group>;

// What `tilec fmt --check` becomes: --check takes a word of `tilec tune`.
def fmt_check : Flag<["--"], "fmt-check">, Flags<[HelpHidden]>, Group<general_group>,
  HelpText<"tilec fmt: say which files are not formatted, by the exit code too, and write nothing">;
def help : Switch<["--"], "help", "Print this", general_group>;
def : Flag<["-"], "h">, Alias<help>;
def version : Switch<["--"], "version", "Print the version and the targets", general_group>;
