"""Programs in the style of public training code, each with the files that it reads."""

import numpy as np
import tensorflow as tf

AUTO = tf.data.AUTOTUNE


def _feature(value):
    if isinstance(value, bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    values = np.asarray(value).ravel().tolist()
    if values and isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if np.asarray(value).dtype.kind == "f":
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _features(values):
    return tf.train.Features(feature={key: _feature(value) for key, value in values.items()})


def _example(values):
    return tf.train.Example(features=_features(values))


def write(folder, name, example, shards=2, records=24, message=_example):
    """Shards `name-<shard>.tfrecord` of message(example(number)); their paths."""
    paths = [str(folder / f"{name}-{shard}.tfrecord") for shard in range(shards)]
    for shard, path in enumerate(paths):
        with tf.io.TFRecordWriter(path) as writer:
            for number in range(shard, records, shards):
                writer.write(message(example(number)).SerializeToString())
    return paths


def _noise(number, *shape):
    return np.random.default_rng(number).random(shape, dtype=np.float32)


def resnet(folder):
    """ImageNet as ResNet takes it: JPEG files, a random crop and flip, means subtracted."""

    def example(number):
        pixels = (_noise(number, 12, 16, 3) * 255).astype(np.uint8)
        return {"image/encoded": tf.io.encode_jpeg(pixels, quality=95).numpy(), "image/class/label": number % 5 + 1}

    spec = {"image/encoded": tf.io.FixedLenFeature([], tf.string), "image/class/label": tf.io.FixedLenFeature([], tf.int64)}

    def parse(record):
        row = tf.io.parse_single_example(record, spec)
        image = tf.cast(tf.image.decode_jpeg(row["image/encoded"], channels=3), tf.float32)
        image = tf.image.random_flip_left_right(tf.image.resize(image, [8, 8]))
        return image - tf.constant([123.68, 116.78, 103.94]), tf.one_hot(row["image/class/label"] - 1, 5)

    files = tf.data.Dataset.from_tensor_slices(write(folder, "resnet", example))
    records = files.interleave(tf.data.TFRecordDataset, cycle_length=2, num_parallel_calls=AUTO)
    return records.map(parse, num_parallel_calls=AUTO).batch(8, drop_remainder=True).prefetch(AUTO)


def bert(folder):
    """BERT's pre-training input: token lists of a fixed length, int64 made int32."""
    length, masked = 16, 4

    def example(number):
        tokens = np.random.default_rng(number).integers(0, 30000, length)
        return {
            "input_ids": tokens,
            "input_mask": np.ones(length, np.int64),
            "segment_ids": np.arange(length) // 8,
            "masked_lm_positions": np.arange(masked) + number % 8,
            "masked_lm_ids": tokens[:masked],
            "masked_lm_weights": np.ones(masked, np.float32),
            "next_sentence_labels": number % 2,
        }

    spec = {
        "input_ids": tf.io.FixedLenFeature([length], tf.int64),
        "input_mask": tf.io.FixedLenFeature([length], tf.int64),
        "segment_ids": tf.io.FixedLenFeature([length], tf.int64),
        "masked_lm_positions": tf.io.FixedLenFeature([masked], tf.int64),
        "masked_lm_ids": tf.io.FixedLenFeature([masked], tf.int64),
        "masked_lm_weights": tf.io.FixedLenFeature([masked], tf.float32),
        "next_sentence_labels": tf.io.FixedLenFeature([1], tf.int64),
    }

    def decode(record):
        row = tf.io.parse_single_example(record, spec)
        for name in list(row.keys()):
            if row[name].dtype == tf.int64:
                row[name] = tf.cast(row[name], tf.int32)
        return row

    return tf.data.TFRecordDataset(write(folder, "bert", example)).map(decode).batch(8, drop_remainder=True)


def recommender(folder):
    """Click prediction: numbers, one string that is hashed, lists of ids of any length; parsed by the batch."""

    def example(number):
        return {
            "label": float(number % 2),
            "age": float(number),
            "user": b"user-%d" % (number % 7),
            "items": np.arange(number % 4, dtype=np.int64) + number,
            "words": [b"w%d" % word for word in range(number % 3 + 1)],
        }

    spec = {
        "label": tf.io.FixedLenFeature([], tf.float32),
        "age": tf.io.FixedLenFeature([], tf.float32, 0.0),
        "user": tf.io.FixedLenFeature([], tf.string),
        "items": tf.io.VarLenFeature(tf.int64),
        "words": tf.io.RaggedFeature(tf.string),
        "unused": tf.io.FixedLenFeature([], tf.float32, -1.0),
    }

    def parse(serialized):
        rows = tf.io.parse_example(serialized, spec)
        inputs = {
            "age": (rows["age"] - 10.0) / 4.0,
            "user": tf.strings.to_hash_bucket_fast(rows["user"], 100),
            "items": rows["items"],
            "words": tf.ragged.map_flat_values(lambda words: tf.strings.to_hash_bucket_fast(words, 50), rows["words"]),
        }
        return inputs, rows["label"]

    return tf.data.TFRecordDataset(write(folder, "clicks", example)).batch(8).map(parse, num_parallel_calls=AUTO)


def segmentation(folder):
    """An image as a TensorProto, its mask as raw bytes."""

    def example(number):
        mask = (np.arange(64) * (number + 1) % 3).astype(np.uint8)
        return {"image": tf.io.serialize_tensor(_noise(number, 8, 8, 3)).numpy(), "mask": mask.tobytes()}

    spec = {"image": tf.io.FixedLenFeature([], tf.string), "mask": tf.io.FixedLenFeature([], tf.string)}

    def parse(record):
        row = tf.io.parse_single_example(record, spec)
        image = tf.ensure_shape(tf.io.parse_tensor(row["image"], tf.float32), [8, 8, 3])
        mask = tf.reshape(tf.io.decode_raw(row["mask"], tf.uint8), [8, 8, 1])
        return image * 2.0 - 1.0, tf.cast(mask, tf.int32)

    return tf.data.TFRecordDataset(write(folder, "masks", example)).map(parse, num_parallel_calls=AUTO).batch(8)


def audio(folder):
    """Clips of different lengths, padded to the longest of the batch."""

    def example(number):
        return {"audio": _noise(number, 10 + number % 7), "speaker": number % 3}

    spec = {"audio": tf.io.VarLenFeature(tf.float32), "speaker": tf.io.FixedLenFeature([], tf.int64)}

    def parse(record):
        row = tf.io.parse_single_example(record, spec)
        clip = tf.sparse.to_dense(row["audio"])
        return clip / tf.reduce_max(tf.abs(clip)), row["speaker"]

    return tf.data.TFRecordDataset(write(folder, "clips", example)).map(parse).padded_batch(8, padded_shapes=([None], []))


def _points(number):
    return {"x": _noise(number, 4), "y": number % 4}


_POINTS = {"x": tf.io.FixedLenFeature([4], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}


def _point(record):
    row = tf.io.parse_single_example(record, _POINTS)
    return row["x"], row["y"]


def per_file(folder):
    """The map of each file inside the interleave."""
    files = tf.data.Dataset.from_tensor_slices(write(folder, "points", _points))
    return files.interleave(lambda name: tf.data.TFRecordDataset(name).map(_point), cycle_length=2, block_length=2).batch(6)


def sharded(folder):
    """One worker's share of the files of a pattern."""
    write(folder, "shared", _points, shards=4)
    files = tf.data.Dataset.list_files(str(folder / "shared-*.tfrecord"), shuffle=False).shard(2, 1)
    return files.interleave(tf.data.TFRecordDataset, cycle_length=2).map(_point).batch(6)


def cached(folder):
    """Parsed, cached, shuffled."""
    records = tf.data.TFRecordDataset(write(folder, "cached", _points)).map(_point).cache()
    return records.shuffle(24, seed=1).batch(6)


def keras_layers(folder):
    """Keras' preprocessing layers in the map."""
    import keras

    scale = keras.layers.Rescaling(1 / 0.5, offset=-1.0)
    encode = keras.layers.CategoryEncoding(num_tokens=4, output_mode="one_hot")
    records = tf.data.TFRecordDataset(write(folder, "layers", _points)).map(_point)
    return records.map(lambda x, y: (scale(x), encode(y))).batch(6)


def weighted(folder):
    """Classes in set proportions, each from its own files."""
    many = tf.data.TFRecordDataset(write(folder, "many", _points, records=60)).repeat()
    few = tf.data.TFRecordDataset(write(folder, "few", lambda number: {**_points(number), "y": 9})).repeat()
    mixed = tf.data.Dataset.sample_from_datasets([many, few], weights=[0.7, 0.3], seed=4)
    return mixed.map(_point).batch(50).take(8)


def _videos(folder):
    """SequenceExamples: a label in the context; of each frame its features, and any number of the objects seen in it."""

    def video(number):
        frames = [{"rgb": _noise(10 * number + frame, 6), "objects": np.arange(frame % 3)} for frame in range(1 + number % 4)]
        return {"label": number % 7}, frames

    def message(parts):
        context, frames = parts
        lists = {key: [_feature(frame[key]) for frame in frames] for key in ("rgb", "objects")}
        lists = {key: tf.train.FeatureList(feature=each) for key, each in lists.items()}
        return tf.train.SequenceExample(context=_features(context), feature_lists=tf.train.FeatureLists(feature_list=lists))

    return tf.data.TFRecordDataset(write(folder, "videos", video, message=message))


_LABEL = {"label": tf.io.FixedLenFeature([], tf.int64)}


def frames(folder):
    """Videos one by one, padded to the longest of the batch."""
    lists = {"rgb": tf.io.FixedLenSequenceFeature([6], tf.float32)}

    def parse(record):
        context, video = tf.io.parse_single_sequence_example(record, _LABEL, lists)
        return video["rgb"] * 2.0 - 1.0, context["label"]

    return _videos(folder).map(parse).padded_batch(5, padded_shapes=([None, 6], []))


def frames_in_batches(folder):
    """A batch of videos parsed at once, frames padded, objects of each frame ragged."""
    lists = {"rgb": tf.io.FixedLenSequenceFeature([6], tf.float32), "objects": tf.io.RaggedFeature(tf.int64)}

    def parse(serialized):
        context, videos, lengths = tf.io.parse_sequence_example(serialized, _LABEL, lists)
        return (videos["rgb"], videos["objects"], lengths["rgb"]), context["label"]

    return _videos(folder).batch(5).map(parse)


PROGRAMS = {
    program.__name__: program
    for program in (
        *(resnet, bert, recommender, segmentation, audio, per_file, sharded, cached, keras_layers, weighted),
        *(frames, frames_in_batches),
    )
}
