#!/usr/bin/env bash
# Runs one small shape of each kind of kernel under compute-sanitizer: no access out of bounds, no
# race in shared memory, hostile indices among them. TILE_HOME is a build folder or an unpacked
# release.
set -u
cd "$(dirname "$0")/../.." || exit 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
runs=0

# one TOOL NUMBER ARGUMENTS...: leaves NUMBER.good, or NUMBER.bad with what the tool said.
one() {
  local tool=$1 out=$folder/$2
  shift 2
  if compute-sanitizer --tool "$tool" --error-exitcode 9 "$TILE_HOME/bin/tilec" run "$@" \
    --device cuda --seed 1 >"$out.log" 2>&1; then
    touch "$out.good"
  else
    { echo "FAIL $tool $*"; tail -20 "$out.log"; } >"$out.bad"
  fi
}
check() {
  for tool in memcheck racecheck; do
    while [ "$(jobs -rp | wc -l)" -ge "${TILE_JOBS:-$(nproc)}" ]; do wait -n; done
    runs=$((runs + 1))
    one "$tool" "$runs" "$@" &
  done
}

check examples/matmul/matmul.tile -D T=f16 --random M=200,N=264,K=136
check examples/matmul/matmul.tile -D T=bf16 -D BM=64 -D BN=64 -D BK=32 --random M=97,N=104,K=168
check examples/matmul_f32/matmul_f32.tile --random M=70,N=130,K=67
check examples/softmax/softmax.tile -D T=f32 -D BLOCK=1024 --random M=5,N=3001
check examples/attention/attention.tile -D T=f16 -D D=64 --random B=1,H=4,G=2,S=131,L=200 \
  --arg scale=0.125
check examples/layer_norm/layer_norm.tile -D T=f16 --random M=7,N=1000
check examples/cross_entropy/cross_entropy.tile -D T=f32 --random M=9,V=10007
check examples/transpose/transpose.tile -D T=f16 --random M=100,N=77
check examples/row_sum/row_sum.tile -D T=f32 --random M=3,N=10007
check examples/matmul_nt/matmul_nt.tile -D T=f16 --random M=200,N=264,K=136
check examples/matmul_f8/matmul_f8.tile -D A=f8e4m3 --random M=130,N=136,K=272
check examples/matmul_int8/matmul_int8.tile -D T=i8 --random M=130,N=136,K=272
check examples/matmul_w4/matmul_w4.tile -D T=f16 --random M=20,N=136,K=256
check examples/attention/attention.tile -D T=bf16 -D D=128 -D CAUSAL=false \
  --random B=1,H=2,G=1,S=260,L=390 --arg scale=0.09
check examples/rms_norm_rows/rms_norm_rows.tile -D T=f16 --random M=7,N=1000
check examples/softmax_rows/softmax_rows.tile -D T=f32 --random M=7,N=1000
check examples/layer_norm_rows/layer_norm_rows.tile -D T=f16 --random M=7,N=1000
check examples/cross_entropy_lanes/cross_entropy_lanes.tile -D T=f16 --random M=5,V=10007
# More programs than blocks: the producer takes them from a count, and sends them on.
check examples/attention/attention.tile -D T=f16 -D D=128 --random B=2,H=20,G=2,S=520,L=520 \
  --arg scale=0.09
check examples/attention/attention.tile -D T=f16 -D D=64 --random B=1,H=80,G=40,S=259,L=300 \
  --arg scale=0.125
backward="examples/attention_backward/attention_backward.tile --kernel attention_backward -D T=f16"
# shellcheck disable=SC2086  # several words
{
check $backward -D D=128 --random B=1,H=2,G=1,S=264,L=300,P=264 --arg scale=0.09
check $backward -D D=64 -D CAUSAL=false --random B=1,H=2,G=2,S=131,L=140,P=132 --arg scale=0.125
}
check examples/matmul_split/matmul_split.tile -D T=f16 --random M=16,N=264,K=1032
check examples/matmul/matmul.tile -D T=f16 -D SPLIT=4 --random M=100,N=264,K=1032
check examples/matvec_w4/matvec_w4.tile -D T=f16 --random M=1,N=100,K=2048
check examples/vector_add/vector_add.tile --random N=10007
check examples/rms_norm/rms_norm.tile -D T=f16 --random M=7,N=1000
check examples/matmul_w4/matmul_w4.tile -D T=f16 -D BM=128 -D BN=128 -D BK=128 \
  --random M=130,N=136,K=512
check examples/linear/linear.tile -D T=f16 --random M=130,N=264,K=136
# Blocks with several programs each, pairs of blocks, experts of uneven numbers of rows, none among
# them.
check examples/matmul/matmul.tile -D T=f16 -D BM=64 -D BN=64 -D BK=64 --random M=770,N=1032,K=72
check examples/matmul/matmul.tile -D T=f16 -D BM=128 -D BN=128 -D BK=64 \
  --with persistent,cluster=2 --random M=1500,N=1800,K=72
save='import numpy, sys; numpy.save(sys.argv[1], numpy.array(eval(sys.argv[2]), numpy.int32))'
python3 -c "$save" "$folder/offset.npy" '[0, 3, 3, 130, 131, 400]' || exit 2
check examples/grouped_matmul/grouped_matmul.tile -D T=bf16 --random M=400,E=5,N=3008,K=72 \
  --arg "offset=$folder/offset.npy"
# Experts that end within a tile, one without rows; tiles of one warpgroup, whose products stay in
# flight, and of two.
python3 -c "$save" "$folder/ends.npy" '[0, 100, 100, 290]' || exit 2
for tile in BM=64,BN=128,warps=4 BM=128,BN=256,warps=8; do
  check examples/grouped_matmul/grouped_matmul.tile -D T=f16 --config "$tile,stages=3" \
    --random M=300,N=264,K=136,E=3 \
    --arg "offset=$folder/ends.npy"
done
# Indices, rows, pages and lengths that no tensor has.
hostile='[-2**31, 2**31 - 1, -1, 0, 3, 2**30, 7, -5]'
python3 -c "$save" "$folder/hostile.npy" "$hostile * 4" || exit 2
python3 -c "$save" "$folder/hostile8.npy" "$hostile" || exit 2
python3 -c "$save" "$folder/lengths.npy" '[2**31 - 1, -7, 40, 2**30]' || exit 2
python3 -c "$save" "$folder/pages.npy" "numpy.resize($hostile, (4, 6))" || exit 2
python3 -c "import numpy, sys; numpy.save(sys.argv[1], numpy.array($hostile + [2**62, -2**63]))" \
  "$folder/wide.npy" || exit 2
check examples/embedding/embedding.tile --kernel embedding -D T=f16 --random V=50,N=264 \
  --arg "id=$folder/wide.npy"
check examples/embedding/embedding.tile --kernel embedding_backward -D T=f16 -D D=f32 \
  --random V=50,N=264 --arg "id=$folder/wide.npy"
check examples/segment_sum/segment_sum.tile --kernel segment_sum -D T=f32 --random N=70,S=9 \
  --arg "seg=$folder/hostile.npy"
check examples/grouped_matmul/grouped_matmul.tile -D T=bf16 --random M=400,E=7,N=264,K=72 \
  --arg "offset=$folder/hostile8.npy"
for page in 16 64; do
  check examples/paged_attention/paged_attention.tile -D T=f16 -D D=64 -D PAGE=$page \
    --random B=4,G=2,R=8,P=8,TP=6 --arg "table=$folder/pages.npy" \
    --arg "len=$folder/lengths.npy" --arg scale=0.125
done
wait
for bad in "$folder"/*.bad; do [ -e "$bad" ] && cat "$bad"; done
passed=$(find "$folder" -name '*.good' | wc -l)
failed=$((runs - passed))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
