#!/bin/sh
# Install a wheel into an empty virtual environment, analyse a sample with it and run the tests that need nothing but
# it: what users get, not the checkout.
#
# Usage: scripts/try_wheel.sh WHEEL newest|oldest        newest: what constraints.txt pins; oldest: the lower bounds
set -eu

wheel=$(realpath "$1")
checkout=$(realpath "$(dirname "$0")/..")
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

case $2 in
newest) cp "$checkout/constraints.txt" "$work/versions.txt" ;;
oldest) "$python" "$checkout/scripts/oldest_versions.py" dev pandas >"$work/versions.txt" ;;
*) echo "try_wheel: $2 is neither newest nor oldest" >&2 && exit 2 ;;
esac
"$python" -m venv "$work/venv"
python=$work/venv/bin/python
install() { "$python" -m pip install --quiet --disable-pip-version-check -c "$work/versions.txt" "$@"; }

install "$wheel"
(
    cd "$work" # where no source of wallsplit lies
    venv/bin/analyze "$checkout/traces/numpy-loop.sqlite" >said.txt
    grep -q '^Report: reports/numpy-loop.html$' said.txt
    test -s reports/numpy-loop.html
    venv/bin/wallsplit doctor >said.txt
    grep -q 'nvidia-ml-py is not installed' said.txt # the environment is as empty as a user's
)

install "$wheel[dask,pandas]" hypothesis jsonschema pytest pytest-timeout pytest-xdist sqlite-utils
cd "$checkout" # -P: without this folder in the search path; pythonpath: nor those that hold the sources
# Warnings are errors in the checkout's own tests; a mixture of old and new packages has warnings of its own. Real
# traces are for those tests, too, and take minutes.
WALLSPLIT_SHARED=$work "$python" -P -m pytest -q --numprocesses auto --dist loadfile -p no:cacheprovider -W ignore -o pythonpath=tests \
    tests/analysis/breakdowns tests/analysis/ledger tests/analysis/model tests/analysis/run tests/analysis/trace \
    tests/analysis/words tests/analysis/report --ignore-glob '*_in_browser.py' \
    tests/scripts/test_analyze.py tests/scripts/test_cache.py tests/scripts/test_cluster.py tests/scripts/test_main.py \
    tests/scripts/test_current_folder.py tests/scripts/test_many.py tests/scripts/test_nsys.py
