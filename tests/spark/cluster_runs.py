"""A program for the tests of clusters: one message set through one broker, in one session, by any number of partitions.

    python -m tests.spark.cluster_runs MASTER FOLDER OUTPUT [key=value ...]

FOLDER holds broker.yaml, straggling.py and the messages, in `in`; what comes out is in OUTPUT/1, OUTPUT/2 and OUTPUT/7.
"""

import sys
from pathlib import Path

from flows.files import own_nodes
from spark_exec.deployment import deployment_of
from spark_exec.plan import plan
from spark_exec.readers import Origin, messages
from spark_exec.run import Limits, run
from spark_exec.session import session

PARTITIONS = (7, 2, 1)
MOMENT = ("20260102", "03040506")


def main(master: str, folder: Path, output: Path, settings: list[str]) -> None:
    """Run it by each number of partitions."""
    own = session(master, [(key, value) for key, _, value in (text.partition("=") for text in settings)])
    try:
        planned = plan(deployment_of(str(folder / "broker.yaml")), own_nodes([str(folder / "straggling.py")]))
        for partitions in PARTITIONS:
            frame = messages(own, Origin(str(folder / "in"), "files", "IN"))
            run(own, planned.scaled(partitions), frame, str(output / str(partitions)), limits=Limits(moment=MOMENT))
    finally:
        own.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
