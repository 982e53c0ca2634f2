"""How busy the accelerators are over time: shares of equal parts, as numbers and as one line of characters."""

PARTS = 72
_LEVELS = "▁▂▃▄▅▆▇█"


def shares(busy, begin, end, parts=PARTS):
    """The share, 0 to 1, of each of `parts` equal parts of [begin, end] that the intervals of `busy` cover.

    Args:
        busy: [(begin, end)] in the order of time, without overlaps; what lies outside is cut off.
    """
    part = (end - begin) / parts
    covered = [0.0] * parts
    for first, last in busy:
        first, last = max(first, begin), min(last, end)
        if last <= first:
            continue
        place = min(parts - 1, int((first - begin) / part))
        while place < parts and begin + place * part < last:
            low, high = begin + place * part, begin + (place + 1) * part
            covered[place] += max(0.0, min(last, high) - max(first, low))
            place += 1
    return tuple(min(1.0, each / part) for each in covered)


def steps(taken, step_time, ahead):
    """[(begin, end)] of the steps of a training whose batches come as they came to a consumer without pauses.

    Args:
        taken: when each batch came, in seconds.
        step_time: seconds of a step.
        ahead: batches that wait for their step at most; while so many do, none is made. 0: one is made behind each step.
    """
    begins, ready, end = [], taken[0], taken[0]
    for number, at in enumerate(taken):
        made = at - taken[number - 1] if number else 0.0
        room = begins[number - ahead] if ahead and number >= ahead else ready if ahead else end
        ready = max(ready, room) + made
        begins.append(max(ready, end))
        end = begins[-1] + step_time
    return [(begin, begin + step_time) for begin in begins]


def line(shares):
    """The shares as characters of eight heights."""
    return "".join(_LEVELS[min(len(_LEVELS) - 1, int(share * len(_LEVELS)))] for share in shares)
