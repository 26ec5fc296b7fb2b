#!/usr/bin/env bash
# Builds the image and proves it: what it declares, what it must not contain, that it serves with a
# read-only root, no capability and its own user, that it answers, and that SIGTERM lets a running call
# end before the server ends with 0.
#
#   ENGINE       runs containers, options included      (default: docker, else podman)
#   BUILD        builds them                            (default: "$ENGINE build")
#   BUILD_FLAGS  more flags for the build, such as --build-arg or read-only mounts of pip's settings
#   NETWORK      network of the container               (default: "bridge"; "host" where there is none)
#   IMAGE        name of the result                     (default: localhost/dragoman:proof)
#   RUN_FLAGS    more flags for the run
#
# Without an engine that can reach an image registry: deploy/base-image.sh first, then for example
#   ENGINE="podman --cgroup-manager cgroupfs --runtime runc --events-backend file" NETWORK=host \
#   BUILD="buildah bud --pull-never --isolation chroot --network host --format docker" deploy/prove-image.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

default_engine=$(command -v docker >/dev/null && docker info >/dev/null 2>&1 && echo docker || echo podman)
read -r -a engine <<< "${ENGINE:-$default_engine}"
read -r -a build <<< "${BUILD:-${engine[*]} build}"
read -r -a build_flags <<< "${BUILD_FLAGS:-}"
read -r -a run_flags <<< "${RUN_FLAGS:-}"
image=${IMAGE:-localhost/dragoman:proof}
network=${NETWORK:-bridge}
name=dragoman-proof-$$
locked_down=(--read-only --tmpfs /tmp --cap-drop all --user 10001:10001
             --ulimit nofile=4096:4096 --ulimit nproc=4096:4096)

say() { printf '== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
inside() { "${engine[@]}" exec "$name" "$@"; }
running() {
    inside python3 -c '
from urllib.request import urlopen
text = urlopen("http://127.0.0.1:9090/metrics").read().decode()
print(*[int(float(l.split()[1])) for l in text.splitlines() if l.startswith("dragoman_running_rows ")])'
}
answers=$(mktemp)
cleanup() { "${engine[@]}" rm --force "$name" >/dev/null 2>&1 || true; rm -f "$answers"; }
trap cleanup EXIT

say "build $image"
"${build[@]}" ${build_flags[@]+"${build_flags[@]}"} --tag "$image" .

say "what it declares"
declared() { "${engine[@]}" image inspect --format "$1" "$image"; }
[[ $(declared '{{.Config.User}}') == 10001:10001 ]] || fail "user"
[[ $(declared '{{.Config.StopSignal}}') == SIGTERM ]] || fail "stop signal"
[[ $(declared '{{json .Config.ExposedPorts}}') == *50051/tcp*9090/tcp* ]] || fail "ports"
[[ $(declared '{{json .}}') == *"dragoman health"* ]] || fail "health check"
[[ $(declared '{{json .Config.Env}}') == *DRAGOMAN_HOST=0.0.0.0* ]] || fail "DRAGOMAN_HOST"

say "what it must not contain"
"${engine[@]}" run --rm "${locked_down[@]}" --network none ${run_flags[@]+"${run_flags[@]}"} \
    --entrypoint python3 "$image" -c '
import importlib.util, shutil, sys
found = [name for name in ("torch", "onnx", "onnxscript", "pytest") if importlib.util.find_spec(name)]
found += [name for name in ("cc", "gcc", "g++", "clang", "ld", "make") if shutil.which(name)]
sys.exit(f"found {found}" if found else 0)' || fail "the image carries what it must not"

say "serve: read-only root, no capability, user 10001"
"${engine[@]}" run --detach --name "$name" "${locked_down[@]}" --network "$network" \
    ${run_flags[@]+"${run_flags[@]}"} "$image" >/dev/null
ready=
for _ in $(seq 100); do
    if inside dragoman health >/dev/null 2>&1; then ready=yes; break; fi
    sleep 0.2
done
[[ -n $ready ]] || { "${engine[@]}" logs "$name" >&2; fail "never healthy"; }
inside dragoman health

say "answer"
answer=$(inside dragoman translate "Open the file." "Save changes?")
printf '%s\n' "$answer"
[[ $(printf '%s\n' "$answer" | grep --count .) == 2 ]] || fail "two texts in, two texts out"
inside python3 -c '
from urllib.request import urlopen
text = urlopen("http://127.0.0.1:9090/metrics").read().decode()
shown = ("grpc_server_handled_total", "dragoman_target_tokens_total", "process_resident_memory_bytes")
lines = [l for l in text.splitlines() if l.startswith(shown) and not l.endswith(" 0.0")]
print(*lines, sep="\n")
assert any("TranslateText" in line for line in lines)' || fail "metrics"

say "stop while it works: nothing may be lost"
texts=()
for _ in $(seq 250); do texts+=("If the connection is lost, the server tries again."); done
# The caller is a container of its own: one inside the server's would be ended together with it.
beside=$network
[[ $network == host ]] || beside=container:$name
"${engine[@]}" run --rm "${locked_down[@]}" --network "$beside" ${run_flags[@]+"${run_flags[@]}"} \
    "$image" translate --max-output-tokens 40 "${texts[@]}" > "$answers" &
call=$!
until rows=$(running) && [[ $rows =~ ^[1-9] ]]; do kill -0 $call || fail "the call ended before the stop"; done
say "SIGTERM while $rows rows run"
"${engine[@]}" stop --time 40 "$name" >/dev/null
wait $call || { "${engine[@]}" logs "$name" >&2; fail "the running call failed"; }
[[ $(wc -l < "$answers") == ${#texts[@]} ]] || fail "the running call lost texts"
status=$("${engine[@]}" inspect --format '{{.State.ExitCode}}' "$name")
[[ $status == 0 ]] || { "${engine[@]}" logs "$name" >&2; fail "exit status $status after SIGTERM"; }

declared 'proven: {{.Id}}, {{.Size}} bytes'
