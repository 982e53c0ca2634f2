"""Serialized protobuf messages, field by field, without a schema."""


def fields(message):
    """[(number, value)]: an int, the bytes of what has a length, or those of a fixed number."""
    found, at = [], 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        number, kind = divmod(varint(), 8)
        if kind == 0:
            found.append((number, varint()))
            continue
        size = {1: 8, 5: 4}[kind] if kind != 2 else varint()
        found.append((number, bytes(message[at : at + size])))
        at += size
    assert at == len(message)
    return found


def values(message, number):
    """Those of the fields of that number, in order."""
    return [value for field, value in fields(message) if field == number]


def one(message, number):
    """That of the only one."""
    (value,) = values(message, number)
    return value
