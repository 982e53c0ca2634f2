"""The crops of the question, the same for all contenders."""

SIZE = 224
# Part of each side that stays, in the middle: all of the image; what a random crop of 8 to 100 % of the area has on average.
CROPS = {"whole": 1.0, "part": 0.67}
BATCH = 64


def margin(side, fraction):
    """Pixels left out at both ends, as tf.image.central_crop rounds them."""
    return int((side - side * fraction) / 2)
