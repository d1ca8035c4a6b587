#!/usr/bin/env bash
# Makes the PTX files from the sources with the compilers, and checks them with ptxas. No GPU needed.
#
#   make/build.sh            all examples
#   make/build.sh NAME...    only these
#
# Needs three Python environments (see README.md):
#   CUDA13  nvcc and ptxas 13.5 (sm_80, sm_90)
#   CUDA12  NVRTC and ptxas 12.9 (sm_50, sm_70)
#   JIT     Triton and Numba
set -euo pipefail
make=$(cd "$(dirname "$0")" && pwd)
cd "$make/.."
: "${CUDA13:=venv13}" "${CUDA12:=venv12}" "${JIT:=venvjit}"
cu13=$(echo "$CUDA13"/lib/python3*/site-packages/nvidia/cu13)
cu12=$(echo "$CUDA12"/lib/python3*/site-packages/nvidia)

check() { # file target
    case $2 in
        sm_50 | sm_70) "$cu12/cuda_nvcc/bin/ptxas" -arch="$2" "$1" -o /dev/null ;;
        *) "$cu13/bin/ptxas" -arch="$2" "$1" -o /dev/null ;;
    esac
}

grep -v '^#' "$make/targets.txt" | while read -r name variant target compiler options; do
    [[ -z $name ]] && continue
    if (($#)) && [[ " $* " != *" $name "* ]]; then continue; fi
    suffix=; [[ $variant != - ]] && suffix=.$variant
    ptx=$name$suffix.ptx
    (
        cd "$name"
        # shellcheck disable=SC2086
        case $compiler in
            nvcc) "$cu13/bin/nvcc" -ptx -arch="$target" -std=c++17 $options "$name.cu" -o "$ptx" ;;
            nvrtc) "$CUDA12/bin/python" "$make/nvrtc.py" "$name.cu" "$ptx" "$target" -std=c++17 \
                -I"$cu12/cuda_runtime/include" -I"$cu12/cuda_cccl/include" $options ;;
            python) TRITON_DEFAULT_FP_FUSION=1 "$JIT/bin/python" "$name.py" "$ptx" "$target" ;;
            hand) ;;
        esac
        [[ $compiler == hand ]] || python3 "$make/clean.py" "$ptx"
        check "$ptx" "$target"
    )
    echo "$name/$ptx"
done
