import subprocess
import sys

PROGRAM = """
import resource
from dragoman.training.memory import keep_freed_memory
{prepare}
faults = []
for _ in range(20):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    block = bytearray(64 * 2**20)
    del block
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(sum(faults[5:]))
"""


def page_faults(prepare: str) -> int:
    program = PROGRAM.format(prepare=prepare)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return int(result.stdout)


def test_freed_blocks_are_used_again_without_page_faults() -> None:
    assert page_faults("assert keep_freed_memory()") < 0.1 * page_faults("")
