"""What a run says of processor time and memory is what its Python workers have used."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.flows import written

pytestmark = pytest.mark.spark

ROOT = Path(__file__).resolve().parent.parent.parent

# In a process of its own, so that its workers have done nothing else.
PROGRAM = """
import json, os, sys, tempfile
from pathlib import Path
import pyarrow as pa
from spark_exec.deployment import deployment_of
from spark_exec.plan import plan
from spark_exec.run import run
from spark_exec.session import session

def workers():
    parents, daemons = {}, set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            fields = (place / "stat").read_text().rpartition(")")[2].split()
            parents[place.name] = fields[1], int(fields[11]) + int(fields[12])
            if b"pyspark.daemon" in (place / "cmdline").read_bytes():
                daemons.add(place.name)
        except OSError:
            continue
    def ours(pid):
        return pid == str(os.getpid()) or (pid in parents and ours(parents[pid][0]))
    ticks = sum(parents[pid][1] for pid in daemons if parents[pid][0] in daemons and ours(pid))
    return ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")

spark = session("local[2]")
count = 6000
body = [b"<Order><Id>%d</Id><Status>NEW</Status></Order>" % n for n in range(count)]
frame = spark.createDataFrame(pa.table({"sequence": range(count), "body": body, "queue": ["IN"] * count}))
with tempfile.TemporaryDirectory() as folder:
    summary = run(spark, plan(deployment_of(sys.argv[1])), frame, folder + "/out")
print(json.dumps({"used": workers(), **summary.as_data()}))
spark.stop()
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the time of other processes is read from /proc")
def test_what_workers_have_used(tmp_path: Path) -> None:
    """Statistics rows sum to within a tenth of the workers' processor time, and say their memory."""
    broker = str(written(tmp_path))
    command = [sys.executable, "-c", PROGRAM, broker]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=500)
    said = json.loads(done.stdout)
    assert said["cpu_ns"] == pytest.approx(said["used"], rel=0.1)
    assert sum(cost["cpu_ns"] for cost in said["costs"]) == said["cpu_ns"]
    assert {cost["part"] for cost in said["costs"]} == {"around", "node", "reading", "starting", "writing"}
    nodes = {cost["node"]: cost["messages"] for cost in said["costs"] if cost["flow"] == "Orders" and cost["node"]}
    assert nodes == {"In": 6002, "Work": 6001, "Out": 5999}  # one message fails, is tried again, and is put away
    assert 20 << 20 < said["worker_memory"] < 2 << 30
