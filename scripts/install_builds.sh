#!/bin/sh
# Install extras of this package, each into its virtual environment; those that are there already are left.
#
# Usage: wallsplit workloads --extra-of all | scripts/install_builds.sh        lines of FOLDER EXTRA, in the checkout
set -eu

while read -r folder extra; do
    done="$folder/.extra-$extra"
    if [ -e "$done" ] && [ "$done" -nt pyproject.toml ] && [ "$done" -nt constraints.txt ]; then
        continue
    fi
    [ -x "$folder/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder"
    "$folder/bin/python" -m pip --quiet --disable-pip-version-check install -c constraints.txt -e ".[$extra]" </dev/null
    touch "$done"
done
