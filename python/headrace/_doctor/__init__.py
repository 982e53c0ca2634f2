"""The doctor: what keeps accelerators waiting, why, and what each fix gains.

Of a headrace pipeline: shards, storage and machine are probed, measure runs the pipeline, replay and model predict, causes names what
is wrong, rebuild and verify try the fixes, diagnose does all of it; page and terminal show the result.
"""
