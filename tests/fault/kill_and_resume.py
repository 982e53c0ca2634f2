"""Kills a reader at random moments and lets the next process go on: does every record come once, in the order of a quiet run?

Usage: kill_and_resume.py [KILLS] [--seed N]. The reader notes each batch in a log, then replaces the file with its position. What the
log has behind the last saved position is not counted: the reader was killed in between. Exits 1 when the log of the killed
readers is not that of a reader left alone.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "python"))

import headrace as hr
from number_shards import NUMBERS, write_numbers

_EPOCHS = 6


def streams(files):
    source = hr.TFRecordDataset(files, num_threads=random.choice([1, 2, 5])).interleave(cycle_length=3, block_length=4)
    return {
        "fused": source.repeat(_EPOCHS).shuffle(50, seed=5).batch(7),
        "mixed": source.repeat(_EPOCHS).shuffle(50, seed=5, mix_epochs=True).batch(7),
        "to the edge": source.shuffle(50, seed=5).batch(7).parse(NUMBERS, origin=True).repeat(_EPOCHS),
        "sharded": source.shard(2, 1).shuffle(30, seed=5).repeat(_EPOCHS).take(500).skip(3).batch(7),
    }


def read(files, name, folder, pause):
    """The reader: goes on where the saved position is, to the end of the stream."""
    dataset = streams(files)[name]
    if name != "to the edge":
        dataset = dataset.parse(NUMBERS, origin=True)
    log, saved = Path(folder, "log"), Path(folder, "position")
    with iter(dataset) as batches, open(log, "a") as file:
        if saved.exists():
            state = json.loads(saved.read_text())
            batches.load_state_dict(state)
            lines = log.read_text().splitlines(keepends=True)[: state["batches"]]
            file.truncate(sum(map(len, lines)))
        for batch in batches:
            rows = zip(batch["_shard"].numpy().tolist(), batch["_record"].numpy().tolist(), batch["id"].numpy().tolist())
            file.write(json.dumps([batch.epoch, *rows]) + "\n")
            file.flush()
            Path(folder, "unfinished").write_text(json.dumps(batches.state_dict()))
            os.replace(Path(folder, "unfinished"), saved)
            time.sleep(pause)


def kill_one(command):
    """True when the reader came to its end first."""
    reader = subprocess.Popen(command)
    try:
        # Python and the engine take a while to start: some are killed then, most while they read.
        return reader.wait(timeout=random.uniform(0, 0.3) + random.uniform(0, 0.6)) == 0
    except subprocess.TimeoutExpired:
        reader.send_signal(signal.SIGKILL)
        return reader.wait() == 0


def audit(files, name, kills):
    """Kills readers of one stream until it is read, `kills` at most before the last one; how many, and whether all was well."""
    with tempfile.TemporaryDirectory() as quiet, tempfile.TemporaryDirectory() as killed:
        read(files, name, quiet, 0)
        command = [sys.executable, __file__, "--read", name, "--files", *map(str, files), "--folder", killed]
        done, ended = 0, False
        while not ended and done < kills:
            ended = kill_one(command)
            done += not ended
        if not ended:
            subprocess.run(command, check=True)
        return done, Path(quiet, "log").read_text() == Path(killed, "log").read_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kills", nargs="?", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--read", help=argparse.SUPPRESS)
    parser.add_argument("--files", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        read(options.files, options.read, options.folder, 0.004)
        return 0
    print(f"seed {options.seed}", flush=True)
    random.seed(options.seed)
    total, bad = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        shards = {}
        for compression in ("none", "gzip"):
            os.makedirs(Path(folder, compression))
            shards[compression] = write_numbers(Path(folder, compression), shards=5, per_shard=61, compression=compression)
        while total < options.kills:
            for compression, name in ((c, n) for c, files in shards.items() for n in streams(files)):
                if total < options.kills:
                    kills, same = audit(shards[compression], name, min(25, options.kills - total))
                    total, bad = total + kills, bad + (not same)
                    print(f"{compression}, {name}: {kills} kills, {'the same' if same else 'ANOTHER'} stream", flush=True)
    print(f"{total} kills, {bad} streams that differ", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
