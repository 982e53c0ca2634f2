"""tf.data programs in the shapes that people write, over the shards of conftest.py."""

import tensorflow as tf

SPEC = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
SHAPE = [4, 4, 3]
records, AUTO = tf.data.TFRecordDataset, tf.data.AUTOTUNE


def parsed(record):
    row = tf.io.parse_single_example(record, SPEC)
    return tf.reshape(tf.io.parse_tensor(row["image"], tf.float32), SHAPE), row["label"]


def plain(record):
    image, label = parsed(record)
    return image / 255.0, tf.one_hot(label, 10)


def flipped(record):
    image, label = plain(record)
    return tf.image.random_flip_left_right(image), label


def cropped(record):
    image, label = plain(record)
    return tf.image.random_crop(tf.pad(image, [[2, 2], [2, 2], [0, 0]]), SHAPE), label


def brightened(record):
    image, label = plain(record)
    return {"image": tf.image.random_brightness(image, 0.1), "aux": {"label": label}}


def parsed_batch(serialized):
    rows = tf.io.parse_example(serialized, SPEC)

    def decode(text):
        return tf.ensure_shape(tf.io.parse_tensor(text, tf.float32), SHAPE)

    images = tf.map_fn(decode, rows["image"], fn_output_signature=tf.TensorSpec(SHAPE, tf.float32))
    return images / 255.0, rows["label"]


def shapeless(record):
    row = tf.io.parse_single_example(record, SPEC)
    return tf.io.parse_tensor(row["image"], tf.float32), row["label"]


def with_table(record):
    image, label = parsed(record)
    return image, _table().lookup(label)


def with_variable(record):
    image, label = parsed(record)
    return image / _variable(), label


def counting(record):
    _counter().assign_add(1)
    return plain(record)


def with_numpy(record):
    image, label = parsed(record)
    turned = tf.numpy_function(lambda array: array[::-1].copy(), [image], tf.float32)
    return tf.ensure_shape(turned, SHAPE), label


def parsed_in_python(record):
    return tf.py_function(lambda text: tf.io.parse_single_example(text, SPEC)["label"], [record], tf.int64)


def stateless(record):
    image, label = parsed(record)
    return tf.image.stateless_random_flip_left_right(image, tf.stack([label, label])), label


def resized(record):
    image, label = parsed(record)
    return tf.image.resize(image, [2, 2]), label


def with_generator(record):
    image, label = parsed(record)
    return image + _generator().normal(SHAPE), label


def asserted(record):
    image, label = parsed(record)
    with tf.control_dependencies([tf.debugging.assert_less(label, tf.constant(10, tf.int64))]):
        return image / 255.0, label


def conditional(record):
    image, label = parsed(record)
    return tf.cond(label > 1, lambda: tf.math.divide(image, tf.cast(label, tf.float32)), lambda: image), label


def bytes_and_tensor(record):
    row = tf.io.parse_single_example(record, SPEC)
    return tf.reshape(tf.io.parse_tensor(row["image"], tf.float32), SHAPE), tf.strings.length(row["image"])


def inflated(record):
    return plain(tf.io.decode_compressed(record))


_made = {}


def _once(name, make):
    if name not in _made:
        with tf.init_scope():
            _made[name] = make()
    return _made[name]


def _table():
    def make():
        numbers = tf.range(10, dtype=tf.int64)
        return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(numbers, numbers * 7), -1)

    return _once("table", make)


def _variable():
    return _once("variable", lambda: tf.Variable(255.0))


def _counter():
    return _once("counter", lambda: tf.Variable(0, dtype=tf.int64))


def _generator():
    return _once("generator", lambda: tf.random.Generator.from_seed(1))


def _options():
    options = tf.data.Options()
    options.deterministic = False
    options.threading.private_threadpool_size = 1
    return options


def shapes(files):
    """{name: (a function that makes the program, what becomes of it)}.

    What becomes of it is "taken", "partly" (stages stay on top), or the reason why it is refused.
    """
    slices = tf.data.Dataset.from_tensor_slices
    pattern = files[0].replace("part-0", "part-*")
    folder = files[0].rsplit("/", 1)[0]

    def sliced():
        found = slices(files).interleave(records, cycle_length=3, block_length=2, num_parallel_calls=AUTO)
        found = found.shuffle(50, seed=3).repeat(2).map(flipped, num_parallel_calls=AUTO)
        return found.batch(16, drop_remainder=True).prefetch(AUTO).with_options(_options())

    def patterns():
        found = slices([f"{folder}/*-[01].*", f"{folder}/*-2.*"])
        names = found.flat_map(lambda each: tf.data.Dataset.list_files(each, shuffle=False))
        return names.flat_map(records).map(plain).batch(8)

    def shard_cache_batch():
        found = slices(files).shard(2, 0).interleave(records).map(parsed).map(lambda image, label: (image / 255.0, label))
        return found.cache().batch(16).map(lambda image, label: (image * 2.0, tf.one_hot(label, 10)))

    def batched_random():
        found = records(files).batch(32).repeat(2).map(parsed_batch)
        return found.map(lambda image, label: (tf.image.random_flip_left_right(image), label))

    def two_maps():
        found = records(files).map(parsed)
        return found.map(lambda image, label: (tf.image.random_flip_up_down(image), tf.one_hot(label, 10))).batch(16)

    def random_on_batch():
        found = records(files).map(parsed).shuffle(50).batch(16)
        return found.map(lambda image, label: (tf.image.random_flip_left_right(image), label))

    def mixup():
        found = records(files).batch(32, drop_remainder=True).map(parsed_batch)
        return found.map(lambda image, label: (image - tf.reduce_mean(image, 0), label))

    def zipped():
        return tf.data.Dataset.zip((records(files).map(plain), tf.data.Dataset.range(9999))).batch(16)

    def sampled():
        return tf.data.Dataset.sample_from_datasets([records(files[:1]), records(files[1:])], seed=1).map(plain).batch(16)

    def generated():
        return tf.data.Dataset.from_generator(lambda: iter([1]), output_signature=tf.TensorSpec([], tf.int32)).batch(1)

    def ignoring():
        return records(files).map(plain).batch(16).apply(tf.data.experimental.ignore_errors())

    def legacy(function):
        return lambda: records(files).apply(function)

    experimental = tf.data.experimental
    return {
        "slices.interleave.shuffle.repeat.map.batch.prefetch+options": (sliced, "taken"),
        "reads=4.repeat.shuffle.map(tf.function).batch": (
            lambda: records(files, num_parallel_reads=4).repeat().shuffle(90).map(tf.function(flipped)).batch(16),
            "taken",
        ),
        "batch.map(parse_example, map_fn(parse_tensor))": (
            lambda: records(files).batch(32).map(parsed_batch, num_parallel_calls=AUTO).prefetch(1),
            "taken",
        ),
        "list_files.interleave(T.map).batch": (
            lambda: tf.data.Dataset.list_files(pattern)
            .interleave(lambda name: records(name).map(plain), num_parallel_calls=AUTO, deterministic=False)
            .batch(32),
            "taken",
        ),
        "patterns.flat_map(list_files).flat_map(T).map.batch": (patterns, "taken"),
        "files.shard.interleave.map.map.cache.batch.map": (shard_cache_batch, "taken"),
        "batch.repeat.map(batched parse).map(random)": (batched_random, "taken"),
        "map(parse).map(random, one_hot).batch": (two_maps, "taken"),
        "map(parse).shuffle.batch.map(random)": (random_on_batch, "taken"),
        "map(crop).batch": (lambda: records(files).map(cropped).batch(16), "taken"),
        "map(dict, brightness).batch.take": (lambda: records(files).map(brightened).batch(16).take(5), "taken"),
        "map(no shape).batch": (lambda: records(files).map(shapeless).batch(16), "taken"),
        "map(lookup table).batch": (lambda: records(files).map(with_table).batch(16), "taken"),
        "map(captured variable).batch": (lambda: records(files).map(with_variable).batch(16), "taken"),
        "map(resize).batch": (lambda: records(files).map(resized).batch(16), "taken"),
        "map(stateless random).batch": (lambda: records(files).map(stateless).batch(16), "taken"),
        "map(Generator).batch": (lambda: records(files).map(with_generator).batch(16), "taken"),
        "map(numpy_function).batch": (lambda: records(files).map(with_numpy).batch(16), "taken"),
        "map.batch.unbatch.batch": (lambda: records(files).map(plain).batch(16).unbatch().batch(10), "partly"),
        "batch.map(parse).map(mixes rows)": (mixup, "taken"),
        "map(assert).batch": (lambda: records(files).map(asserted).batch(16), "taken"),
        "map(cond).batch": (lambda: records(files).map(conditional).batch(16), "taken"),
        "map(tensor and bytes).batch": (lambda: records(files).map(bytes_and_tensor).batch(16), "taken"),
        "sample_from_datasets.map.batch": (sampled, "taken"),
        "map_and_batch": (legacy(experimental.map_and_batch(plain, 16)), "taken"),
        "map.batch.ignore_errors": (ignoring, "taken"),
        "batch.parse_example_dataset": (
            lambda: records(files).batch(16).apply(experimental.parse_example_dataset(SPEC)),
            "taken",
        ),
        "shuffle.cache.map.batch": (
            lambda: records(files).shuffle(10).cache().map(plain).batch(16),
            "cache keeps the shuffled order of the first epoch",
        ),
        "map.padded_batch": (lambda: records(files).map(plain).padded_batch(16), "taken"),
        "map(random).cache.batch": (
            lambda: records(files).map(flipped).cache().batch(16),
            "cache keeps the random values of the first epoch",
        ),
        "shuffle_and_repeat": (
            lambda: records(files).apply(experimental.shuffle_and_repeat(20, 2)).map(plain).batch(16),
            "taken",
        ),
        "map.filter(one feature).batch": (
            lambda: records(files).map(parsed).filter(lambda image, label: label != 1).batch(16),
            "taken",
        ),
        "map.concatenate.batch": (
            lambda: records(files[:1]).map(plain).concatenate(records(files[1:]).map(plain)).batch(16),
            "taken",
        ),
        "map(assign_add).batch": (lambda: records(files).map(counting).batch(16), "changes state: AssignAddVariableOp"),
        "map(py_function(parse)).batch": (
            lambda: records(files).map(parsed_in_python).batch(16),
            "parsed inside a Python function",
        ),
        "map(decode_compressed, parse).batch": (
            lambda: records(files).map(inflated).batch(16),
            "the record is changed before it is parsed",
        ),
        "map.filter.batch": (
            lambda: records(files).map(plain).filter(lambda image, label: label[0] < 1).batch(16),
            "filter of single records by more than a comparison",
        ),
        "zip(T.map, range).batch": (zipped, "ZipDataset is not known"),
        "from_generator": (generated, "GeneratorDataset"),
    }
