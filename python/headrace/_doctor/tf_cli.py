"""`headrace doctor --script` and `--profile`: the options, and what they do. The command itself joins them.

@tf_cli.options
def doctor(..., script, profile, ...):
    if tf_cli.is_asked(script, profile):
        return tf_cli.diagnoses(script, profile, arguments, step_s, verify)
"""

import click


class _Failure(click.ClickException):
    exit_code = 2  # 1 says that something was found


def options(command):
    """The options --script and --profile, as a decorator of a click command."""
    profile = click.option(
        "--profile",
        type=click.Path(exists=True),
        metavar="DIR",
        help="Read a profile of a training run: a TensorBoard log directory, a run in it, an .xplane.pb file, or a trace "
        "of torch.profiler.",
    )
    script = click.option(
        "--script",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="Run the input part of a TensorFlow training script and diagnose its tf.data programs. What stands behind the "
        "options is its command line.",
    )
    return script(profile(command))


def is_asked(script, profile):
    """Whether the command line asks for one of the two.

    Raises:
        click.UsageError: for both.
    """
    if script is not None and profile is not None:
        raise click.UsageError("--script and --profile exclude each other")
    return script is not None or profile is not None


def diagnoses(script, profile, arguments=(), step_s=None, verify=False):
    """The list of Diagnosis that the options ask for.

    Args:
        arguments: the script's command line.
        step_s: seconds of a training step, or None.

    Raises:
        click.ClickException: the file is no profile, the script trains with no dataset, TensorFlow is not installed.
    """
    try:
        if profile is not None:
            from .profile_doctor import profile as of_profile

            return [of_profile(profile)]
        from .tf_script import script as of_script

        return of_script(script, arguments, step_s, verify)
    except (ValueError, ImportError, SyntaxError) as error:
        raise _Failure(str(error)) from error


def programs(diagnosis):
    """[(title, text)] of the programs that stand below the findings, and what accelerate() takes over; none below a profile's."""
    titled = (
        ("the corrected program", "program"),
        ("accelerate(dataset)", "takeover"),
        ("the same with headrace", "equivalent"),
    )
    return [(title, getattr(diagnosis, name)) for title, name in titled if getattr(diagnosis, name, "")]
