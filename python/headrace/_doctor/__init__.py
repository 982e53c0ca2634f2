"""The doctor: what keeps accelerators waiting, why, and what each fix gains.

Of a headrace pipeline: shards, storage and machine are probed, measure runs the pipeline, replay and model predict, causes names what
is wrong, rebuild and verify try the fixes, diagnose does all of it. Of a tf.data program: tf_program reads it, tf_measure runs it,
the tf_rules name what is wrong, tf_gain says what a fix gains, tf_doctor does all of it, tf_script for the datasets of a training
script. Of a profile: profile_doctor. page and terminal show the result of any of them.
"""
