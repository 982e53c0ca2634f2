"""doctor --script: the datasets of a training script are found, its source is read, nothing is trained."""

import sys

import click
import click.testing
import doctor_programs as programs
import pytest
import tensorflow as tf

from headrace.cli_doctor import doctor
from headrace._doctor.tf_lint import lint
from headrace._doctor.tf_script import find, script

HEAD = """
import sys
import tensorflow as tf
SPEC = {"label": tf.io.FixedLenFeature([], tf.int64)}
def parse(records):
    label = tf.io.parse_example(records, SPEC)["label"]
    return tf.cast(label, tf.float32)[:, None], label
def data(*paths):
    return tf.data.TFRecordDataset(list(paths)).batch(32, drop_remainder=True).map(parse)
def trained(*_, **__):
    raise AssertionError("the script trained")
"""
FIT = """
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
tf.keras.layers.Normalization().adapt(data(*sys.argv[1:]).map(lambda x, y: x))
try:
    model.fit(data(*sys.argv[1:]), validation_data=data(sys.argv[1]), callbacks=[trained()] if False else None)
except Exception:
    trained()
trained()
"""
SHARED = """
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
strategy.experimental_distribute_dataset(data(*sys.argv[1:]))
trained()
"""
LOOP = """
for epoch in range(2):
    for batch in data(*sys.argv[1:]):
        trained()
"""


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return programs.write(tmp_path_factory.mktemp("doctor"))


@pytest.fixture(autouse=True)
def short(monkeypatch):
    programs.shorten(monkeypatch)


def written(folder, text):
    path = folder / "train.py"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    "tail, names", [(FIT, ["fit()"] * 2), (SHARED, ["experimental_distribute_dataset()"]), (LOOP, ["a loop"])]
)
def test_find(tail, names, tmp_path, paths):
    argv, path = list(sys.argv), list(sys.path)
    uses = find(written(tmp_path, HEAD + tail), paths)
    assert [use.name for use in uses] == names
    assert (uses[0].strategy is not None) == (tail is SHARED)
    assert sum(1 for _ in uses[0].dataset) == 4 * 256 // 32  # and the hooks are gone
    assert (sys.argv, sys.path) == (argv, path)
    assert "call" not in (tf.keras.Model.fit.__name__, tf.distribute.Strategy.experimental_distribute_dataset.__name__)


def test_script(tmp_path, paths):
    source = HEAD + "import os\nos.environ['TF_GPU_THREAD_MODE'] = 'gpu_private'\n" + LOOP
    lines, dataset = script(written(tmp_path, source), paths)
    assert [finding.name for finding in lines.findings] == ["environment set late"]
    assert "a loop" in dataset.subject and "no prefetch" in {finding.name for finding in dataset.findings}
    with pytest.raises(ValueError, match="ends without"):
        script(written(tmp_path, HEAD))


def test_lint():
    names = lambda source: [finding.name for finding in lint(source)]  # noqa: E731
    early = "import os\nos.environ['TF_GPU_THREAD_MODE'] = 'x'\nimport tensorflow as tf\nos.environ['HOME'] = 'x'\n"
    assert names(early) == []
    assert names("from tensorflow import keras\nimport os\nos.environ.setdefault('XLA_FLAGS', 'x')") == ["environment set late"]
    unread = "import os\nos.environ['TF_NCCL_USE_STREAM_MEMCPY'] = '1'\nimport tensorflow as tf\n"
    assert names(unread) == ["unwanted variables"] and "in line 2: TensorFlow 2.21 reads" in lint(unread)[0].evidence
    assert names("import os\nos.environ.setdefault('NCCL_P2P_DISABLE', '0')") == []
    strategy = "strategy = tf.distribute.MirroredStrategy()\n"
    build = "def build():\n    return tf.keras.Sequential([])\n"
    assert names(strategy + "model = tf.keras.Sequential([])") == ["outside strategy.scope()"]
    assert names(strategy + "with strategy.scope():\n    model = tf.keras.Sequential([])") == []
    assert names(strategy + build + "model = build()") == ["outside strategy.scope()"]
    assert names(strategy + build + "with strategy.scope():\n    model = build()\nmodel.compile('sgd')") == []
    assert names("model = tf.keras.Sequential([])") == []
    shared = strategy + "for batch in strategy.experimental_distribute_dataset(data):\n    step(batch)\n"
    assert names(shared) == ["strategy.run missing"]
    assert names(shared + "    strategy.run(step, args=(batch,))") == []


def test_command_line(tmp_path, paths):
    run = click.testing.CliRunner().invoke
    asked = run(doctor, ["--script", written(tmp_path, HEAD + LOOP), "--html", str(tmp_path / "page.html"), *paths])
    assert asked.exit_code == 1 and "no prefetch" in asked.output
    assert "the corrected program:\n\ndataset = (" in asked.output and ".prefetch(tf.data.AUTOTUNE)" in asked.output
    assert "accelerate(dataset):\n\ntaken over\n  the engine does:" in asked.output
    assert "the corrected program" in (tmp_path / "page.html").read_text()
    (tmp_path / "empty.xplane.pb").write_bytes(b"")
    refused = run(doctor, ["--profile", str(tmp_path)])
    assert refused.exit_code == 2 and "no device and no training step" in refused.output
    nothing = run(doctor, [])
    assert nothing.exit_code == 2 and "give FILES, --script or --profile" in nothing.output
    both = run(doctor, ["--script", str(tmp_path / "train.py"), "--profile", str(tmp_path)])
    assert both.exit_code == 2 and "exclude each other" in both.output
